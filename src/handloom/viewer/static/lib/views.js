// All cameras of an episode in step with a clock: videos that the browser can play, images of streams that it cannot.
import { address } from "./api.js";
import { el } from "./dom.js";

const STUCK = 2000; // A seek that takes longer is repeated [ms].
const FAR = 0.1; // A video that is off by more than this is corrected [s].

export class CameraViews {
  // facts: of the episode; path(camera, frame): address of a single image.
  constructor(facts, clock) {
    this.clock = clock;
    this.views = facts.cameras.map((camera) => (camera.video ? new VideoView(camera, clock, facts) : new PictureView(camera, clock, facts)));
    this.nodes = this.views.map((view) => view.node);
    const first = this.views.find((view) => view instanceof VideoView);
    if (first && !clock.master && facts.length >= clock.frames) clock.master = () => first.time();
    this.stop = clock.follow(() => { for (const view of this.views) view.follow(); });
  }

  destroy() {
    this.stop();
    this.clock.master = null;
    for (const view of this.views) view.destroy();
  }
}

function frameOf(camera, content) {
  const node = el("figure.view", {}, el("div.picture", {}, content), el("figcaption", {}, el("span.clip", {}, camera.short), camera.kind === "colour" ? null : el("span.chip", {}, camera.kind)));
  node.firstChild.style.aspectRatio = `${camera.width || 4} / ${camera.height || 3}`;
  return node;
}

class VideoView {
  constructor(camera, clock, facts) {
    Object.assign(this, { camera, clock, facts });
    this.start = camera.video.start;
    this.video = el("video", { muted: true, playsInline: true, preload: "auto", disableRemotePlayback: true, "aria-label": `camera ${camera.short}` });
    this.video.src = address(camera.video.path);
    this.node = frameOf(camera, this.video);
    for (const moment of ["loadedmetadata", "loadeddata", "canplay"]) this.video.addEventListener(moment, () => { if (!clock.playing) this.seek(); });
    this.video.addEventListener("seeked", () => {
      clearTimeout(this.watch);
      this.seeking = false;
      this.node.dataset.frame = this.wanted;
      if (this.again) this.seek();
    });
    this.video.addEventListener("error", () => this.replace());
  }

  time() {
    const ready = this.video.readyState >= 3 && !this.video.paused && !this.video.seeking;
    return ready ? this.video.currentTime - this.start : null;
  }

  follow() {
    if (this.other) return this.other.follow();
    const { clock, video } = this;
    video.playbackRate = clock.speed;
    if (clock.playing && clock.frame < this.facts.length - 1) {
      if (video.paused && !this.asked) {
        this.asked = true;
        video.play().catch(() => {}).finally(() => { this.asked = false; if (!clock.playing) { video.pause(); this.seek(); } });
      }
      const off = video.currentTime - this.start - clock.time;
      if (clock.why === "seek" || (Math.abs(off) > FAR && !video.seeking && video.readyState >= 2)) this.seek();
      return undefined;
    }
    if (!video.paused) video.pause();
    return this.seek();
  }

  // Middle of the frame: its edges may belong to the neighbours. One seek at a time; the last request wins.
  seek() {
    if (this.video.readyState < 1) return;
    if (this.seeking) { this.again = true; return; }
    this.again = false;
    const wanted = Math.min(this.clock.frame, this.facts.length - 1); // A shorter one of two stays at its end.
    const target = this.start + (wanted + 0.5) / this.clock.fps;
    if (Math.abs(this.video.currentTime - target) < 0.2 / this.clock.fps && !this.video.seeking) { this.node.dataset.frame = wanted; return; }
    this.wanted = wanted;
    this.seeking = true;
    this.video.currentTime = target;
    clearTimeout(this.watch);
    this.watch = setTimeout(() => { this.seeking = false; this.seek(); }, STUCK); // Browsers lose seeks while a file is still being opened.
  }

  replace() {
    if (this.other || !this.video.error) return;
    this.other = new PictureView(this.camera, this.clock, this.facts);
    this.node.firstChild.replaceChildren(this.other.image);
    this.other.follow();
  }

  destroy() { clearTimeout(this.watch); this.video.removeAttribute("src"); this.video.load(); }
}

class PictureView {
  constructor(camera, clock, facts) {
    Object.assign(this, { camera, clock, facts });
    this.image = el("img", { alt: `camera ${camera.short}`, decoding: "async" });
    this.node = frameOf(camera, this.image);
    this.image.addEventListener("load", () => { this.node.dataset.frame = this.shown; this.busy = false; this.follow(); });
    this.image.addEventListener("error", () => { this.busy = false; });
  }

  follow() {
    const wanted = Math.min(this.clock.frame, this.facts.length - 1);
    if (this.busy || this.shown === wanted) return;
    this.busy = true;
    this.shown = wanted;
    this.image.src = address(`/api/episodes/${this.facts.source}/${this.facts.index}/frames/${this.camera.number}/${this.shown}.jpg`);
  }

  destroy() { this.image.removeAttribute("src"); }
}
