// Plots of the numbers of an episode in step with the clock: one panel per feature, a line at the current frame.
import uPlot from "../vendor/uPlot.min.js";
import { clear, el } from "./dom.js";

const colour = (place) => getComputedStyle(document.documentElement).getPropertyValue(`--series-${(place % 8) + 1}`).trim();
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const HEIGHT = 170;

// signals: [{ name, names, values }]; other: those of a second episode, drawn dashed.
export function plots(host, clock, signals, { other = null, shown = null } = {}) {
  const key = "handloom-plots";
  let kept = [];
  try { kept = JSON.parse(localStorage.getItem(key) ?? "[]"); } catch { /* The default. */ }
  const usual = signals.filter((signal) => ["action", "observation.state", "observation.gripper_width"].includes(signal.name)).map((signal) => signal.name);
  const open = new Set(shown ?? (kept.length && kept.some((name) => signals.some((s) => s.name === name)) ? kept : usual.length ? usual : signals.slice(0, 2).map((s) => s.name)));
  const panels = new Map();
  const list = el("div.panels"), boxes = el("div.row", { role: "group", "aria-label": "Plots" });
  clear(host, boxes, list);

  for (const signal of signals) {
    boxes.append(el("button", { type: "button", "aria-pressed": String(open.has(signal.name)), onclick: (event) => {
      (open.has(signal.name) ? open.delete(signal.name) : open.add(signal.name));
      event.currentTarget.setAttribute("aria-pressed", String(open.has(signal.name)));
      try { localStorage.setItem(key, JSON.stringify([...open])); } catch { /* Not kept. */ }
      draw();
    } }, signal.name));
  }

  const line = { hooks: { draw: [(plot) => {
    const x = Math.round(plot.valToPos(clock.frame / clock.fps, "x", true));
    plot.ctx.save();
    plot.ctx.strokeStyle = css("--text");
    plot.ctx.lineWidth = devicePixelRatio;
    plot.ctx.beginPath();
    plot.ctx.moveTo(x, plot.bbox.top);
    plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    plot.ctx.stroke();
    plot.ctx.restore();
  }] } };

  function panel(signal) {
    const twin = other?.find((entry) => entry.name === signal.name);
    const length = Math.max(signal.values[0]?.length ?? 0, twin?.values[0]?.length ?? 0);
    const fill = (values) => (values.length < length ? [...values, ...new Array(length - values.length).fill(null)] : values);
    const data = [Array.from({ length }, (_, frame) => frame / clock.fps), ...signal.values.map(fill), ...(twin?.values ?? []).map(fill)];
    const series = [{ label: "s", value: (_, v) => (v === null ? "" : v.toFixed(2)) }];
    const one = (name, place, dash) => ({ label: name || signal.name, stroke: colour(place), width: 1.5, points: { show: false }, dash, value: (_, v) => (v === null || v === undefined ? "" : v.toPrecision(4)) });
    signal.names.forEach((name, place) => series.push(one(name, place)));
    twin?.names.forEach((name, place) => series.push(one(`${name || signal.name} (second)`, place, [5, 4])));
    const node = el("section.plot", {}, el("h3", {}, signal.name));
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line") }, font: "11px system-ui" };
    const plot = new uPlot({ width: Math.max(200, list.clientWidth), height: HEIGHT, series, plugins: [line], legend: { live: true },
      scales: { x: { time: false } }, axes: [{ ...axis, space: 60 }, { ...axis, size: 56 }],
      cursor: { drag: { x: false, y: false }, sync: { key: "episode" }, points: { size: 5 } } }, data, node);
    plot.over.addEventListener("pointerdown", (event) => {
      const move = (moved) => clock.seek(plot.posToVal(moved.clientX - plot.over.getBoundingClientRect().left, "x") * clock.fps);
      move(event);
      const end = () => { window.removeEventListener("pointermove", move); window.removeEventListener("pointerup", end); };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", end);
    });
    return { node, plot };
  }

  // The legend shows the values at the current frame unless the mouse points at another.
  function follow(plot) {
    plot.redraw(false, false);
    // Once it is drawn, which empties the legend.
    setTimeout(() => { if (!(plot.cursor.left >= 0)) plot.setLegend({ idx: Math.min(clock.frame, plot.data[0].length - 1) }, false); });
  }

  function draw() {
    for (const [name, { node, plot }] of panels) if (!open.has(name)) { plot.destroy(); node.remove(); panels.delete(name); }
    for (const signal of signals) {
      if (!open.has(signal.name) || panels.has(signal.name)) continue;
      panels.set(signal.name, panel(signal));
    }
    for (const { plot } of panels.values()) follow(plot);
    list.replaceChildren(...signals.filter((signal) => panels.has(signal.name)).map((signal) => panels.get(signal.name).node));
    resize();
  }

  function resize() {
    const columns = list.clientWidth > 900 && panels.size > 1 ? 2 : 1;
    list.dataset.columns = columns;
    const width = Math.max(200, Math.floor((list.clientWidth - 16 * (columns - 1)) / columns) - 2);
    for (const { plot } of panels.values()) if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
  }

  const again = () => { for (const { node, plot } of panels.values()) { plot.destroy(); node.remove(); } panels.clear(); draw(); };
  const observer = new ResizeObserver(() => resize());
  observer.observe(list);
  window.addEventListener("themechange", again);
  draw();
  const stop = clock.follow(() => { for (const { plot } of panels.values()) follow(plot); });
  return () => {
    stop();
    observer.disconnect();
    window.removeEventListener("themechange", again);
    for (const { plot } of panels.values()) plot.destroy();
  };
}
