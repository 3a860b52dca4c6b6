"""Demonstrations are split into segments relative to objects, which are transferred to new scenes."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.sources import JudgedSource
from handloom.episode import run_episode
from handloom.episode.augmented_source import AugmentedSource
from handloom.episode.demonstration import PAUSE, Demonstration
from handloom.episode.transferred_path import TransferredPath, WayCarrier
from handloom.errors import FileError, InputError
from handloom.objects import make_object
from handloom.objects.symmetry import ANGLES, turns_alike
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills.deeds import make_judge
from handloom.spatial import invert_pose, pose_error
from handloom.tasks import load_task, sample_task, worded_skills


@pytest.fixture(scope="module")
def record():
    return simulate(load_task("fr3_pick_place"), 0, 0, Stopwatch())[1]


@pytest.fixture(scope="module")
def demonstration(record):
    return Demonstration.of_record(record, "episode_000000")


@pytest.fixture(scope="module")
def two_arm_record():
    return simulate(load_task("lift2_dual_pick_place"), 0, 0, Stopwatch())[1]


def augmented(name: str, seed: int, demonstrations):
    task = load_task(name)
    instance = sample_task(task, seed, 0)
    scene, stages = build_scene(instance), worded_skills(task, instance)
    source = AugmentedSource(scene, stages, generator(seed, 0, "skills"), demonstrations=demonstrations)
    judged = JudgedSource(source, make_judge(scene, stages, None, hold=0.0))
    return scene, source, judged


def test_the_sub_tasks_of_the_expert_become_segments_relative_to_their_objects(demonstration):
    (hand,) = demonstration.hands
    pick, place = hand.segments
    assert (pick.object, pick.held, place.object, place.held) == ("cube", "", "plate", "cube")
    assert pick.start == 0 < pick.contact < pick.stop == place.start < place.contact < place.stop == demonstration.rows
    off, _ = pose_error(pick.T_world_object, hand.T_world_tcp[pick.contact])
    assert off < 0.03  # Where the fingers close, the object is.


def test_a_hand_that_no_sub_task_speaks_of_is_taken_apart_by_what_its_fingers_close_on(record, demonstration):
    (told,) = demonstration.hands
    (seen,) = Demonstration.of_record(replace(record, timeline=()), "episode_000000").hands
    pick, place = seen.segments[:2]
    assert (pick.object, place.object, place.held) == ("cube", "plate", "cube")
    assert abs(pick.contact - told.segments[0].contact) <= 1
    assert place.start < told.segments[1].contact


def test_pauses_are_shortened(record, demonstration):
    wait = 4 * PAUSE
    at = int(demonstration.hands[0].segments[0].contact) - 3
    longer = {
        "states": np.insert(record.states, [at] * wait, record.states[at], axis=0),
        "asked": np.insert(record.asked, [at] * wait, record.asked[at - 1], axis=0),
        "applied": np.insert(record.applied, [at] * wait, record.applied[at - 1], axis=0),
        "timeline": tuple(
            replace(s, start=s.start + wait * (s.start > at), end=s.end + wait * (s.end > at)) for s in record.timeline
        ),
    }
    paused = Demonstration.of_record(replace(record, **longer), "episode_000000")
    assert demonstration.rows < paused.rows <= demonstration.rows + PAUSE
    assert [s.object for s in paused.hands[0].segments] == ["cube", "plate"]


def test_a_carried_way_keeps_the_hand_to_the_object_near_it_and_begins_where_the_hand_is(demonstration):
    scene, _, _ = augmented("fr3_pick_place", 3, [demonstration])
    (hand,) = demonstration.hands
    arm = scene.robot("franka").arm("left")
    carrier, segment = WayCarrier(scene, arm), hand.segments[0]
    turns = turns_alike(scene.assets["cube"].model)
    X = carrier.transform(hand, segment, scene.object_pose("cube"), turns, np.array([0.0, 0.0, 1.0]))
    q = scene.world.data.ctrl[arm.ctrl_index].copy()
    way = carrier.carried(hand, segment, X, q)
    assert isinstance(way, TransferredPath)
    assert np.abs(way.at(segment.start) - q).max() < 1e-3
    assert np.all((way.pace > 0.0) & (way.pace <= 1.0))
    # A cube looks the same after quarter turns, so that the hand is turned by an eighth at most.
    assert pose_error(X @ hand.T_world_tcp[0], hand.T_world_tcp[0])[1] <= np.pi / 4 + 1e-6
    T = arm.T_world_base @ carrier._chain.T_base_tool(way.at(segment.contact))
    off, turn = pose_error(T, X @ hand.T_world_tcp[segment.contact])
    assert off < 1e-3
    assert turn < 0.01


def test_a_new_scene_is_done_as_the_demonstration_did_it(demonstration):
    scene, source, judged = augmented("fr3_pick_place", 3, [demonstration])
    made = run_episode(scene, judged)
    assert made.success, made.failure
    assert [span.skill for span in made.timeline] == ["pick", "place"]
    fastest = np.abs(np.diff(made.applied[:, source._carriers["franka", "left"].arm.ctrl_index], axis=0)).max()
    assert fastest * made.instance.fps < 2.62  # Slowest speed limit of the arm's joints [rad/s].


def test_two_arms_stay_in_step(two_arm_record):
    demonstration = Demonstration.of_record(two_arm_record, "episode_000000")
    objects = {hand.arm: [segment.object for segment in hand.segments] for hand in demonstration.hands}
    assert objects == {"left": ["cube_left", "plate_left"], "right": ["cube_right", "plate_right"]}
    scene, _, judged = augmented("lift2_dual_pick_place", 3, [demonstration])
    made = run_episode(scene, judged)
    assert made.success, made.failure
    grips = {}
    for arm in scene.robot("lift2").arms:
        closed = np.abs(np.diff(made.applied[:, arm.gripper_ctrl_index[0]])) > 1e-6
        then = next(hand for hand in demonstration.hands if hand.arm == arm.name)
        grips[arm.name] = (
            int(np.flatnonzero(closed)[0]),
            int(np.flatnonzero(np.abs(np.diff(then.gripper[:, 0])) > 1e-6)[0]),
        )
    (left, left_then), (right, right_then) = grips["left"], grips["right"]
    assert (left - right) * (left_then - right_then) >= 0  # Who closed first closes first again.


def test_a_scene_out_of_reach_is_no_attempt(demonstration):
    (hand,) = demonstration.hands
    far = tuple(replace(s, T_world_object=s.T_world_object @ _shift(-0.8)) for s in hand.segments)
    scene, _, judged = augmented("fr3_pick_place", 3, [replace(demonstration, hands=(replace(hand, segments=far),))])
    made = run_episode(scene, judged)
    assert (made.frames, made.failure.stage, made.failure.reason) == (0, "reach", "out_of_reach")


def test_a_record_of_another_version_is_refused(record):
    with pytest.raises(FileError, match=r"episode_000000: its states do not fit the scene.*another version"):
        Demonstration.of_record(replace(record, states=record.states[:, :-1]), "episode_000000")


def test_a_demonstration_that_drives_a_lift_is_refused(two_arm_record):
    robot = build_scene(two_arm_record.instance).robot("lift2")
    arms = np.concatenate([np.r_[arm.ctrl_index, arm.gripper_ctrl_index] for arm in robot.arms])
    other = int(np.setdiff1d(np.arange(two_arm_record.asked.shape[1]), arms)[0])
    asked = two_arm_record.asked.copy()
    asked[:, other] = np.linspace(0.0, 0.01, len(asked))
    with pytest.raises(InputError, match=r"demo drives a base or a lift; only paths of arms"):
        Demonstration.of_record(replace(two_arm_record, asked=asked), "demo")


@pytest.mark.parametrize(
    ("category", "turns"), [("cube", 4), ("can", ANGLES), ("bowl", ANGLES), ("mug", 1), ("tray", 2), ("hex_nut", 6)]
)
def test_turns_after_which_an_object_looks_the_same(category, turns):
    asset = make_object(category, rng=np.random.default_rng(0))
    assert turns_alike(asset.model, asset.up) == turns


def _shift(x: float) -> np.ndarray:
    T = np.eye(4)
    T[0, 3] = x
    return invert_pose(T)
