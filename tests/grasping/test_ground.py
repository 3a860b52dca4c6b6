"""Grasps of lying objects leave the table alone."""

import numpy as np
import pytest

from handloom.grasping import AnnotateOptions, GripperShape, clear_of, lying_grasps_for
from handloom.grasping.ground import Ground
from handloom.objects import make_object
from handloom.robots import load_robot, tool_poses_of_grasps


@pytest.mark.parametrize("robot", ["fr3", "lift2"])
@pytest.mark.parametrize("category", ["pen", "spoon"])
def test_a_gripper_reaches_a_thin_object_on_a_table_without_touching_it(category: str, robot: str) -> None:
    description = load_robot(robot)
    gripper, asset = GripperShape.of(description), make_object(category, rng=np.random.default_rng(0))
    rows = lying_grasps_for(asset, gripper)
    assert len(rows) > 50
    T, _ = tool_poses_of_grasps(description.arms[0], rows)
    R, hand = T[:, :3, :3] @ description.arms[0].R_ee_graspnet, np.ascontiguousarray(T[:, :3, 3])
    opened = np.full(len(T), len(gripper.position) - 1.0)
    options = AnnotateOptions(preshape=True)
    poses = range(len(asset.rest_poses.quats))
    clear = [clear_of(Ground.under(asset, k).solid, gripper, R, hand, opened, options) for k in poses]
    assert np.any(clear, axis=0).mean() > 0.95
    assert clear[0].any()


def test_the_ground_is_a_slab_right_under_the_object() -> None:
    asset = make_object("mug", rng=np.random.default_rng(1))
    for k in range(len(asset.rest_poses.quats)):
        ground = Ground.under(asset, k)
        vertices, _ = asset.collision_triangles()
        assert (vertices @ ground.up).min() == pytest.approx(-ground.height, abs=1e-3)
        solid = ground.solid
        top = solid.position[0] + solid.rotation[0] @ [0.0, 0.0, solid.size[0, 2]]
        assert top @ ground.up == pytest.approx(-ground.height)
        assert np.linalg.det(solid.rotation[0]) == pytest.approx(1.0)
