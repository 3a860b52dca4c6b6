"""The base of a robot, where a task lets it drive: it goes where it is told, and its wheels roll with it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from handloom.arrays import Array
from handloom.episode.actions import Actions
from handloom.episode.columns import episode_columns
from handloom.episode.loop import apply_targets, run_episode
from handloom.scene import Scene, build_scene
from handloom.scene.mobile_base import MobileBase
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord, TaskInstance

ROBOTS = ("lift2", "split_aloha")
EMPTY = """
arena_file: {arena}
robots: [{{name: robot, robot_config_file: {robot}, translation: [0.4, -0.3, {height}], euler: [0, 0, 40], {keys}}}]
data: {{language_instruction: Do it.}}
skills: [{{robot: [{{left: [{{name: home}}]}}]}}]
"""
FLOOR = "{name: floor, target_class: PlaneObject, size: [9.0, 9.0], translation: [0.0, 0.0, 0.0]}"


def on_the_floor(folder: Path, robot: str, keys: str = "base: drivable") -> TaskInstance:
    """Return a robot alone on a floor, askew in the world."""
    (folder / "floor.yaml").write_text(f"name: floor\nfixtures: [{FLOOR}]\n")
    height = {"lift2": 0.168, "split_aloha": 0.31}[robot]
    file = folder / "task.yaml"
    file.write_text(EMPTY.format(arena=folder / "floor.yaml", robot=robot, height=height, keys=keys))
    return sample_task(load_task(file), 0, 0)


@pytest.fixture(scope="module", params=ROBOTS)
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Return a scene with a robot whose base drives."""
    return build_scene(on_the_floor(tmp_path_factory.mktemp(request.param), request.param))


def base_of(scene: Scene) -> MobileBase:
    base = scene.robot("robot").base
    assert base is not None
    return base


def follow(scene: Scene, poses: Array) -> tuple[Array, Array]:
    """Drive through poses, one per frame; return the measured poses and the wheel angles after each frame."""
    base, seen, wheels = base_of(scene), [], []
    joints = [scene.world.qpos_index(f"robot/{name}") for name in base.drive.rolling_names]
    for pose in poses:
        targets = np.full(scene.world.model.nu, np.nan)
        base.go(targets, pose)
        apply_targets(scene, targets)
        scene.world.step(scene.instance.substeps)
        seen.append(base.pose)
        wheels.append(scene.world.data.qpos[joints].copy())
    return np.array(seen), np.array(wheels)


def smooth(start: Array, goal: Array, frames: int) -> Array:
    """Return poses (frames + 10, 3) from rest to rest, and a third of a second at the goal."""
    s = np.minimum(np.arange(1, frames + 11) / frames, 1.0)[:, None]
    return start + s**3 * (10.0 - 15.0 * s + 6.0 * s**2) * (goal - start)


def test_a_base_stops_within_a_centimetre_and_a_degree_of_any_goal(scene: Scene) -> None:
    rng, base = np.random.default_rng(3), base_of(scene)
    for _ in range(3):
        goal = base.origin + rng.uniform([-0.8, -0.8, -1.2], [0.8, 0.8, 1.2])
        seen, _ = follow(scene, smooth(base.commanded_pose, goal, 80))
        off = np.abs(seen[-1] - goal)
        assert np.hypot(off[0], off[1]) < 1e-4, "the servos hold the sum of the commands, so far less than 1 cm is left"
        assert off[2] < math.radians(0.01)
        assert np.abs(base.velocity).max() < 1e-3


def test_wheels_turn_by_as_much_as_the_base_moved(scene: Scene) -> None:
    base = base_of(scene)
    start, radius = base.commanded_pose, base.drive.wheel_radius
    steered = any(wheel.swivel >= 0 for wheel in base.wheels)
    forward = start + 0.6 * np.array([math.cos(start[2]), math.sin(start[2]), 0.0])
    follow(scene, np.tile(start, (20, 1)))  # Wheels that steer come to rest first.
    for goal, turn in ((forward, 0.0), (forward + np.array([0.0, 0.0, 1.0]), 1.0)):
        first = base.commanded_pose
        while base.aiming_frames(_twist(first, goal)):
            targets = np.full(scene.world.model.nu, np.nan)
            base.aim(targets, _twist(first, goal))
            apply_targets(scene, targets)
            scene.world.step(scene.instance.substeps)
        before = follow(scene, first[None])[1][0]
        rolled = (follow(scene, smooth(first, goal, 80))[1][-1] - before) * radius
        for wheel, way in zip(base.wheels, rolled, strict=True):
            # A steered wheel rolls along its hub's way; one with rollers along its own direction only.
            hub = 0.6 * np.array([1.0, 0.0]) if not turn else turn * np.array([-wheel.hub[1], wheel.hub[0]])
            expected = float(np.hypot(*hub)) if steered else float(hub @ wheel.forward)
            assert (abs(way) if steered else way) == pytest.approx(expected, abs=2e-3)


def _twist(start: Array, goal: Array) -> Array:
    x, y, yaw = goal - start
    cos, sin = math.cos(start[2]), math.sin(start[2])
    return np.array([cos * x + sin * y, cos * y - sin * x, yaw])


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_base_that_no_task_drives_is_modelled_as_before(robot: str, tmp_path: Path) -> None:
    held = build_scene(on_the_floor(tmp_path, robot, keys="scale: 1"))
    own = held.robot("robot").description.model
    model = held.world.model
    assert held.robot("robot").base is None
    assert (model.nactuator, model.na) == (own.nactuator, 0)
    assert not held.instance.robots[0].overrides
    joints = [model.joint(f"robot/{own.joint(j).name}").id for j in range(own.njnt)]
    np.testing.assert_array_equal(model.jnt_range[joints], own.jnt_range)
    np.testing.assert_array_equal(model.actuator_gainprm, own.actuator_gainprm)
    np.testing.assert_array_equal(model.actuator_ctrlrange, own.actuator_ctrlrange)


class Replayed:
    """A policy that does what the actions of a dataset say."""

    failure, timeline, recording, phases, room = None, (), True, (), 0.0

    def __init__(self, scene: Scene, actions: Array) -> None:
        self._translate, self._actions = Actions(scene), actions

    def next(self, frame: int) -> Array | None:
        return self._translate.targets(self._actions[frame]) if frame < len(self._actions) else None


def test_columns_hold_the_base_and_their_actions_drive_it_the_same_way(tmp_path: Path) -> None:
    instance = replace(on_the_floor(tmp_path, "split_aloha"), max_frames=200)
    scene = build_scene(instance)
    frames = 40
    arms = [value for arm in scene.robot("robot").arms for value in (*arm.joints, 1.0)]
    ramp = np.sin(np.linspace(0.0, np.pi, frames))
    actions = np.array([[*arms, 0.4 * s, 0.1 * s, 0.5 * s] for s in ramp])
    record = run_episode(scene, Replayed(scene, actions))
    columns = _columns(record)
    assert columns["action"][:frames, -3:] == pytest.approx(actions[:, -3:], abs=1e-6)
    pose, velocity = columns["observation.base_pose"], columns["observation.base_velocity"]
    np.testing.assert_array_equal(columns["observation.state"][:, -3:], velocity)
    way = np.hypot(*np.diff(pose[:, :2], axis=0).T).sum()
    assert way == pytest.approx(np.hypot(*actions[:, -3:-1].T).sum() / 30, rel=0.01)
    assert pose[-1, 2] - pose[0, 2] == pytest.approx(actions[:, -1].sum() / 30, abs=1e-3)
    assert np.abs(velocity[-1]).max() < 1e-3, "a base whose policy has ended stops"
    rates = np.gradient(pose.astype(float), 1.0 / instance.fps, axis=0)
    cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    forward, left, turn = velocity.T
    driven = np.stack([cos * forward - sin * left, sin * forward + cos * left, turn], axis=1)
    assert np.abs(driven - rates)[1:-1].max() < 0.01, "velocities, seen from the world, are the derivatives of the pose"
    assert np.abs(rates).max() > 0.3
    again = build_scene(instance)
    repeated = run_episode(again, Replayed(again, columns["action"][:frames].astype(float)))
    assert _columns(repeated)["observation.base_pose"][-1] == pytest.approx(pose[-1], abs=1e-5)


def _columns(record: EpisodeRecord) -> dict[str, Array]:
    return dict(episode_columns(build_scene(record.instance), record).values)
