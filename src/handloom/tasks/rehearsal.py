"""A deep check of a task: samples scenes and checks what only a scene can show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from handloom.errors import HandloomError
from handloom.scene import Scene, SceneArm, build_scene
from handloom.scene.measures import world_box
from handloom.scene.mobile_base import MobileBase
from handloom.skills import SkillConfig
from handloom.skills.configs import DRIVING, skill_name
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.motions import NavigateConfig
from handloom.skills.mobile_base.base_planner import BasePlanner
from handloom.skills.mobile_base.mobile import driving_goals
from handloom.tasks.camera_rehearsal import behind, blind, cut_off, films, framing, hidden
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.goal_rehearsal import crowded_targets, goal_mistakes, unjudged_steps, unsaid_demands
from handloom.tasks.grasp_rehearsal import STILL, ArmReach, Trouble, comes_down, heading, troubles
from handloom.tasks.joint_rehearsal import where_instead
from handloom.tasks.reach.chosen_arms import arms_of_skills, with_arms
from handloom.tasks.sampling.layouts.settling_world import SamplingError
from handloom.tasks.sampling.sample_task import sample_task

SCENES = 3
"""Scenes that are sampled."""
BY_HAND = ("pick", "manualpick", "dexpick", "dynamicpick", "fail_pick")
"""Skills that take hold of an object."""
CARRIES = ("place", "dexplace", "move", "hang", "flip", "rotate__obj", "approach__rotate", "scan", "pour")
"""Skills whose first object must be held."""


ON_JOINTS = ("open", "close", "rotate", "artpreplan")
"""Skills that move a joint of an object."""


class Rehearsal(NamedTuple):
    """Result of checking sampled scenes."""

    mistakes: tuple[str, ...]
    """Mistakes, one line each, with file and line if known."""
    notes: tuple[str, ...] = ()
    """Further findings about the scenes."""
    unseen: tuple[str, ...] = ()
    """The mistakes that only concern images."""
    no_room: bool = False
    """Whether the only mistake is that objects find no place in their regions, or without regions of their own."""


def rehearse(task: Task, *, scenes: int = SCENES, hands: bool = True, places: bool = True) -> Rehearsal:
    """Sample scenes of a task and return their mistakes, and in how many of them every object can be grasped.

    Args:
        task: A loaded task, whose keys are valid.
        scenes: Number of scenes to examine.
        hands: Whether to check the reach of the hands; False leaves that to a trial.
        places: Whether to search places for unreachable objects with joints, which takes some time.
    """
    found = dict.fromkeys(static_mistakes(task))
    met: list[tuple[Trouble, ...]] = []
    aims: dict[str, None] = {}
    missed: Counter[str] = Counter()
    covered: Counter[tuple[int, str, str]] = Counter()
    unseen, unreached, demands = dict[str, None](), dict[str, None](), dict[str, None]()
    outside: Counter[str] = Counter()
    short: list[int] = []
    scene: Scene | None = None
    reach = ArmReach()
    for episode in range(0 if found else scenes):
        try:
            scene = build_scene(sample_task(task, 0, episode))
        except HandloomError as error:
            crowded = no_room(task, error)
            return Rehearsal((crowded or _located(task, str(error)),), no_room=bool(crowded))
        aims.update(dict.fromkeys((*goal_mistakes(task, scene), *crowded_targets(task, scene))))
        demands.update(dict.fromkeys((*unsaid_demands(task, scene), *unjudged_steps(task))))
        # Before the following checks move bases.
        trouble = tuple(troubles(task, scene)) if hands else ()
        met.append(_with_places(task, scene, trouble, met) if places else trouble)
        missed.update(cut_off(task, scene))
        covered.update(hidden(task, scene))
        short += _short_of_clutter(task, scene)
        blanks = [*blind(task, scene)]
        if films(task):
            unseen.update(dict.fromkeys(blanks))
        else:
            outside.update(blanks)
        unreached.update(dict.fromkeys(_out_of_reach(task, scene, reach) if hands else ()))
        if unreached or unseen:
            break  # Another scene would give the same message with other numbers.
    if found:
        return Rehearsal(tuple(found))
    if unreached or unseen:
        lines = _hands_in_words(task, met, tuple(unreached))
        return Rehearsal(tuple(dict.fromkeys([*aims, *lines, *unseen])), tuple(demands), tuple(unseen))
    summary = _summary(task, met) if hands else Rehearsal(())
    if aims and not summary.mistakes:
        return Rehearsal(tuple(aims))
    blanks = [f"{text} (in {count} of {len(met)} scenes)" for text, count in outside.items()]
    wholly = Counter({name: count for name, count in missed.items() if not any(f"has {name} in" in b for b in blanks)})
    notes = [*demands, *summary.notes, *blanks, *framing(task, wholly, len(met))]
    notes += behind(task, scene, covered, len(met)) if scene is not None else ()
    return Rehearsal(summary.mistakes, (*notes, *_crowded(task, short, len(met))))


def static_mistakes(task: Task) -> Iterator[str]:
    """Yield the mistakes that need no scene: objects without a place, and skills for objects that no hand holds."""
    yield from _without_place(task)
    yield from _not_held(task)


def _hands_in_words(task: Task, met: Sequence[tuple[Trouble, ...]], unreached: tuple[str, ...]) -> Iterator[str]:
    """Yield what hinders the hands in the last scene; findings about joints take precedence over distances."""
    skills = dict(placed_skills(task.config))
    first = {trouble.keys: trouble.text for scene in reversed(met) for trouble in scene}  # Includes possible places.
    joints = [t.keys for t in met[-1] if isinstance(skills[t.keys], ArticulatedSkillConfig)]
    named = joints if joints or unreached else [t.keys for t in met[-1]]
    yield from (f"{task.where(*keys)}: {first[keys]}" for keys in named)
    yield from () if joints else unreached


def _with_places(
    task: Task, scene: Scene, found: tuple[Trouble, ...], met: Sequence[tuple[Trouble, ...]]
) -> tuple[Trouble, ...]:
    """Return the problems of a scene; the first one with a joint includes possible places, which takes some time."""
    skills, result = dict(placed_skills(task.config)), list[Trouble]()
    told = any(isinstance(skills[t.keys], ArticulatedSkillConfig) for scene_troubles in met for t in scene_troubles)
    for trouble in found:
        skill = skills[trouble.keys]
        if not told and isinstance(skill, ArticulatedSkillConfig) and "give arm:" not in trouble.text:
            robot, arm = str(trouble.keys[2]), arms_of_skills(task, scene.instance)[trouble.keys]
            told, where = True, where_instead(task, scene, robot, arm, skill)
            trouble = trouble._replace(text=trouble.text + where)  # noqa: PLW2901 - the same with more words
        result.append(trouble)
    return tuple(result)


def _short_of_clutter(task: Task, scene: Scene) -> Iterator[int]:
    """Yield the number of distractors of each scene that has fewer than the task requires."""
    if task.config.distractors is not None:
        own = {entry.name for entry in task.config.objects}
        count = sum(o.name.startswith("distractor_") and o.name not in own for o in scene.instance.objects)
        if count < task.config.distractors.min_num:
            yield count


def _crowded(task: Task, short: Sequence[int], scenes: int) -> Iterator[str]:
    if short and task.config.distractors is not None:
        least = task.config.distractors.min_num
        yield (
            f"{task.where('distractors')}: in {len(short)} of {scenes} scenes only {min(short)} of at least {least} "
            "distractors found room; widen pos_range, lower min_num, or give a smaller min_object_distance"
        )


def _summary(task: Task, met: Sequence[tuple[Trouble, ...]]) -> Rehearsal:
    """Return a mistake for each skill that no scene allows, and a note for each that only some scenes allow."""
    first = {trouble.keys: trouble.text for scene in reversed(met) for trouble in scene}
    count = {keys: sum(any(t.keys == keys for t in scene) for scene in met) for keys in first}
    mistakes = [f"{task.where(*keys)}: {first[keys]}" for keys in first if count[keys] == len(met)]
    if mistakes:
        return Rehearsal(tuple(mistakes))
    names = {skill_name(skill.name) for _, skill in placed_skills(task.config)}
    if not names & {"pick", *ON_JOINTS}:
        return Rehearsal(())
    free = sum(not scene for scene in met)
    done = "every object can be grasped and placed"
    if names & set(ON_JOINTS):
        done = "the hands reach everything that is opened, closed, turned, grasped and placed"
    if names - {"pick", "place", *ON_JOINTS, *STILL}:
        done = "nothing hinders the hands, as far as known before the other skills have run"
    notes = [f"{free} of {len(met)} sampled scenes: {done}"]
    notes += [f"{task.where(*keys)}: in {count[keys]} of {len(met)} scenes {text}" for keys, text in first.items()]
    return Rehearsal((), tuple(notes))


def no_room(task: Task, error: HandloomError) -> str:
    """Return text about regions that have no place for their objects, where other regions may; empty for others."""
    default = [region for i, region in enumerate(task.config.regions) if not task.wrote("regions", i, "object")]
    if isinstance(error, SamplingError) and error.failure.reason == "out_of_reach":
        starts = [(f"{task.where('regions', i)}: ", task.where("objects")) for i in range(len(task.config.regions))]
        ours = [start for i, (start, _) in enumerate(starts) if not task.wrote("regions", i, "object")]
        start = next((start for start in ours if str(error).startswith(start)), None)
        return str(error) if start is None else f"{start.rpartition('regions.')[0]}{error.failure.detail}"
    if len(default) < 2 or not isinstance(error, SamplingError) or error.failure.reason != "no_layout":
        return ""
    first = next(i for i, entry in enumerate(task.config.objects) if entry.name == default[0].object)
    names = ", ".join(region.object for region in default)
    return (
        f"{task.where('objects', first)}: {len(default)} objects without a region ({names}) find no room together in "
        f"the default area, the part of the table that the hands reach: "
        f"{error.failure.detail.partition(';')[0]}; give them regions"
    )


def _located(task: Task, text: str) -> str:
    """Return a message with file and line of the object that it refers to, unless it already has them."""
    for i, entry in enumerate(task.config.objects):
        if entry.path and entry.path in text and not text.startswith(str(task.path)):
            return f"{task.where('objects', i, 'path')}: {text}"
    return text


def _without_place(task: Task) -> Iterator[str]:
    """Yield objects without a place, which start at the origin of the world, inside the table."""
    placed = {region.object for region in task.config.regions}
    for i, entry in enumerate(task.config.objects):
        if entry.name not in placed and entry.translation is None and entry.init_parent is None:
            yield (
                f"{task.where('objects', i)}: {entry.name} has no region and no translation; add a region such as "
                f"{{object: {entry.name}, target: table, random_config: {{pos_range: [[-0.1, 0, 0], [0.1, 0.1, 0]], "
                "yaw_rotation: [-180, 180]}}"
            )


def _not_held(task: Task) -> Iterator[str]:
    """Yield placed objects that were neither picked up before nor start in a hand."""
    held = {entry.name for entry in task.config.objects if entry.init_parent is not None}
    for keys, skill in placed_skills(task.config):
        name = skill_name(skill.name)
        if name in BY_HAND or ":" in name:
            held.update(skill.objects)
        elif name in CARRIES and skill.objects and skill.objects[0] not in held:
            first = skill.objects[0]
            yield f"{task.where(*keys)}: {name} needs {first} in the hand; pick it up before, with {{pick: {first}}}"


def _out_of_reach(task: Task, scene: Scene, reach: ArmReach) -> Iterator[str]:
    """Yield objects that an arm cannot reach from its base's place at that time, and places its base cannot drive to.

    The base of the scene is moved on the way.
    """
    told: set[tuple[str, ...]] = set()
    carried: set[str] = set()
    for keys, skill in placed_skills(with_arms(task, scene.instance).config):
        _, _, robot, _, arm_name, _ = keys
        base = scene.robot(str(robot)).base
        if base is not None and skill_name(skill.name) in DRIVING:
            wrong = _drive(scene, base, skill)
            if wrong:
                yield f"{task.where(*keys)}: {wrong}"
                return  # From here on, nothing would be in the right place.
            continue
        for name in skill.objects:
            own = scene.robot(str(robot)).arm(str(arm_name))
            arm = _nearest_arm(scene, name, str(robot)) if skill.both_arms else own
            if (str(robot), str(arm_name), name) in told or name in carried:
                continue
            if base is not None and skill_name(skill.name) in BY_HAND:
                carried.add(name)
            told.add((str(robot), str(arm_name), name))
            origin = arm.T_world_base[:3, 3]
            # The arm only needs to reach the front of a cabinet.
            offset = np.clip(origin, *world_box(scene, name)) - origin
            offset[2] = scene.object_pose(name)[2, 3] - origin[2]
            distance = float(np.linalg.norm(offset[:2]))
            far = reach.furthest(scene, arm, float(offset[2]), down=comes_down(skill))
            if distance > far:
                region = next((i for i, r in enumerate(task.config.regions) if r.object == name), None)
                where = task.where("regions", region) if region is not None else task.where(*keys, "objects")
                yield (
                    f"{where}: {name} lies {distance:.2f} m from the base of {robot}'s {arm_name} arm, which reaches "
                    f"{far:.2f} m at that height; move it {distance - far + 0.05:.2f} m towards {heading(-offset)}"
                )


def _nearest_arm(scene: Scene, name: str, robot: str) -> SceneArm:
    p = scene.object_pose(name)[:3, 3]
    return min(scene.robot(robot).arms, key=lambda arm: float(np.linalg.norm(p - arm.T_world_base[:3, 3])))


def _drive(scene: Scene, base: MobileBase, skill: SkillConfig) -> str:
    """Put the base where a skill drives it, with the arms in their start pose; return why that fails, or nothing."""
    here, reasons = base.pose, []
    planner = BasePlanner(scene, base, ignore=[f"{o.name}/" for o in scene.instance.objects if not o.fixed])
    for goal in driving_goals(scene, base, skill):
        if isinstance(skill, NavigateConfig):
            result = planner.plan(here, goal)
            reason = "" if result.ok else result.reason
        else:
            reason = planner.blocked(np.stack([here, goal]))
        if not reason:
            scene.world.data.qpos[base.qpos_index] = base.joints_at(goal)
            base.hold()
            scene.world.forward()
            return ""
        reasons.append(f"({goal[0]:.2f}, {goal[1]:.2f}) m: {reason}")
    where = f"({here[0]:.2f}, {here[1]:.2f}) m"
    return f"{skill.name} finds no path for the base of {base.robot_name} from {where} to {'; or to '.join(reasons)}"
