"""Hands with one fixed and one pivoting finger, on an arm of five joints: what they take and how they let go."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handloom.episode import run_episode
from handloom.grasping import AnnotateOptions, clear_of, object_parts
from handloom.judging.checks import holds
from handloom.motion.planning import PointAndAxis
from handloom.scene import Scene, build_scene
from handloom.skills import Schedule
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.picks import PickConfig
from handloom.skills.picking.grasp_poses import Preshape, annotated_grasps, attainable_grasps, gripper_of
from handloom.skills.picking.pick import Pick
from handloom.spatial import invert_pose
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import Check


def desk(folder: Path, *things: dict[str, Any], skills: list[dict[str, Any]]) -> Path:
    """Write a task with things at given polar places (distance [m], angle [deg]) in front of an SO-101."""
    regions = [
        {
            "object": entry["name"],
            "target": "so101",
            "random_type": "A_by_B_circle_sampler",
            "random_config": {"r_range": [r, r], "theta_range": [theta, theta], "yaw_rotation": [20, 20]},
        }
        for entry in things
        for r, theta in [entry.pop("at")]
    ]
    objects = [{"target_class": "RigidObject", **entry} for entry in things]
    task = {
        "base": "setups/so101.yaml",
        "objects": objects,
        "regions": regions,
        "data": {"language_instruction": "Do it."},
        "skills": skills,
    }
    file = folder / "desk.yaml"
    file.write_text(yaml.safe_dump(task))
    return file


def pick_in(folder: Path, category: str) -> tuple[Scene, Pick]:
    things = {"name": "it", "category": category, "at": (0.23, 90.0)}
    scene = build_scene(sample_task(load_task(desk(folder, things, skills=[{"pick": "it"}])), 0, 0))
    controller = ArmController(scene, scene.robot("so101").arm("left"))
    config = PickConfig.model_validate({"name": "pick", "objects": ["it"]})
    return scene, Pick(scene, controller, config, np.random.default_rng(0))


@pytest.mark.parametrize("category", ["eraser", "egg", "strawberry"])
def test_a_hand_turned_for_its_arm_still_closes_on_the_annotated_contacts_and_touches_nothing_before(
    tmp_path: Path, category: str
) -> None:
    scene, skill = pick_in(tmp_path, category)
    arm, gripper = skill.controller.arm.spec, gripper_of(skill)
    grasps = annotated_grasps(skill, "it")
    T_base_tool, taken = attainable_grasps(skill, "it", grasps)
    assert taken.sum() >= 10

    turned = np.linalg.norm(T_base_tool[:, :3, :3] - grasps.T_base_tool[:, :3, :3], axis=(1, 2)) > 0.5
    assert (turned & taken).any()  # Else there would be nothing to test.
    for depth in np.unique(grasps.size[taken, 1]):
        rows = np.flatnonzero(taken & (grasps.size[:, 1] == depth))
        table = gripper.grips((float(depth),), 0.0)
        level, middle = table.at_opening(grasps.size[rows, 0] + 2 * AnnotateOptions.clearance, np.zeros(len(rows), int))
        contact = middle @ arm.R_ee_graspnet.T
        before, after = (
            np.einsum("nij,nj->ni", T[rows, :3, :3], contact) + T[rows, :3, 3]
            for T in (grasps.T_base_tool, T_base_tool)
        )
        assert np.linalg.norm(before - after, axis=1).max() < 2.5e-3

        T_object_tool = invert_pose(grasps.T_base_object) @ T_base_tool[rows]
        R, hand = T_object_tool[:, :3, :3] @ arm.R_ee_graspnet, np.ascontiguousarray(T_object_tool[:, :3, 3])
        solid = object_parts(scene.assets["it"])
        assert clear_of(solid, gripper, R, hand, level, AnnotateOptions()).all()


def test_a_jaw_lets_go_by_a_part_of_its_stroke_and_never_past_its_end(tmp_path: Path) -> None:
    _, skill = pick_in(tmp_path, "cube")
    gripper = gripper_of(skill)
    arm = gripper.arm
    held = arm.gripper_closed + 0.4 * (arm.gripper_open - arm.gripper_closed)
    share = (Preshape.to_let_go(gripper, held).drive - held) / (arm.gripper_open - arm.gripper_closed)
    assert 0.05 < share[0] < 0.3
    np.testing.assert_allclose(Preshape.to_let_go(gripper, arm.gripper_open).drive, arm.gripper_open)


def test_a_second_thing_is_put_into_the_bowl_that_stays_on_the_table(tmp_path: Path) -> None:
    file = desk(
        tmp_path,
        {"name": "berry", "category": "strawberry", "at": (0.23, 125.0)},
        {"name": "eraser", "category": "eraser", "at": (0.22, 95.0)},
        {"name": "bowl", "category": "bowl", "at": (0.215, 58.0)},
        skills=[
            {"pick": "berry"},
            {"place": "berry", "in": "bowl"},
            {"pick": "eraser"},
            {"place": "eraser", "in": "bowl"},
        ],
    )
    task = load_task(file)
    outcomes = []
    for episode in range(2):
        instance = sample_task(task, 1, episode)
        scene = build_scene(instance)
        bowl = scene.object_pose("bowl")[:3, 3].copy()
        record = run_episode(scene, Schedule(scene, worded_skills(task, instance), np.random.default_rng(episode)))
        moved = np.linalg.norm(scene.object_pose("bowl")[:3, 3] - bowl)
        outcomes.append((record.success, moved < 0.03))
    assert outcomes == [(True, True)] * 2


def test_what_lies_on_something_in_a_bowl_is_in_the_bowl(tmp_path: Path) -> None:
    file = desk(
        tmp_path,
        {"name": "tray", "category": "tray", "at": (0.3, 90.0)},
        {"name": "under", "category": "cube", "at": (0.5, 40.0)},
        {"name": "upper", "category": "cube", "at": (0.5, 140.0)},
        skills=[{"pick": "upper"}],
    )
    scene = build_scene(sample_task(load_task(file), 0, 0))
    pose = scene.object_pose("tray").copy()
    edge = 2 * scene.object_pose("under")[2, 3] - 2 * 0.75
    for k, name in enumerate(("under", "upper")):
        pose[2, 3] = scene.object_pose("tray")[2, 3] + 0.01 + 1.05 * k * edge
        scene.world.set_body_pose(scene.body_of(name), pose)
    scene.world.step(400)
    arguments = {"object": "upper", "target": "tray"}
    assert not holds(scene, Check(name="touches", arguments=arguments))
    assert holds(scene, Check(name="touches", arguments={**arguments, "through": True}))


def test_a_straight_way_keeps_the_contact_and_the_closing_line_and_leaves_the_turn_about_it_to_the_arm() -> None:
    scene = build_scene(sample_task(load_task("so101_open_drawer"), 0, 0))
    controller = ArmController(scene, scene.robot("so101").arm("left"))
    q = np.array([0.0, 0.2, -0.2, 0.0, -0.05])  # The hand points ahead, and the jaw opens upwards.
    start = controller.chain.T_base_tool(q)
    point, closing = np.array([0.0, 0.0, 0.1]), controller.arm.spec.R_ee_graspnet[:, 1]
    way = np.tile(start, (4, 1, 1))
    way[:, :3, 3] += np.outer([0.02, 0.04, 0.06, 0.08], [-0.5, 0.8, 0.0])

    whole = controller.planner.plan_through(q, way, ignore=["cabinet"])
    assert not whole.ok  # The hand would have to look the same way while the shoulder turns.
    kept = PointAndAxis(point=point, axis=closing)
    result = controller.planner.plan_through(q, way, ignore=["cabinet"], keeping=kept)
    assert result.ok, result.reason
    T = controller.chain.T_base_tool(result.path)
    contact, wanted = T[:, :3, :3] @ point + T[:, :3, 3], way[-1, :3, :3] @ point + way[-1, :3, 3]
    assert np.linalg.norm(contact[-1] - wanted) < 1e-3
    along = np.array([-0.5, 0.8, 0.0]) / np.linalg.norm([-0.5, 0.8])
    off = contact - contact[0]
    assert np.linalg.norm(off - np.outer(off @ along, along), axis=1).max() < 1e-3
    assert np.min(T[:, :3, :3] @ closing @ (start[:3, :3] @ closing)) > np.cos(np.deg2rad(0.5))
    assert np.linalg.norm(T[-1, :3, :3] - start[:3, :3]) > 0.1


@pytest.mark.parametrize("task", ["so101_open_drawer", "so101_close_drawer"])
def test_an_arm_of_five_joints_opens_and_shuts_a_drawer_that_does_not_face_it(task: str) -> None:
    loaded = load_task(task)
    instance = sample_task(loaded, 6, 0)
    scene = build_scene(instance)
    before = scene.world.joint_position("cabinet/drawer_1_joint")
    record = run_episode(scene, Schedule(scene, worded_skills(loaded, instance), np.random.default_rng(0)))
    assert record.success, record.failure
    moved = scene.world.joint_position("cabinet/drawer_1_joint") - before
    assert moved > 0.04 if before == 0.0 else moved < -0.03
