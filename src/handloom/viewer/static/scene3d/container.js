// Reads the files of `handloom.viewer.scene3d.container`: a JSON header followed by arrays.

const TYPES = {
  float32: Float32Array, uint32: Uint32Array, int8: Int8Array, uint8: Uint8Array, int32: Int32Array,
};

/** Return the header of a file and a function that gives the array of a reference in it. */
export function readContainer(buffer) {
  const head = new DataView(buffer);
  if (head.getUint32(0, false) !== 0x484c5331) throw new Error("this is not a scene of the 3D view");
  const length = head.getUint32(4, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const array = (reference) => new TYPES[reference.type](buffer, 8 + length + reference.at, reference.count);
  return { header, array };
}
