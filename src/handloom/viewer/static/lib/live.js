// Progress of a run.
import { el, number, percent, seconds } from "./dom.js";

export function liveCard(shelf) {
  const run = shelf.run;
  const parts = [
    run.wanted ? `${number(run.attempts)} attempts, ${number(run.wanted)} wanted` : `${number(run.attempts)} attempts`, `${percent(run.episodes, run.attempts)} succeeded`,
    run.attempts_per_hour ? `${number(run.attempts_per_hour)} attempts per hour` : null,
    Number.isFinite(run.seconds_left) ? `${seconds(run.seconds_left)} left` : null,
    run.workers ? `${run.workers} workers` : null,
  ].filter(Boolean);
  return el("div.fact", { class: "live" }, el("strong", {}, el("i.pulse"), ` ${shelf.name} is running`), el("span.quiet", {}, parts.join(" · ")));
}
