// A failed attempt without a stored episode: its receipt has the stage and the reason.
import { getJson } from "../lib/api.js";
import { copy, el } from "../lib/dom.js";
import { failureTable } from "../lib/outcome.js";

export async function show(root, { parts }) {
  const facts = await getJson(`/api/attempts/${encodeURIComponent(parts[0])}/${encodeURIComponent(parts[1])}`);
  const r = facts.receipt;
  const spent = Object.entries(r.seconds ?? {});
  root.append(el("div.stack", {},
    el("div.row", {}, el("a", { href: `#/dataset/${facts.shelf}` }, facts.dataset), el("span.quiet", {}, "›"), el("span.num", {}, `attempt ${facts.attempt}`)),
    el("h1", {}, `Attempt ${facts.attempt} of ${facts.task} failed at ${r.stage || "an unknown stage"}`),
    el("section.card", { class: "fault" }, el("h2", {}, "Why it failed"), failureTable({ stage: r.stage, reason: r.reason, detail: r.detail, frames: r.frames })),
    el("div.row", {},
      facts.command && el("button", { type: "button", title: facts.command, onclick: () => copy(facts.command, "Copied the command that reproduces exactly this attempt, with its images") }, "Copy the command to reproduce it"),
      el("a.button", { href: `#/task/${encodeURIComponent(facts.task)}?seed=${facts.seed}&episode=${facts.attempt}` }, "Open its scene on the task page")),
    spent.length ? el("section.card", {}, el("h2", {}, "Where the time went"), el("table", {}, el("tbody", {}, spent.map(([stage, s]) => el("tr", {}, el("th", { scope: "row" }, stage), el("td.num", {}, `${s.toFixed(2)} s`)))))) : null));
}
