// A task: sample scenes, edit the file, run the expert and watch it plan.

import { getJson, post } from "../lib/api.js";
import { Clock } from "../lib/clock.js";
import { clear, copy, el, toast } from "../lib/dom.js";
import { layerSwitch } from "../scene3d/episode_scene.js";
import { Editor } from "../task/editor.js";
import { Outcome } from "../task/outcome.js";
import { events } from "../task/stream.js";
import { LAYERS, TaskScene } from "../task/task_scene.js";

export async function show(root, { parts, query }) {
  const { tasks } = await getJson("/api/tasks");
  const key = (tasks.find((task) => task.name === parts[0]) ?? { key: parts[0] || tasks[0].key }).key;
  const task = await getJson(`/api/tasks/${encodeURIComponent(key)}`);
  const page = new TaskPage(task, tasks, Number(query.get("seed")) || 0);
  root.append(page.node);
  page.begin();
  return () => page.end();
}

class TaskPage {
  constructor(task, tasks, seed) {
    this.task = task;
    this.path = `/api/tasks/${encodeURIComponent(task.key)}`;
    this.saved = task.text;
    this.jobs = {};
    this.frames = [];
    this.clock = null;
    this._build(tasks, seed);
  }

  _build(tasks, seed) {
    const choose = el("select", { "aria-label": "Task", onchange: (event) => { location.hash = `#/task/${encodeURIComponent(event.target.value)}`; } },
      tasks.map(({ key, name, own }) => el("option", { value: name, selected: key === this.task.key }, own ? `${name} (yours)` : name)));
    this.seed = el("input", { type: "number", min: 0, max: 2147483647, step: 1, value: seed, "aria-label": "Seed", onchange: () => this.sample() });
    this.status = el("span.chip", { role: "status" }, "Starting …");
    this.stopButton = el("button", { type: "button", hidden: true, onclick: () => this.cancel() }, "Stop");
    this.runButton = el("button.primary", { type: "button", onclick: () => this.run(), title: "Let the expert perform the task in this scene (Ctrl+Enter)" }, "Run the expert");
    this.words = el("p.task-words.quiet");
    const bar = el("div.task-bar.row", {},
      el("h1.clip", {}, this.task.name), choose,
      el("label.task-seed", {}, el("span", {}, "Scene"), el("span.row", {},
        el("button", { type: "button", onclick: () => this._step(-1), title: "Previous scene", "aria-label": "Previous scene" }, "‹"), this.seed,
        el("button", { type: "button", onclick: () => this._step(1), title: "Next scene", "aria-label": "Next scene" }, "›"))),
      this.runButton, this.stopButton, this.status);

    this.editor = new Editor(this.task.text, {
      onchange: () => this.changed(), onsave: () => this.save(),
      complete: (text, place) => post(`${this.path}/complete`, { text, place }),
    });
    this.remarks = el("ul.task-remarks", { "aria-label": "Mistakes and notes" });
    this.saveButton = el("button", { type: "button", disabled: true, onclick: () => this.save(), title: this.task.writable ? "Save (Ctrl+S)" : "handloom view FILE --edit lets this page write your own files" }, "Save");
    const editor = el("section.card.task-editor", { "aria-label": "Editor" },
      el("div.row", {}, el("h2.grow.clip", {}, this.task.file), el("button", { type: "button", onclick: () => this.check({ deep: true }), title: "Also check sampled scenes, like handloom check" }, "Check"),
        el("button", { type: "button", onclick: () => copy(this.editor.text, "Copied") }, "Copy"), this.saveButton),
      this.editor.node, this.remarks);

    this.place = el("div.scene3d-place");
    this.viewpoint = el("select", { "aria-label": "Viewpoint", onchange: () => this.scene?.lookThrough(this.viewpoint.value || null) }, el("option", { value: "" }, "Orbit"));
    const home = el("button", { type: "button", onclick: () => { this.viewpoint.value = ""; this.scene?.lookThrough(null); this.scene?.view.home(); } }, "Reset view");
    const layers = Object.entries(LAYERS).map(([layer, [words, color, shown]]) => layerSwitch(words, color, shown, (on) => this._layer(layer, on)));
    this.scrubber = el("input.grow", { type: "range", min: 0, max: 0, value: 0, disabled: true, "aria-label": "Frame", oninput: () => this._seek(Number(this.scrubber.value)) });
    this.playButton = el("button", { type: "button", disabled: true, onclick: () => this.clock?.toggle(), "aria-label": "Play or pause" }, "▶");
    this.time = el("span.num.quiet", {}, "");
    const view = el("section.card.task-view", { "aria-label": "Scene" }, this.place,
      el("div.row", {}, this.playButton, this.scrubber, this.time),
      el("div.scene3d-controls.row", {}, this.viewpoint, home, layers));
    this.pictures = el("div.task-pictures");
    this.outcome = new Outcome({ goTo: (frame) => this._seek(frame), showPlan: (number) => this.scene?.showPlan(number) });
    const cameras = el("section.card", { "aria-label": "Cameras" }, el("h2", {}, "Cameras"), this.pictures);
    const side = el("div.stack.task-side", {},
      el("section.card", { "aria-label": "Goal" }, el("h2", {}, "Goal"), this.outcome.terms),
      el("section.card", { "aria-label": "Expert" }, el("h2", {}, "Expert"), this.outcome.log));
    this.node = el("div.task-page", {}, bar, this.words, el("div.task-columns", {}, editor, el("div.stack.task-middle", {}, view, cameras), side));
    this.node.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); this.run(); }
    });
  }

  begin() {
    try {
      this.scene = new TaskScene(this.place);
    } catch (error) {
      this.place.append(el("p.quiet", {}, `This browser cannot draw in 3D: ${error.message}`));
    }
    this.warn = (event) => { if (this.editor.text !== this.saved) event.preventDefault(); };
    window.addEventListener("beforeunload", this.warn);
    this.sample();
  }

  end() {
    window.removeEventListener("beforeunload", this.warn);
    Object.values(this.jobs).forEach((job) => job.abort());
    this.clock?.stop();
    this.scene?.dispose();
    this.ended = true;
  }

  /** The text has changed: read it, and sample anew when it is right. */
  async changed() {
    this.saveButton.disabled = !(this.task.writable && this.editor.text !== this.saved);
    const text = this.editor.text;
    if ((await this.check()) && !(this.jobs.expert && this.ran === text)) this.sample();
  }

  async check({ deep = false } = {}) {
    let good = false;
    await this._work("check", { deep }, deep ? "Checking scenes …" : null, (event) => {
      if (event.header.kind === "checked") good = this._said(event.header);
    });
    if (good && deep && !this.jobs.sample) this._say("Checked", "good");
    return good;
  }

  sample() {
    this._rest();
    this.words.textContent = "";
    return this._work("sample", this._which(), "Sampling …", (event) => this._sampled(event));
  }

  run() {
    this._rest();
    this.jobs.sample?.abort();
    this.editor.settle();
    this.ran = this.editor.text;
    this.outcome.begin();
    this.looks = [];
    return this._work("expert", this._which(), "The expert is running …", (event) => this._watched(event));
  }

  cancel() {
    for (const kind of ["expert", "sample", "check"]) this.jobs[kind]?.abort();
    this._say("Stopped", "warn");
  }

  async save() {
    if (!this.task.writable) {
      toast(this.task.own ? "This page is read-only; start handloom view with --edit" : "Library tasks cannot be changed; copy the text into your own file", "bad");
      return;
    }
    const text = this.editor.text;
    try {
      await post(`${this.path}/save`, { text });
      this.saved = text;
      this.saveButton.disabled = true;
      toast(`Saved ${this.task.file}`);
    } catch (error) { toast(error.message, "bad"); }
  }

  _which() { return { seed: 0, episode: Math.max(0, Math.min(2147483647, Math.floor(Number(this.seed.value)) || 0)) }; }

  _step(by) {
    this.seed.value = Math.max(0, (Math.floor(Number(this.seed.value)) || 0) + by);
    this.sample();
  }

  /** Do one piece of work in the other process; a new one of its kind takes its place. */
  async _work(kind, body, words, take) {
    this.jobs[kind]?.abort();
    const job = (this.jobs[kind] = new AbortController());
    if (words) this._say(words, "accent");
    this.stopButton.hidden = !words && this.stopButton.hidden;
    let failed = "";
    try {
      for await (const event of events(`${this.path}/${kind}`, { text: this.editor.text, ...body }, { signal: job.signal })) {
        if (job.signal.aborted || this.ended) return;
        if (event.header.kind === "fault") failed = event.header.text;
        else await take(event);
      }
    } catch (error) {
      if (error.name === "AbortError" || job.signal.aborted) return;
      failed = error.message;
    } finally {
      if (this.jobs[kind] === job) delete this.jobs[kind];
      if (!this.jobs.sample && !this.jobs.expert && !this.jobs.check) this.stopButton.hidden = true;
    }
    if (failed) { this._say(failed.split("\n")[0], "bad"); toast(failed, "bad"); }
  }

  _say(text, kind = "") { clear(this.status, text).className = `chip ${kind}`; this.status.title = text; }

  /** Show what is said of the text; return whether it is right. */
  _said({ mistakes, notes }) {
    const all = [...mistakes.map((remark) => ({ ...remark, kind: "bad" })), ...notes.map((remark) => ({ ...remark, kind: "warn" }))];
    this.editor.mark(all);
    clear(this.remarks, all.map((remark) => el("li", { class: remark.kind },
      remark.line > 0 ? el("button.plain", { type: "button", onclick: () => this.editor.goTo(remark.line) }, `Line ${remark.line}`) : el("span.chip", { class: remark.kind }, remark.kind === "bad" ? "wrong" : "note"),
      el("span", {}, remark.text))));
    if (mistakes.length) this._say(mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`, "bad");
    return mistakes.length === 0;
  }

  async _sampled(event) {
    const { header } = event;
    if (header.kind === "checked") this._said(header);
    else if (header.kind === "scene") await this._showScene(event);
    else if (header.kind === "picture") this._picture(event);
    else if (header.kind === "reach") this.scene?.addReach(event);
    else if (header.kind === "end") { this.outcome.begin(); this.outcome.end(header); }
    else if (header.kind === "done" && this.status.classList.contains("accent")) this._say("Ready", "good");
  }

  async _watched(event) {
    const { header, array } = event;
    if (header.kind === "checked") this._said(header);
    else if (header.kind === "scene") await this._showScene(event, { pictures: false });
    else if (header.kind === "plan") { this.scene?.addPlan(event); this.outcome.plan(header); }
    else if (header.kind === "frames") this._frames(header, array(header.poses));
    else if (header.kind === "end") {
      this.outcome.end(header);
      if (header.success) this._say("Success", "good");
      else this._say(`Failed: ${header.failure.stage}: ${header.failure.reason}`, "bad");
    }
  }

  async _showScene(event, { pictures = true } = {}) {
    const { header } = event;
    this.words.textContent = header.instruction;
    this.outcome.goal(header.terms);
    this.bodies = 0;
    const kept = this.viewpoint.value;
    clear(this.viewpoint, el("option", { value: "" }, "Orbit"), header.cameras.map((camera) => el("option", { value: camera.name }, `Through ${camera.name}`)));
    this.viewpoint.value = header.cameras.some((camera) => camera.name === kept) ? kept : "";
    if (pictures) clear(this.pictures, header.cameras.map((camera) => {
      const shape = el("div.task-picture", {});
      shape.style.aspectRatio = `${camera.width} / ${camera.height}`;
      return el("figure", { data: { camera: camera.name } }, shape, el("figcaption", {}, camera.name, " ", el("span.quiet.num", {}, `${camera.width} × ${camera.height}`)));
    }));
    await this.scene?.show(event, { keepView: this.shownBefore, keepReach: !pictures });
    this.shownBefore = true;
  }

  _picture({ header, array }) {
    const image = el("img", { alt: `Image of the camera ${header.camera}`, src: URL.createObjectURL(new Blob([array(header.png)], { type: "image/png" })) });
    image.addEventListener("load", () => URL.revokeObjectURL(image.src), { once: true });
    const figure = [...this.pictures.children].find((one) => one.dataset.camera === header.camera);
    if (figure) clear(figure.firstChild, image);
  }

  _frames(header, poses) {
    const size = poses.length / header.count;
    for (let k = 0; k < header.count; k += 1) this.frames.push(poses.subarray(k * size, (k + 1) * size));
    this.looks.push(...header.looks);
    this.outcome.doing(header.doing);
    if (!this.clock) {
      this.clock = new Clock(this.frames.length, this.scene?.facts?.fps ?? 30);
      this.clock.follow(() => this._frame());
      this.clock.play();
    }
    this.clock.frames = this.frames.length;
    if (!this.clock.playing && this.jobs.expert && this.clock.frame < this.frames.length - 1 && !this.paused) this.clock.play();
    this.scrubber.max = this.frames.length - 1;
    this.scrubber.disabled = this.playButton.disabled = false;
  }

  _frame() {
    const { frame, fps, playing } = this.clock;
    this.scene?.frame(frame, this.frames[frame]);
    this.scrubber.value = frame;
    this.scrubber.setAttribute("aria-valuetext", `frame ${frame}, ${(frame / fps).toFixed(1)} seconds`);
    this.time.textContent = `${(frame / fps).toFixed(1)} s`;
    this.playButton.textContent = playing ? "❚❚" : "▶";
    const look = this.looks.findLast(([at]) => at <= frame);
    if (look) this.outcome.holds(look[1]);
  }

  _seek(frame) {
    this.clock?.pause();
    this.clock?.seek(frame);
  }

  _rest() {
    this.jobs.expert?.abort();
    this.clock?.stop();
    this.clock = null;
    this.frames = [];
    this.scrubber.disabled = this.playButton.disabled = true;
    this.scrubber.value = this.scrubber.max = 0;
    this.time.textContent = "";
    this.outcome.clear();
  }

  _layer(layer, on) { this.scene?.setVisible(layer, on); }
}
