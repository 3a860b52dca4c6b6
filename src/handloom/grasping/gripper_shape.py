"""The solid shape of a gripper at every opening, and the positions of its pads."""

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError
from handloom.grasping.convex_parts import Array, ConvexParts, Ints, convex_parts
from handloom.grasping.ray_kernels import through_part
from handloom.robots import Arm, RobotDescription
from handloom.robots.tool_poses import clipped_widths, extra_depth_curve

LEVELS = 17
"""Number of sampled openings. Between two of them a pivoting jaw deviates from a straight line by less than 0.1 mm."""
TIP = (0.005, 0.01, 0.02)
"""Distances from the fingertips at which an opening is measured [m]; the first on both pads is used."""
TIP_LENGTH = 0.02
"""Parts that extend to within this distance of the fingertips belong to a finger [m]."""
SETTLE_STEPS = 200
"""Number of 5 ms steps at each opening: the drives of real grippers settle within a few tenths of a second."""
TURNING = 0.02
"""A part that turns further than this over the full stroke moves on a curve [rad]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GripTable:
    """Positions of a gripper's pads along its drive; NaN where the line of contact misses a pad."""

    depths: Array
    """Reach of the fingertips past the line of contact (d,) [m]."""
    opening: Array
    """Distance between the pads on that line (levels, d) [m], increasing with the level."""
    middle: Array
    """Point between the pads (levels, d, 3) in the hand frame [m]."""

    def at_opening(self, width: Array, depth: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return the level (n,), a fraction, and the middle (n, 3) [m] for openings (n,) [m] at depth indices (n,).

        NaN if the gripper does not open that far, or the line of contact misses a pad.
        """
        level, middle = np.full(len(width), np.nan), np.full((len(width), 3), np.nan)
        for j in range(len(self.depths)):
            here = depth == j
            known = np.flatnonzero(np.isfinite(self.opening[:, j]))
            if len(known) < 2 or not here.any():
                continue
            gaps = self.opening[known, j]
            found = np.interp(width[here], gaps, known, left=known[0], right=np.nan)
            level[here] = found
            for axis in range(3):
                middle[here, axis] = np.interp(found, known, self.middle[known, j, axis])
        middle[np.isnan(level)] = np.nan
        return level, middle


@dataclass(frozen=True, kw_only=True, eq=False)
class GripperShape:
    """Everything beyond an arm's last joint as convex parts, from closed (level 0) to open (last level).

    Poses are in the *hand* frame: origin at the end effector, GraspNet axes (x approach, y closing).
    """

    name: str
    """Robot and arm, for messages."""
    parts: ConvexParts
    """g collision geoms; poses are at the last level."""
    position: Array
    """Centres (levels, g, 3) [m]."""
    rotation: Array
    """Orientations (levels, g, 3, 3)."""
    moving: NDArray[np.bool_]
    """Whether each part moves when the gripper closes (g,)."""
    pads: Ints
    """Indices of the two parts (2,) that hold; the one on the negative y side first. None for suction."""
    curved: bool
    """Whether a part turns while the gripper closes."""
    joint_names: tuple[str, ...]
    """Joints beyond the arm's last one, named as in the robot's model."""
    joints: Array
    """Their positions (levels, j) [m or rad]."""
    arm: Arm
    """Names, tool centre and extra depths of the arm."""
    content_hash: str
    """Hash of the shape and the arm's dimensions, lengths rounded to a micrometre."""

    @classmethod
    def of(cls, robot: RobotDescription, arm: Arm | None = None) -> "GripperShape":
        """Return the gripper of an arm, computed from the robot's model once per process.

        Args:
            robot: The robot.
            arm: Name of one of its arms; None takes the first.
        """
        name = (arm or robot.arms[0]).name
        return _remembered(_Key(robot, name, f"{robot.model_file}\n{robot.config.model_dump_json()}\n{name}"))

    @classmethod
    def measured(cls, robot: RobotDescription, arm: Arm) -> "GripperShape":
        """Drive the gripper of an arm from closed to open in the robot's model, and record its shape at each level."""
        name = f"{robot.name}, {arm.name} arm"
        if len(arm.pad_geoms) != 2 and arm.suction is None:
            raise InputError(
                f"{name}: grasps need two pad geoms (fl_pad_geoms, fr_pad_geoms), got {len(arm.pad_geoms)}"
            )
        model = _weightless(robot)
        bodies = _hand_bodies(model, arm)
        geoms = _solid_geoms(model, bodies)
        moved = [j for j in range(model.njnt) if int(model.jnt_bodyid[j]) in bodies[1:]]
        position, rotation, joints = _levels(model, robot, arm, geoms, moved)
        # The foremost part collides most often; testing it first saves the other tests.
        order = np.argsort(-position[-1, :, 0], kind="stable")
        geoms, position, rotation = [geoms[i] for i in order], position[:, order], rotation[:, order]
        parts = convex_parts(model, geoms, position[-1], rotation[-1])
        shift = np.abs(position - position[-1]).max(axis=(0, 2))
        turn = np.abs(rotation - rotation[-1]).max(axis=(0, 2, 3))
        pads = np.array([geoms.index(model.geom(pad).id) for pad in arm.pad_geoms], dtype=np.int64)
        pads = pads[np.argsort(position[-1][pads, 1])]
        return cls(
            name=name,
            parts=parts,
            position=position,
            rotation=rotation,
            moving=(shift > 1e-4) | (turn > 1e-3),
            pads=pads,
            curved=bool(turn.max() > TURNING),
            joint_names=tuple(model.joint(j).name for j in moved),
            joints=joints,
            arm=arm,
            content_hash=_hash(parts, position, rotation, pads, *_numbers(arm)),
        )

    @property
    def symmetric(self) -> bool:
        """Whether the gripper is symmetric under a half turn about its approach axis."""
        if not len(self.pads):
            return True
        low, high = self.position[:, self.pads[0]], self.position[:, self.pads[1]]
        return bool(np.abs(low * [1.0, -1.0, -1.0] - high).max() < 5e-4)

    @property
    def without_fingers(self) -> "GripperShape":
        """Wrist and palm: the parts fixed while the gripper closes."""
        kept, p = np.flatnonzero(~self.moving), self.parts
        position, rotation = (np.ascontiguousarray(poses[:, kept]) for poses in (self.position, self.rotation))
        parts = p._replace(
            kind=p.kind[kept],
            size=p.size[kept],
            position=p.position[kept],
            rotation=p.rotation[kept],
            radius=p.radius[kept],
            corner_range=p.corner_range[kept],
            plane_range=p.plane_range[kept],
        )
        nothing = np.zeros(0, np.int64)
        return replace(self, parts=parts, position=position, rotation=rotation, moving=self.moving[kept], pads=nothing)

    def advance(self, width: Array) -> Array:
        """Return the offset (n,) [m] of the end effector behind grasp centre plus depth, at openings (n,) [m]."""
        table = self.arm.extra_depth
        extra = 0.0 if table is None else extra_depth_curve(table)(clipped_widths(self.arm, width))
        return np.full(len(width), self.arm.tcp_offset) - extra

    def grips(self, depths: tuple[float, ...], edge: float) -> GripTable:
        """Measure opening and position of the pads along the line on which they hold.

        Args:
            depths: Reach of the fingertips past the line of contact [m].
            edge: Minimum distance of the line from the edges of both pads [m].
        """
        levels, low, high = len(self.position), self.pads[0], self.pads[1]
        opening = np.full((levels, len(depths)), np.nan)
        middle = np.full((levels, len(depths), 3), np.nan)
        for k in range(levels):
            at = self._at_level(k)
            centre = self.position[k, self.pads].mean(axis=0)
            tip = min(_reach(at, pad, np.array([1.0, 0.0, 0.0])) for pad in self.pads)
            for j, depth in enumerate(depths):
                sides = []
                for x in (tip - depth, tip - depth - edge, tip - depth + edge):
                    start = np.array([x, centre[1], centre[2]])
                    down = through_part(at, low, start, np.array([0.0, -1.0, 0.0]))
                    up = through_part(at, high, start, np.array([0.0, 1.0, 0.0]))
                    if down[0] <= down[1] and up[0] <= up[1]:
                        sides.append((centre[1] - down[0], centre[1] + up[0]))
                if len(sides) == 3:
                    opening[k, j] = sides[0][1] - sides[0][0]
                    middle[k, j] = tip - depth, (sides[0][0] + sides[0][1]) / 2, centre[2]
        return GripTable(depths=np.array(depths), opening=opening, middle=middle)

    def level_at(self, opening: float) -> float:
        """Return the level, a fraction, at which the fingertips are ``opening`` [m] apart."""
        table = self.grips(TIP, 0.0)
        level, _ = table.at_opening(np.full(len(TIP), opening), np.arange(len(TIP)))
        if not np.isfinite(level).any():
            raise InputError(f"{self.name}: the gripper does not open {opening} m")
        return float(level[np.isfinite(level)][0])

    def fingertip(self, level: int) -> float:
        """Return the reach of the hand ahead of the end effector [m], along the approach, at a level."""
        at = self._at_level(level)
        return float(max(_reach(at, part, np.array([1.0, 0.0, 0.0])) for part in range(len(self.parts.kind))))

    def finger_thickness(self, level: int) -> float:
        """Return the half width [m] of the fingers near their tips, on both sides of the plane in which they close."""
        at, tip = self._at_level(level), self.fingertip(level) - TIP_LENGTH
        sides = (np.array([0.0, 0.0, s]) for s in (-1.0, 1.0))
        near = [k for k in range(len(self.parts.kind)) if _reach(at, k, np.array([1.0, 0.0, 0.0])) > tip]
        return float(max(_reach(at, part, side) for side in sides for part in near))

    def drive_at(self, level: float) -> Array:
        """Return the targets of the drive (d,) [m or rad] that bring the fingers to a level."""
        closed, opened = self.arm.gripper_closed, self.arm.gripper_open
        return closed + level / (len(self.position) - 1) * (opened - closed)

    def joints_at(self, level: float) -> dict[str, float]:
        """Return the position of each hand joint at a level [m or rad], including followers of the drive."""
        known = np.arange(len(self.joints))
        return {name: float(np.interp(level, known, self.joints[:, k])) for k, name in enumerate(self.joint_names)}

    def _at_level(self, level: int) -> ConvexParts:
        return self.parts._replace(position=self.position[level], rotation=self.rotation[level])


class _Key:
    """A robot and an arm, compared by their descriptions."""

    def __init__(self, robot: RobotDescription, arm: str, words: str) -> None:
        self.robot, self.arm, self.words = robot, arm, words

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)


@lru_cache(maxsize=32)
def _remembered(key: _Key) -> GripperShape:
    """Scenes load their robots again for every episode; the shape does not change."""
    return GripperShape.measured(key.robot, key.robot.arm(key.arm))


def _weightless(robot: RobotDescription) -> mujoco.MjModel:
    """Compile the robot with drives and linkages only: no gravity, no contacts."""
    model = robot.compile()
    model.opt.gravity[:] = 0.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def _hand_bodies(model: mujoco.MjModel, arm: Arm) -> list[int]:
    """Return the body that the last arm joint moves, and all bodies below it."""
    root = int(model.joint(arm.joint_names[-1]).bodyid[0])
    inside = [root]
    for body in range(root + 1, model.nbody):
        if int(model.body_parentid[body]) in inside:
            inside.append(body)
    return inside


def _solid_geoms(model: mujoco.MjModel, bodies: list[int]) -> list[int]:
    return [
        g
        for g in range(model.ngeom)
        if int(model.geom_bodyid[g]) in bodies and (model.geom_contype[g] or model.geom_conaffinity[g])
    ]


def _levels(
    model: mujoco.MjModel, robot: RobotDescription, arm: Arm, geoms: list[int], moved: list[int]
) -> tuple[Array, Array, Array]:
    """Drive the gripper from closed to open; return positions and rotations of geoms, and positions of joints.

    Shapes (levels, g, 3), (levels, g, 3, 3) and (levels, j).
    """
    data = mujoco.MjData(model)
    for joint, value in robot.home.items():
        data.joint(robot.resolve_joint(joint)).qpos = value
    for i in range(model.nu):
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
            data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
    actuators = [model.actuator(name).id for name in arm.gripper_actuators]
    ee = model.body(arm.tool_body).id
    position, rotation = np.zeros((LEVELS, len(geoms), 3)), np.zeros((LEVELS, len(geoms), 3, 3))
    joints = np.zeros((LEVELS, len(moved)))
    for level, share in enumerate(np.linspace(0.0, 1.0, LEVELS)):
        data.ctrl[actuators] = arm.gripper_closed + share * (arm.gripper_open - arm.gripper_closed)
        mujoco.mj_step(model, data, SETTLE_STEPS * (5 if level == 0 else 1))
        mujoco.mj_kinematics(model, data)
        R_world_hand = data.xmat[ee].reshape(3, 3) @ arm.R_ee_graspnet
        position[level] = (data.geom_xpos[geoms] - data.xpos[ee]) @ R_world_hand
        joints[level] = data.qpos[model.jnt_qposadr[moved]]
        rotation[level] = R_world_hand.T @ data.geom_xmat[geoms].reshape(-1, 3, 3)
    # The residual of settling is far below a micrometre; rounding removes it from later comparisons.
    return np.round(position, 6), np.round(rotation, 6), np.round(joints, 6)


def _reach(parts: ConvexParts, k: int, direction: Array) -> float:
    """Return the extent of part k along a unit direction (3,) [m], by the ray through its centre line."""
    local = parts.rotation[k].T @ direction
    return float(parts.position[k] @ direction + np.abs(local) @ parts.size[k])


def _numbers(arm: Arm) -> tuple[object, ...]:
    """Return the parameters of an arm on which rows depend."""
    table = arm.extra_depth
    return arm.tcp_offset, arm.R_ee_graspnet, *((table.width, table.offset) if table else ())


def _hash(*values: object) -> str:
    digest = hashlib.sha256()
    for value in values:
        for array in value if isinstance(value, tuple) else (value,):
            digest.update((np.round(np.asarray(array, float), 6) + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
