// What was opened: datasets, runs, evaluations and tasks. With only one of them, its page is shown at once.
import { el } from "../lib/dom.js";

export function show(root, { site }) {
  if (site.datasets.length === 1 && !site.tasks.length) return void location.replace(`#/dataset/${site.datasets[0].key}`);
  if (!site.datasets.length && site.tasks.length === 1) return void location.replace(`#/task/${encodeURIComponent(site.tasks[0])}`);
  const all = site.datasets.map((dataset) => dataset.key).join("+");
  root.append(el("div.stack", {},
    el("h1", {}, "Datasets, runs and tasks"),
    site.datasets.length > 1 && el("p", {}, el("a.button", { href: `#/dataset/${all}` }, `All ${site.datasets.length} side by side`)),
    el("ul.shelves", {},
      site.datasets.map((dataset) => el("li.card", {},
        el("a", { href: `#/dataset/${dataset.key}` }, dataset.name), " ", el("span.chip", {}, dataset.kind))),
      site.tasks.map((task) => el("li.card", {},
        el("a", { href: `#/task/${encodeURIComponent(task)}` }, task), " ", el("span.chip", {}, "task"))))));
  return undefined;
}
