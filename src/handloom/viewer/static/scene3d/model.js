// A model as three.js objects: one group per body, whose pose is set from outside.

import * as THREE from "../vendor/three.module.min.js";

const LARGE = 2.4; // Diagonal above which a geom counts as part of the room [m].
const INSTANCED = 12; // With at least this many geoms of the same shape and look, they are drawn together.

/** The drawn part of a model. */
export class Model {
  /**
   * @param {{header: object, array: function}} file A file of `scene_geometry`.
   * @param {THREE.Texture[]} textures Its textures.
   * @param {boolean} plain Without highlights and reflections.
   */
  constructor({ header, array }, textures, { plain = false } = {}) {
    this.header = header;
    this.plain = plain;
    this.root = new THREE.Group();
    this.bodies = header.bodies.map((name) => {
      const group = new THREE.Group();
      group.name = name;
      this.root.add(group);
      return group;
    });
    this.geometries = header.meshes.map((mesh) => geometryOf(mesh, array));
    this.materials = new Map();
    this.instanced = [];
    this.room = [];
    this.ids = null;
    this._textures = textures;
    this._add();
    this.setPoses(array(header.poses));
  }

  _add() {
    const alike = new Map();
    for (const geom of this.header.geoms) {
      const key = `${geom.mesh} ${lookOf(geom)}`;
      alike.set(key, [...(alike.get(key) ?? []), geom]);
    }
    for (const geoms of alike.values()) {
      if (geoms.length < INSTANCED) geoms.forEach((geom) => this.bodies[geom.body].add(this._mesh(geom)));
      else this._addInstanced(geoms);
    }
  }

  _mesh(geom) {
    const mesh = new THREE.Mesh(this.geometries[geom.mesh], this._material(geom));
    place(mesh, geom.position, geom.quat);
    mesh.castShadow = geom.shadow;
    mesh.receiveShadow = true;
    mesh.userData.geom = geom;
    const box = this._box(geom.mesh);
    if (box.min.distanceTo(box.max) > LARGE) this.room.push(mesh);
    return mesh;
  }

  _box(number) {
    const geometry = this.geometries[number];
    if (!geometry.boundingBox) geometry.computeBoundingBox();
    return geometry.boundingBox;
  }

  /** Hide the walls between a viewpoint and what it looks at; without one, show all of them. */
  clearView(eye = null, target = null) {
    for (const mesh of this.room) {
      mesh.visible = true;
      if (!eye) continue;
      mesh.updateWorldMatrix(true, false);
      const inverse = mesh.matrixWorld.clone().invert();
      const from = eye.clone().applyMatrix4(inverse);
      const way = target.clone().applyMatrix4(inverse).sub(from);
      const ray = new THREE.Ray(from, way.clone().normalize());
      const hit = ray.intersectBox(this._box(mesh.userData.geom.mesh), new THREE.Vector3());
      mesh.visible = !(hit && hit.distanceTo(from) < way.length());
    }
  }

  _addInstanced(geoms) {
    const mesh = new THREE.InstancedMesh(this.geometries[geoms[0].mesh], this._material(geoms[0]), geoms.length);
    mesh.frustumCulled = false;
    mesh.castShadow = geoms[0].shadow;
    mesh.receiveShadow = true;
    const local = geoms.map((geom) => matrixOf(geom.position, geom.quat));
    this.root.add(mesh);
    this.instanced.push({ mesh, geoms, local });
  }

  _material(geom) {
    const key = `${this.header.meshes[geom.mesh].sides} ${lookOf(geom)}`;
    if (!this.materials.has(key)) {
      const side = this.header.meshes[geom.mesh].sides === 2 ? THREE.DoubleSide : THREE.FrontSide;
      const color = new THREE.Color().setRGB(...geom.color);
      const look = {
        color, side, map: geom.texture >= 0 ? this._textures[geom.texture] : null,
        transparent: geom.opacity < 1, opacity: geom.opacity, depthWrite: geom.opacity > 0.6,
      };
      const material = this.plain
        ? new THREE.MeshLambertMaterial(look)
        : new THREE.MeshStandardMaterial({ ...look, roughness: Math.max(geom.roughness, 0.08), metalness: geom.metal });
      if (geom.glow > 0) material.emissive.copy(color).multiplyScalar(geom.glow);
      this.materials.set(key, material);
    }
    return this.materials.get(key);
  }

  /** Place all bodies, or those of `numbers`: x, y, z [m], w, x, y, z each. */
  setPoses(poses, numbers = null) {
    const count = numbers ? numbers.length : this.bodies.length;
    for (let k = 0; k < count; k += 1) {
      const body = this.bodies[numbers ? numbers[k] : k];
      const at = 7 * k;
      body.position.set(poses[at], poses[at + 1], poses[at + 2]);
      body.quaternion.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
      body.updateMatrix();
    }
    const matrix = new THREE.Matrix4();
    for (const { mesh, geoms, local } of this.instanced) {
      geoms.forEach((geom, k) => mesh.setMatrixAt(k, matrix.multiplyMatrices(this.bodies[geom.body].matrix, local[k])));
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /** Return the same geoms, each in the colour of its number plus one, for finding out what a pixel shows. */
  idScene() {
    if (!this.ids) {
      this.ids = new THREE.Scene();
      this._copies = this.header.geoms.map((geom) => {
        const side = this.header.meshes[geom.mesh].sides === 2 ? THREE.DoubleSide : THREE.FrontSide;
        const copy = new THREE.Mesh(this.geometries[geom.mesh], idMaterial(geom.id, side));
        copy.matrixAutoUpdate = false;
        copy.frustumCulled = false;
        copy.userData = { body: geom.body, local: matrixOf(geom.position, geom.quat) };
        this.ids.add(copy);
        return copy;
      });
    }
    for (const copy of this._copies) {
      const body = this.bodies[copy.userData.body];
      body.updateMatrix();
      copy.matrix.multiplyMatrices(body.matrix, copy.userData.local);
      copy.visible = body.visible;
    }
    return this.ids;
  }

  dispose() {
    this.geometries.forEach((geometry) => geometry.dispose());
    this.materials.forEach((material) => material.dispose());
    this._textures.forEach((texture) => texture.dispose());
    (this._copies ?? []).forEach((copy) => copy.material.dispose());
    this.instanced.forEach(({ mesh }) => mesh.dispose());
  }
}

/** Decode the textures of a file. */
export async function texturesOf({ header, array }, { plain = false } = {}) {
  return Promise.all(header.textures.map(async ({ png }) => {
    const bitmap = await createImageBitmap(new Blob([array(png)], { type: "image/png" }));
    const texture = new THREE.Texture(bitmap);
    texture.flipY = false; // Coordinates start at the first row.
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.anisotropy = plain ? 1 : 4; // Grain of a table top stays sharp at a grazing angle.
    texture.needsUpdate = true;
    return texture;
  }));
}

function lookOf(geom) {
  return JSON.stringify([geom.color, geom.opacity, geom.roughness, geom.metal, geom.glow, geom.texture, geom.shadow]);
}

function geometryOf(mesh, array) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(array(mesh.points), 3));
  const normals = new THREE.InterleavedBuffer(array(mesh.normals), 4);
  geometry.setAttribute("normal", new THREE.InterleavedBufferAttribute(normals, 3, 0, true));
  if (mesh.uv) geometry.setAttribute("uv", new THREE.BufferAttribute(array(mesh.uv), 2));
  geometry.setIndex(new THREE.BufferAttribute(array(mesh.triangles), 1));
  return geometry;
}

function idMaterial(id, side) {
  const number = id + 1;
  const color = new THREE.Vector3(number & 255, (number >> 8) & 255, (number >> 16) & 255).divideScalar(255);
  return new THREE.ShaderMaterial({
    side,
    uniforms: { color: { value: color } },
    vertexShader: "void main() { gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "uniform vec3 color; void main() { gl_FragColor = vec4(color, 1.0); }",
  });
}

/** Put an object at a position with a wxyz quaternion. */
export function place(object, position, quat) {
  object.position.set(...position);
  object.quaternion.set(quat[1], quat[2], quat[3], quat[0]);
}

/** Return the matrix of a position and a wxyz quaternion. */
export function matrixOf(position, quat) {
  const turn = new THREE.Quaternion(quat[1], quat[2], quat[3], quat[0]);
  return new THREE.Matrix4().compose(new THREE.Vector3(...position), turn, new THREE.Vector3(1, 1, 1));
}
