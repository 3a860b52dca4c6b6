"""Forward kinematics of a URDF: where a link is, from joint values by name."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import mujoco

from handloom.arrays import Array
from handloom.errors import InputError, suggest
from handloom.spatial import make_pose

# MuJoCo refuses moving bodies without mass; kinematics does not depend on it [kg], [kg m^2].
LEAST_MASS = 1e-3


class UrdfKinematics:
    """Gives the pose of a link in the root link of a URDF; meshes are not read.

    Args:
        urdf_path: The URDF file.
        link: Name of the link.

    Raises:
        InputError: The file cannot be read, is no URDF, or has no such link.
    """

    def __init__(self, urdf_path: str | Path, link: str) -> None:
        try:
            root = ET.parse(urdf_path).getroot()
        except (OSError, ET.ParseError) as error:
            raise InputError(f"{urdf_path}: not a URDF file: {error}") from error
        if root.tag != "robot":
            raise InputError(f"{urdf_path}: a URDF starts with <robot>, this file with <{root.tag}>")
        links = [str(element.get("name")) for element in root.iter("link")]
        if link not in links:
            raise InputError(f"{urdf_path}: no link {link!r}; {suggest(link, links)}")
        self._model = _bare_model(root, str(urdf_path))
        self._data = mujoco.MjData(self._model)
        # A fixed root link is the world of the model.
        body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, link)
        self._body = max(body, 0)
        names = [self._model.joint(index).name for index in range(self._model.njnt)]
        self._qpos = {name: int(self._model.joint(name).qposadr[0]) for name in names}

    def __call__(self, joints: Mapping[str, float]) -> Array:
        """Return ``T_base_link`` (4, 4) of joint values [rad or m] by name; joints not given are at 0."""
        self._data.qpos[:] = 0.0
        for name, value in joints.items():
            if name in self._qpos:
                self._data.qpos[self._qpos[name]] = value
        mujoco.mj_kinematics(self._model, self._data)
        return make_pose(self._data.xmat[self._body].reshape(3, 3), self._data.xpos[self._body])


def _bare_model(root: ET.Element, what: str) -> mujoco.MjModel:
    """Return the joints and links of a URDF as a model, without shapes."""
    for link in root.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision"), *link.findall("inertial")]:
            link.remove(part)
    try:
        spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
        spec.compiler.fusestatic = False
        spec.compiler.boundmass = LEAST_MASS
        spec.compiler.boundinertia = LEAST_MASS
        return spec.compile()
    except ValueError as error:
        raise InputError(f"{what}: {error}") from error
