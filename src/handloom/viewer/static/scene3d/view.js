// A canvas with a scene to orbit: a model, its motion and overlays.

import { OrbitControls } from "../vendor/OrbitControls.js";
import * as THREE from "../vendor/three.module.min.js";
import { readContainer } from "./container.js";
import { Model, matrixOf, texturesOf } from "./model.js";
import { discard } from "./overlays.js";

const FIELD = 45; // Of view, when orbiting [deg].
const STEP = 0.12; // Turn or share of the distance per key press.

const LABEL = "3D view: drag or use the arrow keys to orbit, shift and arrow keys to pan, + and - to zoom, Home to reset";

/** Return whether WebGL is computed by the processor, which takes a second for a picture with all effects. */
export function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const facts = gl.getExtension("WEBGL_debug_renderer_info");
  const name = facts ? gl.getParameter(facts.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** Shows one scene; draws only when something has changed. */
export class SceneView {
  /** @param {HTMLElement} place Filled with the canvas. */
  constructor(place, { label = LABEL, plain = drawsInSoftware() } = {}) {
    this.place = place;
    this.plain = plain; // Without shadows and reflections.
    this.renderer = new THREE.WebGLRenderer({ antialias: !plain, powerPreference: "low-power" });
    this.renderer.setPixelRatio(plain ? 0.75 : Math.min(window.devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = !plain;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.canvas = this.renderer.domElement;
    this.canvas.className = "scene3d-canvas";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", label);
    place.append(this.canvas);
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(FIELD, 1, 0.02, 120);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.redraw());
    this.layers = new Map();
    this.model = null;
    this.through = null;
    this.onDraw = null;
    this._pending = false;
    this._lit = new THREE.Group();
    this.scene.add(this._lit);
    this.canvas.addEventListener("keydown", (event) => this._key(event));
    this._watch = new ResizeObserver(() => this._resize());
    this._watch.observe(place);
    this._resize();
  }

  /** Show the model of a file of `scene_geometry`; `keepView` leaves the viewpoint where it is. */
  async load(buffer, { keepView = false } = {}) {
    const file = readContainer(buffer);
    const textures = await texturesOf(file, { plain: this.plain });
    if (this.disposed) return;
    if (this.model) {
      this.scene.remove(this.model.root);
      this.model.dispose();
    }
    this.model = new Model(file, textures, { plain: this.plain });
    this.scene.add(this.model.root);
    this._light(file.header);
    if (!keepView || !this._home) this.home();
    this.redraw();
  }

  /** Place bodies: all of them, or those of `numbers`. */
  setPoses(poses, numbers = null) {
    this.model.setPoses(poses, numbers);
    this.redraw();
  }

  /** Put objects into a layer, in place of those that were in it; an empty list empties it. */
  setLayer(name, objects, { visible } = {}) {
    const old = this.layers.get(name);
    const group = new THREE.Group();
    group.visible = visible ?? old?.visible ?? true;
    objects.forEach((object) => group.add(object));
    if (old) discard(old);
    this.layers.set(name, group);
    this.scene.add(group);
    this.redraw();
  }

  /** Show or hide a layer. */
  showLayer(name, visible) {
    const layer = this.layers.get(name);
    if (layer) layer.visible = visible;
    this.redraw();
  }

  /** Look through a camera of the task, in its proportions, or orbit again (null). */
  lookThrough(camera) {
    this.through = camera;
    this.controls.enabled = camera === null;
    if (camera === null) {
      this.camera.fov = FIELD;
      this.camera.near = 0.02;
      this.camera.matrixAutoUpdate = true;
      this.controls.update();
    }
    this._resize();
  }

  /** Go back to the first viewpoint. */
  home() {
    const { center, radius, direction } = this.model.header.focus;
    this._home = true;
    this.controls.target.set(...center);
    this.camera.position.set(...center).addScaledVector(new THREE.Vector3(...direction), 2.1 * radius);
    this.controls.minDistance = 0.05;
    this.controls.maxDistance = 25;
    this.controls.update();
    this.redraw();
  }

  /** Draw with the next picture of the screen. */
  redraw() {
    if (this._pending || this.disposed) return;
    this._pending = true;
    requestAnimationFrame(() => {
      this._pending = false;
      if (!this.disposed) this.draw();
    });
  }

  /** Draw now. */
  draw() {
    if (this.through) this._aim(this.through);
    this.model?.clearView(this.through ? null : this.camera.position, this.controls.target);
    this.onDraw?.();
    this.renderer.render(this.scene, this.camera);
    this.canvas.dataset.eye = this.camera.position.toArray().map((value) => value.toFixed(3)).join(" ");
  }

  /** Return what every pixel of a camera's picture shows: numbers of geoms (height * width), -1 for nothing. */
  geomsSeenBy(camera) {
    const eye = new THREE.PerspectiveCamera();
    this._aim(camera, eye);
    return this._ids(eye, camera.width, camera.height);
  }

  /** Return the geom of the model under a point of the canvas [px], or null. */
  pick(x, y) {
    if (!this.model) return null;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const id = this._ids(this.camera, width, height)[Math.floor(y) * width + Math.floor(x)];
    return this.model.header.geoms.find((geom) => geom.id === id) ?? null;
  }

  /** Return the present viewpoint, for pictures from the same angle: OpenCV axes, wxyz. */
  viewpoint() {
    this.camera.updateMatrixWorld(true);
    const turn = this.camera.quaternion.clone().multiply(new THREE.Quaternion(1, 0, 0, 0));
    const { clientWidth, clientHeight } = this.canvas;
    const scale = 1280 / Math.max(clientWidth, clientHeight); // Large enough for a saved image.
    const fovy = this.through ? 2 * Math.atan(this.through.height / 2 / this.through.focal[1]) * (180 / Math.PI) : FIELD;
    return {
      position: this.camera.position.toArray(), quat: [turn.w, turn.x, turn.y, turn.z], fovy_deg: fovy,
      width: Math.max(16, Math.round(scale * clientWidth)), height: Math.max(16, Math.round(scale * clientHeight)),
    };
  }

  /** Free the graphics card. */
  dispose() {
    this.disposed = true;
    this._watch.disconnect();
    this.controls.dispose();
    this.layers.forEach((layer) => discard(layer));
    this.model?.dispose();
    this.scene.environment?.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }

  _ids(camera, width, height) {
    const target = new THREE.WebGLRenderTarget(width, height);
    const { toneMapping } = this.renderer;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.renderer.setRenderTarget(target);
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.clear();
    const scene = this.model.idScene();
    scene.updateMatrixWorld(true);
    this.renderer.render(scene, camera);
    const pixels = new Uint8Array(4 * width * height);
    this.renderer.readRenderTargetPixels(target, 0, 0, width, height, pixels);
    this.renderer.setRenderTarget(null);
    this.renderer.toneMapping = toneMapping;
    target.dispose();
    const ids = new Int32Array(width * height);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const at = 4 * ((height - 1 - y) * width + x); // The first row is the lowest one.
        ids[y * width + x] = pixels[at] + 256 * pixels[at + 1] + 65536 * pixels[at + 2] - 1;
      }
    }
    return ids;
  }

  /** Put a three.js camera where a camera of the task is, with the very same projection. */
  _aim(camera, eye = this.camera) {
    const body = this.model.bodies[camera.body];
    body.updateMatrix();
    const flip = new THREE.Matrix4().makeScale(1, -1, -1); // OpenCV looks along +z with y down.
    const pose = body.matrix.clone().multiply(matrixOf(camera.position, camera.quat)).multiply(flip);
    pose.decompose(eye.position, eye.quaternion, eye.scale);
    eye.scale.set(1, 1, 1);
    eye.updateMatrixWorld(true);
    const [near, far] = [Math.max(camera.near, 0.004), 120];
    const [left, right] = [-camera.center[0], camera.width - camera.center[0]].map((x) => (x / camera.focal[0]) * near);
    const [top, bottom] = [camera.center[1], camera.center[1] - camera.height].map((y) => (y / camera.focal[1]) * near);
    eye.projectionMatrix.makePerspective(left, right, top, bottom, near, far);
    eye.projectionMatrixInverse.copy(eye.projectionMatrix).invert();
  }

  _resize() {
    let { clientWidth: width, clientHeight: height } = this.place;
    if (!width || !height) return;
    if (this.through) {
      const shape = this.through.width / this.through.height;
      [width, height] = width / height > shape ? [height * shape, height] : [width, width / shape];
    }
    this.renderer.setSize(Math.floor(width), Math.floor(height));
    this.camera.aspect = width / height;
    if (!this.through) this.camera.updateProjectionMatrix();
    this.draw();
  }

  _light(header) {
    this._lit.clear();
    this.scene.environment?.dispose();
    if (this.plain) {
      const [above, below] = [header.sky.zenith, header.sky.nadir].map((color) => new THREE.Color().setRGB(...color));
      const around = new THREE.HemisphereLight(above.lerp(new THREE.Color(1, 1, 1), 0.6), below, 3.2);
      around.position.set(0, 0, 1);
      this._lit.add(around);
    } else {
      this.scene.environment = skyOf(this.renderer, header.sky);
      this.scene.environmentIntensity = 0.55;
    }
    this.scene.background = new THREE.Color().setRGB(...header.sky.horizon);
    const { center, radius } = header.focus;
    const lamps = header.lights.filter((light) => Math.max(...light.diffuse) > 0.02).slice(0, this.plain ? 1 : 3);
    let shadows = 1;
    for (const light of lamps) {
      const color = new THREE.Color().setRGB(...light.diffuse);
      const lamp = new THREE.DirectionalLight(color, 2.4);
      lamp.target.position.set(...center);
      const from = light.directional ? new THREE.Vector3(...light.direction).multiplyScalar(-6).add(lamp.target.position)
        : new THREE.Vector3(...light.position);
      lamp.position.copy(from);
      if (light.shadow && shadows > 0 && !this.plain) {
        shadows -= 1;
        lamp.castShadow = true;
        lamp.shadow.mapSize.set(2048, 2048);
        lamp.shadow.bias = -0.0004;
        lamp.shadow.normalBias = 0.004;
        const reach = 1.6 * radius;
        Object.assign(lamp.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 30 });
      }
      this._lit.add(lamp, lamp.target);
    }
    this.renderer.toneMappingExposure = this.plain ? 1.0 : 0.8;
  }

  _key(event) {
    if (this.through || event.ctrlKey || event.metaKey || event.altKey) return;
    const turn = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const zoom = { "+": 1 - STEP, "=": 1 - STEP, "-": 1 + STEP, _: 1 + STEP }[event.key];
    if (!turn && !zoom && event.key !== "Home") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Home") {
      this.home();
      return;
    }
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (zoom) offset.multiplyScalar(zoom);
    else if (event.shiftKey) {
      const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 0);
      const up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrix, 1);
      const step = right.multiplyScalar(turn[0]).addScaledVector(up, -turn[1]).multiplyScalar(0.06 * offset.length());
      this.controls.target.add(step);
    } else {
      const ball = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
      ball.theta += STEP * turn[0];
      ball.phi += STEP * turn[1];
      ball.makeSafe();
      const around = new THREE.Vector3().setFromSpherical(ball);
      offset.set(around.x, -around.z, around.y);
    }
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.redraw();
  }
}

/** Return soft light from all around: the colours of the sky, and a bright ceiling for metal to mirror. */
function skyOf(renderer, sky) {
  const scene = new THREE.Scene();
  const dome = new THREE.SphereGeometry(10, 24, 16);
  const [up, level, down] = [sky.zenith, sky.horizon, sky.nadir].map((c) => new THREE.Color().setRGB(...c));
  const colors = [];
  const at = dome.getAttribute("position");
  for (let k = 0; k < at.count; k += 1) {
    const height = at.getY(k) / 10;
    const color = level.clone().lerp(height > 0 ? up : down, Math.abs(height) ** 0.7);
    colors.push(color.r, color.g, color.b);
  }
  dome.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
  scene.add(new THREE.Mesh(dome, new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.BackSide })));
  const panel = new THREE.Mesh(
    new THREE.BoxGeometry(5, 0.2, 5), new THREE.MeshBasicMaterial({ color: new THREE.Color(3, 3, 3) }));
  panel.position.y = 6;
  scene.add(panel);
  scene.rotation.x = Math.PI / 2; // The dome's poles are along y, ours along z.
  const maker = new THREE.PMREMGenerator(renderer);
  const texture = maker.fromScene(scene, 0.03).texture;
  maker.dispose();
  scene.traverse((part) => {
    part.geometry?.dispose();
    part.material?.dispose();
  });
  return texture;
}
