"""The nesting of a task's skills, and what two arms may do to each other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from handloom.episode import run_episode
from handloom.episode.examine import examine
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.skills import Schedule
from handloom.skills.configs import SKILL_CONFIGS
from handloom.tasks import load_task, sample_task
from handloom.values import FunnelStage, TaskInstance

Nest = list[dict[str, list[dict[str, list[int]]]]]
"""Stages > robots > blocks > arms > frames to wait."""
ARMS = {"one": ("left", "right"), "two": ("left",)}


def two_robots(folder: Path, *robots: dict[str, Any]) -> TaskInstance:
    """Return a scene with two robots that face each other over a table."""
    task = {
        "name": "two_robots", "arena_file": "arenas/table.yaml", "robots": list(robots), "objects": [], "regions": [],
        "data": {"language_instruction": "Wait.", "max_episode_length": 400},
        "skills": [{robots[0]["name"]: [{"left": [{"name": "home"}]}]}],
    }  # fmt: skip
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump({"tasks": [task]}))
    return sample_task(load_task(file), 0, 0)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    """Return a scene with a robot of two arms and one of one arm."""
    return two_robots(
        tmp_path_factory.mktemp("schedule"),
        {"name": "one", "robot_config_file": "split_aloha", "euler": [0, 0, 90], "translation": [0, -0.9, 0]},
        {"name": "two", "robot_config_file": "fr3", "euler": [0, 0, -90], "translation": [0, 0.6, 0.75]},
    )


@pytest.fixture(scope="module")
def facing(tmp_path_factory: pytest.TempPathFactory) -> TaskInstance:
    """Return a scene with two equal arms that face each other and share a place they can reach."""
    home = [0.0, -0.143, 0.0, -2.435, 0.0, 2.235, 0.789]
    common = {"robot_config_file": "fr3", "left_joint_home": home}
    return two_robots(
        tmp_path_factory.mktemp("facing"),
        {"name": "south", "euler": [0, 0, 90], "translation": [0, -0.6, 0.75], **common},
        {"name": "north", "euler": [0, 0, -90], "translation": [0, 0.6, 0.75], **common},
    )


def configs(nest: Any) -> Any:
    def wait(frames: int) -> Any:
        keys = {"name": "wait", "wait_steps": frames, "success_threshold": 1.0, "gripper_state": 1}
        return SKILL_CONFIGS["wait"].model_validate(keys)

    return [
        {
            robot: [{arm: [wait(n) for n in waits] for arm, waits in block.items()} for block in blocks]
            for robot, blocks in stage.items()
        }
        for stage in nest
    ]


def expected(nest: Nest) -> set[tuple[str, str, int, int]]:
    """Return robot, arm, start and end of every wait."""
    spans, now = set(), 0
    for stage in nest:
        ends = [now]
        for robot, blocks in stage.items():
            at = now
            for block in blocks:
                block_ends = [at]
                for arm, waits in block.items():
                    time = at
                    for frames in waits:
                        spans.add((robot, arm, time, time + frames))
                        time += frames
                    block_ends.append(time)
                at = max(block_ends)
            ends.append(at)
        now = max(ends)
    return spans


def random_nest(rng: np.random.Generator) -> Nest:
    def block(robot: str) -> dict[str, list[int]]:
        arms = [arm for arm in ARMS[robot] if rng.random() < 0.7]
        return {arm: rng.integers(1, 6, rng.integers(0, 3)).tolist() for arm in arms}

    def stage() -> dict[str, list[dict[str, list[int]]]]:
        robots = [robot for robot in ARMS if rng.random() < 0.8]
        return {robot: [block(robot) for _ in range(rng.integers(1, 4))] for robot in robots}

    return [stage() for _ in range(rng.integers(1, 4))]


@pytest.mark.parametrize("seed", range(12))
def test_stages_wait_for_all_robots_blocks_for_their_robot_and_arms_for_nobody(
    instance: TaskInstance, seed: int
) -> None:
    nest = random_nest(np.random.default_rng(seed))
    scene = build_scene(instance)
    record = run_episode(scene, Schedule(scene, configs(nest), np.random.default_rng(0)))
    assert record.success, record.failure
    assert {(s.robot, s.arm, s.start, s.end) for s in record.timeline} == expected(nest)


def goto(scene: Scene, robot: str, world: tuple[float, float, float]) -> Any:
    """Return the skill that brings the hand of a robot to a place in the world, pointing down."""
    p = np.linalg.inv(scene.robot(robot).arm("left").T_world_base) @ [*world, 1.0]
    keys = {"name": "goto__pose", "position": p[:3].tolist(), "euler": [180, 0, 0]}
    return SKILL_CONFIGS["goto__pose"].model_validate(keys)


def test_an_arm_whose_goal_another_has_taken_ends_with_a_reason(facing: TaskInstance) -> None:
    scene = build_scene(facing)
    stages = [{robot: [{"left": [goto(scene, robot, (0.0, 0.0, 1.1))]}] for robot in ("south", "north")}]
    record = run_episode(scene, Schedule(scene, stages, np.random.default_rng(0)))
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.PLAN, "goal_in_collision"), record.failure
    assert "south" in record.failure.detail


def test_arms_that_touch_end_the_episode_with_a_reason(facing: TaskInstance) -> None:
    scene = build_scene(facing)
    # Joint moves are not planned, so nothing keeps these two apart.
    reach = {"name": "heuristic__skill", "mode": "rel_qpos", "value": [0, 1.0, 0, 0.9, 0, 0, 0], "t_eps": 0.1}
    lean = SKILL_CONFIGS["heuristic__skill"].model_validate(reach)
    stages = [{robot: [{"left": [lean]}] for robot in ("south", "north")}]
    record = run_episode(scene, Schedule(scene, stages, np.random.default_rng(0)))
    assert record.failure is not None
    assert (record.failure.stage, record.failure.reason) == (FunnelStage.EXECUTE, "arms_touch"), record.failure
    assert "south/left" in record.failure.detail
    assert "north/left" in record.failure.detail


@pytest.mark.parametrize("seed", range(4))
def test_arms_that_work_in_one_place_never_press_into_each_other(facing: TaskInstance, seed: int) -> None:
    scene, rng = build_scene(facing), np.random.default_rng(seed)
    goals = {robot: [goto(scene, robot, tuple(rng.uniform([-0.25, -0.12, 0.95], [0.25, 0.12, 1.15]))) for _ in range(3)]
             for robot in ("south", "north")}  # fmt: skip
    stages = [{robot: [{"left": skills}] for robot, skills in goals.items()}]
    record = run_episode(scene, Schedule(scene, stages, np.random.default_rng(0)))
    assert record.failure is None or record.failure.stage in (FunnelStage.PLAN, FunnelStage.REACH), record.failure
    assert examine(record).between_arms.metres < 0.002


def test_what_a_skill_foresees_is_drawn_by_seed_episode_and_frame():
    task = load_task("fr3_pick_cube")

    def drawn(seed: int, episode: int, frame: int) -> float:
        scene = build_scene(sample_task(task, seed, episode))
        return Schedule(scene, task.config.skills, generator(seed, episode, "skills"))._foreseeing(frame).random()

    draws = [drawn(0, 0, 0), drawn(0, 1, 0), drawn(1, 0, 0), drawn(0, 0, 9)]
    assert len(set(draws)) == 4
    assert drawn(0, 1, 0) == draws[1]
