// The 3D view of a recorded episode: the content of its images, to orbit while it plays.

import { readContainer } from "./container.js";
import { matrixOf } from "./model.js";
import { COLORS, dotsOf, forksOf, frustumOf, lineOf, segmentsOf } from "./overlays.js";
import { SceneView } from "./view.js";

const NEWTON = 0.002; // Length of a force arrow per newton [m].
const KINDS = ["resting", "gripped", "hit"];

/** The layers of the view, by name, and what they are called. */
export const LAYERS = {
  executed: "Executed",
  planned: "Planned",
  contacts: "Contacts",
  cameras: "Cameras",
  grasps: "Grasps",
};

/** An episode in 3D. */
export class EpisodeScene {
  /** @param {HTMLElement} place Filled with the canvas. */
  constructor(place) {
    this.view = new SceneView(place);
    this.motion = null;
    this.frame = 0;
  }

  /** Show an episode: the files of `scene_geometry` and `recorded_motion`. */
  async load(geometry, motion) {
    await this.view.load(geometry);
    if (this.view.disposed) return;
    this.motion = readContainer(motion);
    const { header, array } = this.motion;
    this._poses = array(header.poses);
    this._contacts = Object.fromEntries(Object.entries(header.contacts).map(([name, part]) => [name, array(part)]));
    this.view.setPoses(array(header.resting));
    const ways = (name, options) => header.tools.map((tool) => lineOf(array(tool[name]), COLORS[name], options));
    this.view.setLayer("executed", ways("executed"));
    this.view.setLayer("planned", ways("planned", { dashed: true }));
    this.frusta = header.cameras.map((camera) => frustumOf(camera));
    this.frusta.forEach((frustum) => { frustum.matrixAutoUpdate = false; });
    this.view.setLayer("cameras", this.frusta);
    this.forks = header.grasps.map((grasp) => {
      const forks = forksOf(array(grasp.poses), grasp, COLORS.candidate, { opacity: 0.4 });
      forks.add(forksOf(array(grasp.poses), grasp, COLORS.chosen, { chosen: [grasp.taken] }));
      forks.matrixAutoUpdate = false;
      return forks;
    });
    this.view.setLayer("grasps", this.forks, { visible: false });
    this.show(0);
  }

  /** Number of frames. */
  get frames() {
    return this.motion?.header.frames ?? 0;
  }

  /** Names of the cameras to look through. */
  get cameras() {
    return this.motion?.header.cameras.map((camera) => camera.name) ?? [];
  }

  /** Show a frame. */
  show(frame) {
    if (!this.motion) return;
    const { header } = this.motion;
    this.frame = Math.max(0, Math.min(header.frames - 1, Math.round(frame)));
    const size = 7 * header.moving.length;
    this.view.setPoses(this._poses.subarray(size * this.frame, size * (this.frame + 1)), header.moving);
    this._placeContacts();
    header.cameras.forEach((camera, k) => this._carry(this.frusta[k], camera.body, camera));
    header.grasps.forEach((grasp, k) => {
      this._carry(this.forks[k], grasp.body);
      this.forks[k].visible = this.frame >= grasp.frames[0] && this.frame <= grasp.frames[1];
    });
  }

  /** Show or hide a layer. */
  showLayer(name, visible) {
    this.view.showLayer(name, visible);
  }

  /** Look through a camera by its name, or orbit (null). */
  lookThrough(name) {
    const { cameras } = this.motion.header;
    this.frusta.forEach((frustum, k) => { frustum.visible = cameras[k].name !== name; }); // A camera does not see itself.
    this.view.lookThrough(cameras.find((camera) => camera.name === name) ?? null);
  }

  dispose() {
    this.view.dispose();
  }

  _carry(object, body, mounted = null) {
    const carrier = this.view.model.bodies[body];
    carrier.updateMatrix();
    object.matrix.copy(carrier.matrix);
    if (mounted) object.matrix.multiply(matrixOf(mounted.position, mounted.quat));
    object.matrixWorldNeedsUpdate = true;
  }

  _placeContacts() {
    const { starts, points, forces, kinds } = this._contacts;
    const objects = [];
    KINDS.forEach((kind, number) => {
      const at = [];
      const arrows = [];
      for (let k = starts[this.frame]; k < starts[this.frame + 1]; k += 1) {
        if (kinds[k] !== number) continue;
        const [x, y, z] = points.subarray(3 * k, 3 * k + 3);
        const [i, j, l] = forces.subarray(3 * k, 3 * k + 3).map((force) => NEWTON * force);
        at.push(x, y, z);
        arrows.push(x, y, z, x + i, y + j, z + l);
      }
      if (at.length) objects.push(dotsOf(Float32Array.from(at), COLORS[kind], 0.0035), segmentsOf(arrows, COLORS[kind]));
    });
    this.view.setLayer("contacts", objects);
  }
}
