"""The model of a scene as text, for other programs."""

import mujoco
import numpy as np

from handloom.scene.build import instance_spec
from handloom.spatial import make_pose, matrix_from_quat, transform_points
from handloom.values import TaskInstance


def model_xml(instance: TaskInstance) -> str:
    """Return the scene of an instance as MJCF that needs no other file.

    It is the model of the recording up to what MJCF can say: numbers have six digits, meshes are given by their
    vertices, and textures, for whose pixels there is no place, become their mean colour.
    """
    spec = instance_spec(instance).spec
    model = spec.compile()
    for texture in spec.textures:
        _flatten(texture, model)
    for mesh in spec.meshes:
        if mesh.file:
            _embed(mesh, model)
    spec.compile()
    return spec.to_xml()


def _flatten(texture: mujoco.MjsTexture, model: mujoco.MjModel) -> None:
    """Replace the pixels of a texture by their mean colour."""
    compiled = model.tex(texture.name)
    start, channels = int(compiled.adr[0]), int(compiled.nchannel[0])
    count = int(compiled.width[0]) * int(compiled.height[0])
    pixels = model.tex_data[start : start + count * channels].reshape(count, channels)[:, :3]
    texture.data, texture.file, texture.cubefiles = b"", "", []
    texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
    texture.rgb1 = texture.rgb2 = pixels.mean(axis=0) / 255.0
    texture.width = texture.height = 1


def _embed(mesh: mujoco.MjsMesh, model: mujoco.MjModel) -> None:
    """Replace the file of a mesh by its vertices and faces."""
    compiled = model.mesh(mesh.name)
    vertices, faces = (
        slice(int(first[0]), int(first[0] + number[0]))
        for first, number in ((compiled.vertadr, compiled.vertnum), (compiled.faceadr, compiled.facenum))
    )
    # The compiler moved the vertices into the frame of the mesh's inertia; geoms refer to the frame of the file.
    T_file_inertia = make_pose(matrix_from_quat(model.mesh_quat[compiled.id]), model.mesh_pos[compiled.id])
    mesh.file, mesh.scale = "", [1.0, 1.0, 1.0]
    mesh.uservert = transform_points(T_file_inertia, model.mesh_vert[vertices].astype(float)).ravel()
    mesh.userface = np.asarray(model.mesh_face[faces]).ravel()
