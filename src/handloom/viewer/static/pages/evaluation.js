// An evaluation, or two side by side: every scene with its outcome, and success by scene factor: where does it fail?
import { getJson } from "../lib/api.js";
import { clear, el, number, percent, svg } from "../lib/dom.js";

export async function show(root, { parts }) {
  const keys = (parts[0] ?? "").split("+").filter(Boolean);
  const found = await Promise.all(keys.map((key) => getJson(`/api/evaluations/${encodeURIComponent(key)}`)));
  const same = found.length === 2 && found[0].seed === found[1].seed && found[0].task === found[1].task;
  root.append(el("div.stack", {},
    el("h1", {}, found.map((one) => one.name).join("  beside  ")),
    found.length === 2 && !same && el("p.card", {}, "The two evaluations used different scenes, so they are shown side by side, not scene by scene."),
    same ? together(found) : null,
    el("div.beside", { data: { count: found.length } }, found.map((one) => el("div.stack", {}, summary(one), outcomes(one), byFactor(one), byValue(one))))));
}

function summary(one) {
  const { result } = one;
  return el("section.card", {}, el("h2", {}, one.name),
    el("p", {}, el("strong", { class: "big num" }, percent(result.successes, result.scenes)), ` of ${number(result.scenes)} scenes, 95 % interval ${(100 * result.interval[0]).toFixed(0)} to ${(100 * result.interval[1]).toFixed(0)} %`),
    el("p.quiet", {}, `${one.task} · ${one.policy} · seed ${one.seed}`),
    result.faults ? el("p.chip", { class: "warn" }, `${result.faults} scenes ended in a program error`) : null,
    el("p.reasons", {}, Object.entries(result.failure_reasons).map(([reason, count]) => el("span.chip", { class: "bad" }, `${reason} ${count}`))));
}

const href = (one, scene) => (scene.index === null ? `#/attempt/${one.key}/${scene.attempt}` : `#/episode/${scene.source}/${scene.index}`);
const told = (scene) => `scene ${scene.attempt}: ${scene.success ? `success after ${scene.seconds.toFixed(1)} s` : `${scene.reason}, got as far as ${scene.skills.at(-1) ?? "nothing"}`}`;

function outcomes(one) {
  return el("section.card", {}, el("h2", {}, "Scenes"), el("ol.outcomes", {}, one.scenes.map((scene) =>
    el("li", {}, el("a", { href: href(one, scene), class: scene.success ? "good" : "bad", title: told(scene), "aria-label": told(scene) }, scene.success ? "✓" : "✕")))));
}

// Two numbers of the scene as a plane of points.
function byFactor(one) {
  const numbers = one.factors.filter((factor) => factor.kind === "number");
  if (!numbers.length) return null;
  const order = [...numbers].sort((a, b) => tells(one, b) - tells(one, a));
  const choice = (label, at) => el("select", { "aria-label": label }, numbers.map((factor) => el("option", { value: factor.name, selected: factor.name === at }, factor.name)));
  const first = pair(numbers, order[0].name);
  const x = choice("Across", first[0]), y = choice("Up", first[1]);
  const host = el("div");
  const draw = () => plane(host, one, numbers.find((f) => f.name === x.value), numbers.find((f) => f.name === y.value));
  for (const select of [x, y]) select.addEventListener("change", draw);
  draw();
  return el("section.card", {}, el("h2", {}, "By position and size"), el("div.row", {}, el("label", {}, "Across", x), el("label", {}, "Up", y)), host,
    el("p.quiet", {}, "Numbers with the most effect on the outcome: ", order.slice(0, 3).map((factor) => factor.name).join(", ")));
}

// An x goes with the y of the same object.
function pair(numbers, name) {
  const [axis, other] = [name.replace(/ y \[m\]$/, " x [m]"), name.replace(/ x \[m\]$/, " y [m]")];
  const has = (wanted) => numbers.some((factor) => factor.name === wanted);
  if (has(axis) && has(other) && axis !== other) return [axis, other];
  return [name, numbers.find((factor) => factor.name !== name)?.name ?? name];
}

// How far the means of successes and failures are apart, in standard deviations.
function tells(one, factor) {
  const groups = [[], []];
  one.scenes.forEach((scene, place) => { const value = factor.values[place]; if (value !== null) groups[scene.success ? 1 : 0].push(value); });
  if (groups[0].length < 2 || groups[1].length < 2) return 0;
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const spread = (list, m) => list.reduce((a, b) => a + (b - m) ** 2, 0) / list.length;
  const [a, b] = groups.map(mean);
  return Math.abs(a - b) / Math.sqrt((spread(groups[0], a) + spread(groups[1], b)) / 2 + 1e-12);
}

function plane(host, one, fx, fy) {
  const width = 420, height = 300, edge = 34;
  const range = (values) => { const known = values.filter((v) => v !== null); const low = Math.min(...known), high = Math.max(...known); return high - low < 1e-9 ? [low - 0.5, high + 0.5] : [low, high]; };
  const [x0, x1] = range(fx.values), [y0, y1] = range(fy.values);
  const px = (v) => edge + ((v - x0) / (x1 - x0)) * (width - 2 * edge), py = (v) => height - edge - ((v - y0) / (y1 - y0)) * (height - 2 * edge);
  const points = one.scenes.map((scene, place) => {
    if (fx.values[place] === null || fy.values[place] === null) return null;
    const [cx, cy] = [px(fx.values[place]), py(fy.values[place])];
    const mark = scene.success ? svg("circle", { cx, cy, r: 5, class: "good" }) : svg("path", { d: `M${cx - 4.5} ${cy - 4.5}l9 9m0 -9l-9 9`, class: "bad" });
    const link = svg("a", { href: href(one, scene), "aria-label": told(scene) }, mark);
    link.append(svg("title", {}, told(scene)));
    return link;
  });
  const text = (x, y, words, anchor = "middle") => svg("text", { x, y, "text-anchor": anchor }, words);
  clear(host, svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plane", role: "group", "aria-label": `${fx.name} and ${fy.name}` },
    svg("rect", { x: edge - 12, y: edge - 12, width: width - 2 * edge + 24, height: height - 2 * edge + 24, rx: 6, class: "frame" }), points,
    text(width / 2, height - 6, fx.name), text(edge, height - 6, x0.toPrecision(3), "start"), text(width - edge, height - 6, x1.toPrecision(3), "end"),
    text(4, 12, `${fy.name}, ${y0.toPrecision(3)} to ${y1.toPrecision(3)}`, "start")));
}

// Values such as colours and kinds: success by value, with its confidence interval.
function byValue(one) {
  const blocks = one.factors.filter((factor) => factor.kind === "value").map((factor) => {
    const groups = new Map();
    one.scenes.forEach((scene, place) => {
      const value = factor.values[place];
      if (value === null) return;
      const group = groups.get(value) ?? [0, 0];
      group[0] += scene.success ? 1 : 0;
      group[1] += 1;
      groups.set(value, group);
    });
    const rows = [...groups].sort((a, b) => a[1][0] / a[1][1] - b[1][0] / b[1][1]).map(([value, [good, all]]) => {
      const [low, high] = wilson(good, all), fill = el("span.fill"), span = el("span.interval");
      fill.style.width = `${(100 * good) / all}%`;
      span.style.left = `${100 * low}%`;
      span.style.width = `${100 * (high - low)}%`;
      return el("div.bar", { class: "good", title: `${good} of ${all}, 95 % interval ${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)} %` }, el("span.clip", {}, String(value)), el("span.track", { class: "with-interval" }, fill, span), el("span.num", {}, `${good}/${all}`));
    });
    return el("div", {}, el("h3", {}, factor.name), rows);
  });
  return blocks.length ? el("section.card", {}, el("h2", {}, "By kind and colour"), el("div.values", {}, blocks)) : null;
}

function wilson(good, all) {
  const z = 1.96, rate = good / all, middle = rate + (z * z) / (2 * all), spread = z * Math.sqrt((rate * (1 - rate)) / all + (z * z) / (4 * all * all));
  return [(middle - spread) / (1 + (z * z) / all), (middle + spread) / (1 + (z * z) / all)].map((v) => Math.max(0, Math.min(1, v)));
}

// The same scenes tried by two policies: which one solved which.
function together([a, b]) {
  const others = new Map(b.scenes.map((scene) => [scene.attempt, scene]));
  const both = a.scenes.filter((scene) => others.has(scene.attempt)).map((scene) => [scene, others.get(scene.attempt)]);
  const cells = [["both", (x, y) => x && y], [`only ${a.name}`, (x, y) => x && !y], [`only ${b.name}`, (x, y) => !x && y], ["neither", (x, y) => !x && !y]];
  return el("section.card", {}, el("h2", {}, "The same scenes"), el("p.quiet", {}, "Click a scene to open both episodes in sync."), cells.map(([name, holds]) => {
    const scenes = both.filter(([x, y]) => holds(x.success, y.success));
    return el("div.same", {}, el("strong", {}, `${name}: ${scenes.length}`), el("ol.outcomes", {}, scenes.map(([x, y]) => {
      const watch = x.index !== null && y.index !== null;
      return el("li", {}, el("a", { href: watch ? `#/compare/${x.source}/${x.index}/${y.source}/${y.index}` : href(x.success ? b : a, x.success ? y : x), class: x.success && y.success ? "good" : x.success || y.success ? "warn" : "bad", title: `${told(x)}\n${told(y)}` }, String(x.attempt)));
    })));
  }));
}
