// One episode in the grid: a moving strip of images, its instruction and its outcome.
import { exported, address } from "./api.js";
import { el } from "./dom.js";

const ODD = 4; // Number of deviations above which an episode is called odd.

export function episodeCard({ many, chosen, onchoose }) {
  const image = new Image();
  image.alt = "";
  image.decoding = "async";
  image.draggable = false;
  const pane = el("span.pane", {}, image);
  const frame = el("span.thumb", {}, pane);
  const words = el("span.words"), facts = el("span.chips");
  const link = el("a", {}, frame, words, facts);
  const box = el("input", { type: "checkbox", title: "Choose two to compare", "aria-label": "Choose to compare" });
  const node = el("li.episode", {}, link, box);
  let row = null, wanted = null; // The image is requested once the card stays in sight.
  image.addEventListener("load", () => node.classList.add("seen"));
  image.addEventListener("error", () => node.classList.add("blind"));
  box.addEventListener("change", () => { (box.checked ? chosen.add(row) : chosen.delete(row)); onchoose(); });

  function fill(next) {
    row = next;
    node.classList.remove("seen", "blind");
    const recorded = row.index !== null;
    link.href = recorded ? `#/episode/${row.source}/${row.index}` : `#/attempt/${row.key}/${row.attempt}`;
    image.removeAttribute("src");
    wanted = recorded ? address(`/api/episodes/${row.source}/${row.index}/strip.jpg`) + (exported || !row.stamp ? "" : `?v=${row.stamp}`) : null;
    if (!recorded) node.classList.add("blind");
    pane.style.aspectRatio = String(row.aspect || 4 / 3);
    words.textContent = row.words || (recorded ? `episode ${row.index}` : "");
    words.title = row.odd >= ODD ? `${words.textContent}\n${row.because}` : words.textContent;
    box.hidden = !recorded;
    box.checked = chosen.has(row);
    facts.replaceChildren(...[
      el("span.chip", { class: "num" }, recorded ? `#${row.index}` : `attempt ${row.attempt}`),
      row.seconds !== null && el("span.chip", { class: "num" }, `${row.seconds.toFixed(1)} s`),
      row.success === true && !row.recovery && el("span.chip", { class: "good" }, "success"),
      row.success === true && row.recovery && el("span.chip", { class: "warn" }, "recovered"),
      row.success === false && el("span.chip", { class: "bad", title: row.reason ?? "" }, row.reason || "failure"),
      row.flag && el("span.chip", { class: "warn", title: row.flag.note }, "⚑ flagged"),
      many && el("span.chip", {}, row.shelf),
      row.odd >= ODD && el("span.chip", { class: "warn", title: row.because }, row.because),
    ].filter(Boolean));
  }
  function load() {
    if (wanted) image.src = wanted;
    wanted = null;
  }
  return { node, link, fill, load };
}
