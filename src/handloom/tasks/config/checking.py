"""Checks of a task across keys: names that must exist, files that must be found, placeholders in sentences."""

from collections.abc import Iterable, Iterator

from pydantic import ValidationError

from handloom.config.own_code import is_allowed, refusal
from handloom.errors import ConfigError, HandloomError, NotAllowedError, unknown_name
from handloom.objects.materials import COLORS
from handloom.objects.registry import CATEGORIES
from handloom.robots import load_robot, robot_names
from handloom.scene.object_config import ObjectConfig
from handloom.scene.region_config import RegionConfig
from handloom.skills import SkillConfig, checked_config
from handloom.skills.configs import drives_base
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.motions import TABLE, TrackConfig
from handloom.skills.configs.places import MoveConfig
from handloom.tasks.config.arm_words import CHOSEN
from handloom.tasks.config.contradictions import contradictions, unknown_words
from handloom.tasks.config.foreign_paths import foreign_paths
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.rooms.room_of_episode import room_mistakes
from handloom.tasks.sampling.cameras import camera_file, dataset_names, parent_body
from handloom.tasks.sampling.robots import described, drives
from handloom.values.camera import PIXELS, most_pixels


def check_task(task: Task) -> None:
    """Check everything that does not need a scene; the keys of a user's own skill only if its code is allowed.

    Raises:
        ConfigError: One line per mistake, with file and line.
    """
    mistakes = [*_names(task), *_regions(task), *_objects(task), *_clutter_and_fluid(task), *_skills(task)]
    mistakes += room_mistakes(task)
    mistakes += _driving(task)
    mistakes += _goal(task)
    mistakes += foreign_paths(task)
    if not mistakes:
        mistakes = [*_robots(task), *_cameras(task)]
    if mistakes:
        raise ConfigError("\n".join(mistakes))


def refused_code(task: Task) -> tuple[str, ...]:
    """Return one line, with file and line, for every name in a task whose code may not run."""
    found = [(task.where(*keys, "name"), "skill", skill.name) for keys, skill in placed_skills(task.config)]
    for where, entry in _objects_of(task):
        scope = entry.randomization_scope if isinstance(entry.randomization_scope, tuple) else ()
        names = () if entry.path else (entry.category, *scope)
        found += [(f"{where}.category", "object category", name) for name in names]
    return tuple(
        f"{where}: {refusal(kind, name)}" for where, kind, name in found if ":" in name and not is_allowed(name)
    )


def demand_code(task: Task) -> None:
    """Refuse a task that names code which may not run.

    Raises:
        NotAllowedError: One line per name, with file and line.
    """
    if lines := refused_code(task):
        raise NotAllowedError("\n".join(lines))


def _names(task: Task) -> Iterator[str]:
    fixtures = [entry.name for entry in task.arena.fixtures]
    for key, entries in (("robots", task.config.robots), ("objects", task.config.objects)):
        for i, entry in enumerate(entries):
            if entry.name in fixtures:
                yield f"{task.where(key, i, 'name')}: the arena has a fixture of this name, {entry.name!r}"
            elif "/" in entry.name or entry.name == "fluid":
                yield f"{task.where(key, i, 'name')}: a name has no slash and is not fluid, got {entry.name!r}"


def _goal(task: Task) -> Iterator[str]:
    names = [entry.name for entry in (*task.arena.fixtures, *task.config.objects)]
    for i, term in enumerate(task.config.goal):
        for name in term.names:
            if name not in names:
                yield f"{task.where('goal', i)}: {unknown_name('object', name, names)}"


def _regions(task: Task) -> Iterator[str]:
    config = task.config
    objects = [o.name for o in (*task.arena.fixtures, *config.objects)]
    placeable = [*objects, *(r.name for r in config.robots)]
    for i, region in enumerate(config.regions):
        for key in ("object", "target", "target2", "container"):
            name = getattr(region, key)
            if name is not None and name not in placeable:
                yield f"{task.where('regions', i, key)}: {unknown_name('object or robot', name, placeable)}"
        if region.object in (region.target, region.container):
            yield f"{task.where('regions', i, 'target')}: {region.object} cannot be placed relative to itself"
        yield from _pool(task, i, region)


def _pool(task: Task, index: int, region: RegionConfig) -> Iterator[str]:
    """Check that every region that draws from the list finds suitable ranges there."""
    if not region.draws_from_pool:
        return
    pool = task.config.random_region_list
    wanted = region.priority if isinstance(region.priority, tuple) and region.priority else range(len(pool))
    where = task.where("regions", index, "priority")
    if not pool:
        yield f"{where}: draws from random_region_list, which is empty"
    for entry in wanted:
        if not -len(pool) <= entry < len(pool):
            yield f"{where}: random_region_list has {len(pool)} entries, there is no entry {entry}"
        elif region.missing_ranges(pool[entry]):
            missing = ", ".join(region.missing_ranges(pool[entry]))
            yield f"{task.where('random_region_list', entry)}: {region.random_type} of {region.object} needs {missing}"


def _objects(task: Task) -> Iterator[str]:
    names = [*(r.name for r in task.config.robots), *(o.name for o in (*task.arena.fixtures, *task.config.objects))]
    for i, entry in enumerate(task.config.objects):
        where = task.where("objects", i)
        if entry.init_parent is not None and entry.init_parent.strip("/").partition("/")[0] not in names:
            yield f"{where}.init_parent: {entry.init_parent!r} starts with no robot or object: {', '.join(names)}"
        if entry.init_parent is not None and any(r.object == entry.name for r in task.config.regions):
            yield f"{where}.init_parent: {entry.name} starts at its parent and cannot also have a region"
    for where, entry in _objects_of(task):
        yield from _library_words(entry, where)


def _objects_of(task: Task) -> Iterator[tuple[str, ObjectConfig]]:
    """Yield every object and fixture with its keys."""
    for i, entry in enumerate(task.config.objects):
        yield task.where("objects", i), entry
    for entry in task.arena.fixtures:
        yield f"{task.config.arena_file}: fixtures: {entry.name}", entry


def _library_words(entry: ObjectConfig, where: str) -> Iterator[str]:
    """Check colour words, and the category of an object that comes from our library."""
    colors: Iterable[str] = (*entry.colors, *((entry.color,) if isinstance(entry.color, str) else ()))
    for color in colors:
        if color not in COLORS:
            yield f"{where}.color: {unknown_name('color', color, COLORS)}"
    if entry.path or not entry.category or entry.target_class == "PlaneObject" or entry.category == "table":
        return
    scope = entry.randomization_scope if isinstance(entry.randomization_scope, tuple) else ()
    for category in (entry.category, *scope):
        if category not in CATEGORIES and ":" not in category:
            yield f"{where}.category: {unknown_name('object category', category, CATEGORIES)}"


def _clutter_and_fluid(task: Task) -> Iterator[str]:
    objs = [o.name for o in (*task.arena.fixtures, *task.config.objects)]
    if task.config.distractors is not None and task.config.distractors.target not in objs:
        target = task.config.distractors.target
        yield f"{task.where('distractors', 'target')}: {unknown_name('object', target, objs)}"
    if task.config.fluid is not None and task.config.fluid.container_name not in objs:
        container = task.config.fluid.container_name
        yield f"{task.where('fluid', 'container_name')}: {unknown_name('object', container, objs)}"


def _skills(task: Task) -> Iterator[str]:
    objects = [o.name for o in (*task.arena.fixtures, *task.config.objects)]
    # Sentences generated from the skills repeat the mistakes of those skills.
    named = [name for _, skill in placed_skills(task.config) for name in skill.objects]
    for i, text in enumerate((task.config.data.language_instruction, *task.config.data.paraphrases)):
        key = ("language_instruction",) if i == 0 else ("paraphrases", i - 1)
        yield from unknown_words(task, ("data", *key), text, named)
    for keys, skill in placed_skills(task.config):
        yield from _own_skill(task, keys, skill)
        yield from contradictions(task, keys, skill)
        yield from unknown_words(task, (*keys, "instruction"), skill.instruction, named)
        yield from _named_otherwise(task, keys, skill, objects)
        for name in skill.objects:
            if name not in objects:
                yield f"{task.where(*keys, 'objects')}: {_unknown_object(task, skill, name, objects)}"


def _unknown_object(task: Task, skill: SkillConfig, name: str, objects: list[str]) -> str:
    """Return text about a name without an object; a skill that moves a joint is offered only objects with joints."""
    if not isinstance(skill, ArticulatedSkillConfig):
        return str(unknown_name("object", name, objects))
    jointed = [o.name for o in (*task.arena.fixtures, *task.config.objects) if o.target_class == "ArticulatedObject"]
    parts = f"; a part of one: {{{skill.name}: {{{jointed[0]}: {name}}}}}" if jointed else ""
    return str(unknown_name("object with joints", name, jointed)) + parts


def _driving(task: Task) -> Iterator[str]:
    """Check that skills which drive have a base to drive, and that no arm works meanwhile."""
    entries = {entry.name: entry for entry in task.config.robots}
    for keys, skill in placed_skills(task.config):
        if not drives_base(skill):
            continue
        _, stage, robot, block, arm, _ = keys
        entry, arms = entries[str(robot)], task.config.skills[int(stage)][str(robot)][int(block)]
        busy = [other for other, skills in arms.items() if other != arm and skills]
        if busy:
            yield (
                f"{task.where(*keys)}: {skill.name} drives the base of {robot} while its {busy[0]} arm works in the "
                "same block; give a block that drives one arm only"
            )
        what = f"{task.where(*keys)}: {skill.name} drives the base of {robot}"
        if entry.overrides.get("base") == "held":
            yield f"{what}, which base: held holds where it is; leave that key out"
        elif not drives(task, entry):
            known = ", ".join(name for name in robot_names() if load_robot(name).config.mobile_base_names)
            yield f"{what}, which has none that drives; robots with one: {known}"


def _named_otherwise(task: Task, keys: tuple[str | int, ...], skill: SkillConfig, objects: list[str]) -> Iterator[str]:
    """Check names that skills use outside their list of objects."""
    if isinstance(skill, MoveConfig) and skill.vanishing is not None and skill.vanishing not in objects:
        yield f"{task.where(*keys, 'invisible_object')}: {unknown_name('object', skill.vanishing, objects)}"
    if isinstance(skill, TrackConfig) and not {skill.target, TABLE} & set(objects):
        yield f"{task.where(*keys, 'target')}: {unknown_name('object', skill.target, objects)}"


def _own_skill(task: Task, keys: tuple[str | int, ...], skill: SkillConfig) -> Iterator[str]:
    """Check the keys of a user's own skill with the config of its class."""
    if ":" in skill.name and not is_allowed(skill.name):
        return
    try:
        checked_config(skill)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            key = item.get("ctx", {}).get("key") or ".".join(map(str, item["loc"]))
            yield f"{task.where(*keys, key)}: {item['msg'].removeprefix('Value error, ')}"
    except HandloomError as error:
        yield f"{task.where(*keys, 'name')}: {error}"


def _robots(task: Task) -> Iterator[str]:
    for i, entry in enumerate(task.config.robots):
        try:
            arms = [arm.name for arm in described(task, entry).arms]
            for keys, _ in placed_skills(task.config):
                if keys[2] == entry.name and keys[4] not in (*arms, *CHOSEN):
                    yield f"{task.where(*keys)}: {entry.name} has no {keys[4]} arm; its arms: {', '.join(arms)}"
        except HandloomError as error:
            text = str(error)
            yield text if text.startswith(str(task.path)) else f"{task.where('robots', i)}: {text}"


def _cameras(task: Task) -> Iterator[str]:
    names, pixels = dataset_names(task), 0
    for i, entry in enumerate(task.config.cameras):
        if names[i] in names[:i]:
            other = task.config.cameras[names.index(names[i])].name
            yield (
                f"{task.where('cameras', i, 'name')}: {entry.name!r} and {other!r} would both be {names[i]!r} in the "
                "dataset; rename one of them"
            )
        seen = [obj.name for obj in (*task.arena.fixtures, *task.config.objects, *task.config.robots)]
        for watched in entry.watched:
            if watched not in seen:
                yield f"{task.where('cameras', i, 'look_at')}: {unknown_name('object or robot', watched, seen)}"
        try:
            camera = camera_file(task, entry)
            parent_body(task, entry)
        except HandloomError as error:
            yield str(error)
            continue
        width, height = entry.size or (camera.resolution_width, camera.resolution_height)
        pixels += width * height
        if pixels > most_pixels() >= pixels - width * height:
            yield (
                f"{task.where('cameras', i)}: the cameras have {pixels} pixels up to {entry.name!r} with {width} x "
                f"{height}; at most {most_pixels()} are drawn. Give them a smaller size: [width, height], or set "
                f"another bound in the variable {PIXELS}; a pixel takes 35 bytes of memory in every worker"
            )
