// Elements from plain values. Text always becomes a text node: content of a dataset is never parsed as markup.

export function el(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const node = document.createElement(name || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.classList.add(...String(value).split(" ").filter(Boolean));
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key in node && !key.startsWith("aria") && key !== "list" && key !== "role") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) if (value !== undefined && value !== null) node.setAttribute(key, value);
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return node;
}

export function clear(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

let toastTimer = 0;
export function toast(text, kind = "") {
  const node = document.getElementById("toast");
  node.textContent = text;
  node.className = `shown ${kind}`;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { node.className = ""; }, 5000);
}

export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what}: ${text}`);
  } catch {
    toast(text); // No clipboard over plain HTTP from another machine: people copy it from here.
  }
}

export const number = (value, digits = 0) => (Number.isFinite(value) ? value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits }) : "–");
export const seconds = (value) => (Number.isFinite(value) ? (value >= 3600 ? `${number(value / 3600, 1)} h` : value >= 120 ? `${number(value / 60, 1)} min` : `${number(value, 1)} s`) : "–");
export const percent = (value, of) => (of ? `${number((100 * value) / of, value === of || value === 0 ? 0 : 1)} %` : "–");
