"""The randomized variant of a task: other categories and sizes, clutter, masses, rooms, lamps, poses and table heights.

``data.variant=randomized`` works for every task. The parts that define the task (skills, regions, words) stay;
everything irrelevant to a policy varies more widely than in the task file.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from handloom.scene.camera_config import CameraConfig
from handloom.scene.object_config import ArenaConfig, ObjectConfig, TextureConfig
from handloom.scene.region_config import DistractorsConfig
from handloom.scene.rooms.room_config import ANY, RoomConfig
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import EnvMapConfig, PhysicsNoise, RobotEntry
from handloom.tasks.sampling.assets import stands_as_table

ROLES: Mapping[str, tuple[str, ...]] = {
    "cube": ("cube", "block", "cylinder_block", "studded_brick"),
    "lemon": ("lemon", "egg", "strawberry"),
    "plate": ("plate", "cutting_board"),
    "cardboard_tray": ("cardboard_tray", "bin", "crate"),
    "bin": ("bin", "crate", "cardboard_tray"),
    "tray": ("tray", "cutting_board"),
    "snack_box": ("snack_box", "block"),
}
"""Category in a task file > interchangeable categories in a task that only picks it up or puts something on it."""
SKILLS_FOR_ANY_SHAPE = frozenset(("pick", "place", "home", "heuristic__skill", "wait", "fail_pick", "gripper__action"))
"""Skills that work with every shape a hand can hold; others need the shape that the task file names."""
COLOR_WORDS = ("red", "orange", "yellow", "green", "blue", "purple", "pink", "teal", "white", "gray", "black", "brown")
SIZES = (0.92, 1.08)
"""Lowest and highest factor on the size of an object; more would not fit the hands and holes of the tasks."""
TABLES = (
    *("oiled_oak", "oiled_walnut", "oiled_beech", "oiled_maple", "pine", "plywood", "bamboo", "butcher_block"),
    *("painted_wood", "laminate", "wood_laminate", "stone_laminate", "marble", "granite", "terrazzo"),
    *("brushed_steel", "linen"),
)
FLOORS = ("parquet", "oiled_oak", "floor_tile", "linoleum", "concrete", "carpet", "terrazzo", "slate", "stone_laminate")
WALLS = ("plaster", "plaster", "painted_wood", "laminate", "brick", "concrete", "metro_tile", "tile")
"""Materials of tables, floors and walls, each with 24 patterns and many tones."""
NOISY = ("noise", "checker", "cloth", "metal", "stone", "wood")
"""Textures of the extreme variant: patterns and colours not found in any room."""
ON_TABLE, BY_TABLE = 0.06, 0.02
"""Largest change of the table's height [m]: for a robot on it, which moves along, and for a robot beside it."""
START_STD = 0.06
"""Deviation of the start joints from home [rad]."""
DISTRACTORS = 6
ROOM_CAMERA = {"max_translation_noise": 0.04, "max_orientation_noise": 3.0, "max_focal_noise": 0.05}
HAND_CAMERA = {"max_translation_noise": 0.004, "max_orientation_noise": 1.5, "max_focal_noise": 0.05}
"""Jitter of cameras in the room and of those on a robot, which have little room."""


def randomized(task: Task, rng: np.random.Generator, *, extreme: bool = False) -> Task:
    """Return the task with everything varied that is irrelevant to a policy; one draw for one episode.

    Args:
        task: The task as in its file.
        rng: Random generator of the variant.
        extreme: Whether surfaces show noise and unnatural patterns instead of realistic materials, lamps and cameras.
    """
    config = task.config
    table = next((entry for entry in task.arena.fixtures if stands_as_table(task, entry)), None)
    robots, cameras, height = config.robots, config.cameras, config.table_height
    if table is not None and table.size is not None and len(table.size) == 3:
        top = height[0] if height is not None else table.size[2]
        standing = [robot for robot in robots if robot.translation[2] > 0.5 * top]
        regions = {region.object for region in config.regions}
        mounted = bool(standing) or all(robot.name in regions for robot in robots)
        shift = float(rng.uniform(-1.0, 1.0)) * (ON_TABLE if mounted else BY_TABLE)
        height = tuple(value + shift for value in height) if height is not None else (top + shift, top + shift)
        robots = tuple(_raised(robot, shift) if robot in standing else robot for robot in robots)
        cameras = tuple(_raised(camera, shift) if not camera.parent else camera for camera in cameras)
    update: dict[str, Any] = {
        "robots": tuple(_started_anywhere(robot) for robot in robots),
        "cameras": tuple(_moved(camera) for camera in cameras),
        "table_height": height,
        "objects": tuple(_varied(task, entry, rng) for entry in config.objects),
        "distractors": config.distractors or (_clutter(table) if table is not None else None),
        "physics": _physics(config.physics),
        "env_map": EnvMapConfig(
            apply_randomization=True,
            intensity_range=(2800.0, 8500.0),
            rotation_range=(0.0, 360.0),
            lamps=(1, 4),
            vary_surroundings=True,
        ),
    }
    if config.room is not None:
        update["room"] = _any_room(config.room)
        return replace(task, config=config.model_copy(update=update))
    return replace(task, config=config.model_copy(update=update), arena=_room(task, rng, extreme=extreme))


def _any_room(room: RoomConfig) -> RoomConfig:
    """Return the room with every style and much clutter; every layout unless the task names some."""
    return room.model_copy(update={"layout": room.layout or ANY, "style": ANY, "clutter": "much"})


def _physics(given: PhysicsNoise) -> PhysicsNoise:
    """Return wider physics; ranges set by the task stay, as they suit its gripper."""
    return PhysicsNoise(
        mass_scale=given.mass_scale if given.mass_scale != (1.0, 1.0) else (0.6, 1.6),
        friction=given.friction or (0.7, 1.3),
        gain_scale=given.gain_scale if given.gain_scale != (1.0, 1.0) else (0.9, 1.1),
    )


def _raised(entry: Any, shift: float) -> Any:
    """Return a robot or camera raised by ``shift``; a camera without a position of its own follows its target."""
    if entry.translation is None:
        return entry
    x, y, z = entry.translation
    return entry.model_copy(update={"translation": (x, y, z + shift)})


def _moved(camera: CameraConfig) -> CameraConfig:
    """Return a camera with a real lens and sensor, in another place and with another zoom in every episode."""
    noise = HAND_CAMERA if camera.parent else ROOM_CAMERA
    return camera.model_copy(update={**noise, "apply_randomization": True, "lens": "real"})


def _started_anywhere(robot: RobotEntry) -> RobotEntry:
    """Return the robot with wider noise on the start joints, if it has any."""
    keys = [key for key in ("left_joint_home_std", "right_joint_home_std") if robot.overrides.get(key)]
    wide = {key: [max(START_STD, float(std)) for std in robot.overrides[key]] for key in keys}
    return robot.model_copy(update={"overrides": {**robot.overrides, **wide}})


def _varied(task: Task, entry: ObjectConfig, rng: np.random.Generator) -> ObjectConfig:
    """Return an object of another category if any will do, with another size, shape and colour."""
    size = float(rng.uniform(*SIZES))
    if entry.path or entry.target_class != "RigidObject" or len(set(entry.scale)) > 1:
        return entry
    update: dict[str, Any] = {"apply_randomization": True, "scale": tuple(size * value for value in entry.scale)}
    if entry.category in ROLES and entry.randomization_scope == "category" and _any_shape(task, entry.name):
        update["randomization_scope"] = ROLES[entry.category]
    if len(entry.colors) > 2 and not _told_by_color(task, entry):
        update["colors"] = tuple(dict.fromkeys((*entry.colors, *COLOR_WORDS)))
    return entry.model_copy(update=update)


def _any_shape(task: Task, name: str) -> bool:
    """Return whether every skill that handles an object works with any shape, and nothing is stacked on it."""
    skills = [
        skill
        for stage in task.config.skills
        for blocks in stage.values()
        for block in blocks
        for arm in block.values()
        for skill in arm
        if name in skill.objects
    ]
    needy = any(getattr(skill, key, None) for skill in skills for key in ("rim", "constraints", "hold_obj_axis"))
    flat = all(getattr(skill, "place_direction", "vertical") == "vertical" for skill in skills)
    categories = {entry.name: entry.category for entry in task.config.objects}
    pairs = [skill.objects[:2] for skill in skills if len(skill.objects) > 1]
    stacked = any(categories.get(lower) == categories.get(upper) for upper, lower in pairs)
    return flat and not needy and not stacked and all(skill.name in SKILLS_FOR_ANY_SHAPE for skill in skills)


def _told_by_color(task: Task, entry: ObjectConfig) -> bool:
    """Return whether another object of the category differs from this one only by its colours."""
    return any(other.name != entry.name and other.category == entry.category for other in task.config.objects)


def _clutter(table: ObjectConfig) -> DistractorsConfig:
    width, depth = (0.45 * side for side in (table.size or (1.0, 1.0))[:2])
    return DistractorsConfig(
        target=table.name,
        max_num=DISTRACTORS,
        pos_range=((-width, -depth), (width, depth)),
        min_object_distance=0.07,
        exclude_categories=tuple({name for names in ROLES.values() for name in names}),
    )


def _room(task: Task, rng: np.random.Generator, *, extreme: bool) -> ArenaConfig:
    """Return the arena with other materials, or textures, of table, floor and walls."""
    table, floor, wall = (
        str(rng.choice(names)) for names in ((NOISY, NOISY, NOISY) if extreme else (TABLES, FLOORS, WALLS))
    )

    def styled(entry: ObjectConfig) -> ObjectConfig:
        if entry.texture is None:
            return entry
        name = table if stands_as_table(task, entry) else wall if "wall" in entry.name else floor
        texture = TextureConfig(texture_lib=name, apply_randomization=True, texture_scale=entry.texture.texture_scale)
        return entry.model_copy(update={"texture": texture})

    return task.arena.model_copy(update={"fixtures": tuple(styled(entry) for entry in task.arena.fixtures)})
