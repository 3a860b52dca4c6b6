// The scene of a task in 3D: regions, reach, cameras; and the expert at work in it.

import { COLORS, edgesOf, forksOf, frustumOf, labelOf, lineOf, patchOf, segmentsOf, squaresOf } from "../scene3d/overlays.js";
import { matrixOf } from "../scene3d/model.js";
import { SceneView } from "../scene3d/view.js";

const PALETTE = [0x1f6fd1, 0xc2570c, 0x1b8a4b, 0x9b2fae, 0xb5870b, 0x0b8793, 0xc22e62, 0x5b6472];

/** The layers of the view, by name: what they are called, the colour of their switch, whether they are shown. */
export const LAYERS = {
  regions: ["Regions", PALETTE[0], true],
  reach: ["Reach", COLORS.reach, true],
  cameras: ["Cameras", COLORS.camera, false],
  candidates: ["Candidates", COLORS.candidate, true],
  path: ["Planned path", COLORS.planned, true],
};

/** Shows one sampled scene after the other, and plays what the expert does. */
export class TaskScene {
  constructor(place) {
    this.view = new SceneView(place);
    this.facts = null;
    this.plans = [];
    this.shownPlan = null;
    this._reach = [];
  }

  /** Show a sampled scene: an event `scene`. */
  async show(event, { keepView, keepReach = false }) {
    const { header, array } = event;
    const content = array(header.geometry);
    const copy = content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength);
    const through = this.view.through?.name ?? null;
    await this.view.load(copy, { keepView });
    if (this.view.disposed) return;
    this.facts = header;
    this.plans = [];
    this._plan(null);
    this.view.setLayer("regions", this._regions(header.regions), { visible: this._visible("regions") });
    const frusta = header.cameras.map((camera) => {
      const frustum = frustumOf(camera);
      const body = this.view.model.bodies[camera.body];
      body.updateMatrix();
      frustum.matrixAutoUpdate = false;
      frustum.matrix.copy(body.matrix).multiply(matrixOf(camera.position, camera.quat));
      return frustum;
    });
    this.view.setLayer("cameras", frusta, { visible: this._visible("cameras") });
    if (!keepReach) this._reach = [];
    this._showReach();
    this.lookThrough(through);
  }

  /** Add where an arm gets to: an event `reach`. */
  addReach({ header }) {
    this._reach.push(header);
    this._showReach();
  }

  /** Draw the reach of all arms: the edge of what is reached from above or the side, and what only the side reaches. */
  _showReach() {
    const shapes = this._reach.flatMap((header, arm) => {
      const color = PALETTE[(2 * arm) % PALETTE.length];
      const all = [...header.above, ...header.side];
      if (!all.length) return [];
      const edge = segmentsOf(edgesOf(all, header.step), color);
      const label = labelOf(`reach of ${header.robot} ${header.arm}`, color, 0.022);
      const last = all.reduce((far, place) => (place[0] + place[1] > far[0] + far[1] ? place : far));
      label.position.set(last[0], last[1], last[2] + 0.02);
      const side = header.side.length ? [squaresOf(header.side.flat(), 0.45 * header.step, color, { opacity: 0.3 })] : [];
      return [edge, label, squaresOf(all.flat(), header.step, color, { opacity: 0.05 }), ...side];
    });
    this.view.setLayer("reach", shapes, { visible: this._visible("reach") });
  }

  /** Remember a plan: an event `plan`; it is shown from its frame on. */
  addPlan(event) {
    this.plans.push(event);
    if (event.header.frame === 0) this._plan(event);
  }

  /** Show a frame of the expert: poses of all bodies, and the plan it follows then. */
  frame(number, poses) {
    if (poses) this.view.setPoses(poses);
    const plan = this.plans.findLast((event) => event.header.frame <= number) ?? null;
    if (plan !== this.shownPlan) this._plan(plan);
  }

  /** Show one plan, whatever the frame. */
  showPlan(number) { this._plan(this.plans[number] ?? null); }

  /** Look through a camera, or orbit (null). */
  lookThrough(name) {
    this.view.lookThrough(this.facts?.cameras.find((camera) => camera.name === name) ?? null);
  }

  setVisible(name, visible) {
    LAYERS[name][2] = visible;
    this.view.showLayer(name, visible);
  }

  dispose() { this.view.dispose(); }

  _visible(name) { return LAYERS[name][2]; }

  _plan(event) {
    this.shownPlan = event;
    const hands = [];
    const paths = [];
    if (event) {
      const { header, array } = event;
      const poses = array(header.hands.poses);
      const all = poses.length / 7;
      const others = Array.from({ length: all }, (_, k) => k).filter((k) => k !== header.chosen);
      const color = header.ok ? COLORS.candidate : COLORS.refused;
      if (others.length) hands.push(forksOf(poses, header.hands, color, { opacity: 0.45, chosen: others }));
      if (header.chosen >= 0) hands.push(forksOf(poses, header.hands, COLORS.chosen, { chosen: [header.chosen] }));
      const path = array(header.path);
      if (path.length) paths.push(lineOf(path, COLORS.planned));
    }
    this.view.setLayer("candidates", hands, { visible: this._visible("candidates") });
    this.view.setLayer("path", paths, { visible: this._visible("path") });
  }

  _regions(regions) {
    const names = [...new Set(regions.map((region) => region.object))];
    return regions.flatMap((region) => {
      const color = region.distractors ? 0x5b6472 : PALETTE[names.indexOf(region.object) % PALETTE.length];
      const patch = patchOf(region.corners.flat(), color);
      const label = labelOf(region.object, color);
      const count = region.corners.length;
      const middle = [0, 1, 2].map((axis) => region.corners.reduce((sum, corner) => sum + corner[axis], 0) / count);
      label.position.set(middle[0], middle[1], middle[2] + 0.03);
      return [patch, label];
    });
  }
}
