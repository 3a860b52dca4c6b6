"""One hand holds an object out so that the other can take it, and takes it so that it can go on with it."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.episode import run_episode
from handloom.judging.checks import grasped
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import imagined_at
from handloom.skills.configs import SKILL_CONFIGS
from handloom.skills.motions.tool_motions import GotoPose
from handloom.skills.picking.grasp_poses import annotated_grasps, clear_of_hands
from handloom.skills.picking.meeting import Carried
from handloom.skills.picking.pick import Pick
from handloom.skills.placing.place import Place
from handloom.skills.registry import make_skill
from handloom.skills.skill_failures import unsuccessful
from handloom.spatial import invert_pose, make_pose
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.values import FunnelStage

SEED = 777
FAR_AND_HIGH = (
    "regions.0.random_config.pos_range=[[-0.34, -0.32, 0.0], [-0.26, -0.26, 0.0]]",
    "skills.0.lift2.0.left.0.pre_grasp_offset=0.07",
    "skills.0.lift2.0.left.0.post_grasp_offset_min=0.06",
    "skills.0.lift2.0.left.0.post_grasp_offset_max=0.08",
)
"""A stick at the edge of the left hand's reach."""


@pytest.fixture
def scene() -> Scene:
    """Return a scene whose stick the right hand cannot take at the first pose that the left one comes to."""
    return build_scene(sample_task(load_task("lift2_handover"), SEED, 8))


def schedule_of(scene: Scene) -> Schedule:
    stages = worded_skills(load_task("lift2_handover"), scene.instance)
    return Schedule(scene, stages, generator(SEED, 8, "skills", task="lift2_handover"))


def test_the_stick_is_held_out_where_the_other_hand_can_take_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    followers: list[type] = []
    can_take, choose = GotoPose._can_take, Pick.simple_generate_manip_cmds

    def asking(skill: GotoPose, taker: Pick, joints: np.ndarray) -> bool:
        asked.append(can_take(skill, taker, joints))
        return asked[-1]

    def choosing(skill: Pick) -> None:
        if skill.controller.arm.name == "right" and skill.follower is not None:
            followers.append(type(skill.follower))
        choose(skill)

    monkeypatch.setattr(GotoPose, "_can_take", asking)
    monkeypatch.setattr(Pick, "simple_generate_manip_cmds", choosing)
    record = run_episode(scene, schedule_of(scene))
    assert record.success, record.failure
    assert asked == [False, True], "the first pose was one from which nothing could be taken"
    assert followers == [Place], "the taking hand looks ahead to its place, which is in a later block"


def test_what_is_imagined_leaves_the_state_as_it_was(scene: Scene) -> None:
    world = scene.world
    before = mujoco.MjData(world.model)
    mujoco.mj_copyData(before, world.model, world.data)
    arm, there = scene.robot("lift2").arm("left"), make_pose(np.eye(3), np.array([0.1, 0.2, 1.4]))
    with imagined_at(scene, arm, arm.joints + 0.3, "stick", there):
        np.testing.assert_allclose(scene.object_pose("stick"), there, atol=1e-12)
        assert np.linalg.norm(world.data.body(arm.tool_body).xpos - before.body(arm.tool_body).xpos) > 0.05
    for name in ("qpos", "qvel", "qacc_warmstart", "xpos", "xquat", "geom_xpos", "geom_xmat", "ctrl", "time"):
        np.testing.assert_array_equal(getattr(world.data, name), getattr(before, name), err_msg=name)


def test_grasps_of_the_stick_as_it_lies_are_tried_where_no_other_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    task = load_task("lift2_handover", overrides=["data.variant=randomized", *FAR_AND_HIGH])
    scene = build_scene(sample_task(task, 4242, 15))

    def failure_of_the_first_pick() -> str | None:
        schedule = Schedule(scene, worded_skills(task, scene.instance), generator(4242, 15, "skills", task=task.name))
        schedule.next(0)
        return schedule.failure and schedule.failure.reason

    assert failure_of_the_first_pick() is None
    monkeypatch.setattr(Pick, "_may_take_lying", lambda *_: False)
    assert failure_of_the_first_pick() == "goal_unreachable"


def test_a_stick_is_taken_while_the_other_hand_moves_it_where_that_hand_was_planned_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = load_task("lift2_moving_handover")
    scene = build_scene(sample_task(task, 11, 0))
    schedule = Schedule(scene, worded_skills(task, scene.instance), generator(11, 0, "skills", task=task.name))
    foreseen: list[np.ndarray] = []
    by = Carried.by

    def noting(holder: ArmController, name: str) -> Carried:
        carried = by(holder, name)
        foreseen.append(carried.poses[:, :3, 3])
        return carried

    monkeypatch.setattr(Carried, "by", noting)
    record = run_episode(scene, schedule)
    assert record.success, record.failure
    taken = next(span for span in record.timeline if span.skill == "dynamicpick")
    left, right = (scene.robot("lift2").arm(side) for side in ("left", "right"))
    places, both = [], []
    for state in record.states[taken.start : taken.end + 1]:
        scene.world.restore_state(state)
        places.append(scene.object_pose("stick")[:3, 3].copy())
        both.append(all(grasped(scene, robot="lift2", arm=arm.name, object="stick") for arm in (left, right)))
    speed = np.linalg.norm(np.diff(places, axis=0), axis=1) * scene.instance.fps
    assert speed[int(np.argmax(both))] > 0.015, "the right hand closes while the left one moves"
    assert all(both[int(np.argmax(both)) :]), "and keeps hold"
    (planned,) = foreseen
    off = np.linalg.norm(planned[: len(places) - 5] - np.array(places)[5 : len(planned) + 5], axis=1)
    assert off.max() < 0.008, "arms follow their targets within a few frames and millimetres"


def test_a_hand_goes_on_slowly_without_turning(tmp_path: Path) -> None:
    pick = {"name": "pick", "objects": ["cube"], "approach": "down", "lift_th": 0.02, "t_eps": 0.01, "o_eps": 0.1}
    cube = thing("cube", "cube", (0.0, 0.05), parameters={"edge": 0.04})
    instance, frames = table_instance(tmp_path, cube), []
    goto = {"name": "goto__pose", "objects": ["cube"], "position": [0.45, 0.1, 0.3], "position_constraint": "object"}
    for pace in (None, 0.4):
        on = {**goto, "keep_orientation": True, "gripper_state": -1, "pace": pace}
        scene, record = run_with(instance, pick, on)
        assert record.success, record.failure
        arm, (_, span) = scene.robot("franka").arm("left"), record.timeline
        turns = []
        for frame in (span.start, span.end):
            scene.world.restore_state(record.states[frame])
            turns.append(scene.world.body_pose(arm.tool_body)[:3, :3])
        assert np.abs(turns[1] - turns[0]).max() < 0.02
        at = invert_pose(arm.T_world_base) @ scene.object_pose("cube")
        np.testing.assert_allclose(at[:3, 3], goto["position"], atol=0.01)
        frames.append(span.end - span.start)
    assert frames[1] > 2.0 * frames[0]


def picked_by_right(scene: Scene, **keys: Any) -> Pick:
    def controller(robot: str, arm: str) -> ArmController:
        return ArmController(scene, scene.robot(robot).arm(arm))

    config = SKILL_CONFIGS["pick"].model_validate({"name": "pick", "objects": ["stick"], **keys})
    pick = make_skill(scene, "lift2", "right", config, generator(0, 0, "pick", task=""), controller)
    assert isinstance(pick, Pick)
    pick.simple_generate_manip_cmds()
    pick.failure = None
    return pick


def test_grasps_that_the_other_hand_blocks_are_left_out_with_the_name_of_that_hand(scene: Scene) -> None:
    pick = picked_by_right(scene, handed=True)
    grasps, left = annotated_grasps(pick, "stick"), scene.robot("lift2").arm("left")
    T_base_left = invert_pose(pick.controller.arm.T_world_base) @ scene.world.body_pose(left.tool_body)
    there = np.tile(T_base_left, (len(grasps.score), 1, 1))
    beside = there.copy()
    beside[:, 2, 3] += 0.5
    every = np.arange(len(there))
    assert len(clear_of_hands(pick, grasps, beside, every, 0.07)) == len(every)
    assert pick.failure is None
    assert len(clear_of_hands(pick, grasps, there, every, 0.07)) == 0
    assert pick.failure is not None
    assert pick.failure.reason == "blocked_by_hand"
    assert "of stick are blocked by the left hand" in pick.failure.detail


def test_fingers_that_closed_on_the_other_hand_are_told(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    pick = picked_by_right(scene)
    assert unsuccessful(pick).reason == "not_grasped"
    monkeypatch.setattr(Pick, "fulfilled", lambda *_: False)
    monkeypatch.setattr(type(scene.world), "touching", lambda *_: True)
    failure = unsuccessful(pick)
    assert failure.reason == "blocked_by_hand"
    assert failure.detail.endswith("(blocked by the left hand)")


def test_at_the_end_of_its_reach_an_arm_lifts_what_it_holds_by_one_end_higher(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifts: list[float] = []

    def failing(pick: Pick, _: str) -> None:
        lifts.append(pick._moves.lift)
        pick.fail(FunnelStage.REACH, "goal_unreachable", "")

    monkeypatch.setattr(Pick, "_choose_or_concede", failing)
    keys = {"approach": ("down", 30), "approach_widest": 75, "lift_th": 0.01}
    for constraints in (None, ("x", 0.0, 0.25)):
        picked_by_right(scene, **keys, constraints=constraints)
    assert lifts == pytest.approx([0.05, 0.018, 0.05, 0.04])
