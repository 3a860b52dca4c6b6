// The scrubber: a slider over lanes of marks (sub-tasks, skills by arm, events), all of them in step with the clock.
import { el } from "./dom.js";

// lanes: [{ name, spans: [{ start, stop, label, kind, detail }], points: [{ frame, label, kind }] }]
export function timeline(clock, lanes) {
  const slider = el("input", { type: "range", min: 0, max: clock.frames - 1, step: 1, value: 0, "aria-label": "Frame", class: "scrubber" });
  const needle = el("span.needle");
  const at = (frame) => `${(100 * frame) / Math.max(1, clock.frames - 1)}%`;
  slider.addEventListener("input", () => clock.seek(Number(slider.value)));
  const rows = lanes.filter((lane) => lane.spans?.length || lane.points?.length).map((lane) => {
    const track = el("div.track-lane");
    for (const span of lane.spans ?? []) {
      const mark = el("button.mark", { type: "button", tabIndex: -1, class: span.kind ?? "", title: `${span.label}\nframes ${span.start} to ${span.stop}${span.detail ? `\n${span.detail}` : ""}`, onclick: () => clock.seek(span.start) }, span.label);
      mark.style.left = at(span.start);
      mark.style.width = `calc(${at(span.stop - span.start)} - 1px)`;
      track.append(mark);
    }
    for (const point of lane.points ?? []) {
      const mark = el("button.point", { type: "button", tabIndex: -1, class: point.kind ?? "", title: `${point.label}, frame ${point.frame}`, "aria-label": `${point.label}, frame ${point.frame}`, onclick: () => clock.seek(point.frame) });
      mark.style.left = at(point.frame);
      track.append(mark);
    }
    return [el("span.lane-name", { class: "quiet clip", title: lane.name }, lane.name), track];
  });
  const node = el("div.timeline", {}, el("span.lane-name"), el("div.slider-lane", {}, slider), rows, el("div.needle-box", { "aria-hidden": "true" }, needle));
  const stop = clock.follow(() => {
    slider.value = clock.frame;
    slider.setAttribute("aria-valuetext", `frame ${clock.frame}, ${(clock.frame / clock.fps).toFixed(2)} s`);
    needle.style.left = at(clock.frame);
  });
  return { node, slider, destroy: stop };
}
