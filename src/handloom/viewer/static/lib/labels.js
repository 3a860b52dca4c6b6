// Labels drawn over the cameras: boxes, masks, points, traces and grasps of the current frame.
import { el } from "./dom.js";

const KINDS = ["boxes", "masks", "points", "traces", "grasps"];
const HUES = [212, 28, 145, 290, 48, 187, 340, 95, 255, 10];
const colour = (place, alpha = 1) => `hsl(${HUES[place % HUES.length]} 85% 60% / ${alpha})`;

// views: of the cameras; labels: response of the server. Returns buttons that toggle kinds, and a function that ends it.
export function labelOverlay(views, labels, clock) {
  const layers = [];
  const names = [...new Set(Object.values(labels.cameras).flatMap((camera) => (camera.boxes ?? []).flat().map(([name]) => name)))];
  const hue = (name) => { const place = names.indexOf(name); return place < 0 ? names.length : place; };
  for (const view of views) {
    const found = labels.cameras[view.camera.short];
    if (!found || view.camera.kind !== "colour") continue;
    const canvas = el("canvas.overlay", { width: 2 * view.camera.width, height: 2 * view.camera.height, "aria-hidden": "true" });
    view.node.querySelector(".picture").append(canvas);
    layers.push({ canvas, pen: canvas.getContext("2d"), found, view });
  }
  const present = KINDS.filter((kind) => layers.some((layer) => layer.found[kind]));
  const on = new Set();
  const buttons = present.map((kind) => el("button", { type: "button", "aria-pressed": "false", onclick: (event) => {
    (on.has(kind) ? on.delete(kind) : on.add(kind));
    event.currentTarget.setAttribute("aria-pressed", String(on.has(kind)));
    draw();
  } }, kind[0].toUpperCase() + kind.slice(1)));

  function draw() {
    for (const { canvas, pen, found, view } of layers) {
      pen.setTransform(2, 0, 0, 2, 0, 0);
      pen.clearRect(0, 0, view.camera.width, view.camera.height);
      canvas.hidden = !on.size;
      const of = (kind) => (on.has(kind) ? found[kind]?.[clock.frame] ?? [] : []);
      for (const [parts, lengths] of of("masks")) mask(pen, parts, lengths, view.camera.width);
      pen.lineWidth = 1.2;
      pen.font = "8px system-ui, sans-serif";
      for (const [name, left, top, right, bottom] of of("boxes")) {
        pen.strokeStyle = pen.fillStyle = colour(hue(name));
        pen.strokeRect(left, top, right - left, bottom - top);
        tag(pen, name, left, top);
      }
      for (const trace of of("traces")) {
        trace.slice(1).forEach((point, k) => {
          pen.strokeStyle = colour(1, 1 - (0.8 * k) / trace.length);
          pen.beginPath();
          pen.moveTo(...trace[k]);
          pen.lineTo(...point);
          pen.stroke();
        });
      }
      for (const [name, x, y] of of("points")) {
        pen.fillStyle = colour(4);
        pen.beginPath();
        pen.arc(x, y, 1.8, 0, 7);
        pen.fill();
        pen.fillText(name, x + 3, y - 2);
      }
      for (const corners of of("grasps")) {
        pen.strokeStyle = colour(2);
        pen.beginPath();
        for (let k = 0; k < 8; k += 2) pen.lineTo(corners[k], corners[k + 1]);
        pen.closePath();
        pen.stroke();
      }
    }
  }

  function mask(pen, parts, lengths, width) {
    let at = 0;
    parts.forEach((part, run) => {
      const length = lengths[run];
      if (part >= 0) {
        pen.fillStyle = colour(hue(labels.parts[part]), 0.5);
        for (let from = at; from < at + length;) { // A run may continue in the next row.
          const x = from % width, part_length = Math.min(width - x, at + length - from);
          pen.fillRect(x, Math.floor(from / width), part_length, 1);
          from += part_length;
        }
      }
      at += length;
    });
  }

  function tag(pen, name, x, y) {
    const wide = pen.measureText(name).width + 4;
    pen.fillRect(x, Math.max(0, y - 9), wide, 9);
    pen.fillStyle = "#10131a";
    pen.fillText(name, x + 2, Math.max(7, y - 2));
  }

  const stop = clock.follow(draw);
  return { node: present.length ? el("div.row", { role: "group", "aria-label": "Labels", class: "labels" }, el("span.quiet", {}, "Labels"), buttons) : null, destroy: stop };
}

// The labels in words.
export function labelWords(words) {
  const list = (title, texts) => (texts?.length ? el("details", {}, el("summary", {}, `${title} (${texts.length})`), el("ul", {}, texts.map((text) => el("li", {}, text)))) : null);
  if (!Object.keys(words ?? {}).length) return null;
  return el("section.card", {}, el("h2", {}, "In words"), words.scene && el("p", {}, words.scene), list("Plan", words.plan),
    list("Wordings", words.wordings?.map((entry) => entry.text)), list("Questions", words.questions?.map((entry) => `${entry.question} ${entry.answer}`)));
}
