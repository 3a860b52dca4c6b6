"""Objects are grasped while they move."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.skills.conftest import table_instance, thing

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.grasping import write_grasps
from handloom.motion.planning import Move, PlanResult
from handloom.robots import load_robot
from handloom.scene import Scene, build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.picks import DynamicPickConfig
from handloom.skills.picking.dynamic_pick import DynamicPick
from handloom.skills.picking.meeting import Motion, evenly, lasting, stretched
from handloom.tasks import load_task
from handloom.values import EpisodeRecord

TASK = "fr3_belt_pick_place"
SPEED = 0.08


def episode(*overrides: str) -> tuple[Scene, EpisodeRecord]:
    return simulate(load_task(TASK, overrides=overrides), 11, 0, Stopwatch())


@pytest.fixture(scope="module")
def caught() -> tuple[Scene, EpisodeRecord]:
    return episode()


def places(scene: Scene, record: EpisodeRecord) -> tuple[np.ndarray, np.ndarray]:
    """Return where carton and hand are before every frame (frames + 1, 3) [m]."""
    carton, hand = [], []
    arm = scene.robot("franka").arms[0]
    for state in record.states:
        scene.world.restore_state(state)
        carton.append(scene.object_pose("carton")[:3, 3].copy())
        hand.append(scene.world.body_pose(arm.tool_body)[:3, 3].copy())
    return np.array(carton), np.array(hand)


def test_a_carton_is_taken_off_a_running_belt(caught: tuple[Scene, EpisodeRecord]) -> None:
    scene, record = caught
    assert record.success, record.failure
    carton, _ = places(scene, record)
    speed = np.diff(carton[:, 0])[8:30] * scene.instance.fps
    assert speed == pytest.approx(SPEED, rel=0.01), "friction carries it, nothing else"
    assert [span.skill for span in record.timeline] == ["dynamicpick", "place"]


def test_the_hand_goes_along_with_the_belt_while_the_fingers_close(caught: tuple[Scene, EpisodeRecord]) -> None:
    scene, record = caught
    _, hand = places(scene, record)
    gripper = record.asked[:, scene.robot("franka").arms[0].gripper_ctrl_index[0]]
    asked = np.flatnonzero(~np.isnan(gripper))
    closing = int(asked[np.flatnonzero(np.diff(gripper[asked]) < 0)[0] + 1])
    rode = hand[closing + 12] - hand[closing + 2]
    assert rode[0] == pytest.approx(SPEED * 10 / scene.instance.fps, rel=0.15)
    assert np.abs(rode[1:]).max() < 0.003


def test_it_replays_bit_for_bit(caught: tuple[Scene, EpisodeRecord]) -> None:
    assert replay(caught[1]).exact


def test_the_arm_stays_where_it_is_while_nothing_comes() -> None:
    scene, record = episode("objects.0.linear_velocity=[0.0]", "data.max_episode_length=60")
    assert record.failure is not None
    assert record.failure.reason == "out_of_frames"
    _, hand = places(scene, record)
    assert np.linalg.norm(hand - hand[0], axis=1).max() < 0.01


def test_a_meeting_that_cannot_be_made_in_time_says_so() -> None:
    _, record = episode("skills.0.franka.0.left.0.pick_range=[-0.25, -0.24]")
    assert record.failure is not None
    assert record.failure.reason == "too_late"
    assert "move pick_range further on" in record.failure.detail


def test_stretched_targets_keep_their_end_and_their_way() -> None:
    way = np.linspace([0.0, 1.0], [1.0, 3.0], 6)
    slow = stretched(way, 20)
    assert slow.shape == (20, 2)
    assert slow[-1] == pytest.approx(way[-1])
    assert np.diff(slow, axis=0) == pytest.approx(np.tile(np.diff(slow, axis=0)[0], (19, 1)))
    assert len(stretched(way, 2)) == 5, "never faster than given"


def test_grasps_are_turned_about_the_hand_and_shifted_in_height() -> None:
    _, record = episode(
        "skills.0.franka.0.left.0.pivot_angle_z=[5, 8]", "skills.0.franka.0.left.0.pos_adjust_z=[0.0, 0.004]"
    )
    assert record.success, record.failure


def test_a_smaller_tcp_offset_brings_the_hand_nearer_to_the_object(caught: tuple[Scene, EpisodeRecord]) -> None:
    own = load_robot("fr3").arm("left").tcp_offset
    heights = []
    for scene, record in (caught, episode(f"skills.0.franka.0.left.0.tcp_offset={own - 0.006}")):
        assert record.success, record.failure
        carton, hand = places(scene, record)
        lifted = record.timeline[0].end
        heights.append(hand[lifted, 2] - carton[lifted, 2])
    assert heights[0] - heights[1] == pytest.approx(0.006, abs=0.002)


BLOCK = """<mujoco><worldbody><body name="object">
  <geom type="box" size="0.025 0.02 0.025" density="400"/></body></worldbody></mujoco>"""


def test_grasps_of_a_file_are_scaled_as_the_task_says(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(BLOCK)
    # Score, width, height, depth; rotation whose x axis, the approach, points down and whose y axis closes; position.
    place = np.array([0.004, 0.0, 0.008])
    row = np.array([0.1, 0.04, 0.02, 0.01, 0, 0, 1, 0, 1, 0, -1, 0, 0, *place, 0.0], np.float32)
    write_grasps(tmp_path / "Aligned_grasp_sparse.npy", row[None])
    block = thing("carton", "block", (0.0, 0.05), path=str(tmp_path / "model.xml"))
    scene = build_scene(table_instance(tmp_path, block))
    controller = ArmController(scene, scene.robot("franka").arm("left"))
    hands = []
    for scale in (1.0, 2.0):
        keys = {"objects": ("carton",), "pick_range": (0.0, 0.1), "approach": "any", "grasp_scale": scale}
        config = DynamicPickConfig.model_validate({"name": "dynamicpick", **keys})
        skill = DynamicPick(scene, controller, config, np.random.default_rng(0))
        grasps = skill._grasps("carton", np.zeros(3))
        assert len(grasps) == 2, skill.failure  # as annotated, and half a turn about the approach
        hands.append(controller.arm.T_world_base[:3, :3] @ grasps[0, :3, 3])
    moved = scene.object_pose("carton")[:3, :3].T @ (hands[1] - hands[0])
    assert moved == pytest.approx(place, abs=1e-6), "positions are doubled, depth and offset of the hand are not"


def test_the_test_mode_ik_plans_the_meeting_of_one_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[int] = []
    plan = ArmController.plan

    def counting(controller: ArmController, stages: list[Move], *args: Any, **keys: Any) -> PlanResult:
        if len(stages) == 4:  # to the object, down, along with it, up
            planned.append(len(np.asarray(stages[0].T_base_tool)))
        return plan(controller, stages, *args, **keys)

    monkeypatch.setattr(ArmController, "plan", counting)
    for mode in ("forward", "ik"):
        episode(f"skills.0.franka.0.left.0.test_mode={mode}", "data.max_episode_length=40")
    assert planned[0] > 1
    assert planned[1:] == [1]


def test_a_rolling_ball_is_met_where_rolling_friction_lets_it_come() -> None:
    scene, record = simulate(load_task("fr3_catch_ball"), 11, 0, Stopwatch())
    assert record.success, record.failure
    ball, middle = scene.world.body_index("ball/object"), []
    for state in record.states[:45]:
        scene.world.restore_state(state)
        middle.append(scene.world.data.xipos[ball].copy())
    speed = np.linalg.norm(np.diff(middle, axis=0), axis=1) * scene.instance.fps
    rolling = next(obj.rolling for obj in scene.instance.objects if obj.name == "ball")
    assert speed[0] == pytest.approx(np.linalg.norm(rolling), rel=0.02)
    assert np.all(np.diff(speed) < 0.0), "nobody has touched it, rolling friction slows it down"
    picked = record.timeline[0]
    assert picked.skill == "dynamicpick"
    assert picked.end - picked.start < 150, "it is met on its way, not waited for"


def test_a_motion_that_slows_loses_speed_over_the_way_and_stops() -> None:
    motion = Motion(way=-0.4, velocity=np.array([0.3, 0.0, 0.0]), slowing=0.1)
    seconds = 2.0
    place = -0.4 + 0.3 * seconds - 0.1 * seconds**2 / 2
    assert motion.speed_at(place) == pytest.approx(0.3 - 0.1 * seconds)
    assert motion.speed_at(0.2) == 0.0
    back = place + motion.speed_at(place) * lasting(-seconds, motion.slowing, motion.speed_at(place))
    assert back == pytest.approx(motion.way), "two seconds before, it was where it is now"
    steady = Motion(way=0.0, velocity=np.array([0.0, 0.08, 0.0]))
    assert steady.speed_at(5.0) == steady.speed == 0.08
    assert lasting(0.7, 0.0, 0.08) == 0.7


def test_a_hand_beside_a_rolling_object_goes_evenly_and_arrives_in_time() -> None:
    targets = evenly(np.array([[0.0, 0.0], [0.1, 0.2], [1.0, 2.0]]), 20)
    assert len(targets) == 20
    assert targets[-1] == pytest.approx([1.0, 2.0])
    assert np.abs(targets[:, 0] - np.arange(1, 21) / 20).max() < 0.09
