// Play, pause, speed and the keys of a page that has a clock.
import { el } from "./dom.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

export function player(clock) {
  const play = el("button.primary", { type: "button", onclick: () => clock.toggle() });
  const readout = el("span.num", { class: "readout" });
  const speed = el("select", { "aria-label": "Speed", onchange: () => clock.setSpeed(Number(speed.value)) }, SPEEDS.map((value) => el("option", { value, selected: value === 1 }, `${value}×`)));
  const step = (frames, text, title) => el("button", { type: "button", title, "aria-label": title, onclick: () => { clock.pause(); clock.seek(clock.frame + frames); } }, text);
  const node = el("div.player", {}, step(-1, "‹", "One frame back (←)"), play, step(1, "›", "One frame forward (→)"), readout, el("span.grow"), speed);
  const stop = clock.follow(() => {
    play.textContent = clock.playing ? "Pause" : "Play";
    readout.textContent = `${(clock.frame / clock.fps).toFixed(2)} s · frame ${clock.frame} of ${clock.frames - 1}`;
    speed.value = String(clock.speed);
  });
  const keys = (event) => {
    if (event.target.closest("input:not([type=range]), textarea, select, dialog, [contenteditable]") || event.ctrlKey || event.metaKey || event.altKey) return;
    const slider = event.target.matches?.("input[type=range]");
    const many = event.shiftKey ? 10 : 1;
    const acts = {
      " ": () => { if (event.target.closest("button, a, summary")) return false; clock.toggle(); return true; },
      k: () => clock.toggle(),
      ArrowLeft: () => { if (slider && many === 1) return false; clock.pause(); clock.seek(clock.frame - many); return true; },
      ArrowRight: () => { if (slider && many === 1) return false; clock.pause(); clock.seek(clock.frame + many); return true; },
      Home: () => clock.seek(0),
      End: () => clock.seek(clock.frames - 1),
      "[": () => clock.setSpeed(SPEEDS[Math.max(0, SPEEDS.indexOf(clock.speed) - 1)]),
      "]": () => clock.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, SPEEDS.indexOf(clock.speed) + 1)]),
    };
    if (acts[event.key] && acts[event.key]() !== false) event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  return { node, destroy() { stop(); document.removeEventListener("keydown", keys); clock.stop(); } };
}
