"""Images of a MuJoCo scene: cameras, the CPU ray caster, labels, textures."""

from handloom.render.backends import BACKENDS, BackendState, probe_backends
from handloom.render.cameras import camera_pose, camera_pose_in, project, spec_of_mjcf_camera, unproject
from handloom.render.pictures import contact_sheet, write_png
from handloom.render.renderer import KINDS, Images, Renderer

__all__ = [
    "BACKENDS",
    "KINDS",
    "BackendState",
    "Images",
    "Renderer",
    "camera_pose",
    "camera_pose_in",
    "contact_sheet",
    "probe_backends",
    "project",
    "spec_of_mjcf_camera",
    "unproject",
    "write_png",
]
