"""The robot model used by motion generation, loaded from third-party description files."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, HandloomError, InputError, unknown_name
from handloom.isaac.motion_generation.descriptions.description_files import LulaFile, XrdfFile, read_description
from handloom.motion.kinematics import Chain, JointTree
from handloom.sim.urdf import Urdf, matrix_from_rpy, matrix_from_wxyz, read_urdf
from handloom.spatial import make_pose, quat_from_matrix

WORLD = "world"
Spheres = dict[str, Array]
"""Link > centre and radius of its spheres (k, 4) [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionRobot:
    """Kinematics, limits and collision spheres of one robot; poses are in the frame of its root link."""

    joint_names: tuple[str, ...]
    """Planned joints, in the order of configurations."""
    default_q: Array
    """Default configuration (n,), to which policies return [rad or m]."""
    lower: Array
    """Position limits (n,) [rad or m]."""
    upper: Array
    velocity: Array
    """Maximum speeds (n,) [rad/s or m/s]."""
    acceleration: Array | None
    """Maximum accelerations (n,), if given."""
    jerk: Array | None
    """Maximum jerks (n,), if given."""
    root_link: str
    tool_frames: tuple[str, ...]
    """Frames meant for tools; empty if the file names none."""
    spheres: Spheres
    """What counts against obstacles."""
    model: mujoco.MjModel
    """Links as bodies with their spheres, for kinematics and collision checks."""
    reference: Array
    """``qpos`` of the default configuration, with all other joints at their fixed positions."""

    @property
    def dof(self) -> int:
        """Number of planned joints."""
        return len(self.joint_names)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Every frame whose pose can be queried."""
        names = [self.model.body(b).name for b in range(self.model.nbody)]
        return tuple(names if self.root_link == WORLD else names[1:])

    def chain(self, frame: str) -> Chain:
        """Return the planned joints that move a frame."""
        if frame not in self.frame_names:
            raise unknown_name("frame", frame, self.frame_names)
        if frame in self._chains:
            return self._chains[frame]
        between = Chain.from_model(self.model, frame, self.root_link, qpos=self.reference).joint_names
        moving = [name for name in between if name in self.joint_names]
        if not moving:
            raise InputError(f"no planned joint moves the frame {frame!r}")
        chain = Chain.from_model(self.model, frame, self.root_link, moving, qpos=self.reference)
        return self._chains.setdefault(frame, chain)

    def tree(self) -> JointTree:
        """Return all planned joints."""
        return self._tree

    @cached_property
    def _tree(self) -> JointTree:
        return JointTree.from_model(self.model, self.joint_names, root=self.root_link, qpos=self.reference)

    @cached_property
    def _chains(self) -> dict[str, Chain]:
        return {}

    def T_base_frame(self, q: Array, frame: str) -> Array:  # noqa: N802 - frame notation
        """Return the pose of a frame in the base (4, 4) at a configuration (n,)."""
        return self.T_base_frames(q, (frame,))[0]

    def T_base_frames(self, q: Array, frames: Iterable[str]) -> list[Array]:  # noqa: N802 - frame notation
        """Return the poses of frames in the base (4, 4 each) at a configuration (n,)."""
        tree, poses = self.tree(), self.tree().T_root_links(np.asarray(q, float))
        bodies = [self.model.body(frame).id for frame in frames]
        return [
            (np.eye(4) if tree.body_link[b] < 0 else poses[tree.body_link[b]]) @ tree.T_link_body[b] for b in bodies
        ]


def load_motion_robot(description: str | Path, urdf: str | Path) -> MotionRobot:
    """Read a Lula robot description or an XRDF file together with its URDF.

    Raises:
        ConfigError: The description is invalid; the message has file, line and key.
        FileError: The URDF is invalid; the message has file and element.
    """
    paths = Path(description).resolve(), Path(urdf).resolve()
    stamps = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in paths)
    return _load(*paths, stamps)


@lru_cache(maxsize=16)
def _load(description: Path, urdf: Path, stamps: tuple[int, ...]) -> MotionRobot:
    del stamps  # Only distinguishes versions of the files.
    given, robot = read_description(description), read_urdf(urdf)
    try:
        if isinstance(given, XrdfFile):
            return _from_xrdf(given, robot)
        return _from_lula(given, robot)
    except (HandloomError, ValueError) as error:
        raise ConfigError(f"{description}: {error}") from error


def _from_lula(given: LulaFile, urdf: Urdf) -> MotionRobot:
    held = {rule.name: rule.value for rule in given.cspace_to_urdf_rules or []}
    spheres = {link: [(s.center, s.radius) for s in found] for link, found in given.spheres().items()}
    for link, found in spheres.items():
        for _, radius in found:
            if radius <= 0:
                raise ValueError(f"a sphere of {link!r} has radius {radius}")
    return _build(
        urdf,
        joints=given.cspace,
        root=given.root_link,
        default=dict(zip(given.cspace, given.default_q, strict=True)),
        held=held,
        limits=(given.acceleration_limits, given.jerk_limits),
        spheres=spheres,
    )


def _from_xrdf(given: XrdfFile, urdf: Urdf) -> MotionRobot:
    root = urdf.root
    for change in given.modifiers:
        if change.add_frame is not None:
            frame, move = change.add_frame, change.add_frame.fixed_transform
            quat = move.quat()
            R = matrix_from_rpy(np.array(move.euler_rpy)) if quat is None else matrix_from_wxyz(quat)
            urdf = urdf.with_frame(frame.frame_name, frame.parent_frame_name, make_pose(R, move.position))
        elif change.remove_mimic_attributes is not None:
            wanted = change.remove_mimic_attributes
            joint = replace(urdf.joint(wanted.joint_name), mimic=None)
            if wanted.position_limits is not None:
                joint = replace(joint, lower=wanted.position_limits[0], upper=wanted.position_limits[1])
            speed = wanted.velocity_limit if wanted.velocity_limit is not None else wanted.velocity_limits
            urdf = urdf.with_joint(joint if speed is None else replace(joint, velocity=speed))
        else:
            root = str(change.set_base_frame)
    for frame in given.tool_frames:
        if frame not in urdf.links:
            raise unknown_name("tool frame", frame, urdf.links)
    robot = _build(
        urdf,
        joints=given.cspace.joint_names,
        root=root,
        default=given.default_joint_positions,
        held=given.default_joint_positions,
        limits=(given.cspace.acceleration_limits, given.cspace.jerk_limits),
        spheres=given.spheres(given.world_collision or given.collision),
    )
    return replace(robot, tool_frames=tuple(given.tool_frames))


def _build(
    urdf: Urdf,
    *,
    joints: list[str],
    root: str,
    default: dict[str, float],
    held: dict[str, float],
    limits: tuple[list[float] | None, list[float] | None],
    spheres: dict[str, list[tuple[tuple[float, float, float], float]]],
) -> MotionRobot:
    for link in (root, *spheres):
        if link not in urdf.links:
            raise unknown_name(f"link of {urdf.path}", link, urdf.links)
    if len(set(joints)) != len(joints):
        raise ValueError(f"a joint is listed twice: {', '.join(joints)}")
    chosen = [urdf.joint(name) for name in joints]
    for joint in chosen:
        if joint.kind == "fixed":
            raise ValueError(f"joint {joint.name!r} is fixed in {urdf.path} and cannot be planned")
    for name in (*default, *held):
        urdf.joint(name)
    rows = {link: np.array([(*center, radius) for center, radius in found]) for link, found in spheres.items() if found}
    model = _model(urdf, root, rows)
    reference = model.qpos0.copy()
    values = {**held, **default}
    for joint in urdf.joints:
        if joint.kind == "fixed":
            continue
        value = values.get(joint.name, 0.0)
        if joint.mimic is not None and joint.name not in joints:
            value = joint.mimic[1] * values.get(joint.mimic[0], 0.0) + joint.mimic[2]
        reference[model.joint(joint.name).qposadr[0]] = value
    ours = [model.joint(name).qposadr[0] for name in joints]
    acceleration, jerk = limits
    return MotionRobot(
        joint_names=tuple(joints),
        default_q=reference[ours].copy(),
        lower=np.array([joint.lower for joint in chosen]),
        upper=np.array([joint.upper for joint in chosen]),
        velocity=np.array([joint.velocity for joint in chosen]),
        acceleration=None if acceleration is None else np.array(acceleration),
        jerk=None if jerk is None else np.array(jerk),
        root_link=root,
        tool_frames=(),
        spheres=rows,
        model=model,
        reference=reference,
    )


def _model(urdf: Urdf, root: str, spheres: Spheres) -> mujoco.MjModel:
    """Return the links as bodies; masses are irrelevant, since the model is only posed, never simulated."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.compiler.autolimits = False
    # MuJoCo already has a body named world.
    top = spec.worldbody if urdf.root == WORLD else spec.worldbody.add_body(name=urdf.root)
    bodies = {urdf.root: top}
    for joint in urdf.joints:
        T = joint.T_parent_child
        body = bodies[joint.parent].add_body(name=joint.child, pos=T[:3, 3], quat=quat_from_matrix(T[:3, :3]))
        bodies[joint.child] = body
        if joint.kind != "fixed":
            kind = mujoco.mjtJoint.mjJNT_SLIDE if joint.kind == "prismatic" else mujoco.mjtJoint.mjJNT_HINGE
            limited = bool(np.isfinite(joint.lower) and np.isfinite(joint.upper))
            body.add_joint(
                name=joint.name,
                type=kind,
                axis=joint.axis,
                limited=int(limited),
                range=(joint.lower, joint.upper) if limited else (0.0, 0.0),
            )
    for name, body in bodies.items():
        if name != WORLD:
            body.mass, body.inertia, body.explicitinertial = 1.0, (1.0, 1.0, 1.0), True
        for k, (x, y, z, radius) in enumerate(spheres.get(name, ())):
            body.add_geom(name=f"{name}_{k}", type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=(x, y, z), size=(radius, 0.0, 0.0))
    if root != urdf.root and any(joint.kind != "fixed" for joint in urdf.above(root)):
        raise ValueError(f"the base {root!r} is moved by a joint of the URDF")
    return spec.compile()
