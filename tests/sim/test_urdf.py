"""The one URDF reader: poses of links agree with MuJoCo's."""

import mujoco
import numpy as np
import pytest

from handloom.errors import FileError, NotFoundError
from handloom.sim.urdf import read_urdf

LINKS = ("base", "shoulder", "slide", "wrist", "tip")


def urdf_text(rng: np.random.Generator) -> str:
    """Return a chain with every kind of joint at random places."""
    kinds = ("revolute", "prismatic", "continuous", "fixed")
    joints = []
    for k, (kind, parent, child) in enumerate(zip(kinds, LINKS[:-1], LINKS[1:], strict=True)):
        xyz, rpy, axis = (" ".join(f"{v:.6f}" for v in rng.uniform(-1, 1, 3)) for _ in range(3))
        joints.append(
            f'<joint name="j{k}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>'
            '<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>'
        )
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = [f'<link name="{name}">{inertial}</link>' for name in LINKS]
    return f'<robot name="r">{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.parametrize("seed", range(5))
def test_link_poses_are_those_of_mujoco(seed, tmp_path):
    rng = np.random.default_rng(seed)
    file = tmp_path / "arm.urdf"
    file.write_text(urdf_text(rng), encoding="utf-8")
    spec = mujoco.MjSpec.from_file(str(file))
    spec.compiler.fusestatic = False
    model = spec.compile()
    data = mujoco.MjData(model)
    values = {f"j{k}": float(rng.uniform(-2, 2)) for k in range(3)}
    for name, value in values.items():
        data.joint(name).qpos = value
    mujoco.mj_kinematics(model, data)
    urdf = read_urdf(file)
    for link in LINKS[1:]:
        T = urdf.pose(link, values)
        np.testing.assert_allclose(T[:3, 3], data.body(link).xpos, atol=1e-9)
        np.testing.assert_allclose(T[:3, :3].ravel(), data.body(link).xmat, atol=1e-9)


def test_other_files_and_links_are_refused_by_name(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text("<mujoco/>", encoding="utf-8")
    with pytest.raises(FileError, match="starts with <robot>, this one with <mujoco>"):
        read_urdf(file)
    file.write_text(urdf_text(np.random.default_rng(0)), encoding="utf-8")
    with pytest.raises(NotFoundError, match="did you mean 'wrist'"):
        read_urdf(file).pose("wrst", {})
