// Two episodes in sync: cameras side by side, both timelines, and their signals in the same plots.
import { getJson } from "../lib/api.js";
import { Clock } from "../lib/clock.js";
import { clear, el } from "../lib/dom.js";
import { lanesOf } from "../lib/marks.js";
import { player } from "../lib/player.js";
import { plots } from "../lib/plots.js";
import { timeline } from "../lib/timeline.js";
import { CameraViews } from "../lib/views.js";

export async function show(root, { parts, site }) {
  const [first, second] = [parts.slice(0, 2), parts.slice(2, 4)];
  if (second.length < 2) return choose(root, first, site);
  const path = ([source, episode]) => `/api/episodes/${encodeURIComponent(source)}/${encodeURIComponent(episode)}`;
  const [a, b] = await Promise.all([first, second].map((one) => getJson(path(one))));
  const clock = new Clock(Math.max(a.length, b.length), a.fps);
  const views = (a.length >= b.length ? [a, b] : [b, a]).map((facts) => [facts, new CameraViews(facts, clock)]);
  const of = (facts) => views.find(([one]) => one === facts)[1];
  const controls = player(clock), graphs = el("section.card", {}, el("h2", {}, "Signals"));
  const lanes = [[a, "A"], [b, "B"]].flatMap(([facts, name]) => lanesOf(facts, []).map((lane) => ({ ...lane, name: `${name} ${lane.name}` })));
  const line = timeline(clock, lanes);
  const ends = [() => controls.destroy(), () => line.destroy(), ...views.map(([, one]) => () => one.destroy())];
  const side = (facts, name) => el("section.stack", {}, el("div", {},
    el("p", {}, el("strong", {}, `${name} `), el("a", { href: `#/episode/${facts.source}/${facts.index}` }, `${facts.dataset}, episode ${facts.index}`), " ",
      facts.row.success === true && el("span.chip", { class: "good" }, "success"), facts.row.success === false && el("span.chip", { class: "bad" }, facts.row.failure_reason || "failure")),
    el("p.quiet", {}, facts.words)), el("div.views", {}, of(facts).nodes));
  root.append(el("div.stack", {}, el("h1", {}, "Two episodes in sync"), el("div.beside", { data: { count: 2 } }, side(a, "A"), side(b, "B")), el("div.card", { class: "deck" }, controls.node, line.node), graphs));
  let gone = false;
  Promise.all([first, second].map((one) => getJson(`${path(one)}/signals`))).then(([one, other]) => {
    if (gone) return;
    const host = el("div");
    clear(graphs, el("h2", {}, "Signals"), el("p.quiet", {}, "A is drawn solid, B dashed."), host);
    ends.push(plots(host, clock, one.signals, { other: other.signals }));
  }).catch((error) => graphs.append(el("p.quiet", {}, error.message)));
  return () => { gone = true; for (const end of ends) end(); };
}

// The second one is chosen from all open datasets.
async function choose(root, first, site) {
  const shelves = await Promise.all(site.datasets.map((dataset) => getJson(`/api/datasets/${dataset.key}`)));
  const rows = shelves.flatMap((shelf) => shelf.sources.flatMap((source) => source.columns.words.map((words, index) => ({ source: source.key, index, text: `${source.name} #${index} ${words} ${source.columns.failure_reason[index] ?? ""}` }))));
  const list = el("ul.picks"), input = el("input", { type: "search", placeholder: "words or number", "aria-label": "Search the second episode" });
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => !(row.source === first[0] && String(row.index) === first[1]) && words.every((word) => row.text.toLowerCase().includes(word)));
    clear(list, found.slice(0, 60).map((row) => el("li", {}, el("a", { href: `#/compare/${first.join("/")}/${row.source}/${row.index}` }, row.text))), found.length > 60 ? el("li.quiet", {}, `and ${found.length - 60} more`) : null);
  };
  input.addEventListener("input", draw);
  draw();
  root.append(el("div.stack", {}, el("h1", {}, `Compare episode ${first[1]} with which one?`), input, list));
  input.focus();
  return undefined;
}
