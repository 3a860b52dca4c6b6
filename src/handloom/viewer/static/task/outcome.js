// What the expert did and how it ended: terms of the goal, plans with their candidates, the typed reason.

import { clear, el } from "../lib/dom.js";

const FATES = {
  unreachable: "out of reach", in_collision: "in collision", line_failed: "straight move not possible", not_connected: "no path",
  hold_broken: "would tilt", untried: "not needed", chosen: "chosen", given: "given", reachable: "within reach",
  candidates: "grasps", filtered: "pass the filters",
};
const STAGES = {
  sample: "no scene could be sampled", grasp: "no grasp is left", reach: "the pose cannot be reached", plan: "there is no path",
  execute: "execution failed", success: "execution finished, but the goal is not met",
};

/** The lists beside the scene. */
export class Outcome {
  constructor({ goTo, showPlan }) {
    this.goTo = goTo;
    this.showPlan = showPlan;
    this.terms = el("ul.task-terms");
    this.log = el("div.stack.task-log", {}, el("p.quiet", {}, "Run the expert to see how it plans."));
  }

  /** Show the terms of the goal: words, and whether each holds. */
  goal(terms) {
    clear(this.terms, terms.length ? terms.map(({ words, holds }) => el("li", {}, el("span.chip", {}), el("span", {}, words), el("i", { hidden: true }, String(holds))))
      : el("li", {}, el("span.quiet", {}, "The terms of each skill: no skill changes anything but the robot.")));
    this.holds(terms.map(({ holds }) => holds));
  }

  /** Show which terms hold. */
  holds(values) {
    [...this.terms.children].forEach((row, k) => {
      if (values[k] === undefined) return;
      const chip = row.firstChild;
      chip.className = `chip ${values[k] ? "good" : "bad"}`;
      chip.textContent = values[k] ? "✓ holds" : "✗ not yet";
    });
  }

  clear() {
    clear(this.log, el("p.quiet", {}, "Run the expert to see how it plans."));
  }

  begin() {
    this.now = el("p.row");
    this.plans = el("ol.task-plans");
    this.result = el("div");
    this.count = 0;
    clear(this.log, this.result, this.now, this.plans);
  }

  doing(list) {
    clear(this.now, list.map(({ arm, skill, objects }) => el("span.chip.accent", {}, `${arm}: ${skill} ${objects.join(", ")}`)));
  }

  plan(header) {
    const number = this.count;
    this.count += 1;
    const { counts } = header;
    const fates = Object.entries(counts).filter(([name]) => name !== "given" && name !== "chosen").map(([name, value]) => `${value} ${FATES[name] ?? name}`);
    this.plans.append(el("li", {}, el("button.plain", { type: "button", onclick: () => { this.goTo(header.frame); this.showPlan(number); } },
      el("span.chip", { class: header.ok ? "good" : "bad" }, header.ok ? "path" : header.status),
      el("span", {}, `${header.hands.arm}, frame ${header.frame}: `, counts.given ? `${counts.given} ${counts.given === 1 ? "pose" : "candidates"}` : "joints", fates.length ? ` (${fates.join(", ")})` : "")),
    header.reason && el("p.quiet", {}, header.reason),
    header.touches.length > 0 && el("p.quiet", {}, header.touches.join("; "))));
  }

  end({ success, failure, spans, frames, fps }) {
    clear(this.now);
    const steps = el("ol.task-spans", {}, spans.map((span) => el("li", {}, el("button.plain", { type: "button", onclick: () => this.goTo(span.start) },
      el("span.chip", { class: span.success ? "good" : "bad" }, span.success ? "done" : "failed"),
      `${span.arm}: ${span.skill} ${span.objects.join(", ")}`, el("span.quiet.num", {}, ` ${((span.end - span.start) / fps).toFixed(1)} s`)))));
    if (success) {
      clear(this.result, el("p", {}, el("span.chip.good", {}, "success"), ` in ${(frames / fps).toFixed(1)} s`), steps);
      return;
    }
    const counts = Object.entries(failure.counts).map(([name, value]) => `${value} ${FATES[name] ?? name}`);
    clear(this.result, el("div.task-failure", {},
      el("p", {}, el("span.chip.bad", {}, `${failure.stage}: ${failure.reason}`), failure.skill && ` in ${failure.skill}`),
      el("p", {}, STAGES[failure.stage] ?? ""), el("p", {}, failure.detail), counts.length > 0 && el("p.quiet", {}, counts.join(", "))), steps);
  }
}
