// The outcome of an episode: the goal and its terms; for a failure the stage, the candidate and the contact.
import { bars } from "./charts.js";
import { el } from "./dom.js";

export function outcomeCard(facts) {
  const row = facts.row ?? {};
  const failed = row.success === false || facts.failure;
  const node = el("section.card", { class: failed ? "fault" : "" }, el("h2", {}, failed ? "Why it failed" : "Success criteria"));
  if (failed) node.append(failureTable({ stage: row.failure_stage, reason: row.failure_reason, detail: row.failure_detail, ...(facts.failure ?? {}) }));
  if (failed && facts.goal?.length) node.append(el("h3", { class: "apart" }, "Success criteria"));
  if (facts.goal?.length) node.append(el("ul.goal", {}, facts.goal_words?.map((text) => el("li", {}, text)) ?? facts.goal.map((check) => el("li", {}, check.name))));
  else if (!failed) node.append(el("p.quiet", {}, row.success === true ? "The episode is marked as a success." : "This dataset has no success criteria."));
  return node;
}

export function failureTable(failure) {
  const known = { stage: "Stage", reason: "Reason", detail: "What happened", skill: "Skill", arm: "Arm", object: "Object", candidate: "Candidate", contact: "Contact", pair: "Contact", frame: "Frame" };
  const { counts, ...rest } = failure;
  const rows = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const died = Object.entries(counts ?? {});
  const tests = el("div");
  if (died.length) bars(tests, died.map(([test, count]) => [test.replaceAll("_", " "), count, { kind: "bad" }]));
  return el("div", {}, el("table", {}, el("tbody", {}, rows.map(([key, value]) => el("tr", {}, el("th", { scope: "row" }, known[key] ?? key), el("td.wrap", {}, typeof value === "object" ? JSON.stringify(value) : String(value)))))), died.length ? el("h3", {}, "Candidates refused by each test") : null, tests);
}
