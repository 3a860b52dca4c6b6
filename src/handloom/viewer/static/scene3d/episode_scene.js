// The 3D panel of the episode page: follows the clock of the page, with its layers and viewpoints.

import { ApiError, getBytes } from "../lib/api.js";
import { clear, el, toast } from "../lib/dom.js";
import { EpisodeScene, LAYERS } from "./episode_motion.js";
import { COLORS } from "./overlays.js";

const SHOWN = { executed: true, planned: true, contacts: true, cameras: false, grasps: false };
const ORBIT = "";

/** Fill a block with the 3D view of an episode; `clock` says which frame is shown. */
export async function mountScene(host, { source, episode, clock }) {
  const place = el("div.scene3d-place");
  const note = el("p.scene3d-note.quiet", { role: "status" }, "Building the scene …");
  clear(host, el("div.scene3d-panel", {}, place, note));
  let scene;
  try {
    scene = new EpisodeScene(place);
  } catch (error) {
    note.textContent = `This browser cannot draw in 3D: ${error.message}`;
    return { destroy() {}, camera: () => null };
  }
  const ended = new AbortController();
  let stop = () => {};
  const path = `/api/episodes/${encodeURIComponent(source)}/${episode}`;
  try {
    const [geometry, motion] = await Promise.all(
      ["scene", "motion"].map((part) => getBytes(`${path}/${part}`, { signal: ended.signal })));
    await scene.load(geometry, motion);
    note.remove();
    host.firstChild.append(controls(scene));
    Object.entries(SHOWN).forEach(([name, shown]) => scene.showLayer(name, shown));
    stop = clock.follow(() => scene.show(clock.frame));
  } catch (error) {
    if (error.name !== "AbortError") note.textContent = error.message;
  }
  return {
    scene,
    camera: () => scene.view.viewpoint(),
    draw: () => drawAgain(path, { ...scene.view.viewpoint(), frame: scene.frame }).catch((error) => toast(error.message, "bad")),
    destroy() {
      ended.abort();
      stop();
      scene.dispose();
      clear(host);
    },
  };
}

/** Show the picture that the ray caster draws from a viewpoint. */
async function drawAgain(path, viewpoint) {
  const status = el("p.quiet", { role: "status" }, "Drawing …");
  const dialog = el("dialog.scene3d-drawn", { "aria-label": "Rendered from this angle" }, status,
    el("form.row", { method: "dialog" }, el("button.primary", { type: "submit", autofocus: true }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const answer = await fetch(`${path}/draw`, { method: "POST", body: JSON.stringify(viewpoint) });
    if (!answer.ok) throw new ApiError((await answer.json()).error, answer.status);
    const address = URL.createObjectURL(await answer.blob());
    const image = el("img", { alt: `Frame ${viewpoint.frame}, rendered by the ray caster`, src: address });
    dialog.addEventListener("close", () => URL.revokeObjectURL(address));
    status.replaceWith(image);
    dialog.querySelector("form").prepend(el("a.button", { href: address, download: `frame_${viewpoint.frame}.jpg` }, "Save the image"));
  } catch (error) {
    status.textContent = error.message;
  }
}

function controls(scene) {
  const layers = Object.entries(LAYERS)
    .filter(([name]) => name !== "grasps" || scene.motion.header.grasps.length)
    .map(([name, words]) => layerSwitch(words, COLORS[{ contacts: "gripped", cameras: "camera", grasps: "chosen" }[name] ?? name],
      SHOWN[name], (shown) => scene.showLayer(name, shown)));
  const viewpoint = el("select", { "aria-label": "Viewpoint", onchange: (event) => scene.lookThrough(event.target.value || null) },
    el("option", { value: ORBIT }, "Orbit"), scene.cameras.map((name) => el("option", { value: name }, `Through ${name}`)));
  const home = el("button", { type: "button", onclick: () => { viewpoint.value = ORBIT; scene.lookThrough(null); scene.view.home(); } }, "Reset view");
  return el("div.scene3d-controls.row", {}, viewpoint, home, layers);
}

/** Return a switch with the colour of what it shows. */
export function layerSwitch(words, color, shown, onchange) {
  const sample = el("span.scene3d-color");
  sample.style.background = `#${color.toString(16).padStart(6, "0")}`;
  return el("label.scene3d-switch", {},
    el("input", { type: "checkbox", checked: shown, onchange: (event) => onchange(event.target.checked) }), sample, words);
}

