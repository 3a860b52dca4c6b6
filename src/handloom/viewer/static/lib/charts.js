// Bars and histograms; a click on one filters.
import { clear, el, number, svg } from "./dom.js";

// rows: [[label, count, { kind, title, on }]]; widths are shares of the largest.
export function bars(host, rows, { total = Math.max(1, ...rows.map(([, count]) => count)), format = (v) => number(v) } = {}) {
  clear(host, rows.map(([label, count, more = {}]) => {
    const fill = el("span.fill");
    fill.style.width = `${(100 * count) / Math.max(total, 1e-9)}%`;
    const name = more.on
      ? el("button.link", { type: "button", class: "clip", title: more.title ?? label, "aria-pressed": String(Boolean(more.pressed)), onclick: more.on }, label)
      : el("span.clip", { title: more.title ?? label }, label);
    return el("div.bar", { class: more.kind ?? "" }, name, el("span.track", {}, fill), el("span.num", {}, format(count)));
  }));
}

// Counts of values in equal bins as an SVG that fills its host; chosen is a pair of values, pick receives those of a bin.
export function histogram(host, values, { bins = 24, chosen = null, pick = null, unit = "", label = "" } = {}) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return clear(host, el("p.quiet", {}, "nothing to show"));
  let low = Infinity, high = -Infinity;
  for (const value of finite) { if (value < low) low = value; if (value > high) high = value; }
  if (high - low < 1e-9) { low -= 0.5; high += 0.5; }
  const counts = new Array(bins).fill(0);
  for (const value of finite) counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))] += 1;
  const most = Math.max(...counts), width = 300, height = 92, step = width / bins;
  const edge = (bin) => low + ((high - low) * bin) / bins;
  const shapes = counts.map((count, bin) => {
    const tall = count ? Math.max(2, (count / most) * (height - 4)) : 0;
    const inside = !chosen || (edge(bin + 1) > chosen[0] && edge(bin) < chosen[1]);
    const bar = svg("rect", { x: bin * step + 0.5, y: height - tall, width: step - 1, height: tall, class: inside ? "on" : "off" });
    bar.append(svg("title", {}, `${edge(bin).toFixed(1)} to ${edge(bin + 1).toFixed(1)} ${unit}: ${count}`));
    const target = svg("rect", { x: bin * step, y: 0, width: step, height, class: "target" });
    if (pick && count) target.addEventListener("click", () => pick([edge(bin), edge(bin + 1)]));
    return [bar, target];
  });
  return clear(host, svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img", preserveAspectRatio: "none", "aria-label": `${label}: ${finite.length} values from ${low.toFixed(1)} to ${high.toFixed(1)} ${unit}` }, shapes),
    el("div.axis", { class: "num quiet" }, el("span", {}, `${low.toFixed(1)} ${unit}`), el("span", {}, `${high.toFixed(1)} ${unit}`)));
}
