// Requests of the page. In an exported site the same paths are files: the answer to /api/x is in api/x.json.

export const exported = document.querySelector('meta[name="handloom-mode"]')?.content === "static";

export class ApiError extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

export function address(path) { return exported ? path.replace(/^\//, "") : path; }

async function checked(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try { message = JSON.parse(text).error ?? text; } catch { /* Plain text. */ }
  throw new ApiError(message || `the server returned ${answer.status}`, answer.status);
}

export async function getJson(path, { signal } = {}) {
  const answer = await fetch(exported ? `${address(path)}.json` : path, { signal }).catch((error) => {
    throw error.name === "AbortError" ? error : new ApiError("no answer: handloom view is no longer running", 0);
  });
  return (await checked(answer)).json();
}

export async function getBytes(path, { signal } = {}) {
  return (await checked(await fetch(exported ? `${address(path)}.bin` : path, { signal }))).arrayBuffer();
}

export async function post(path, body = {}) {
  const answer = await fetch(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  return (await checked(answer)).json();
}

// Yields the JSON values of a streamed answer, line by line.
export async function* lines(path, body = {}, { signal } = {}) {
  const answer = await checked(await fetch(path, { method: "POST", body: JSON.stringify(body), signal }));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
  if (rest.trim()) yield JSON.parse(rest);
}
