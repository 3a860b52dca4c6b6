"""URDF files as they come: packages, meshes of one name in two folders, formats MuJoCo does not read, speed limits."""

from pathlib import Path

import numpy as np
import pytest
from tests.robots.proposal.test_propose_robot import urdf

from handloom.errors import ConfigError, NotAllowedError
from handloom.robots import load_robot
from handloom.robots.checks import check_robot
from handloom.robots.proposal import propose_robot, write_proposal
from handloom.robots.proposal.urdf_files import PACKAGE_PATH, simplified

CORNERS = [(x, y, z) for x in (-0.03, 0.03) for y in (-0.03, 0.03) for z in (-0.04, 0.04)]
FACES = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
OBJ = "\n".join([f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {face}" for face in FACES]) + "\n"


def described(
    folder: Path, *, visual: str = "visual/base.obj", place: str = "package://six_description/meshes"
) -> Path:
    """Write a ROS package: its URDF file, and two meshes of one name."""
    for kind in ("visual", "collision"):
        (folder / "meshes" / kind).mkdir(parents=True)
        (folder / "meshes" / kind / "base.obj").write_text(OBJ)
    (folder / "urdf").mkdir()
    text = urdf()
    first = text.index("<collision>")
    end = text.index("</collision>") + len("</collision>")
    shapes = "".join(
        f'<{tag}><geometry><mesh filename="{place}/{file}"/></geometry></{tag}>'
        for tag, file in (("visual", visual), ("collision", "collision/base.obj"))
    )
    file = folder / "urdf" / "six.urdf"
    file.write_text(text[:first] + shapes + text[end:])
    return file


def test_a_package_around_the_file_is_found_and_its_meshes_keep_apart(tmp_path):
    proposal = propose_robot(described(tmp_path / "six_description"))
    robot = load_robot(write_proposal(proposal, tmp_path / "robot"))
    assert check_robot(robot).ok, check_robot(robot).table()
    assert len(list((tmp_path / "robot" / "assets").iterdir())) == 2


def test_speed_limits_come_from_the_file(tmp_path):
    values = propose_robot(described(tmp_path / "six_description")).values
    assert values["left_joint_speed_limit"] == [2.0] * 6


def test_packages_elsewhere_are_named_by_the_user_or_the_environment(tmp_path, monkeypatch):
    file = described(tmp_path / "a" / "b" / "c" / "d" / "e")
    with pytest.raises(ConfigError, match=r"package://six_description/.*--package six_description=FOLDER, or in ROS_"):
        propose_robot(file)
    assert propose_robot(file, packages={"six_description": tmp_path / "a" / "b" / "c" / "d" / "e"}).values
    (tmp_path / "ros").mkdir()
    (tmp_path / "a" / "b" / "c" / "d" / "e" / "meshes").rename(tmp_path / "ros" / "meshes")
    (tmp_path / "ros").rename(tmp_path / "six_description")
    monkeypatch.setenv(PACKAGE_PATH, str(tmp_path))
    assert propose_robot(file).values


def test_a_package_cannot_lead_out_of_the_folders_around_the_file(tmp_path):
    file = described(tmp_path / "a" / "b" / "c" / "d" / "six_description")
    secret = tmp_path / "secret.obj"
    secret.write_text(OBJ)
    text = file.read_text().replace("six_description/meshes/visual/base.obj", f"six_description/{'../' * 5}secret.obj")
    file.write_text(text)
    with pytest.raises(NotAllowedError, match="--allow-outside"):
        propose_robot(file)


def test_a_mesh_that_cannot_be_converted_is_dropped_when_it_is_only_drawn(tmp_path):
    file = described(tmp_path / "six_description", visual="visual/base.dae")
    (tmp_path / "six_description" / "meshes" / "visual" / "base.dae").write_text("<COLLADA/>")
    proposal = propose_robot(file)
    assert any("base.dae is not drawn" in note for note in proposal.notes)


def test_a_missing_mesh_is_named(tmp_path):
    file = described(tmp_path / "six_description", visual="../../nothing.stl", place="../meshes")
    with pytest.raises(ConfigError, match=r"nothing\.stl not found"):
        propose_robot(file)


def test_a_dense_mesh_becomes_a_light_one_of_the_same_shape():
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 301), np.linspace(0, np.pi, 151))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3) * 0.1
    corner = np.arange(len(ball)).reshape(u.shape)
    a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[1:, :-1], corner[:-1, 1:], corner[1:, 1:]))
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])
    vertices, fewer = simplified(ball, faces, 4000)
    assert 1000 < len(fewer) <= 4000 < len(faces)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.1, atol=0.002)
    assert simplified(ball, faces, len(faces))[1] is faces
