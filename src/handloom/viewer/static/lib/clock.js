// The clock of a page: videos, plots, marks and the 3D view all follow it.

export class Clock extends EventTarget {
  constructor(frames, fps) {
    super();
    this.frames = frames;
    this.fps = fps;
    this.frame = 0; // Index of the frame shown.
    this.time = 0; // Seconds since the first frame; continues between frames while playing.
    this.playing = false;
    this.speed = 1;
    this.master = null; // A video that sets the time while it plays: () => seconds, or null if it cannot.
  }

  // Calls back with the clock on every change of frame, playing or speed; returns a function that unsubscribes.
  follow(listener) {
    const heard = () => listener(this);
    this.addEventListener("change", heard);
    heard();
    return () => this.removeEventListener("change", heard);
  }

  seek(frame) {
    this.frame = Math.max(0, Math.min(this.frames - 1, Math.round(frame)));
    this.time = this.frame / this.fps;
    this._changed("seek");
  }

  play() {
    if (this.playing) return;
    if (this.frame >= this.frames - 1) this.seek(0);
    this.playing = true;
    this._last = performance.now();
    this._changed("play");
    this._request = requestAnimationFrame((now) => this._tick(now));
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    cancelAnimationFrame(this._request);
    this.seek(this.frame);
  }

  toggle() { (this.playing ? this.pause : this.play).call(this); }

  setSpeed(speed) { this.speed = speed; this._changed("speed"); }

  stop() { this.playing = false; cancelAnimationFrame(this._request); }

  _tick(now) {
    if (!this.playing) return;
    const passed = ((now - this._last) / 1000) * this.speed;
    this._last = now;
    const kept = this.master?.();
    this.time = kept ?? this.time + Math.min(passed, 0.25);
    const frame = Math.min(this.frames - 1, Math.floor(this.time * this.fps + 0.01));
    if (frame !== this.frame) { this.frame = Math.max(0, frame); this._changed("frame"); }
    if (this.frame >= this.frames - 1) return this.pause();
    this._request = requestAnimationFrame((next) => this._tick(next));
  }

  _changed(why) { this.why = why; this.dispatchEvent(new Event("change")); }
}
