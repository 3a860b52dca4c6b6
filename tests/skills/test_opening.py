"""Fingers open fully in a container only where it leaves room for them."""

from pathlib import Path

import numpy as np
import pytest
from tests.judging.conftest import TASK, put

from handloom.grasping.gripper_shape import GripperShape
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.picking.grasp_poses import Preshape
from handloom.skills.placing.opening import opens_into
from handloom.tasks import load_task, sample_task


@pytest.mark.parametrize(("radius", "narrow"), [(0.05, True), (0.12, False)])
def test_a_bowl_narrower_than_the_open_hand_is_pressed_apart(tmp_path: Path, radius: float, narrow: bool):
    (file := tmp_path / "task.yaml").write_text(
        TASK.format(
            objects=f"{{name: bowl, category: bowl, parameters: {{radius: {radius}}}}}",
            regions="{object: bowl, target: table, random_config: {pos_range: [[0.3, 0.3, 0], [0.3, 0.3, 0]]}}",
        )
    )
    scene = build_scene(sample_task(load_task(file), 0, 0))
    ((name, robot),) = scene.robots.items()
    arm = robot.arms[0]
    gripper = GripperShape.of(scene.robot(name).description, arm.spec)
    tips = scene.world.body_pose(arm.tool_body) @ arm.spec.T_tool_tcp
    box = world_box(scene, "bowl")
    middle = np.append(box.mean(axis=0)[:2], box[1, 2] - 0.02)
    put(scene, "bowl", scene.object_pose("bowl")[:3, 3] + tips[:3, 3] - middle)
    before = scene.world.save_state()
    opened, shut = (Preshape.at(gripper, level).joints for level in (len(gripper.position) - 1, 0))
    assert opens_into(scene, arm, "bowl", arm.joints, opened) is narrow
    assert not opens_into(scene, arm, "bowl", arm.joints, shut)
    assert scene.world.save_state().tobytes() == before.tobytes()
