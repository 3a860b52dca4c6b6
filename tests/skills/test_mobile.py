"""Skills that drive: straight moves, turns, and ways around furniture."""

import math
import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml
from tests.skills.conftest import run_with

from handloom.arrays import Array
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.episode.columns import recorded_qpos
from handloom.errors import ConfigError
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.scene.mobile_base import MobileBase
from handloom.skills.mobile_base.base_planner import BasePlanner
from handloom.tasks import load_task, sample_task
from handloom.tasks.rehearsal import rehearse
from handloom.values import EpisodeRecord, FunnelStage, ObjectInstance, TaskInstance

SKILLS = Path(__file__).parents[2] / "examples" / "skills"
"""Examples of every skill; those that drive share a room of 4 m with a table in the middle."""


@cache
def room() -> TaskInstance:
    """Return a Lift-2 in front of a table, in a room."""
    return sample_task(load_task(SKILLS / "navigate.yaml"), 0, 0)


def base_of(scene: Scene) -> MobileBase:
    base = scene.robot("lift2").base
    assert base is not None
    return base


def driven(*skills: dict[str, Any]) -> tuple[Scene, EpisodeRecord, Array]:
    """Run skills in the room; return how far the base moved and turned, too."""
    scene, record = run_with(room(), *skills)
    return scene, record, base_of(scene).pose - base_of(build_scene(room())).pose


def test_translations_go_along_the_axes_of_the_start_or_of_the_base() -> None:
    skills = [
        {"name": "mobile__translate", "target": [-0.6, 0.0]},
        {"name": "mobile__rotate", "target": -1.2},
        {"name": "mobile__translate", "target": [0.0, 0.1]},
        {"name": "mobile__translate", "target": [0.0, 0.1], "frame": "base"},
    ]
    _, record, moved = driven(*skills)
    assert record.failure is None
    # The robot starts with its x axis along the world's y.
    heading = math.pi / 2.0 - 1.2
    expected = [-0.1 - 0.1 * math.sin(heading), -0.6 + 0.1 * math.cos(heading), -1.2]
    assert moved == pytest.approx(expected, abs=1e-3)
    assert replay(record).exact


def test_a_straight_move_into_furniture_is_refused_and_says_what_is_in_the_way() -> None:
    _, record, _ = driven({"name": "mobile__translate", "target": [0.5, 0.0]})
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.PLAN, "base_blocked")
    assert "table" in record.failure.detail
    assert record.frames == 0


def test_navigate_goes_round_the_table_and_faces_it() -> None:
    scene, record, _ = driven({"name": "navigate", "objects": ["table"], "stand_off": 0.5, "yaw": 180, "sideways": 0.1})
    assert record.failure is None
    assert base_of(scene).pose == pytest.approx([1.2, 0.1, math.pi], abs=1e-3)
    assert {check.name for check in record.timeline[0].checks} == {"base_at", "base_clear"}


def test_navigate_takes_the_nearest_side_that_is_free() -> None:
    scene, record, _ = driven({"name": "navigate", "objects": ["table"], "stand_off": 0.5})
    assert record.failure is None
    assert base_of(scene).pose == pytest.approx([0.0, -1.0, math.pi / 2.0], abs=1e-3)


@pytest.mark.parametrize("place", [(0.0, 0.0), (1.9, 0.0), (5.0, 0.0)])
def test_a_place_inside_furniture_or_behind_a_wall_is_refused(place: tuple[float, float]) -> None:
    _, record, _ = driven({"name": "navigate", "position": place})
    assert record.failure is not None
    assert record.failure.reason == "base_goal_unreachable"
    assert f"({place[0]:.2f}, {place[1]:.2f}) m" in record.failure.detail


def test_a_drawer_is_opened_by_driving_back_with_the_arm_as_it_is() -> None:
    scene, record = simulate(load_task("lift2_drive_open_drawer"), 3, 0, Stopwatch())
    assert record.failure is None
    base, arm = base_of(scene), scene.robot("lift2").arm("left")
    qpos = recorded_qpos(scene, record)
    way = base.poses(qpos[:, base.qpos_index])
    driving = np.hypot(*np.diff(way[:, :2], axis=0).T) > 1e-3
    assert np.abs(np.diff(qpos[:, arm.qpos_index], axis=0)[driving]).max() < 0.02, (
        "only the pull bends the arm a little"
    )
    (check,) = [check for check in record.timeline[0].checks if check.name == "joint_state"]
    joint = scene.world.qpos_index(f"cabinet/{check.arguments['joint']}")
    travel = float(np.hypot(*(way[-1] - way[0])[:2]))
    assert qpos[-1, joint] - qpos[0, joint] == pytest.approx(travel, abs=0.01)
    assert travel > 0.05


def test_base_and_arm_move_as_one_chain_and_arrive_together() -> None:
    scene, record = simulate(load_task("lift2_reach_and_carry"), 3, 0, Stopwatch())
    assert record.failure is None
    base, arm, qpos = base_of(scene), scene.robot("lift2").arm("left"), recorded_qpos(scene, record)
    ways = [span for span in record.timeline if span.skill == "navigate"]
    for span, target in zip(ways, ("can", "tray"), strict=True):
        rows = qpos[span.start : span.end + 1]
        base_speed = np.abs(np.diff(rows[:, base.qpos_index], axis=0)).max(axis=1) * record.instance.fps
        arm_speed = np.abs(np.diff(rows[:, arm.qpos_index], axis=0)).max(axis=1) * record.instance.fps
        driving = base_speed > 0.05
        assert driving.mean() > 0.5
        assert np.mean(arm_speed[driving] > 0.02) > 0.6, "the arm moves while the base drives"
        assert {check.name for check in span.checks} == {"base_at", "base_clear", "hand_at"}
        scene.world.restore_state(record.states[span.end])
        point = (scene.world.body_pose(arm.tool_body) @ arm.spec.T_tool_tcp)[:3, 3]
        if target == "tray":
            point = world_box(scene, "can").mean(axis=0) * [1.0, 1.0, 0.0] + [0.0, 0.0, world_box(scene, "can")[0, 2]]
        box = world_box(scene, target)
        wanted = [*box[:, :2].mean(axis=0), box[1, 2] + (0.1 if target == "can" else 0.04)]
        assert point == pytest.approx(wanted, abs=0.02)
    far = np.linalg.norm(np.ptp(base.poses(qpos[[ways[0].start, ways[0].end]][:, base.qpos_index])[:, :2], axis=0))
    assert far > 0.3, "the can is out of reach where the robot starts"
    assert replay(record).exact


def solid_overlaps(scene: Scene, base: MobileBase, poses: Array) -> list[str]:
    """Return what MuJoCo says a robot overlaps at poses of its base, without any planner."""
    model, data, found = scene.world.model, scene.world.data, []
    for joints in base.joints_at(poses):
        data.qpos[base.qpos_index] = joints
        mujoco.mj_forward(model, data)
        for contact in scene.world.contacts():
            names = {contact.body_a.split("/")[0], contact.body_b.split("/")[0]}
            if "lift2" in names and names != {"lift2"} and contact.distance < 0.0:
                found.append(f"{names} at {joints}")
    return found


def crowded() -> TaskInstance:
    """Return the room with six more tables to move about."""
    table = next(o for o in room().objects if o.name == "table")
    size = {"size": [0.5, 0.7, 0.9], "color": [0.5, 0.5, 0.5]}
    more = tuple(
        ObjectInstance(name=f"desk{k}", category="table", parameters=size, position=(0.0, 0.0, 0.45), fixed=True)
        for k in range(6)
    )
    assert table.fixed
    return replace(room(), objects=(*room().objects, *more), cameras=())


def furnished(scene: Scene, rng: np.random.Generator) -> None:
    """Move all furniture somewhere else in the room; the start of the robot stays free."""
    model = scene.world.model
    for name in ("table", *(f"desk{k}" for k in range(6))):
        body = model.body(f"{name}/object").id
        while True:
            place, yaw = rng.uniform([-1.9, -1.9], [1.9, 1.9]), rng.uniform(-np.pi, np.pi)
            if np.hypot(place[0], place[1] + 0.85) > 1.5:
                break
        model.body_pos[body, :2] = place
        model.body_quat[body] = [math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0)]


def ways(rooms: int, seed: int) -> tuple[list[Array], list[str]]:
    """Plan to a random place in random rooms; return the ways that were found, and what they overlap."""
    scene, rng, found, wrong = build_scene(crowded()), np.random.default_rng(seed), [], []
    base = base_of(scene)
    start = base.pose
    for _ in range(rooms):
        furnished(scene, rng)
        scene.world.data.qpos[base.qpos_index] = 0.0
        mujoco.mj_forward(scene.world.model, scene.world.data)
        planner = BasePlanner(scene, base)
        for _ in range(3):
            goal = rng.uniform([-1.5, -1.5, -np.pi], [1.5, 1.5, np.pi])
            result = planner.plan(start, goal)
            if result.ok:
                poses = base.poses(result.path)
                steps = [np.linspace(a, b, 2 + int(np.abs(b - a).max() / 0.02)) for a, b in pairwise(poses)]
                found.append(poses)
                wrong += solid_overlaps(scene, base, np.concatenate(steps))
                scene.world.data.qpos[base.qpos_index] = 0.0
                break
    return found, wrong


def test_ways_through_random_rooms_touch_nothing() -> None:
    found, wrong = ways(rooms=20, seed=1)
    assert len(found) >= 10, "most rooms have a place that can be reached"
    assert sum(len(way) > 2 for way in found) >= 2, "some ways go around furniture"
    assert not wrong


def broken(folder: Path, skill: dict[str, Any], **keys: Any) -> Path:
    """Write a task whose base cannot do what a skill asks."""
    task = {
        "arena_file": "arenas/table.yaml",
        "robots": [{"name": "lift2", "translation": [0.0, -0.85, 0.168], "euler": [0, 0, 90], **keys.pop("robot", {})}],
        "data": {"language_instruction": "Go."},
        "table_height": [0.918, 0.918],
        "skills": [{keys.get("name", "lift2"): [{"left": [skill], **keys.get("block", {})}]}],
    }
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump(task))
    return file


NAVIGATE = {"name": "navigate", "objects": ["table"]}
MISTAKES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a robot without a base": (
        NAVIGATE, {"robot": {"name": "franka"}, "name": "franka"}, "franka, which has none .*; robots with one: .*lift2"
    ),
    "a base that is held": (NAVIGATE, {"robot": {"base": "held"}}, "which base: held holds"),
    "an arm at work meanwhile": (NAVIGATE, {"block": {"right": [{"name": "home"}]}}, "one arm only"),
    "no goal": ({"name": "navigate"}, {}, "objects.*or to a position.*got neither"),
    "a hand over a place": (
        {"name": "navigate", "position": [0.0, -1.0], "hand_above": 0.1}, {}, "hand_above is a height over an object"
    ),
    "an unknown object": ({"name": "navigate", "objects": ["tabel"]}, {}, "did you mean .?table"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_task_that_cannot_drive_is_refused_with_the_line(mistake: str, tmp_path: Path) -> None:
    skill, keys, message = MISTAKES[mistake]
    with pytest.raises(ConfigError, match=message) as error:
        load_task(broken(tmp_path, skill, **keys))
    assert "task.yaml:" in str(error.value)


@pytest.mark.parametrize(
    ("skill", "message"),
    [
        (
            {"name": "navigate", "position": [0.0, 0.0]},
            "navigate finds no path .* to \\(0.00, 0.00\\) m: the goal collides.*table",
        ),
        ({"name": "mobile__translate", "target": [5.0, 0.0]}, "mobile__translate finds no path"),
    ],
)
def test_the_deep_check_tells_places_that_the_base_cannot_reach(
    skill: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (line,) = rehearse(load_task(broken(tmp_path, skill)), scenes=1).mistakes
    assert "task.yaml:" in line
    assert re.search(message, line), line
