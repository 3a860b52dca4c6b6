// Marks of an episode: sub-tasks, skills by arm, gripper events, recoveries; as lanes and as a list of words.
import { el } from "./dom.js";

const MOST_TOUCHES = 5;

export function lanesOf(facts, events, touches = []) {
  const lanes = [];
  const segments = (facts.segments ?? []).map((segment) => ({ start: segment.start, stop: segment.stop, label: segment.label }));
  if (segments.length) lanes.push({ name: "sub-tasks", spans: segments });
  const arms = new Map();
  for (const span of facts.spans ?? []) {
    const name = `${span.robot} ${span.arm}`.trim();
    if (!arms.has(name)) arms.set(name, []);
    arms.get(name).push({ start: span.start, stop: span.end, label: `${span.skill} ${span.objects.join(", ")}`, kind: span.kind || (span.success ? "" : "bad"), detail: span.success ? "" : "did not succeed" });
  }
  for (const [name, spans] of arms) lanes.push({ name, spans });
  const kinds = new Map();
  for (const event of [...events, ...(facts.events ?? [])]) {
    if (!kinds.has(event.kind)) kinds.set(event.kind, []);
    kinds.get(event.kind).push(event);
  }
  for (const [name, points] of kinds) lanes.push({ name, points });
  const touched = new Map();
  for (const touch of touches) {
    const name = touch.robot ? `touches ${touch.second}` : `${touch.first} on ${touch.second}`;
    if (!touched.has(name)) touched.set(name, []);
    touched.get(name).push({ start: touch.start, stop: touch.stop, label: `${touch.first} touches ${touch.second}`, kind: "contact" });
  }
  for (const [name, spans] of [...touched].slice(0, MOST_TOUCHES)) lanes.push({ name, spans });
  return lanes;
}

export function spanList(facts, events, clock) {
  const spans = facts.spans?.length ? facts.spans.map((span) => ({ start: span.start, stop: span.end, text: span.instruction || `${span.skill} ${span.objects.join(" ")}`, skill: span.skill, kind: span.kind || (span.success ? "" : "bad") }))
    : (facts.segments ?? []).map((segment) => ({ start: segment.start, stop: segment.stop, text: segment.label, skill: "", kind: "" }));
  const entries = spans.map((span) => {
    const node = el("li", {}, el("button.link", { type: "button", class: "num", onclick: () => clock.seek(span.start) }, `${(span.start / clock.fps).toFixed(1)} s`), " ", el("span", {}, span.text), " ", span.skill && el("span.chip", {}, span.skill),
      span.kind && el("span.chip", { class: span.kind === "recovery" ? "warn" : "bad" }, span.kind === "bad" ? "failed" : span.kind));
    return { ...span, node };
  });
  const points = events.map((event) => el("li", {}, el("button.link", { type: "button", class: "num", onclick: () => clock.seek(event.frame) }, `${(event.frame / clock.fps).toFixed(1)} s`), " ", event.label, " ", el("span.chip", {}, event.kind)));
  const node = el("div", {}, entries.length ? el("ol.spans", {}, entries.map((entry) => entry.node)) : el("p.quiet", {}, "This dataset has no sub-task marks."),
    points.length ? el("details", {}, el("summary", {}, `${points.length} events`), el("ul.spans", {}, points)) : null);
  const destroy = clock.follow(() => {
    for (const entry of entries) entry.node.classList.toggle("now", clock.frame >= entry.start && clock.frame < entry.stop);
  });
  return { node, destroy };
}
