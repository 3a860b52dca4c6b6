"""Obstacles by name: taken from models, added, moved, switched, and refused with a reason."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError, NotFoundError
from handloom.motion.collision import CollisionWorld, ShapeKind
from handloom.spatial import make_pose, translation

SCENE = """
<mujoco><asset>
  <mesh name="tetra" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>
  <hfield name="hills" nrow="2" ncol="3" size=".5 .4 .2 .1" elevation="0 1 0 1 0 1"/></asset>
<worldbody>
  <geom name="floor" type="plane" size="1 1 .1"/>
  <geom name="poster" type="box" size=".1 .1 .01" contype="0" conaffinity="0"/>
  <body name="table" pos="0.5 0 0.4"><geom name="top" type="box" size=".3 .4 .02"/>
    <geom type="cylinder" size=".02 .2" pos="0 0 -.2"/></body>
  <body name="ball" pos="0.5 0 0.5"><freejoint/><geom type="sphere" size=".03"/></body>
  <body name="stone"><geom type="mesh" mesh="tetra"/></body>
  <body name="egg"><geom type="ellipsoid" size=".02 .02 .03"/></body>
  <body name="hills"><geom type="hfield" hfield="hills"/></body>
  <body name="arm"><joint name="j"/><geom name="rod" type="capsule" size=".02 .1"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def scene():
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_every_solid_of_a_model_is_taken_and_pictures_are_not(scene):
    model, data = scene
    world = CollisionWorld.from_model(model, data, exclude_bodies=[model.body("arm").id])
    kinds = {o.name: o.shape.kind for o in world}
    assert kinds == {
        "world/floor": ShapeKind.PLANE,
        "table/top": ShapeKind.BOX,
        "table/table#1": ShapeKind.CYLINDER,
        "ball/ball#0": ShapeKind.SPHERE,
        "stone/stone#0": ShapeKind.CONVEX,
        "egg/egg#0": ShapeKind.ELLIPSOID,
        "hills/hills#0": ShapeKind.HEIGHT_FIELD,
    }
    np.testing.assert_allclose(world["table/table#1"].T_world_obstacle[:3, 3], [0.5, 0, 0.2])
    # MJCF writes rows from the far side, memory holds them from the near side.
    np.testing.assert_allclose(world["hills/hills#0"].shape.heights, [[0.2, 0, 0.2], [0, 0.2, 0]], atol=1e-7)


def test_obstacles_follow_the_state_they_were_taken_from(scene):
    model, _ = scene
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    world = CollisionWorld.from_world(type("World", (), {"model": model, "data": data})())
    world.add_sphere("mine", 0.1, [1, 2, 3])
    data.qpos[model.joint("j").qposadr[0] - 7 : model.joint("j").qposadr[0] - 4] = [0.1, 0.2, 0.9]
    mujoco.mj_kinematics(model, data)
    version = world.version
    world.update_from(model, data)
    np.testing.assert_allclose(world["ball/ball#0"].T_world_obstacle[:3, 3], [0.1, 0.2, 0.9])
    np.testing.assert_allclose(world["mine"].T_world_obstacle[:3, 3], [1, 2, 3])
    assert world.version == version


def test_obstacles_are_ignored_by_part_of_their_name(scene):
    world = CollisionWorld.from_model(*scene, ignore=["table"])
    assert [o.name for o in world if not o.enabled] == ["table/top", "table/table#1"]
    assert world.set_ignored(["ball"]) == ("ball/ball#0",)
    assert world["table/top"].enabled


def test_names_are_unique_and_unknown_names_get_a_hint():
    world = CollisionWorld()
    world.add_box("crate", (1, 1, 1), np.eye(4))
    with pytest.raises(InputError, match="already an obstacle named 'crate'"):
        world.add_sphere("crate", 0.1, [0, 0, 0])
    with pytest.raises(NotFoundError, match="did you mean 'crate'"):
        world.move("crte", np.eye(4))
    world.remove("crate")
    assert "crate" not in world
    assert len(world) == 0


def test_bad_solids_and_poses_are_refused():
    world = CollisionWorld()
    with pytest.raises(InputError, match="finite 4x4"):
        world.add_box("box", (1, 1, 1), np.full((4, 4), np.nan))
    with pytest.raises(InputError, match="2 x 2 heights"):
        world.add_height_field("field", [[1.0, 2.0]], (1, 1), np.eye(4))
    with pytest.raises(InputError, match="at least 4 points"):
        world.add_convex("hull", [[0, 0, 0]], np.eye(4))
    assert len(world) == 0


def test_switching_and_moving_keep_everything_else():
    world = CollisionWorld()
    world.add_capsule("pole", 0.02, 1.0, translation([1, 0, 0]))
    world.enable("pole", False)
    world.move("pole", make_pose(np.eye(3), [0, 1, 0]))
    assert not world["pole"].enabled
    assert world["pole"].shape.size == (0.02, 0.5, 0.0)
