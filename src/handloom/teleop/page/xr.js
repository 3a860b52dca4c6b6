// WebXR: headset controllers as they are, or a phone that is moved through the room. Panels show the cameras; the first
// one shows each eye its own picture, drawn from where that eye would be.
import { multiplied, normalised } from "./hands.js";

const VERTEX = `attribute vec2 corner; uniform mat4 view; uniform mat4 projection; uniform vec4 place; varying vec2 uv;
void main() { uv = vec2(corner.x, 1.0 - corner.y);
  vec3 p = vec3(place.x + (corner.x - 0.5) * place.z, place.y + (corner.y - 0.5) * place.w, -1.4);
  gl_Position = projection * view * vec4(p, 1.0); }`;
const FRAGMENT = `precision mediump float; uniform sampler2D image; varying vec2 uv;
void main() { gl_FragColor = vec4(texture2D(image, uv).rgb, 1.0); }`;
const RIGHT_EYE = "operator_right";
const FAR = 1.4; // Distance of the panels [m], as in the shader.
const BUTTONS = { controller_right: { 3: "mark", 4: "run", 5: "save" }, controller_left: { 4: "reset", 5: "discard" } };

export async function supported(mode) {
  try { return Boolean(await navigator.xr?.isSessionSupported(mode)); } catch { return false; }
}

export class XrHands {
  // cameras(): [{name, canvas, slope}]; onButton(name); onEnd(); onEyes(distance of the eyes [m]).
  constructor(mode, cameras, onButton, onEnd, onEyes) {
    Object.assign(this, { mode, cameras, onButton, onEnd, onEyes, eyes: null, latest: {}, down: {}, yaw: null, held: false, rearm: 0 });
  }

  async start() {
    const options = this.mode === "immersive-ar" ? { optionalFeatures: ["local-floor"] } : { requiredFeatures: ["local-floor"] };
    this.session = await navigator.xr.requestSession(this.mode, options);
    const canvas = document.createElement("canvas");
    this.gl = canvas.getContext("webgl", { xrCompatible: true, alpha: true });
    await this.gl.makeXRCompatible?.();
    this.session.updateRenderState({ baseLayer: new XRWebGLLayer(this.session, this.gl) });
    const kind = this.mode === "immersive-ar" ? "local" : "local-floor";
    this.space = await this.session.requestReferenceSpace(kind);
    this.space.addEventListener("reset", () => { this.yaw = null; this.rearm = 2; }); // Recentred: the clutch re-arms.
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
    if (viewer && this.yaw === null) this.yaw = yawOf(viewer.transform.orientation);
    this.latest = this.mode === "immersive-ar" ? this.phone(viewer) : this.controllers(frame);
    if (viewer && this.eyes === null && this.mode === "immersive-vr") this.onEyes((this.eyes = eyeDistance(viewer)));
    if (this.rearm > 0) { this.rearm -= 1; for (const hand of Object.values(this.latest)) hand.squeeze_value = 0; }
    this.draw(viewer);
  }

  controllers(frame) {
    const hands = {};
    for (const source of frame.session.inputSources) {
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
        if (down && !this.down[device + k]) this.onButton(name);
        this.down[device + k] = down;
      }
    }
    return hands;
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
    all.forEach(({ name, canvas }) => this.upload(name, canvas));
    for (const view of viewer.views) {
      const box = layer.getViewport(view);
      gl.viewport(box.x, box.y, box.width, box.height);
      gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "view"), false, view.transform.inverse.matrix);
      gl.uniformMatrix4fv(gl.getUniformLocation(this.program, "projection"), false, view.projectionMatrix);
      cameras.forEach(({ name, canvas, slope }, k) => {
        // As wide as the camera sees, and straight ahead of each eye: then sizes and distances are the true ones.
        const stereo = k === 0 && right ? 1 : 0, side = view.eye === "right" ? 0.5 : -0.5;
        const width = stereo ? FAR * slope : k === 0 ? 1.3 : 0.6, height = (width * canvas.height) / Math.max(1, canvas.width);
        const x = stereo ? side * this.eyes : k === 0 ? 0 : (right ? 1.3 : 1.0) * (k % 2 ? 1 : -1), y = 1.45;
        gl.bindTexture(gl.TEXTURE_2D, this.textures.get(stereo && view.eye === "right" ? RIGHT_EYE : name));
        gl.uniform4f(gl.getUniformLocation(this.program, "place"), x, y, width, height);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      });
    }
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

function eyeDistance(viewer) {
  if (viewer.views.length < 2) return 0;
  const [a, b] = viewer.views.map((view) => view.transform.position);
  return Math.min(0.1, finite(Math.hypot(a.x - b.x, a.y - b.y, a.z - b.z)));
}

function finite(value) { return Number.isFinite(value) ? value : 0; }

function yawOf(o) { return Math.atan2(2 * (o.w * o.y + o.x * o.z), 1 - 2 * (o.y * o.y + o.x * o.x)); }
