// A dataset, a run or several of them: funnel, charts, and a grid of all episodes to search, filter and sort.
import { getJson } from "../lib/api.js";
import { bars, histogram } from "../lib/charts.js";
import { clear, el, number, percent, seconds } from "../lib/dom.js";
import { VirtualGrid } from "../lib/grid.js";
import { FIELDS, Filter } from "../lib/filter.js";
import { episodeCard } from "../lib/card.js";
import { liveCard } from "../lib/live.js";

const SORTS = [["place", "Order"], ["seconds", "Length"], ["success", "Outcome"], ["reason", "Failure reason"], ["words", "Words"], ["task", "Task"], ["robot", "Robot"], ["seed", "Seed"], ["attempt", "Attempt"], ["flag", "Flag"], ["odd", "Oddness"]];
const MOST_BARS = 8;

export async function show(root, { parts, query, site }) {
  const keys = (parts[0] ?? "").split("+").filter(Boolean);
  let shelves = await Promise.all(keys.map((key) => getJson(`/api/datasets/${encodeURIComponent(key)}`)));
  let rows = rowsOf(shelves);
  const filter = new Filter(query);
  const chosen = new Set();
  const summary = el("div.facts"), charts = el("div.charts"), host = el("div.grid"), count = el("p", { role: "status", class: "quiet" });
  const compare = el("a.button", { class: "primary", hidden: true });

  const grid = new VirtualGrid(host, {
    make: () => episodeCard({ many: shelves.length > 1, chosen, onchoose: () => offer() }),
    height: 232, least: 180, label: "Episodes",
  });
  const controls = toolbar();
  root.append(el("div.stack", {},
    el("div.row", {}, el("h1", { class: "grow" }, shelves.map((shelf) => shelf.name).join("  ·  ")),
      shelves.filter((shelf) => shelf.run).map((shelf) => el("a.button", { href: `#/evaluation/${shelf.key}` }, shelves.length > 1 ? `Where ${shelf.name} fails` : "Where it fails"))),
    summary, charts, controls.node, el("div.row", {}, count, compare), host));

  function offer() {
    const two = [...chosen];
    compare.hidden = two.length !== 2;
    if (two.length === 2) { compare.href = `#/compare/${two.map((row) => `${row.source}/${row.index}`).join("/")}`; compare.textContent = "Compare the two episodes"; }
  }

  function update({ keep = true } = {}) {
    const shown = filter.apply(rows);
    grid.set(shown);
    const long = shown.reduce((sum, row) => sum + (row.seconds || 0), 0);
    count.textContent = `${number(shown.length)} of ${number(rows.length)} episodes, ${seconds(long)}${filter.active ? "; " : ""}`;
    if (filter.active) count.append(el("button.link", { type: "button", onclick: () => { filter.reset(); controls.fill(); update(); } }, "show all"));
    drawCharts();
    if (keep) history.replaceState(null, "", `#/dataset/${keys.join("+")}${filter.text() ? `?${filter.text()}` : ""}`);
  }

  function drawCharts() {
    const kept = filter.apply(rows, { without: ["seconds"] });
    const set = (changes) => { filter.set(changes); controls.fill(); update(); };
    const toggled = (key, value) => () => set({ [key]: filter.values[key] === value ? "" : value });
    const blocks = [];
    for (const shelf of shelves) {
      if (!shelf.run) continue;
      const funnel = Object.entries(shelf.run.funnel);
      const block = el("div");
      bars(block, funnel.map(([stage, left], place) => [stage, left, { title: place ? `${funnel[place - 1][1] - left} attempts ended here` : "all attempts", kind: stage === "success" ? "good" : "",
        on: place && funnel[place - 1][1] > left ? toggled("stage", stage) : null, pressed: filter.values.stage === stage }]));
      blocks.push(card(shelves.length > 1 ? `Funnel, ${shelf.name}` : "Funnel", block));
    }
    const by = (title, key, kind = "") => {
      const counts = new Map();
      for (const row of rows) if (row[key]) counts.set(row[key], (counts.get(row[key]) ?? 0) + 1);
      if (counts.size < (kind ? 1 : 2)) return;
      const sorted = [...counts].sort((a, b) => b[1] - a[1]);
      const block = el("div");
      bars(block, sorted.slice(0, MOST_BARS).map(([value, n]) => [value, n, { kind, on: toggled(key, value), pressed: filter.values[key] === value }]));
      if (sorted.length > MOST_BARS) block.append(el("p.quiet", {}, `and ${sorted.length - MOST_BARS} more`));
      blocks.push(card(title, block));
    };
    for (const shelf of shelves) {
      const spent = Object.entries(shelf.run?.worker_seconds ?? {}), made = (shelf.run?.robot_hours ?? 0) * 3600;
      if (!spent.length || !made || (shelves.length > 1 && !shelf.run.running)) continue;
      const block = el("div");
      bars(block, spent.map(([stage, s]) => [stage, (1000 * s) / made, {}]));
      block.append(el("p.quiet", {}, "ms of computing per second of demonstration"));
      blocks.push(card(shelves.length > 1 ? `Cost by stage, ${shelf.name}` : "Cost by stage", block));
    }
    by("Failure reasons", "reason", "bad");
    if (shelves.length > 1) by("Datasets", "shelf");
    by("Tasks", "task");
    by("Robots", "robot");
    const lengths = el("div");
    const range = filter.range("seconds");
    histogram(lengths, kept.map((row) => row.seconds), { unit: "s", label: "Length", chosen: range, pick: ([low, high]) => set(range ? { min: "", max: "" } : { min: low.toFixed(2), max: high.toFixed(2) }) });
    blocks.push(card("Length", lengths));
    clear(charts, blocks);
  }

  function drawSummary() {
    const recorded = rows.filter((row) => row.index !== null);
    const good = rows.filter((row) => row.success === true).length, judged = rows.filter((row) => row.success !== null).length;
    const attempts = shelves.reduce((sum, shelf) => sum + (shelf.run?.attempts ?? 0), 0);
    const flagged = rows.filter((row) => row.flag).length;
    const cameras = new Set(shelves.flatMap((shelf) => shelf.sources.flatMap((source) => source.cameras)));
    clear(summary,
      fact("episodes", number(recorded.length)), fact("recorded", seconds(recorded.reduce((sum, row) => sum + row.seconds, 0))),
      attempts ? fact("attempts", number(attempts)) : null, judged ? fact("succeeded", percent(good, attempts || judged)) : null,
      fact("cameras", number(cameras.size)), flagged ? fact("flagged", number(flagged)) : null,
      shelves.filter((shelf) => shelf.run?.running).map((shelf) => liveCard(shelf)));
  }

  function toolbar() {
    const node = el("form.toolbar", { role: "search", "aria-label": "Filter episodes", onsubmit: (event) => event.preventDefault() });
    const inputs = {};
    const changed = (key) => async (event) => {
      filter.set({ [key]: event.target.value });
      if (key === "sort" && event.target.value === "odd") { filter.set({ down: "1" }); fill(); await rate(); }
      update();
    };
    inputs.q = el("input", { type: "search", placeholder: "words, reason, #12 …", "aria-label": "Search", class: "wide", oninput: changed("q") });
    node.append(label("Search", inputs.q));
    for (const [key, name] of FIELDS) {
      inputs[key] = el("select", { onchange: changed(key) });
      node.append(label(name, inputs[key]));
    }
    for (const [key, name] of [["min", "Shortest [s]"], ["max", "Longest [s]"]]) {
      inputs[key] = el("input", { type: "number", min: "0", step: "any", class: "short", oninput: changed(key) });
      node.append(label(name, inputs[key]));
    }
    inputs.sort = el("select", { onchange: changed("sort") }, SORTS.map(([key, name]) => el("option", { value: key }, name)));
    inputs.down = el("button", { type: "button", title: "Reverse the order", "aria-label": "Descending", onclick: () => { filter.set({ down: filter.values.down ? "" : "1" }); fill(); update(); } });
    node.append(label("Sort by", el("span.row", { class: "tight" }, inputs.sort, inputs.down)));
    function fill() {
      for (const [key] of FIELDS) {
        const values = filter.choices(rows, key);
        clear(inputs[key], el("option", { value: "" }, "all"), values.map(([value, text]) => el("option", { value }, text)));
        inputs[key].parentElement.hidden = values.length < 2 && !filter.values[key];
      }
      for (const [key, input] of Object.entries(inputs)) if (key !== "down") input.value = filter.values[key] || (key === "sort" ? "place" : "");
      inputs.down.textContent = filter.values.down ? "↓" : "↑";
      inputs.down.setAttribute("aria-pressed", String(Boolean(filter.values.down)));
    }
    fill();
    return { node, fill };
  }

  // How odd each episode is compared with the others is requested only when needed.
  async function rate() {
    const found = Object.assign({}, ...(await Promise.all(keys.map((key) => getJson(`/api/datasets/${encodeURIComponent(key)}/oddness`)))));
    for (const row of rows) { row.odd = found[row.source]?.scores[row.index] ?? null; row.because = found[row.source]?.because[row.index] ?? ""; }
  }

  if (filter.values.sort === "odd") await rate();
  drawSummary();
  update({ keep: false });
  const restore = Number(sessionStorage.getItem(`scroll ${location.hash}`)) || 0;
  if (restore) { window.scrollTo(0, restore); grid.draw(); }

  // A run in progress is polled every few seconds.
  let timer = 0;
  const poll = async () => {
    if (!shelves.some((shelf) => shelf.run?.running)) return;
    try {
      const fresh = await Promise.all(keys.map((key) => getJson(`/api/datasets/${encodeURIComponent(key)}`)));
      const changed = JSON.stringify(fresh.map((s) => [s.run?.attempts, s.sources.map((x) => x.count)])) !== JSON.stringify(shelves.map((s) => [s.run?.attempts, s.sources.map((x) => x.count)]));
      shelves = fresh;
      if (changed) { rows = rowsOf(shelves); controls.fill(); update(); }
      drawSummary();
    } catch { /* The next time. */ }
    timer = setTimeout(poll, 2000);
  };
  if (site && shelves.some((shelf) => shelf.run?.running)) timer = setTimeout(poll, 2000);
  return () => {
    try { sessionStorage.setItem(`scroll ${`#/dataset/${keys.join("+")}${filter.text() ? `?${filter.text()}` : ""}`}`, String(window.scrollY)); } catch { /* Not kept. */ }
    clearTimeout(timer);
    grid.destroy();
  };
}

function rowsOf(shelves) {
  const rows = [];
  for (const shelf of shelves) {
    for (const source of shelf.sources) {
      const c = source.columns, flags = new Map(source.flags ?? []);
      for (let index = 0; index < source.count; index += 1) {
        rows.push({ place: rows.length, shelf: shelf.name, source: source.key, index, words: c.words[index], seconds: c.length[index] / source.fps, length: c.length[index],
          task: c.task_name[index], robot: c.robot[index], success: c.success[index], reason: c.failure_reason[index], stage: c.failure_stage[index],
          seed: c.seed[index], attempt: c.attempt_index[index], recovery: c.recovery[index], flag: flags.get(index) ?? null, stamp: source.stamp, aspect: source.aspect });
      }
    }
    for (const lost of shelf.attempts ?? []) {
      rows.push({ place: rows.length, shelf: shelf.name, source: null, key: shelf.key, index: null, words: lost.detail, seconds: null, length: null, task: shelf.run?.task, robot: null,
        success: false, reason: lost.reason, stage: lost.stage, seed: shelf.run?.seed, attempt: lost.attempt, recovery: null, flag: null });
    }
  }
  return rows;
}

function fact(name, value) { return el("div.fact", {}, el("strong", { class: "num" }, value), el("span.quiet", {}, name)); }
function card(title, ...content) { return el("section.card", {}, el("h2", {}, title), content); }
function label(name, input) { return el("label", {}, name, input); }
