"""The dataset columns of an episode for every robot, optionally in detail, and the images of every camera."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from json import dumps
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset import ArmSeries, Columns, Feature, RobotSeries, column_feature, robot_columns, video_feature
from handloom.dataset.robot_columns import DETAILED, INTERVENTION, POSE_NAMES, BaseSeries, pose7
from handloom.episode.loop import within_ranges
from handloom.motion.kinematics import Chain
from handloom.render import Images, Renderer
from handloom.render.labels import instances
from handloom.scene import Scene, SceneArm, SceneRobot
from handloom.scene.mobile_base import MobileBase, base_in, body_twist
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, pose_from_pos_quat, rotvec_from_matrix
from handloom.values import CameraSpec, EpisodeRecord

STEP_NAMES = ("dx", "dy", "dz", "rx", "ry", "rz")


def detailed_columns(scene: Scene, record: EpisodeRecord, series: dict[str, RobotSeries]) -> Columns:
    """Return the detailed columns of an episode; the state of the scene is overwritten.

    Args:
        scene: The scene of the record's instance.
        record: What happened.
        series: Recorded series of each robot, by name.
    """
    start = scene.world.save_state()
    velocity, effort, poses = _replayed(scene, record)
    parts: list[tuple[str, tuple[str, ...], NDArray[Any], str]] = []
    for name, robot in scene.robots.items():
        prefix = f"{name}." if len(scene.robots) > 1 else ""
        columns = _robot(scene, robot, series[name], velocity, effort, record)
        parts += [(prefix + key, names, values, "float32") for key, names, values in columns]
    for k, name in enumerate(_movable(scene)):
        parts.append((f"observation.object_pose.{name}", POSE_NAMES, poses[:, k], "float32"))
    parts += _outcome(record)
    scene.world.restore_state(start)
    return Columns(
        features=tuple(column_feature(name, names, dtype=dtype) for name, names, _, dtype in parts),
        values={name: values for name, _, values, _ in parts},
    )


def of_kind(record: EpisodeRecord, kind: str) -> NDArray[np.bool_]:
    """Return whether frames (k, 1) of the demonstration belong to spans of a kind: mistakes, corrections."""
    found = np.zeros(record.frames, bool)
    for span in record.timeline:
        if span.kind == kind:
            found[span.start : span.end] = True
    return found[record.kept][:, None]


def _movable(scene: Scene) -> list[str]:
    return [obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid and "distractor" not in obj.name]


def _replayed(scene: Scene, record: EpisodeRecord) -> tuple[Array, Array, Array]:
    """Return joint velocities (k, nv), efforts (k, nv) and object poses (k, objects, 7) before each kept frame."""
    world, names = scene.world, _movable(scene)
    velocity, effort = np.zeros((2, len(record.kept), world.model.nv))
    T = np.zeros((len(names), len(record.kept), 4, 4))
    for k, frame in enumerate(record.kept):
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(record.states[frame]), STATE)
        # The controls of a frame act from its first step.
        world.data.ctrl[:] = record.applied[frame, : world.model.nu]
        mujoco.mj_forward(world.model, world.data)
        velocity[k], effort[k] = world.data.qvel, world.data.qfrc_actuator
        for n, name in enumerate(names):
            T[n, k] = scene.object_pose(name)
    poses = [pose7(T[n]) for n in range(len(names))]
    return velocity, effort, np.stack(poses, axis=1) if poses else np.zeros((len(record.kept), 0, 7))


def _robot(
    scene: Scene, robot: SceneRobot, series: RobotSeries, velocity: Array, effort: Array, record: EpisodeRecord
) -> Iterator[tuple[str, tuple[str, ...], Array]]:
    pairs = list(zip(robot.arms, series.arms, strict=True))
    joints = tuple(f"{_prefix(robot, arm)}{joint}" for arm, _ in pairs for joint in arm.spec.joint_names)
    dofs = [scene.world.dof_index(joint) for arm, _ in pairs for joint in arm.joint_names]
    yield "observation.velocity", joints, velocity[:, dofs]
    yield "observation.effort", joints, effort[:, dofs]
    pose_names = tuple(f"{_prefix(robot, arm)}{name}" for arm, _ in pairs for name in POSE_NAMES)
    yield "observation.tcp_pose.base", pose_names, np.concatenate([pose7(s.T_armbase_tcp) for _, s in pairs], axis=1)
    after = [np.concatenate([s.T_armbase_ee[1:], s.T_armbase_ee[-1:]]) for _, s in pairs]
    yield "action.ee_pose.base", pose_names, np.concatenate([pose7(T) for T in after], axis=1)
    step_names = tuple(f"{_prefix(robot, arm)}{name}" for arm, _ in pairs for name in STEP_NAMES)
    steps = [_step(s.T_armbase_ee, T) for (_, s), T in zip(pairs, after, strict=True)]
    yield "action.ee_delta", step_names, np.concatenate(steps, axis=1)
    others = _other_joints(scene, robot)
    if others:
        places = [scene.world.qpos_index(f"{robot.name}/{joint}") for joint in others]
        start = mujoco.mj_stateSize(scene.world.model, mujoco.mjtState.mjSTATE_TIME)
        yield "observation.body_joints", tuple(others), record.states[record.kept][:, [start + p for p in places]]


def _step(T: Array, T_after: Array) -> Array:
    """Return the steps (k, 6) of the end effector in its own frame: translation [m] and rotation vector [rad]."""
    change = invert_pose(T) @ T_after
    return np.concatenate([change[:, :3, 3], rotvec_from_matrix(change[:, :3, :3])], axis=1)


def _other_joints(scene: Scene, robot: SceneRobot) -> list[str]:
    """Return the driven joints that belong to no arm and no gripper: lift, torso, head, base."""
    model, prefix = scene.world.model, f"{robot.name}/"
    own = {
        name for arm in robot.arms for name in (*arm.joint_names, *(prefix + g for g in arm.spec.gripper_joint_names))
    }
    driven = {int(model.actuator_trnid[a, 0]) for a in range(model.nu) if model.actuator_trntype[a] == JOINT}
    names = [model.joint(j).name for j in sorted(driven)]
    return [name.removeprefix(prefix) for name in names if name.startswith(prefix) and name not in own]


JOINT = int(mujoco.mjtTrn.mjTRN_JOINT)


def _prefix(robot: SceneRobot, arm: SceneArm) -> str:
    return f"{arm.name}_" if len(robot.arms) > 1 else ""


def _outcome(record: EpisodeRecord) -> list[tuple[str, tuple[str, ...], NDArray[Any], str]]:
    """Return reward, done and success after each frame: 1 at the last frame of a demonstration that succeeded."""
    last = np.zeros((len(record.kept), 1), bool)
    last[-1:] = True
    success = last & record.success
    return [
        ("next.reward", ("reward",), success.astype(np.float32), "float32"),
        ("next.done", ("done",), last, "bool"),
        ("next.success", ("success",), success, "bool"),
    ]


STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def robot_series(
    scene: Scene, record: EpisodeRecord, chain_of: Callable[[SceneArm], Chain] = SceneArm.chain
) -> dict[str, RobotSeries]:
    """Return the series of every robot by its name: the state before each frame, the command during it.

    They contain only frames that belong to the demonstration.

    Args:
        scene: The scene of the record's instance, at its start.
        record: What happened.
        chain_of: Gives the chain of an arm as it was at the start, for callers that keep it.
    """
    qpos = recorded_qpos(scene, record)[record.kept]
    controls = asked_controls(scene, record)[record.kept]
    placed = {robot.name: pose_from_pos_quat(robot.position, robot.quat) for robot in record.instance.robots}
    series = {}
    for name, robot in scene.robots.items():
        T_world_robot, here, base = np.broadcast_to(placed[name], (len(qpos), 4, 4)), placed[name], None
        if robot.base is not None:
            base = _base_series(robot.base, qpos, recorded_qvel(scene, record)[record.kept], controls)
            T_world_robot = placed[name] @ _driven(qpos[:, robot.base.qpos_index])
            here = placed[name] @ _driven(scene.world.data.qpos[robot.base.qpos_index])
        elif robot.description.config.base == "parked":
            # The base may drive in another episode of the dataset, so all episodes have its columns.
            parked = base_in(scene.world, name, robot.description, fps=record.instance.fps)
            base = _parked_series(parked, qpos, recorded_qvel(scene, record)[record.kept])
        arms = tuple(_arm_series(robot, arm, chain_of(arm), qpos, controls, here) for arm in robot.arms)
        series[name] = RobotSeries(arms=arms, T_world_robot=T_world_robot, base=base)
    return series


def _base_series(base: MobileBase, qpos: Array, qvel: Array, controls: Array) -> BaseSeries:
    joints = qpos[:, base.qpos_index]
    return BaseSeries(
        pose=base.poses(joints),
        velocity=body_twist(qvel[:, base.dof_index], joints[:, 2]),
        command=body_twist(controls[:, base.ctrl_index], joints[:, 2]),
    )


def _parked_series(base: MobileBase, qpos: Array, qvel: Array) -> BaseSeries:
    joints = qpos[:, base.qpos_index]
    velocity = body_twist(qvel[:, base.dof_index], joints[:, 2])
    return BaseSeries(pose=base.poses(joints), velocity=velocity, command=np.zeros_like(velocity))


def _driven(joints: Array) -> Array:
    """Return the displacement of a robot by its base joints x, y, yaw (..., 3), as poses (..., 4, 4)."""
    zero = np.zeros_like(joints[..., :1])
    turn = matrix_from_rotvec(np.concatenate([zero, zero, joints[..., 2:]], axis=-1))
    return make_pose(turn, np.concatenate([joints[..., :2], zero], axis=-1))


def asked_controls(scene: Scene, record: EpisodeRecord) -> Array:
    """Return the targets (frames, controls) commanded by the source, within the actuators' ranges.

    Physics received the same targets, unless the episode was disturbed: then the action is the intended command.
    """
    model = scene.world.model
    applied = record.applied[:, : model.nu]
    return np.where(np.isnan(record.asked), applied, within_ranges(model, record.asked))


def recorded_qpos(scene: Scene, record: EpisodeRecord) -> Array:
    """Return the positions (frames + 1, nq) inside the recorded integration states."""
    # MuJoCo stores the parts of a state in the order of their bits: time first, then positions.
    start = mujoco.mj_stateSize(scene.world.model, mujoco.mjtState.mjSTATE_TIME)
    return record.states[:, start : start + scene.world.model.nq]


def recorded_qvel(scene: Scene, record: EpisodeRecord) -> Array:
    """Return the velocities (frames + 1, nv) inside the recorded integration states."""
    model = scene.world.model
    start = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_TIME | mujoco.mjtState.mjSTATE_QPOS)
    return record.states[:, start : start + model.nv]


def _arm_series(
    robot: SceneRobot, arm: SceneArm, chain: Chain, qpos: Array, controls: Array, T_world_robot: Array
) -> ArmSeries:
    T_armbase_ee = chain.T_base_tool(qpos[:, arm.qpos_index], threads=1)
    openness = _openness(arm, controls[:, arm.gripper_ctrl_index[0]])
    measured = _openness(arm, qpos[:, arm.gripper_qpos_index[0]])
    span = arm.spec.gripper_max_width - arm.spec.gripper_min_width
    return ArmSeries(
        name=arm.name if len(robot.arms) > 1 else "",
        joint_names=arm.spec.joint_names,
        joint_position=qpos[:, arm.qpos_index],
        joint_command=controls[:, arm.ctrl_index],
        gripper_position=arm.spec.gripper_min_width + span * measured,
        gripper_opening=np.clip(measured, 0.0, 1.0),
        gripper_openness=np.clip(openness, 0.0, 1.0),
        T_armbase_ee=T_armbase_ee,
        T_armbase_tcp=T_armbase_ee @ arm.spec.T_tool_tcp,
        T_robot_armbase=invert_pose(T_world_robot) @ arm.T_world_base,
    )


def _openness(arm: SceneArm, drive: Array) -> Array:
    """Return the opening of a gripper (T,), 0 closed to 1 open, from position or target of its first drive joint."""
    closed, opened = arm.spec.gripper_closed[0], arm.spec.gripper_open[0]
    return (drive - closed) / (opened - closed)


MISTAKE = Feature(name="annotation.mistake", dtype="bool", shape=(1,), names=("mistake",))
"""Frames of skills that failed on purpose: trainers omit or weight them by this column."""
CORRECTED = Feature(name="annotation.intervention", dtype="bool", shape=(1,), names=("intervention",))
"""Frames in which a person acted in place of a policy: used for human-in-the-loop training."""
IMAGES = "observation.images."
"""Prefix of every camera's feature name."""


def episode_columns(
    scene: Scene,
    record: EpisodeRecord,
    styles: Sequence[str] = ("canonical",),
    chain_of: Callable[[SceneArm], Chain] = SceneArm.chain,
) -> Columns:
    """Return features and values of all robots; with several robots, every name has the robot's name as prefix.

    Args:
        scene: The scene of the record's instance, at its start.
        record: What happened.
        styles: Any of ``canonical``, ``reference``, ``detailed`` and ``intervention``.
        chain_of: Gives the chain of an arm as it was at the start, for callers that keep it.
    """
    robots = robot_series(scene, record, chain_of)
    parts = [
        _named(robot_columns(style, series), f"{name}." if len(scene.robots) > 1 else "")
        for name, series in robots.items()
        for style in styles
        if style not in (DETAILED, INTERVENTION)
    ]
    if DETAILED in styles:
        parts.append(detailed_columns(scene, record, robots))
    parts.append(Columns(features=(MISTAKE,), values={MISTAKE.name: of_kind(record, "mistake")}))
    if INTERVENTION in styles:
        parts.append(Columns(features=(CORRECTED,), values={CORRECTED.name: of_kind(record, "correction")}))
    return Columns(
        features=tuple(feature for part in parts for feature in part.features),
        values={name: values for part in parts for name, values in part.values.items()},
    )


def video_features(cameras: Sequence[CameraSpec], codec: str, kinds: Sequence[str] = ("rgb",)) -> tuple[Feature, ...]:
    """Return the camera streams of a scene: one per camera for each of the kinds rgb, depth and segmentation."""
    return tuple(
        video_feature(
            image_name(camera.name, kind),
            height=camera.height,
            width=camera.width,
            codec=codec if kind == "rgb" else kind,
        )
        for camera in cameras
        for kind in kinds
    )


def image_name(camera: str, kind: str) -> str:
    """Return the feature of a camera's images of a kind (rgb, depth or segmentation)."""
    return IMAGES + camera if kind == "rgb" else f"{IMAGES}{camera}_{kind}"


def drawing_facts(
    scene: Scene, videos: Sequence[Feature], preset: str, *, backend: str = "cpu", card: str = ""
) -> dict[str, str]:
    """Return the image columns of the episode table: render settings, meanings of the ids, and the cameras."""
    facts = {"render_backend": backend, "render_preset": preset} if videos else {}
    if videos and card:
        facts["render_card"] = card
    if any(feature.is_segmentation for feature in videos):
        facts["segmentation"] = dumps(instances(scene.world.model).names)
    return {**facts, "cameras": dumps([asdict(camera) for camera in scene.instance.cameras])}


def _named(columns: Columns, prefix: str) -> Columns:
    if not prefix:
        return columns
    return Columns(
        features=tuple(replace(feature, name=prefix + feature.name) for feature in columns.features),
        values={prefix + name: values for name, values in columns.values.items()},
    )


GEOMS = "geoms"
"""Kind of image that shows geom ids, -1 for nothing."""


def rendered_frames(
    scene: Scene,
    record: EpisodeRecord,
    *,
    preset: str,
    kinds: Sequence[str] = ("rgb",),
    frames: Sequence[int] | None = None,
    renderer: Renderer | None = None,
) -> Iterator[Images]:
    """Yield the images of the observation of every frame of the demonstration, by camera name and kind.

    Args:
        scene: The scene of the record's instance; its state is overwritten.
        record: What happened.
        preset: Render preset: fast, balanced or quality.
        kinds: Which images of each camera; ``segmentation`` holds instance ids, as in the dataset, ``geoms`` the
            renderer's geom ids.
        frames: Frames of the demonstration to draw; None draws all.
        renderer: Renderer of the scene's model; by default the CPU ray caster with the preset.
    """
    world, cameras = scene.world, record.instance.cameras
    renderer = renderer or Renderer(world.model, preset, looks=scene.looks)
    known = instances(world.model)
    drawn_kinds = tuple(dict.fromkeys("segmentation" if kind == GEOMS else kind for kind in kinds))
    states = record.states[record.kept]

    def placed() -> Iterator[mujoco.MjData]:
        for state in states if frames is None else states[list(frames)]:
            mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(state), STATE)
            mujoco.mj_kinematics(world.model, world.data)
            mujoco.mj_camlight(world.model, world.data)
            yield world.data

    for images in renderer.render_each(placed(), cameras, drawn_kinds):
        for drawn in images.values():
            if GEOMS in kinds:
                drawn[GEOMS] = drawn["segmentation"] if "segmentation" in kinds else drawn.pop("segmentation")
            if "segmentation" in drawn:
                drawn["segmentation"] = known.ids(drawn["segmentation"])
        yield images
