// One episode: cameras, 3D view, marks and plots in sync, its outcome, and actions.
import { exported, getJson, post } from "../lib/api.js";
import { Clock } from "../lib/clock.js";
import { clear, copy, el, toast } from "../lib/dom.js";
import { flagButton } from "../lib/flag.js";
import { labelOverlay, labelWords } from "../lib/labels.js";
import { lanesOf, spanList } from "../lib/marks.js";
import { outcomeCard } from "../lib/outcome.js";
import { player } from "../lib/player.js";
import { plots } from "../lib/plots.js";
import { timeline } from "../lib/timeline.js";
import { CameraViews } from "../lib/views.js";

// Further panels beside the cameras, for episodes with an archive: name > module with `mountScene`.
const PANELS = { scene3d: () => import("../scene3d/episode_scene.js") };

export async function show(root, { parts, query, site }) {
  const [source, episode] = parts;
  const base = `/api/episodes/${encodeURIComponent(source)}/${encodeURIComponent(episode)}`;
  const facts = await getJson(base);
  const clock = new Clock(facts.length, facts.fps);
  const ends = [];
  const views = new CameraViews(facts, clock);
  const controls = player(clock);
  ends.push(() => views.destroy(), () => controls.destroy());

  const stage = el("div.views", {}, views.nodes);
  const marks = el("div"), spans = el("section.card"), graphs = el("section.card", {}, el("h2", {}, "Signals"), el("p.quiet", {}, "Loading …"));
  const tools = buttons(facts, site, () => panel);
  let panel = null;

  root.append(el("div.stack", {},
    heading(facts),
    el("div.episode-page", {},
      el("div.stack", {}, stage, el("div.card", { class: "deck" }, controls.node, marks)),
      el("aside.stack", {}, outcomeCard(facts), tools, spans, factsCard(facts))),
    graphs));

  let events = [], touches = [];
  const drawMarks = () => {
    const line = timeline(clock, lanesOf(facts, events, touches));
    clear(marks, line.node);
    ends.push(line.destroy);
    const list = spanList(facts, events, clock);
    clear(spans, el("h2", {}, "Timeline"), list.node);
    ends.push(list.destroy);
  };
  drawMarks();

  let gone = false;
  getJson(`${base}/signals`).then((found) => {
    if (gone) return;
    events = found.events;
    drawMarks();
    clear(graphs, el("h2", {}, "Signals"));
    const host = el("div");
    graphs.append(host);
    if (found.signals.length) ends.push(plots(host, clock, found.signals));
    else host.append(el("p.quiet", {}, "This dataset has no numeric columns."));
  }).catch((error) => { if (!gone) clear(graphs, el("h2", {}, "Signals"), el("p", { class: "quiet" }, error.message)); });

  if (facts.has_labels) {
    getJson(`${base}/labels`).then((labels) => {
      if (gone) return;
      const overlay = labelOverlay(views.views, labels, clock);
      if (overlay.node) controls.node.after(overlay.node);
      ends.push(overlay.destroy);
      const said = labelWords(labels.words);
      if (said) spans.after(said);
    }).catch((error) => { if (!gone) toast(error.message, "bad"); });
  }
  if (facts.has_archive && !exported) {
    getJson(`${base}/contacts`).then((found) => { if (!gone && found.touches.length) { touches = found.touches; drawMarks(); } }).catch(() => {}); // Without these marks.
    for (const load of Object.values(PANELS)) {
      const host = el("figure.view", { class: "scene3d" });
      stage.append(host);
      load().then((module) => module.mountScene(host, { source, episode: facts.index, clock, facts })).then((mounted) => {
        if (gone) return mounted.destroy();
        panel = mounted;
        ends.push(() => mounted.destroy());
        return undefined;
      }).catch((error) => { if (!gone) clear(host, el("p.quiet", {}, error.message)); });
    }
  }

  const keys = (event) => {
    if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "n" && facts.index + 1 < facts.count) location.hash = `#/episode/${source}/${facts.index + 1}`;
    if (event.key === "p" && facts.index > 0) location.hash = `#/episode/${source}/${facts.index - 1}`;
  };
  document.addEventListener("keydown", keys);
  ends.push(() => document.removeEventListener("keydown", keys));
  const start = Number(query.get("frame"));
  if (start > 0) clock.seek(start);
  window.scrollTo(0, 0);
  return () => { gone = true; for (const end of ends) end(); };
}

function heading(facts) {
  const to = (index, text, title) => (index < 0 || index >= facts.count ? el("span.button", { "aria-disabled": "true", class: "off" }, text)
    : el("a.button", { href: `#/episode/${facts.source}/${index}`, title, "aria-label": title }, text));
  const row = facts.row;
  return el("div.heading", {},
    el("div.row", {}, el("a", { href: `#/dataset/${facts.shelf}` }, facts.dataset), el("span.quiet", {}, "›"), el("span.num", {}, `episode ${facts.index} of ${facts.count}`), el("span.grow"),
      to(facts.index - 1, "‹ previous", "Previous episode (P)"), to(facts.index + 1, "next ›", "Next episode (N)")),
    el("h1", {}, facts.words || `Episode ${facts.index}`),
    el("div.row", {},
      row.success === true && el("span.chip", { class: row.recovery ? "warn" : "good" }, row.recovery ? "recovered" : "success"),
      row.success === false && el("span.chip", { class: "bad" }, row.failure_reason || "failure"),
      row.task_name && el("span.chip", {}, row.task_name), row.robot && el("span.chip", {}, row.robot),
      row.seed !== undefined && row.seed !== null && el("span.chip", { class: "num" }, `seed ${row.seed}`),
      row.attempt_index !== undefined && row.attempt_index !== null && el("span.chip", { class: "num" }, `attempt ${row.attempt_index}`),
      el("span.chip", { class: "num" }, `${(facts.length / facts.fps).toFixed(2)} s at ${facts.fps} Hz`)));
}

function buttons(facts, site, panel) {
  const node = el("section.card", { class: "tools" });
  const told = el("p", { role: "status" });
  if (facts.commands?.make) node.append(el("button", { type: "button", title: facts.commands.make, onclick: () => copy(facts.commands.make, "Copied the command that reproduces exactly this episode") }, "Copy the command to reproduce it"));
  if (facts.has_archive && !exported) {
    node.append(el("button", { type: "button", onclick: async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      told.textContent = "Replaying …";
      try {
        const found = await post(`/api/episodes/${facts.source}/${facts.index}/verify`);
        told.textContent = found.text;
        told.className = found.good ? "chip good" : "chip bad";
      } catch (error) { told.textContent = error.message; } finally { button.disabled = false; }
    } }, "Verify this episode"));
    if (Object.keys(PANELS).length) {
      node.append(el("button", { type: "button", onclick: async () => {
        const view = panel();
        if (!view) return toast("The 3D view is not ready yet");
        if (view.draw) return view.draw();
        return undefined;
      } }, "Render from this angle"));
    }
  }
  if (!exported) node.append(flagButton(facts, site));
  node.append(el("a.button", { href: `#/compare/${facts.source}/${facts.index}` }, "Compare with another"));
  node.append(told);
  return node;
}

function factsCard(facts) {
  const rows = Object.entries(facts.row).filter(([key, value]) => value !== null && key !== "segments" && key !== "tasks");
  return el("details.card", {}, el("summary", {}, "All columns of the episode"),
    el("table", {}, el("tbody", {}, rows.map(([key, value]) => el("tr", {}, el("th", { scope: "row" }, key), el("td.mono", { class: "wrap" }, typeof value === "object" ? JSON.stringify(value) : String(value)))))));
}
