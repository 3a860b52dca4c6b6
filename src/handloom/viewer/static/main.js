// Finds the page of the address (#/page/part/part?key=value) and shows it.
import { getJson, exported } from "./lib/api.js";
import { clear, el, toast } from "./lib/dom.js";

// Name in the address > module; each exports `show(root, { parts, query, site })`, which returns a function that closes the page.
const PAGES = {
  "": () => import("./pages/start.js"),
  task: () => import("./pages/task.js"),
  dataset: () => import("./pages/dataset.js"),
  episode: () => import("./pages/episode.js"),
  attempt: () => import("./pages/attempt.js"),
  compare: () => import("./pages/compare.js"),
  evaluation: () => import("./pages/evaluation.js"),
};

const main = document.getElementById("main");
let leave = () => {}, turn = 0;

export function route() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...parts] = path.split("/").map(decodeURIComponent);
  return { page, parts, query: new URLSearchParams(query) };
}

async function go() {
  const mine = ++turn;
  const { page, parts, query } = route();
  try {
    const site = await getJson("/api/site");
    const shown = await (PAGES[page] ?? PAGES[""])();
    if (mine !== turn) return;
    leave?.();
    leave = null;
    document.body.dataset.page = page || "start";
    tabs(site, page, parts);
    clear(main);
    const ended = await shown.show(main, { parts, query, site });
    if (mine !== turn) return ended?.();
    leave = ended;
    document.title = `${main.querySelector("h1")?.textContent ?? "Handloom"} · Handloom`;
  } catch (error) {
    if (mine !== turn) return;
    clear(main, el("section.card", { class: "fault" }, el("h1", {}, "This cannot be shown"), el("p", {}, error.message),
      el("p", {}, el("a", { href: "#/" }, "Back to the start"))));
    if (!error.status) console.warn(error.message);
  }
}

function tabs(site, page, parts) {
  const links = site.datasets.flatMap((dataset) => [[`#/dataset/${dataset.key}`, dataset.name, page === "dataset" && parts[0] === dataset.key],
    ...(dataset.kind === "evaluation" ? [[`#/evaluation/${dataset.key}`, `${dataset.name}: scenes`, page === "evaluation" && parts[0] === dataset.key]] : [])]);
  const evaluations = site.datasets.filter((dataset) => dataset.kind === "evaluation").map((dataset) => dataset.key);
  if (evaluations.length === 2) links.push([`#/evaluation/${evaluations.join("+")}`, "Compare the two", page === "evaluation" && parts[0] === evaluations.join("+")]);
  for (const task of site.tasks ?? []) links.push([`#/task/${encodeURIComponent(task)}`, task, page === "task" && parts[0] === task]);
  clear(document.getElementById("tabs"), links.slice(0, 8).map(([href, text, current]) =>
    el("a", { href, "aria-current": current ? "page" : null }, text)));
  document.getElementById("note").textContent = exported ? "exported page" : site.edit ? "editable" : "read-only";
}

function theme(next) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  const chosen = next ?? (now === "dark" ? "light" : "dark");
  document.documentElement.dataset.theme = chosen;
  try { localStorage.setItem("handloom-theme", chosen); } catch { /* Not kept then. */ }
  window.dispatchEvent(new Event("themechange"));
}

try { const kept = localStorage.getItem("handloom-theme"); if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept; } catch { /* Not kept. */ }
document.getElementById("theme").addEventListener("click", () => theme());
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, [contenteditable]") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "t" || event.key === "T") theme();
});
document.querySelector("a.skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
window.addEventListener("hashchange", go);
window.addEventListener("unhandledrejection", (event) => toast(event.reason?.message ?? String(event.reason), "bad"));
go();
