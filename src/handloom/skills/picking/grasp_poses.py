"""Candidate grasps of an object: their sources, and which of them the gripper can reach."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, InputError
from handloom.grasping import (
    RIM,
    RIM_OPENING,
    RING_OPENING,
    RINGS,
    AnnotateOptions,
    GripperShape,
    clear_of,
    convex_parts,
    grasps_as_it_lies,
    grasps_for,
    lying_grasps_for,
    object_parts,
    read_grasps,
    rim_grasps_for,
    ring_grasps_for,
    suction_grasps_for,
)
from handloom.grasping.grasp_file import DEPTH, WIDTH
from handloom.objects import ObjectAsset
from handloom.robots import constrained_rows, tool_poses_of_grasps
from handloom.scene import SceneArm
from handloom.skills.arms.arm_motion import POSE
from handloom.skills.arms.orientations import direction_mask
from handloom.skills.arms.traffic import moving_bodies, solid_geoms_of
from handloom.skills.configs.parts import Filters
from handloom.skills.configs.picks import GraspAnnotation
from handloom.skills.skill import Skill
from handloom.skills.skill_failures import BLOCKED
from handloom.spatial import invert_pose, make_pose
from handloom.values import FunnelStage

Source = Literal["any", "lying", "as_it_lies", "rim", "ring"]
"""Which grasps of an object are used: ``lying``: in one of its rest poses, ``as_it_lies``: in its current pose."""
OWN_GRASPS = {"lying": lying_grasps_for, "rim": rim_grasps_for, "ring": ring_grasps_for}
"""Source > its grasps of an object, for a gripper."""
UNBOUNDED = (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
"""Ground without a convex shape; tables and fixtures stand on it."""
LET_GO = 0.12
"""Fraction of its stroke by which a single jaw opens for a release: 10 mm at the tip of an SO-101. Opened fully inside
a bowl, it would push the wall aside and lift the bowl on it."""
WRIST_ROOM = 0.006
"""Clearance of wrist and palm from everything but the object [m]: arms sag by up to 5 mm in motion, and one that rubs
on the table stops short of the grasp."""
NEAR = float(np.deg2rad(25.0))
"""Largest deviation of a grasp from the orientation in a task for which it is turned into it [rad]."""
PIVOT = 0.001
"""Grasps whose contacts differ by less than this share a rotation axis [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Preshape:
    """Opening of the fingers on the way to a grasp."""

    level: float
    """The opening as a level of the gripper's shape."""
    drive: Array
    """Targets of the gripper (g,) [m or rad]."""
    joints: dict[str, float] = field(default_factory=dict)
    """Corresponding joint positions of the hand [m or rad], by name in the robot's model."""

    @classmethod
    def for_rims(cls, gripper: GripperShape) -> "Preshape":
        """Return the opening with which grasps of rims were searched."""
        return cls.at(gripper, gripper.level_at(RIM_OPENING))

    @classmethod
    def for_rings(cls, gripper: GripperShape) -> "Preshape":
        """Return the opening with which grasps of rings were searched."""
        return cls.at(gripper, gripper.level_at(RING_OPENING))

    @classmethod
    def to_let_go(cls, gripper: GripperShape, drive: Array) -> "Preshape":
        """Return the opening at which fingers at ``drive`` (g,) [m or rad] have released the object."""
        closed, opened = gripper.arm.gripper_closed, gripper.arm.gripper_open
        levels = len(gripper.position) - 1
        held = levels * float(np.clip((drive - closed) @ (opened - closed) / np.sum((opened - closed) ** 2), 0.0, 1.0))
        return cls.at(gripper, min(held + levels * LET_GO, levels))

    @classmethod
    def at(cls, gripper: GripperShape, level: float) -> "Preshape":
        """Return the opening at a level of the gripper's shape."""
        return cls(level=level, drive=gripper.drive_at(level), joints=gripper.joints_at(level))


class Grasps(NamedTuple):
    """n candidates for one object."""

    T_base_tool: Array
    """(n, 4, 4)"""
    score: Array
    """(n,) least coefficient of friction that holds."""
    size: Array
    """(n, 2): distance of the two contacts, and how far the fingertips reach past them [m]."""
    source: Source
    T_base_object: Array
    """Pose of the object (4, 4)."""


def gripper_of(skill: Skill) -> GripperShape:
    """Return the shape of the gripper that a skill works with."""
    arm = skill.controller.arm
    return GripperShape.of(skill.scene.robot(arm.robot_name).description, arm.spec)


def annotated_grasps(skill: Skill, name: str, keys: GraspAnnotation | None = None, *, source: Source = "any") -> Grasps:
    """Return grasps of an object; none after recording the reason in the skill.

    Args:
        skill: The calling skill.
        name: The object.
        keys: Annotation file, scale, offset and window; None takes the defaults.
        source: Any grasps, from a file if there is one; or, regardless of files, grasps that avoid a table under the
            object, or those of its rims.
    """
    arm, gripper = skill.controller.arm, gripper_of(skill)
    T_base_object = invert_pose(arm.T_world_base) @ skill.scene.object_pose(name)
    asset = skill.scene.assets[name]
    file = None if keys is None or source != "any" else grasp_file(asset, keys)
    if arm.spec.suction is not None and file is None:
        rows = suction_grasps_for(asset, arm.spec.suction.cup_radius)
    elif source == "as_it_lies":
        rows = grasps_as_it_lies(asset, gripper, skill.scene.object_pose(name)[2, :3])
    elif source != "any":
        rows = OWN_GRASPS[source](asset, gripper)
    else:
        rows = grasps_for(asset, gripper) if file is None else read_grasps(file)
    if len(rows) == 0:
        suction, widest = arm.spec.suction, arm.spec.gripper_max_width
        place = f"place that the gripper of {widest:.3f} m can hold"
        if suction is not None:
            place = f"flat patch for a cup of {suction.cup_radius:.3f} m radius"
        skill.fail(FunnelStage.GRASP, "no_grasp", f"{name} has no {place}")
        return Grasps(np.zeros((0, 4, 4)), np.zeros(0), np.zeros((0, 2)), source, T_base_object)
    # Generated annotations are in the object's real size; only those of a file may need scaling.
    scale = 1.0 if keys is None or file is None else keys.grasp_scale
    tcp_offset, constraints = (None, None) if keys is None else (keys.tcp_offset, keys.constraints)
    if asset.stands_in:
        tcp_offset = None  # It tunes the depth of the grasps of one file.
    try:
        rows = constrained_rows(rows, constraints)
        T_object_tool, score = tool_poses_of_grasps(arm.spec, rows, grasp_scale=scale, tcp_offset=tcp_offset)
    except InputError as error:
        skill.fail(FunnelStage.GRASP, "constraints_leave_nothing", str(error), candidates=len(rows))
        return Grasps(np.zeros((0, 4, 4)), np.zeros(0), np.zeros((0, 2)), source, T_base_object)
    size = rows[:, [WIDTH, DEPTH]].astype(float)
    if not gripper.symmetric:
        # Half a turn would swap the pivoting jaw and the fixed one.
        T_object_tool, score = T_object_tool[: len(score) // 2], score[: len(score) // 2]
    else:
        size = np.concatenate([size, size])
    return Grasps(T_base_object @ T_object_tool, score, size, source, T_base_object)


def in_attitude(skill: Skill, grasps: Grasps, R_base_tool: Array) -> Grasps:
    """Return the grasps close to an orientation (3, 3) of the hand, turned about the fingertips into it.

    A stand-in lacks the annotated places that belong to the orientation: these are similar to them.
    """
    nearly = np.einsum("nij,ij->n", grasps.T_base_tool[:, :3, :3], R_base_tool) >= 1.0 + 2.0 * np.cos(NEAR)
    tip = skill.controller.arm.spec.T_tool_tcp[:3, 3]
    T = grasps.T_base_tool[nearly]
    at = T[:, :3, :3] @ tip + T[:, :3, 3]
    T = make_pose(np.tile(R_base_tool, (len(T), 1, 1)), at - R_base_tool @ tip)
    return grasps._replace(T_base_tool=T, score=grasps.score[nearly], size=grasps.size[nearly])


def grasp_file(asset: ObjectAsset, keys: GraspAnnotation) -> Path | None:
    """Return the annotation beside an asset file, or None if grasps must be generated here.

    A library object has no folder, so only an absolute ``npy_name`` applies to it.

    Raises:
        ConfigError: A file was named, and does not exist.
        NotAllowedError: It is a link to a file elsewhere.
    """
    given = Path(keys.npy_name).expanduser()  # An absolute path was checked when the task was read.
    file = given if given.is_absolute() else asset.file_beside(keys.npy_name)
    if file is None:
        return None
    if file.is_file():
        return file
    if "npy_name" in keys.model_fields_set:
        raise ConfigError(f"npy_name: no grasp annotation {file}; leave npy_name out to have {asset.name} annotated")
    return None


def side_in_name(npy_name: str) -> Literal["left", "right"] | None:
    """Return the side of an object in an annotation's file name, such as ``Aligned_grasp_sparse_left6.npy``."""
    sides: tuple[Literal["left", "right"], ...] = ("left", "right")
    return next((side for side in sides if side in npy_name), None)


def attainable_grasps(skill: Skill, name: str, grasps: Grasps) -> tuple[Array, NDArray[np.bool_]]:
    """Return grasps (n, 4, 4) that an arm of few joints can reach instead, and which were found (n,).

    The hand turns about the closing line of its fingers, so that they close on the same two places; a grasp in which
    the turned hand would hit the object is rejected.
    """
    arm = skill.controller.arm.spec
    if skill.controller.chain.dof >= POSE:
        return grasps.T_base_tool, np.ones(len(grasps.score), bool)
    points, level = _contacts(skill, grasps)
    T_base_tool, taken = grasps.T_base_tool.copy(), np.zeros(len(grasps.score), bool)
    for along in np.unique(points):
        rows = np.flatnonzero(points == along)
        T_base_tool[rows], taken[rows] = skill.controller.attainable(
            grasps.T_base_tool[rows], point_tool=along * arm.approach, axis_tool=arm.R_ee_graspnet[:, 1]
        )
    if arm.suction is None:
        taken[taken] = _clear_of_object(skill, name, grasps, T_base_tool[taken], level[taken])
    return T_base_tool, taken


def clear_of_itself(skill: Skill, name: str, grasps: Grasps) -> NDArray[np.bool_]:
    """Return which grasps (n,) keep all parts of the hand out of the object."""
    return _clear_of_object(skill, name, grasps, grasps.T_base_tool, _contacts(skill, grasps)[1])


def _clear_of_object(skill: Skill, name: str, grasps: Grasps, T_base_tool: Array, level: Array) -> NDArray[np.bool_]:
    """Return which hand poses (n, 4, 4), at levels (n,) of the fingers, keep all parts of the hand out of an object."""
    options = {"rim": RIM, "ring": RINGS}.get(grasps.source, AnnotateOptions())
    T_object_tool = invert_pose(grasps.T_base_object) @ T_base_tool
    R_ee_graspnet = skill.controller.arm.spec.R_ee_graspnet
    R, hand = T_object_tool[:, :3, :3] @ R_ee_graspnet, np.ascontiguousarray(T_object_tool[:, :3, 3])
    return clear_of(object_parts(skill.scene.assets[name]), gripper_of(skill), R, hand, level, options)


def _contacts(skill: Skill, grasps: Grasps) -> tuple[Array, Array]:
    """Return the depth (n,) of the contacts along the approach [m], and the level (n,) at which fingers clear them."""
    arm, gripper = skill.controller.arm.spec, gripper_of(skill)
    tcp, opened = float(arm.T_tool_tcp[:3, 3] @ arm.approach), len(gripper.position) - 1.0
    if arm.suction is not None:
        return np.full(len(grasps.score), tcp), np.full(len(grasps.score), opened)
    depths, index = np.unique(grasps.size[:, 1].round(6), return_inverse=True)
    table = gripper.grips(tuple(depths.tolist()), 0.0)
    level, middle = table.at_opening(grasps.size[:, 0] + 2.0 * AnnotateOptions.clearance, index)
    # Rows of a file may name a depth or width at which the pads do not meet.
    along = np.where(np.isnan(level), tcp, middle[:, 0])
    return PIVOT * np.round(along / PIVOT), np.where(np.isnan(level), opened, level)


def clear_grasps(
    skill: Skill, name: str, T_base_tool: Array, passing: NDArray[np.bool_], approach: float, level: float
) -> NDArray[np.intp]:
    """Return the indices of grasps that pass and that the gripper reaches; none after recording why in the skill.

    Args:
        skill: The calling skill.
        name: The object.
        T_base_tool: Grasps (n, 4, 4).
        passing: Which of them (n,) pass the filters of the config.
        approach: Length of the straight approach [m].
        level: Opening of the gripper on the approach, as a level of its shape.
    """
    clear = passing.copy()
    clear[passing] = clear_of_surroundings(skill, name, T_base_tool[passing], approach, level)
    if not clear.any():
        counts = {"candidates": len(clear), "filtered": int(passing.sum())}
        detail = f"of {len(clear)} grasps of {name} {passing.sum()} pass the direction filters, "
        if passing.any():
            detail += "all of them touch something around it; plates are taken with rim: true"
            skill.fail(FunnelStage.GRASP, "grasps_collide", detail, **counts)
        else:
            given = getattr(skill.config, "approach", None)
            cure = "widen filter_x/y/z_dir" if given is None else f"widen approach, now {given}, or leave it out"
            skill.fail(FunnelStage.GRASP, "filters_leave_nothing", detail + cure, **counts)
    return np.flatnonzero(clear)


def filtered(T_base_tool: Array, filters: Filters, arm: SceneArm, side: str | None, y: float) -> NDArray[np.bool_]:
    """Return which grasps (n,) pass the direction filters and lie on the wanted side of ``y`` [m]."""
    passing = direction_mask(T_base_tool, filters, arm.spec.approach, arm.up)
    if side is not None:
        left = T_base_tool[:, 1, 3] > y
        passing &= left if side == "left" else ~left
    return passing


def levers(skill: Skill, name: str, T_base_tool: Array) -> Array:
    """Return the horizontal lever of the object's weight about each grasp (n,) [m]."""
    arm, world = skill.controller.arm, skill.scene.world
    T_world_tool = arm.T_world_base @ T_base_tool
    offset = (
        world.data.xipos[world.body_index(skill.scene.body_of(name))] - (T_world_tool @ arm.spec.T_tool_tcp)[:, :3, 3]
    )
    closing = T_world_tool[:, :3, :3] @ arm.spec.R_ee_graspnet[:, 1]
    return np.abs(np.sum(np.cross(offset, [0.0, 0.0, 1.0]) * closing, axis=1))


def drawn_by_score(rng: np.random.Generator, score: Array, count: int) -> NDArray[np.intp]:
    """Return indices in the order of a draw without replacement, weight 1 / score: mostly the best first."""
    return np.argsort(rng.exponential(size=len(score)) * (score + 1e-8), kind="stable")[:count]


def clear_of_surroundings(
    skill: Skill, name: str, T_base_tool: Array, approach: float, level: float
) -> NDArray[np.bool_]:
    """Return which grasps (n,) the gripper, open to a level of its shape, reaches without touching its surroundings."""
    options = AnnotateOptions(preshape=True, approach_length=approach)
    return _clear_around(skill, name, T_base_tool, gripper_of(skill), level, options)


def wrist_has_room(skill: Skill, name: str, T_base_tool: Array, approach: float) -> NDArray[np.bool_]:
    """Return which grasps (n,) leave wrist and palm enough clearance for the sag of the arm.

    A suction cup, or a hand with a fixed jaw, is meant to come close to objects: there all grasps count.
    """
    gripper = gripper_of(skill)
    if len(gripper.pads) == 0 or not gripper.moving[gripper.pads].all():
        return np.ones(len(T_base_tool), bool)
    options = AnnotateOptions(preshape=True, approach_length=approach, margin=WRIST_ROOM, clearance=2.0 * WRIST_ROOM)
    return _clear_around(skill, name, T_base_tool, gripper.without_fingers, 0.0, options)


def _clear_around(
    skill: Skill, name: str, T_base_tool: Array, gripper: GripperShape, level: float, options: AnnotateOptions
) -> NDArray[np.bool_]:
    """Return which grasps (n,) keep parts of a gripper at a level clear of everything but the object and robots."""
    scene = skill.scene
    model = scene.world.model
    skipped = (f"{name}/", *(f"{robot}/" for robot in scene.robots))
    geoms = [
        g
        for g in range(model.ngeom)
        if (model.geom_contype[g] or model.geom_conaffinity[g])
        and model.geom_type[g] not in UNBOUNDED
        and not model.body(model.geom_bodyid[g]).name.startswith(skipped)
    ]
    return _clear_of_geoms(skill, geoms, T_base_tool, gripper, np.full(len(T_base_tool), level), options)


def _clear_of_geoms(
    skill: Skill, geoms: list[int], T_base_tool: Array, gripper: GripperShape, level: Array, options: AnnotateOptions
) -> NDArray[np.bool_]:
    """Return which grasps (n,) keep parts of a gripper, at levels (n,), clear of geoms of the scene."""
    arm, model, data = skill.controller.arm, skill.scene.world.model, skill.scene.world.data
    around = convex_parts(model, geoms, data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3))
    T_world_tool = arm.T_world_base @ T_base_tool
    R = T_world_tool[:, :3, :3] @ arm.spec.R_ee_graspnet
    return clear_of(around, gripper, R, np.ascontiguousarray(T_world_tool[:, :3, 3]), level, options)


def clear_of_hands(
    skill: Skill, grasps: Grasps, T_base_tool: Array, kept: NDArray[np.intp], approach: float
) -> NDArray[np.intp]:
    """Return the kept grasps in which the hand approaches and closes beside the robot's other hand.

    None are left, after recording the other hand as the reason in the skill, if it blocks all of them.

    Args:
        skill: The calling skill.
        grasps: All grasps.
        T_base_tool: Their poses (n, 4, 4) as they would be taken.
        kept: Indices of those to choose from.
        approach: Length of the straight approach [m].
    """
    scene, own, given = skill.scene, skill.controller.arm, len(kept)
    level, options = _contacts(skill, grasps)[1], AnnotateOptions(approach_length=approach)
    for other in (arm for robot in scene.robots.values() for arm in robot.arms if arm is not own):
        geoms = solid_geoms_of(scene, moving_bodies(scene, other))
        if not geoms or not len(kept):
            continue
        kept = kept[_clear_of_geoms(skill, geoms, T_base_tool[kept], gripper_of(skill), level[kept], options)]
        if not len(kept):
            detail = f"all {given} grasps of {skill.config.objects[0]} are blocked by the {other.name} hand"
            skill.fail(FunnelStage.GRASP, BLOCKED, detail, candidates=given)
    return kept
