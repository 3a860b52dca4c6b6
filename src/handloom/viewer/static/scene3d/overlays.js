// Overlays drawn into a scene: paths, contacts, cameras, grasps, regions, reach.

import * as THREE from "../vendor/three.module.min.js";

/** Colours by meaning; the pages use the same ones in their legends. */
export const COLORS = {
  executed: 0x2b6cb0, planned: 0xe8871e, camera: 0x6b4fb3, candidate: 0x8a8f98, chosen: 0x1a8a4a, refused: 0xc53030,
  resting: 0x8a8f98, gripped: 0x1a8a4a, hit: 0xc53030, reach: 0x2b6cb0,
};

/** Return a line through points: a flat array of x, y, z. */
export function lineOf(points, color, { dashed = false, opacity = 1 } = {}) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  const look = { color, transparent: opacity < 1, opacity };
  const material = dashed
    ? new THREE.LineDashedMaterial({ ...look, dashSize: 0.012, gapSize: 0.008 })
    : new THREE.LineBasicMaterial(look);
  const line = new THREE.Line(geometry, material);
  if (dashed) line.computeLineDistances();
  line.frustumCulled = false;
  return line;
}

/** Return separate segments: a flat array of x, y, z, two points each. */
export function segmentsOf(points, color, { opacity = 1 } = {}) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(points), 3));
  const lines = new THREE.LineSegments(
    geometry, new THREE.LineBasicMaterial({ color, transparent: opacity < 1, opacity }));
  lines.frustumCulled = false;
  return lines;
}

/** Return small balls at points. */
export function dotsOf(points, color, radius) {
  const count = points.length / 3;
  const mesh = new THREE.InstancedMesh(
    new THREE.SphereGeometry(radius, 10, 8), new THREE.MeshBasicMaterial({ color, depthTest: false }), count);
  const matrix = new THREE.Matrix4();
  for (let k = 0; k < count; k += 1) mesh.setMatrixAt(k, matrix.makeTranslation(...points.subarray(3 * k, 3 * k + 3)));
  mesh.frustumCulled = false;
  mesh.renderOrder = 3;
  return mesh;
}

/**
 * Return forks, as hands are sketched: palm, two fingers and a stem.
 * @param {Float32Array} poses x, y, z, w, x, y, z of each hand.
 * @param {object} hand `approach`, `closing`, `tip` in the hand's frame and `opening` [m].
 * @param {number[]} chosen Numbers of those that are drawn, all without.
 */
export function forksOf(poses, hand, color, { opacity = 1, chosen = null } = {}) {
  const approach = new THREE.Vector3(...hand.approach);
  const side = new THREE.Vector3(...hand.closing).multiplyScalar(Math.max(hand.opening, 0.02) / 2);
  const tip = new THREE.Vector3(...hand.tip);
  const palm = tip.clone().addScaledVector(approach, -0.045);
  const stem = tip.clone().addScaledVector(approach, -0.08);
  const [left, right] = [side, side.clone().negate()];
  const corners = [
    stem, palm, palm.clone().add(left), palm.clone().add(right),
    palm.clone().add(left), tip.clone().add(left), palm.clone().add(right), tip.clone().add(right),
  ];
  const points = [];
  const turn = new THREE.Quaternion();
  const numbers = chosen ?? Array.from({ length: poses.length / 7 }, (_, k) => k);
  for (const k of numbers) {
    const p = poses.subarray(7 * k, 7 * k + 7);
    turn.set(p[4], p[5], p[6], p[3]);
    for (const corner of corners) {
      const point = corner.clone().applyQuaternion(turn);
      points.push(point.x + p[0], point.y + p[1], point.z + p[2]);
    }
  }
  const forks = segmentsOf(points, color, { opacity });
  forks.renderOrder = 2;
  return forks;
}

/** Return the frustum of a camera in its own frame (OpenCV axes), `depth` metres deep. */
export function frustumOf(camera, depth = 0.12) {
  const [fx, fy] = camera.focal;
  const [cx, cy] = camera.center;
  const corner = (u, v) => [((u - cx) / fx) * depth, ((v - cy) / fy) * depth, depth];
  const corners = [corner(0, 0), corner(camera.width, 0), corner(camera.width, camera.height), corner(0, camera.height)];
  const points = [];
  corners.forEach((point, k) => points.push(0, 0, 0, ...point, ...point, ...corners[(k + 1) % 4]));
  const top = corner(camera.width / 2, -0.18 * camera.height); // A small roof marks the up direction.
  points.push(...corners[0], ...top, ...top, ...corners[1]);
  return segmentsOf(points, COLORS.camera);
}

/** Free everything that an object holds on the graphics card, and take it out of its parent. */
export function discard(object) {
  object.traverse((part) => {
    part.geometry?.dispose();
    part.material?.map?.dispose();
    part.material?.dispose();
    if (part.isInstancedMesh) part.dispose();
  });
  object.removeFromParent();
}

/** Return words that always face the viewer, `height` metres high. */
export function labelOf(text, color, height = 0.028) {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const font = "600 44px system-ui, sans-serif";
  pen.font = font;
  canvas.width = Math.ceil(pen.measureText(text).width) + 28;
  canvas.height = 64;
  pen.font = font;
  pen.fillStyle = "rgba(255, 255, 255, 0.86)";
  pen.beginPath();
  pen.roundRect(0, 0, canvas.width, canvas.height, 14);
  pen.fill();
  pen.fillStyle = `#${color.toString(16).padStart(6, "0")}`;
  pen.textBaseline = "middle";
  pen.fillText(text, 14, 34);
  const map = new THREE.CanvasTexture(canvas);
  map.colorSpace = THREE.SRGBColorSpace;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, toneMapped: false }));
  sprite.scale.set((height * canvas.width) / canvas.height, height, 1);
  sprite.renderOrder = 5;
  return sprite;
}

/** Return a flat shape on a surface: corners as a flat array of x, y, z, convex, with an outline. */
export function patchOf(corners, color, { opacity = 0.22 } = {}) {
  const group = new THREE.Group();
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
  const index = [];
  for (let k = 1; k + 1 < corners.length / 3; k += 1) index.push(0, k, k + 1);
  geometry.setIndex(index);
  const material = new THREE.MeshBasicMaterial({
    color, transparent: true, opacity, side: THREE.DoubleSide, depthWrite: false,
    polygonOffset: true, polygonOffsetFactor: -4, polygonOffsetUnits: -4,
  });
  group.add(new THREE.Mesh(geometry, material));
  group.add(lineOf([...corners, ...corners.slice(0, 3)], color));
  return group;
}

/** Return small squares flat on a surface, such as the places that a hand gets to. */
export function squaresOf(points, size, color, { opacity = 0.35 } = {}) {
  const material = new THREE.MeshBasicMaterial({
    color, transparent: true, opacity, depthWrite: false, side: THREE.DoubleSide,
    polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2,
  });
  const count = points.length / 3;
  const mesh = new THREE.InstancedMesh(new THREE.PlaneGeometry(size, size), material, count);
  const matrix = new THREE.Matrix4();
  for (let k = 0; k < count; k += 1) {
    mesh.setMatrixAt(k, matrix.makeTranslation(points[3 * k], points[3 * k + 1], points[3 * k + 2]));
  }
  mesh.frustumCulled = false;
  return mesh;
}

/** Return the edge of an area made of squares, as segments: `places` are the middles of squares of a grid. */
export function edgesOf(places, step) {
  const key = (x, y) => `${Math.round(x / step)} ${Math.round(y / step)}`;
  const [x0, y0] = places[0];
  const inside = new Set(places.map(([x, y]) => key(x - x0, y - y0)));
  const half = step / 2;
  const points = [];
  for (const [x, y, z] of places) {
    for (const [i, j] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      if (inside.has(key(x - x0 + i * step, y - y0 + j * step))) continue;
      const [mx, my] = [x + i * half, y + j * half];
      points.push(mx + j * half, my + i * half, z + 0.001, mx - j * half, my - i * half, z + 0.001);
    }
  }
  return points;
}
