"""Places of objects with doors, drawers, lids and knobs at which an arm can move them; found without physics."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from handloom.arrays import Array
from handloom.objects import Link
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.arms.arm_motion import POSE
from handloom.skills.articulated_objects.articulated import ArticulatedSkill
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.registry import skill_class
from handloom.spatial import matrix_from_quat, quat_from_rotvec, quat_multiply
from handloom.tasks.search_time import unlimited
from handloom.tasks.work_area import reached_points
from handloom.values import RobotInstance, TaskInstance

STEP = 0.06
"""Distance between places that are tried [m]."""
MARGIN = 0.02
"""Minimum distance of objects from the table's edge [m]."""
ASKEW = 0.15
"""Largest angle of a handle from straight ahead of an arm of five joints [rad]."""
YAW = 0.1
"""Largest rotation of an object from straight at a proposed place [rad]."""
RIM = -0.03
"""Depth below the rim of a drawer that the fingertips must reach [m]: a held object hangs below them."""
FRONT = 0.045
"""Distance from a drawer's handle to its usable volume [m]."""
ENOUGH = 9
"""Number of possible places after which no others are looked for."""
MOST = 60
"""Maximum number of places that are tried before giving up."""
COARSE = 3
"""Every so many of them are tried at first, then those around a place at which the joint can be moved: a try that finds
no way takes up to seconds."""


def tried(
    scene: Scene, arm: tuple[str, str], config: ArticulatedSkillConfig, *, may_lean: bool = True
) -> ArticulatedSkill:
    """Return a skill after it has planned in a scene: with commands, or with its failure.

    Args:
        scene: The scene.
        arm: Robot and arm.
        config: The skill.
        may_lean: Whether the hand may tilt at the handle, from which it then slips off more easily.
    """
    controller = ArmController(scene, scene.robot(arm[0]).arm(arm[1]))
    skill = skill_class(config.name)(scene, controller, config, np.random.default_rng(0))
    assert isinstance(skill, ArticulatedSkill)
    skill.may_lean = may_lean
    skill.simple_generate_manip_cmds()
    return skill


def handle_of(scene: Scene, name: str, link: Link) -> Array:
    """Return the position of a moving part's handle (3,), in the world [m]."""
    T = scene.world.body_pose(f"{name}/{link.name}")
    return T[:3, :3] @ np.asarray(link.head) + T[:3, 3]


def faces(scene: Scene, name: str, link: Link, robot: str) -> float:
    """Return the angle about the vertical by which the front of an object is turned away from a robot [rad]."""
    normal = scene.world.body_pose(f"{name}/{link.name}")[:2, :3] @ np.asarray(link.held_from)
    back = -matrix_from_quat(_robot(scene.instance, robot).quat)[:2, 0]
    return float(np.arctan2(normal[0] * back[1] - normal[1] * back[0], normal @ back))


def moved_to(instance: TaskInstance, name: str, x: float, y: float, turn: float = 0.0) -> TaskInstance:
    """Return a scene without loose objects in which an object stands elsewhere, turned about the vertical.

    Args:
        instance: The scene.
        name: The object.
        x: Its position in the world [m].
        y: The same.
        turn: [rad]
    """
    spin = quat_from_rotvec([0.0, 0.0, turn])
    objects = []
    for obj in instance.objects:
        if obj.name == name:
            w, i, j, k = quat_multiply(spin, np.asarray(obj.quat)).tolist()
            objects.append(replace(obj, position=(x, y, obj.position[2]), quat=(w, i, j, k)))
        elif obj.fixed:
            objects.append(obj)  # Loose objects can be put elsewhere; their regions are up to the user.
    return replace(instance, objects=tuple(objects))


def near_places(
    scene: Scene,
    arm: tuple[str, str],
    config: ArticulatedSkillConfig,
    target: str,
    *,
    filled: bool = False,
    centred: bool = False,
    step: Callable[[str], None] = unlimited,
) -> tuple[Array, float] | None:
    """Return places (n, 2) side by side at which an arm can move a joint, from the middle of a table, and a turn [rad].

    The place nearest to the object's current one comes first; None if none was found.

    Args:
        scene: A scene in which the arm cannot do it.
        arm: Robot and arm.
        config: The skill; it uses the smallest sufficient amount.
        target: Support of the object.
        filled: Whether the hand must also reach from above into what it has opened.
        centred: Whether to ignore the current place: places amid other suitable ones then come first.
        step: Called before every trial, with what is tried; may end the search.
    """
    name = config.objects[0]
    what = f"places for {name}"
    asset = scene.assets[name]
    link = asset.joints[asset.joint_index(config.joint)]
    turn = faces(scene, name, link, arm[0])
    smaller = {"amount": config.least_amount or config.amount, "least_amount": None}
    least = config if filled else config.model_copy(update=smaller)
    middle = world_box(scene, target).mean(axis=0)[:2]
    places = [*_nearest_first(scene, arm, name, link, target, turn, centred)]
    possible = list[Array]()
    for place in places[::COARSE]:
        step(what)
        if works(scene.instance, name, place, turn, arm, least, filled):
            around = (p for p in places if np.linalg.norm(p - place) < 1.5 * STEP)
            possible += [p for p in around if not any(p is other for other in possible)]
            if len(possible) >= ENOUGH:
                break
    for strict in (True, False):
        best: list[Array] = []
        for place in possible:
            step(what)
            tries = ((place, turn + t) for t in (0.0, -YAW, YAW))
            if not all(works(scene.instance, name, p, t, arm, least, filled, strict) for p, t in tries):
                continue
            around = place + STEP / 2 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]], float)
            good = [place, *(p for p in around if works(scene.instance, name, p, turn, arm, least, filled, strict))]
            best = max(best, good, key=len)
            if len(good) == 1 + len(around):
                break  # A place amid other suitable ones; at the end of an arm's reach, the next size may fail.
        if best:
            return np.array(best) - middle, turn
    return None


def works(
    instance: TaskInstance,
    name: str,
    place: Array,
    turn: float,
    arm: tuple[str, str],
    config: ArticulatedSkillConfig,
    filled: bool = False,
    strict: bool = False,
) -> bool:
    """Return whether an arm can move the joint of an object at a place (2,) in the world, turned by an angle [rad].

    With ``filled`` the hand must also reach into what it has opened; with ``strict`` it must not tilt, as it could slip
    off.
    """
    scene = build_scene(moved_to(instance, name, float(place[0]), float(place[1]), turn))
    skill = tried(scene, arm, config, may_lean=not strict)
    if not skill.manip_list or not filled:
        return bool(skill.manip_list)
    asset = scene.assets[name]
    link = asset.joints[asset.joint_index(config.joint)]
    joint, end = skill.end
    address = scene.world.model.joint(joint).qposadr[0]
    start, scene.world.data.qpos[address] = float(scene.world.data.qpos[address]), end
    scene.world.forward()
    normal = scene.world.body_pose(f"{name}/{link.name}")[:3, :3] @ np.asarray(link.normal)
    point = handle_of(scene, name, link) - (FRONT + abs(end - start) / 2) * normal
    point[2] = world_box(scene, name, link.name)[1, 2] - RIM
    skill.controller.refresh()
    return bool(reached_points(skill.controller, point[None], "slanted")[0])


def _nearest_first(
    scene: Scene, arm: tuple[str, str], name: str, link: Link, target: str, turn: float, centred: bool
) -> Iterator[Array]:
    """Yield places (2,) of an object on a target at which the hand can at least reach its handle, nearest first."""
    here = scene.object_pose(name)[:2, 3]
    c, s = np.cos(turn), np.sin(turn)
    box = world_box(scene, name)
    half = (box[1] - box[0])[:2] / 2
    half = half[::-1] if abs(np.sin(turn)) > np.sqrt(0.5) else half
    low, high = (edge[:2] for edge in world_box(scene, target))
    axes = [np.arange(a, b, STEP) for a, b in zip(low + half + MARGIN, high - half - MARGIN, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    offset = handle_of(scene, name, link) - np.array([*here, 0.0])
    handles = np.column_stack([grid + np.array([[c, -s], [s, c]]) @ offset[:2], np.full(len(grid), offset[2])])
    # Without the object itself, whose place is not known yet.
    bare = replace(scene.instance, objects=tuple(o for o in scene.instance.objects if o.fixed and o.name != name))
    empty = build_scene(bare)
    controller = ArmController(empty, empty.robot(arm[0]).arm(arm[1]))
    direction = controller.arm.T_world_base[:2, 3] - handles[:, :2]
    inward = handles.copy()  # Position of the handle after the part has moved out.
    inward[:, :2] += 0.08 * direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
    reached = np.ones(len(grid), bool)
    for points in (handles, inward):
        reached &= reached_points(controller, points, "side") | reached_points(controller, points, "down")
    if controller.chain.dof < POSE:
        # It cannot turn its hand freely: along a line past its base, fingers slip off the handle.
        ahead = matrix_from_quat(_robot(scene.instance, arm[0]).quat)[:2, 0]
        reached &= -(direction @ ahead) > np.cos(ASKEW) * np.linalg.norm(direction, axis=1)
    origin = grid[reached].mean(axis=0) if centred and reached.any() else here
    order = np.argsort(np.linalg.norm(grid - origin, axis=1), kind="stable")
    yield from [grid[k] for k in order if reached[k]][:MOST]


def in_words(places: Array) -> str:
    """Return places (n, 2) as a ``pos_range``."""
    low, high = places.min(axis=0), places.max(axis=0)
    return f"[[{low[0]:.2f}, {low[1]:.2f}], [{high[0]:.2f}, {high[1]:.2f}]]"


def _robot(instance: TaskInstance, name: str) -> RobotInstance:
    return next(robot for robot in instance.robots if robot.name == name)
