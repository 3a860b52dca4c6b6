// Events of work in another process, as they happen.

import { ApiError } from "../lib/api.js";
import { readContainer } from "../scene3d/container.js";

/** Yield the events of a request as `{ header, array }`; aborting the signal stops the work. */
export async function* events(path, body, { signal } = {}) {
  const answer = await fetch(path, {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal,
  }).catch((error) => {
    throw error.name === "AbortError" ? error : new ApiError("no answer: handloom view is no longer running", 0);
  });
  if (!answer.ok) {
    const text = await answer.text();
    let message = text;
    try { message = JSON.parse(text).error ?? text; } catch { /* Plain text. */ }
    throw new ApiError(message, answer.status);
  }
  const reader = answer.body.getReader();
  let rest = new Uint8Array(0);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest = joined(rest, value);
    for (;;) {
      if (rest.length < 4) break;
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(0, true);
      if (rest.length < 4 + length) break;
      const event = readContainer(rest.slice(4, 4 + length).buffer);
      rest = rest.subarray(4 + length);
      if (event.header.kind !== "beat") yield event;
    }
  }
}

function joined(first, second) {
  if (!first.length) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
