// WebXR: headset controllers or bare hands as they are, or a phone that is moved through the room. Panels show the
// cameras where one looks, a line says how things stand. Each eye sees the scene from where it is: pictures are drawn for
// the pose of the head, and hang where they were drawn for until the next ones come.
import { multiplied, normalised } from "./hands.js";

const VERTEX = `attribute vec2 corner; uniform mat4 view; uniform mat4 projection; uniform vec4 place; varying vec2 uv;
void main() { uv = vec2(corner.x, 1.0 - corner.y);
  vec3 p = vec3(place.x + (corner.x - 0.5) * place.z, place.y + (corner.y - 0.5) * place.w, -1.4);
  gl_Position = projection * view * vec4(p, 1.0); }`;
const FRAGMENT = `precision mediump float; uniform sampler2D image; varying vec2 uv;
void main() { gl_FragColor = vec4(texture2D(image, uv).rgb, 1.0); }`;
const RIGHT_EYE = "operator_right";
const HANG = 20; // Distance of the pictures of the eyes [m]: so far that a step of the head does not shift them.
const FAR = 1.4; // Distance of the panels [m], as in the shader.
const BUTTONS = { controller_right: { 3: "mark", 4: "run", 5: "save" }, controller_left: { 3: "recentre", 4: "rewind", 5: "reset" } };
const HEAD_PERIOD = 22; // From one pose of the head to the next [ms].
const HEADS = 240; // How many poses are remembered.
const STATUS = "status"; // Name of the panel with words.
const PINCH = [0.022, 0.035]; // Tips nearer than the first begin a pinch, farther than the second end it [m].

export async function supported(mode) {
  try { return Boolean(await navigator.xr?.isSessionSupported(mode)); } catch { return false; }
}

export class XrHands {
  // cameras(): [{name, canvas, slope}]; onButton(name); onEnd(); onEyes(distance of the eyes [m]); onHead(pose); status(): state of the page.
  constructor(mode, cameras, onButton, onEnd, onEyes, onHead, status) {
    Object.assign(this, { mode, cameras, onButton, onEnd, onEyes, onHead, status, heads: new Map(), headSeq: 0, headSent: -Infinity, eyes: null, latest: {}, down: {}, yaw: null, head: null, held: false, rearm: 0, pinched: {} });
  }

  // Bring the panels, and what counts as ahead, to where one looks; the clutch re-arms.
  recentre() { this.yaw = null; this.rearm = 2; }

  async start() {
    const options = this.mode === "immersive-ar" ? { optionalFeatures: ["local-floor"] } : { requiredFeatures: ["local-floor"], optionalFeatures: ["hand-tracking"] };
    this.session = await navigator.xr.requestSession(this.mode, options);
    const canvas = document.createElement("canvas");
    this.gl = canvas.getContext("webgl", { xrCompatible: true, alpha: true });
    await this.gl.makeXRCompatible?.();
    this.session.updateRenderState({ baseLayer: new XRWebGLLayer(this.session, this.gl) });
    const kind = this.mode === "immersive-ar" ? "local" : "local-floor";
    this.space = await this.session.requestReferenceSpace(kind);
    this.space.addEventListener("reset", () => this.recentre());
    this.session.addEventListener("selectstart", () => { this.held = true; });
    this.session.addEventListener("selectend", () => { this.held = false; });
    this.session.addEventListener("end", () => { this.latest = {}; this.onEnd(); });
    this.session.addEventListener("visibilitychange", () => { if (this.session.visibilityState === "hidden") this.latest = {}; });
    this.prepare();
    this.session.requestAnimationFrame((time, frame) => this.frame(frame));
  }

  end() { this.session?.end(); }

  frame(frame) {
    this.session.requestAnimationFrame((time, next) => this.frame(next));
    const viewer = (this.viewer = frame.getViewerPose(this.space));
    if (viewer && this.yaw === null) {
      const { x, y, z } = viewer.transform.position;
      [this.yaw, this.head] = [yawOf(viewer.transform.orientation), [x, y, z]];
    }
    this.latest = this.mode === "immersive-ar" ? this.phone(viewer) : this.controllers(frame);
    if (viewer && this.eyes === null && this.mode === "immersive-vr") this.onEyes((this.eyes = eyeDistance(viewer)));
    if (viewer && this.eyes > 0) this.look(viewer);
    if (this.rearm > 0) { this.rearm -= 1; for (const hand of Object.values(this.latest)) hand.squeeze_value = 0; }
    this.draw(viewer);
  }

  // Tell where the head is, from where the view was centred, and remember it by its number.
  look(viewer) {
    const now = performance.now(), { position: p, orientation: o } = viewer.transform;
    if (now - this.headSent < HEAD_PERIOD) return;
    this.headSent = now;
    const back = [0, Math.sin(-this.yaw / 2), 0, Math.cos(-this.yaw / 2)], [hx, hy, hz] = this.head;
    const c = Math.cos(-this.yaw), s = Math.sin(-this.yaw), [x, y, z] = [p.x - hx, p.y - hy, p.z - hz];
    const pose = { position: [c * x + s * z, y, -s * x + c * z], orientation: normalised(multiplied(back, [o.x, o.y, o.z, o.w])) };
    if (![...pose.position, ...pose.orientation].every(Number.isFinite)) return;
    this.heads.set((this.headSeq += 1), viewer.transform.matrix.slice());
    this.heads.delete(this.headSeq - HEADS);
    this.onHead({ seq: this.headSeq, ...pose });
  }

  controllers(frame) {
    const hands = {};
    for (const source of frame.session.inputSources) {
      if (source.hand && (source.handedness === "left" || source.handedness === "right")) {
        hands[`controller_${source.handedness}`] = this.bare(frame, source);
        continue;
      }
      if (!source.gripSpace || (source.handedness !== "left" && source.handedness !== "right")) continue;
      const device = `controller_${source.handedness}`;
      const pose = frame.getPose(source.gripSpace, this.space);
      const pad = source.gamepad;
      const value = (k) => finite(pad?.buttons[k]?.value ?? 0);
      hands[device] = {
        ...this.placed(pose), squeeze_value: value(1), trigger_value: value(0),
        thumbstick_x: finite(pad?.axes[2] ?? 0), thumbstick_y: -finite(pad?.axes[3] ?? 0), // Up is -1 in WebXR.
        primary_click: value(4), secondary_click: value(5), thumbstick_click: value(3),
      };
      for (const [k, name] of Object.entries(BUTTONS[device])) {
        const down = pad?.buttons[k]?.pressed ?? false;
        if (down && !this.down[device + k]) name === "recentre" ? this.recentre() : this.onButton(name);
        this.down[device + k] = down;
      }
    }
    return hands;
  }

  // A bare hand: the wrist leads, thumb and middle finger hold the arm, thumb and index finger close the gripper.
  bare(frame, source) {
    const joint = (name) => { const space = source.hand.get(name); return space ? frame.getJointPose?.(space, this.space) : null; };
    const thumb = joint("thumb-tip")?.transform.position;
    const pinch = (finger) => {
      const tip = joint(finger)?.transform.position, key = source.handedness + finger;
      if (thumb && tip) {
        const apart = Math.hypot(thumb.x - tip.x, thumb.y - tip.y, thumb.z - tip.z);
        this.pinched[key] = apart < (this.pinched[key] ? PINCH[1] : PINCH[0]);
      }
      return this.pinched[key] ? 1 : 0;
    };
    return { ...this.placed(joint("wrist")), squeeze_value: pinch("middle-finger-tip"), trigger_value: pinch("index-finger-tip") };
  }

  // What one should feel and hear: a touch, something in the arm's way, the task is done, the attempt is over.
  told(before, now) {
    const was = new Map((before.arms ?? []).map((arm) => [arm.device, arm]));
    for (const arm of now.arms ?? []) {
      const earlier = was.get(arm.device);
      if (arm.held_up && earlier?.held_up === false) { this.pulse(arm.device, 0.5, 40); this.beep(150, 0.06); }
      if (arm.touching && earlier?.touching === false) { this.pulse(arm.device, 0.25, 20); this.beep(520, 0.03); }
    }
    if (now.phase === "over" && before.phase !== "over") {
      for (const device of ["controller_left", "controller_right"]) this.pulse(device, 1, now.outcome?.success ? 250 : 80);
      this.beep(now.outcome?.success ? 880 : 220);
    }
  }

  pulse(device, strength, duration) {
    for (const source of this.session?.inputSources ?? []) {
      if (`controller_${source.handedness}` === device) source.gamepad?.hapticActuators?.[0]?.pulse?.(strength, duration);
    }
    this.pulses = (this.pulses ?? 0) + 1;
  }

  beep(frequency, seconds = 0.2) {
    this.beeps = (this.beeps ?? 0) + 1;
    try {
      this.audio ??= new AudioContext();
      const tone = this.audio.createOscillator(), volume = this.audio.createGain();
      [tone.frequency.value, volume.gain.value] = [frequency, 0.1];
      tone.connect(volume).connect(this.audio.destination);
      tone.start(); tone.stop(this.audio.currentTime + seconds);
    } catch { /* Without sound, too. */ }
  }

  phone(viewer) {
    if (!viewer) return {};
    return { controller_right: { ...this.placed(viewer), squeeze_value: this.held ? 1 : 0 } };
  }

  // A pose in the frame in which the operator looked along -z when the session began; none is flagged, not made up.
  placed(pose) {
    if (!pose || this.yaw === null) return { grip_is_valid: false };
    const { position: p, orientation: o } = pose.transform;
    const c = Math.cos(-this.yaw), s = Math.sin(-this.yaw);
    const back = [0, Math.sin(-this.yaw / 2), 0, Math.cos(-this.yaw / 2)];
    const position = [c * p.x + s * p.z, p.y, -s * p.x + c * p.z];
    const orientation = normalised(multiplied(back, [o.x, o.y, o.z, o.w]));
    const good = [...position, ...orientation].every(Number.isFinite);
    return good ? { grip_position: position, grip_orientation: orientation, grip_is_valid: true } : { grip_is_valid: false };
  }

  prepare() {
    const gl = this.gl;
    const program = (this.program = gl.createProgram());
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
    this.textures = new Map();
    this.uploaded = new Map(); // How many pictures a canvas had when it was last uploaded.
  }

  draw(viewer) {
    const gl = this.gl, layer = this.session.renderState.baseLayer;
    gl.bindFramebuffer(gl.FRAMEBUFFER, layer.framebuffer);
    const clear = this.mode === "immersive-ar" ? [0, 0, 0, 0] : [0.06, 0.07, 0.09, 1];
    gl.clearColor(...clear);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!viewer || this.mode === "immersive-ar") return;
    gl.useProgram(this.program);
    const corner = gl.getAttribLocation(this.program, "corner");
    gl.enableVertexAttribArray(corner);
    gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
    const all = this.cameras(), right = all.find(({ name }) => name === RIGHT_EYE);
    const cameras = all.filter((camera) => camera !== right);
    for (const { name, canvas } of all) { // Only what is new: a headset draws three times as often as pictures come.
      if (this.textures.has(name) && this.uploaded.get(name) === canvas.dataset.drawn) continue;
      this.uploaded.set(name, canvas.dataset.drawn);
      this.upload(name, canvas);
    }
    this.write();
    const c = Math.cos(this.yaw ?? 0), s = Math.sin(this.yaw ?? 0), [hx, hy, hz] = this.head ?? [0, 1.5, 0];
    const place = [c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, hx, hy, hz, 1]; // Panels are given as seen from the head, looking ahead.
    for (const view of viewer.views) {
      const box = layer.getViewport(view);
      gl.viewport(box.x, box.y, box.width, box.height);
      gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "projection"), false, view.projectionMatrix);
      cameras.forEach(({ name, canvas, slope }, k) => {
        if (k === 0 && right && this.hang(view, view.eye === "right" ? right : cameras[0], view.eye === "right")) return;
        gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "view"), false, product(view.transform.inverse.matrix, place));
        // As wide as the camera sees, and straight ahead of each eye: then sizes and distances are the true ones.
        const stereo = k === 0 && right ? 1 : 0, side = view.eye === "right" ? 0.5 : -0.5;
        const width = stereo ? FAR * slope : k === 0 ? 1.3 : 0.6, height = (width * canvas.height) / Math.max(1, canvas.width);
        // The others stand beside it, right and left by turns, two and two below each other.
        const row = Math.floor(Math.max(0, k - 1) / 2);
        const x = stereo ? side * this.eyes : k === 0 ? 0 : (right ? 0.95 : 1.05) * (k % 2 ? 1 : -1), y = k === 0 ? 0 : (right ? 0.6 : 0.25) - 0.5 * row;
        gl.bindTexture(gl.TEXTURE_2D, this.textures.get(stereo && view.eye === "right" ? RIGHT_EYE : name));
        gl.uniform4f(gl.getUniformLocation(this.program, "place"), x, y, width, height);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      });
      const first = cameras[0], wide = first && right ? FAR * first.slope : 1.3;
      // Where the scene is all around, the words go with the head, at the lower edge of what it sees.
      const around = right && this.heads.has(cameras[0].canvas.head);
      const low = around ? -0.62 : -0.5 * (first ? (wide * first.canvas.height) / Math.max(1, first.canvas.width) : 0.98) - 0.16;
      const stands = around ? viewer.transform.matrix : place;
      gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "view"), false, product(view.transform.inverse.matrix, stands));
      gl.bindTexture(gl.TEXTURE_2D, this.textures.get(STATUS));
      gl.uniform4f(gl.getUniformLocation(this.program, "place"), 0, low, around ? 0.88 : 1.2, around ? 0.22 : 0.3);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }

  // Hang the picture of an eye where it was drawn for: a head that has turned since then looks past its edge, and what is
  // seen stays where it is. Returns false for a picture that was drawn for no pose.
  hang(view, { name, canvas, slope }, isRight) {
    const pose = this.heads.get(canvas.head), gl = this.gl;
    if (!pose) return false;
    const width = HANG * slope, height = (width * canvas.height) / Math.max(1, canvas.width);
    gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "view"), false, product(view.transform.inverse.matrix, product(pose, scaled(HANG / FAR))));
    gl.bindTexture(gl.TEXTURE_2D, this.textures.get(name));
    gl.uniform4f(gl.getUniformLocation(this.program, "place"), ((isRight ? 0.5 : -0.5) * this.eyes * FAR) / HANG, 0, (width * FAR) / HANG, (height * FAR) / HANG);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    return true;
  }

  // The line below the picture: how things stand, in words.
  write() {
    const state = this.status?.() ?? {};
    const left = Math.max(0, (state.limit ?? 0) - (state.seconds ?? 0));
    const held = (state.arms ?? []).some((arm) => arm.held_up) ? "  ·  blocked" : "";
    const first = `${state.state ?? ""}  ·  ${(state.seconds ?? 0).toFixed(0)} s, ${left.toFixed(0)} s left  ·  ${state.saved ?? 0} saved${held}`;
    const terms = (state.goals ?? []).flatMap((goal) => goal.terms), missing = terms.filter(([, holds]) => !holds);
    const goal = terms.length ? [`${terms.length - missing.length} of ${terms.length}`, ...missing.map(([name]) => `○ ${name.replaceAll("_", " ")}`)].join("   ") : "";
    const second = state.outcome ? (state.outcome.success ? "✓ Done: press B to save" : state.outcome.text) : state.said || state.instruction || "";
    const lines = [first, second, state.notice || [state.mark, goal].filter(Boolean).join("  ·  ")];
    const key = lines.join("\n");
    if (this.written === key) return;
    this.written = key;
    const canvas = (this.words ??= Object.assign(document.createElement("canvas"), { width: 1024, height: 256 }));
    const paint = canvas.getContext("2d");
    paint.fillStyle = state.state === "running" ? "#12321f" : "#1d2229";
    paint.fillRect(0, 0, 1024, 256);
    paint.font = "600 44px system-ui, sans-serif";
    lines.forEach((line, k) => { paint.fillStyle = k ? "#c8d2de" : "#ffffff"; paint.fillText(cut(paint, line, 976), 24, 64 + 76 * k); });
    this.upload(STATUS, canvas);
  }

  upload(name, canvas) {
    const gl = this.gl;
    if (!this.textures.has(name)) this.textures.set(name, gl.createTexture());
    gl.bindTexture(gl.TEXTURE_2D, this.textures.get(name));
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB, gl.RGB, gl.UNSIGNED_BYTE, canvas);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  }
}

// Words that do not fit end in three dots; squeezed ones cannot be read.
function cut(paint, words, width) {
  let text = words;
  while (text && paint.measureText(text === words ? text : `${text}…`).width > width) text = text.slice(0, -1).trimEnd();
  return text === words ? text : `${text}…`;
}

// The product of two matrices (4, 4), column after column.
function product(a, b) {
  return Array.from({ length: 16 }, (_, i) => [0, 1, 2, 3].reduce((sum, k) => sum + a[(i % 4) + 4 * k] * b[k + 4 * Math.floor(i / 4)], 0));
}

function scaled(factor) { return [factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, 1]; }

function eyeDistance(viewer) {
  if (viewer.views.length < 2) return 0;
  const [a, b] = viewer.views.map((view) => view.transform.position);
  return Math.min(0.1, finite(Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z)));
}

function finite(value) { return Number.isFinite(value) ? value : 0; }

function yawOf(o) { return Math.atan2(2 * (o.w * o.y + o.x * o.z), 1 - 2 * (o.y * o.y + o.x * o.x)); }
