"""The stacking scene, its terms, and a scripted operator who stacks the cubes through the graph."""

import math

import numpy as np
import pytest

from handloom.episode import replay, run_episode
from handloom.errors import InputError
from handloom.judging.checks import holds
from handloom.retarget import ControllerSnapshot, DeviceFrame, DeviceRecording, RateLimiterConfig
from handloom.retarget.so101 import (
    CUBES,
    PUBLISHED_JAW,
    ROBOT,
    STACK_CUBE_ANCHOR,
    ScriptedOperator,
    SO101ActionController,
    StackCubeConfig,
    TeleopSource,
    anchor_transform,
    fallen_cubes,
    so101_action_graph,
    stack_cube_checks,
    stack_cube_instance,
    stack_cube_observations,
    stack_cube_subtasks,
)
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.spatial import translation

EDGE = StackCubeConfig().edge


def built(episode: int = 0, **config) -> tuple[Scene, SO101ActionController]:
    scene = build_scene(stack_cube_instance(0, episode, StackCubeConfig(**config)))
    return scene, SO101ActionController(scene.robot(ROBOT).arms[0])


def recorded(scene: Scene, controller: SO101ActionController) -> DeviceRecording:
    return ScriptedOperator(scene, controller).recording(generator(0, scene.instance.episode, "operator"))


# --- the scene


def test_scenes_depend_on_seed_and_episode_only_and_keep_their_distances() -> None:
    for episode in range(20):
        instance = stack_cube_instance(3, episode)
        cubes = [thing for thing in instance.objects if thing.name in CUBES]
        assert [cube.parameters["color"] for cube in cubes] == ["blue", "red", "green"]
        for cube in cubes:
            assert 0.15 <= cube.position[0] <= 0.30
            assert abs(cube.position[1]) <= 0.10
            assert cube.position[2] == pytest.approx(0.0203)
            assert abs(2 * math.atan2(cube.quat[3], cube.quat[0])) <= 1.0
        places = [cube.position for cube in cubes]
        assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) >= 0.06
    assert stack_cube_instance(3, 0) == stack_cube_instance(3, 0) != stack_cube_instance(4, 0)


def test_a_region_that_is_too_small_is_an_error_and_not_a_silent_overlap() -> None:
    with pytest.raises(InputError, match="widen the region"):
        stack_cube_instance(0, 0, StackCubeConfig(x_range=(0.2, 0.21), y_range=(0.0, 0.01), tries=20))


def test_the_published_numbers_are_the_defaults() -> None:
    config = StackCubeConfig()
    assert (config.fps, config.seconds, config.joint_noise, config.min_separation) == (20, 30.0, 0.02, 0.06)
    assert config.joints == (0.0, -0.6, 0.8, 0.6, 0.0)
    assert stack_cube_instance(0, 0).timestep == pytest.approx(0.002)
    assert (PUBLISHED_JAW.offset, PUBLISHED_JAW.scale) == (1.745, -1.745)
    assert PUBLISHED_JAW.joint(0.5) == pytest.approx(0.8725)
    assert PUBLISHED_JAW.closedness(0.0) == 1.0


def test_the_tool_starts_where_the_published_one_is() -> None:
    scene, controller = built(joint_noise=0.0)
    gripper = scene.world.body_pose("arm/gripper")[:3, 3]
    # Published: the gripper body 0.18852 m ahead of the world's origin and 0.15879 m above the table.
    np.testing.assert_allclose(gripper[[0, 2]], (0.18852, 0.15879), atol=0.004)
    assert controller.T_world_tool[2, 3] < gripper[2]


def test_the_anchor_turns_the_axes_of_the_headset_into_those_of_the_world() -> None:
    level = anchor_transform((0, 0, 0), (0, 0, 0, 1))
    np.testing.assert_allclose(level[:3, :3] @ (0, 1, 0), (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(level[:3, :3] @ (0, 0, -1), (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(STACK_CUBE_ANCHOR[:3, 3], (-0.1, -0.5, -1.05))
    # The published anchor is turned by -60 degrees about z.
    np.testing.assert_allclose(STACK_CUBE_ANCHOR[:2, 0], (0.5, -0.8660254), atol=1e-4)


# --- the terms


def tower(scene: Scene, *, gap: float = EDGE, shift: float = 0.0, jaw: float | None = None) -> None:
    """Put the cubes on each other by hand."""
    base = scene.object_pose(CUBES[0])[:3, 3]
    for level, name in enumerate(CUBES):
        scene.world.set_body_pose(f"{name}/object", translation(np.add(base, (level * shift, 0.0, level * gap))))
    arm = scene.robot(ROBOT).arms[0]
    scene.world.data.qpos[arm.gripper_qpos_index] = arm.spec.gripper_open if jaw is None else jaw
    scene.world.forward()


def success(scene: Scene) -> list[bool]:
    return [holds(scene, check) for check in stack_cube_checks()]


def test_a_tower_with_an_open_jaw_is_a_success() -> None:
    scene, _ = built()
    assert success(scene) == [False, False, False, True]
    tower(scene)
    assert success(scene) == [True] * 4


@pytest.mark.parametrize(
    ("gap", "good"), [(EDGE, True), (EDGE + 0.004, True), (EDGE + 0.006, False), (EDGE - 0.006, False)]
)
def test_the_height_is_bounded_on_both_sides(gap, good) -> None:
    scene, _ = built()
    tower(scene, gap=gap)
    assert success(scene)[:2] == [good, good]


def test_a_stack_may_lean_by_less_than_four_centimetres() -> None:
    scene, _ = built()
    tower(scene, shift=0.039)
    assert success(scene)[0]
    tower(scene, shift=0.041)
    assert not success(scene)[0]


def test_an_open_jaw_need_not_be_open_to_the_last_bit() -> None:
    scene, _ = built()
    tower(scene, jaw=1.0 - 0.03)
    assert success(scene)[2]
    tower(scene, jaw=1.0 - 0.2)
    assert not success(scene)[2]


def test_cubes_that_move_are_no_success() -> None:
    scene, _ = built()
    tower(scene)
    scene.world.data.qvel[scene.world.dof_index("cube_3/free")] = 0.06
    scene.world.forward()
    assert not success(scene)[3]


def test_observations_have_the_published_lengths_and_meaning() -> None:
    scene, controller = built()
    seen = stack_cube_observations(scene, controller, last_action=np.zeros(5))
    assert {name: len(value) for name, value in seen.items()} == {
        "actions": 5,
        "joint_pos": 6,
        "joint_vel": 6,
        "object": 39,
        "cube_positions": 9,
        "cube_orientations": 12,
        "eef_pos": 3,
        "eef_quat": 4,
        "gripper_pos": 1,
    }
    np.testing.assert_allclose(seen["joint_pos"], 0.0, atol=1e-12)
    np.testing.assert_allclose(seen["object"][21:24], seen["cube_positions"][:3] - seen["eef_pos"])
    np.testing.assert_allclose(seen["object"][30:33], seen["cube_positions"][3:6] - seen["cube_positions"][:3])
    assert fallen_cubes(scene) == ()
    scene.world.set_body_pose("cube_2/object", translation((0, 0, -0.2)))
    scene.world.forward()
    assert fallen_cubes(scene) == ("cube_2",)


# --- the arm under the graph


def test_engaging_does_not_move_the_arm() -> None:
    scene, controller = built(joint_noise=0.0)
    recording = recorded(scene, controller)
    first = next(frame for frame in recording if frame.state == "running")
    still = [
        DeviceFrame(
            time_ns=i * 50_000_000, state="running" if i > 3 else "stopped", controller_right=first.controller_right
        )
        for i in range(20)
    ]
    source = TeleopSource(scene, DeviceRecording(frames=tuple(still), end_time_ns=1_000_000_000), controller=controller)
    before = controller.arm.joints
    tool = controller.T_world_tool[:3, 3].copy()
    for frame in range(20):
        targets = source.next(frame)
        np.testing.assert_allclose(targets[controller.arm.ctrl_index], before, atol=2e-6)
        scene.world.data.ctrl[:] = targets
        scene.world.step(scene.instance.substeps)
    assert np.linalg.norm(controller.T_world_tool[:3, 3] - tool) < 1e-3
    assert source.next(20) is None


def test_with_limits_a_hand_that_jumps_does_not_make_the_arm_jump(monkeypatch) -> None:
    scene, controller = built(joint_noise=0.0)
    graph = so101_action_graph(limits=RateLimiterConfig())
    frames = tuple(
        DeviceFrame(
            time_ns=i * 50_000_000,
            controller_right=ControllerSnapshot(
                grip_position=(0.0 if i < 10 else 0.3, 1.0, 0.0), grip_orientation=(0, 0, 0, 1), grip_is_valid=True
            ),
        )
        for i in range(20)
    )
    recording = DeviceRecording(frames=frames, end_time_ns=1_000_000_000)
    source = TeleopSource(scene, recording, controller=controller, graph=graph)
    asked, follow = [], controller.targets
    monkeypatch.setattr(controller, "targets", lambda action: asked.append(action.copy()) or follow(action))
    for frame in range(20):
        source.next(frame)
    steps = np.linalg.norm(np.diff([action[:3] for action in asked], axis=0), axis=1)
    # 0.25 m/s at 20 frames per second, to the rounding of float32.
    np.testing.assert_allclose(steps, [0.0] * 9 + [0.0125] * 10, atol=1e-7)


def test_an_action_that_is_not_five_numbers_is_refused() -> None:
    _, controller = built()
    for bad in ((0.0,) * 4, (np.nan, 0, 0, 0, 0)):
        with pytest.raises(InputError, match="5 finite numbers"):
            controller.targets(bad)


def stacks(episode: int) -> bool:
    """Close the loop over the world alone: device frames, graph, inverse kinematics, physics."""
    scene, controller = built(episode)
    source = TeleopSource(scene, recorded(scene, controller), controller=controller)
    grasped = {"grasp_1": False, "stack_1": False, "grasp_2": False}
    frame = 0
    while (targets := source.next(frame)) is not None:
        scene.world.data.ctrl[:] = targets
        scene.world.step(scene.instance.substeps)
        frame += 1
        if frame % 10 == 0:
            now = stack_cube_subtasks(scene, controller)
            grasped = {name: grasped[name] or held for name, held in now.items()}
    assert frame <= scene.instance.max_frames
    return all(grasped.values()) and all(success(scene))


@pytest.mark.parametrize("episode", [0, 15])
def test_the_scripted_operator_stacks_the_cubes(episode) -> None:
    assert stacks(episode)


@pytest.mark.slow
def test_the_scripted_operator_stacks_the_cubes_in_nineteen_of_twenty_scenes() -> None:
    assert sum(stacks(episode) for episode in range(20)) >= 19


def test_a_teleoperated_episode_is_recorded_and_replays_bit_for_bit(tmp_path) -> None:
    scene, controller = built(1)
    recorded(scene, controller).write(tmp_path / "operator.jsonl")
    recording = DeviceRecording.read(tmp_path / "operator.jsonl")
    source = TeleopSource(scene, recording, controller=controller, checks=stack_cube_checks(), holds=holds)
    record = run_episode(scene, source)
    assert record.failure is None
    (span,) = record.timeline
    assert (span.skill, span.success, span.checks) == ("teleop", True, stack_cube_checks())
    report = replay(record)
    assert report.exact
    assert report.frames == record.frames > 250


def test_an_operator_who_does_nothing_is_a_typed_failure() -> None:
    scene, controller = built()
    recording = DeviceRecording(frames=(DeviceFrame(time_ns=0),), end_time_ns=200_000_000)
    source = TeleopSource(scene, recording, controller=controller, checks=stack_cube_checks(), holds=holds)
    record = run_episode(scene, source)
    assert record.failure is not None
    assert record.failure.reason == "not_stacked"
    assert not record.timeline[0].success


def test_a_source_needs_frames_and_a_judge() -> None:
    scene, controller = built()
    with pytest.raises(InputError, match="no frames"):
        TeleopSource(scene, DeviceRecording(frames=(), end_time_ns=0), controller=controller)
    one = DeviceRecording(frames=(DeviceFrame(time_ns=0),), end_time_ns=1)
    with pytest.raises(InputError, match="holds="):
        TeleopSource(scene, one, controller=controller, checks=stack_cube_checks())
