"""Checks of a goal in a sampled scene: targets without a cavity, closed targets, goals that already hold."""

from collections import Counter
from collections.abc import Iterator

from handloom.errors import HandloomError
from handloom.judging.wording.words import in_words
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.configs import skill_name
from handloom.skills.configs.articulated import CloseConfig, OpenConfig
from handloom.skills.configs.places import CarryConfig, DexPlaceConfig, HangConfig, PlaceConfig
from handloom.skills.deeds import make_judge
from handloom.skills.placing.company import FREE, has_own_spot, most_that_fit
from handloom.skills.placing.landing import must_stand
from handloom.skills.placing.place_in import NoCavityError, cavities_of, entries_into
from handloom.skills.registry import skill_class
from handloom.skills.skill_failures import during
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.reach.chosen_arms import with_arms
from handloom.tasks.sampling.sample_task import sample_task

PUTS = (PlaceConfig, DexPlaceConfig, CarryConfig, HangConfig)
"""Skills that put their first object somewhere."""


def goal_mistakes(task: Task, scene: Scene) -> Iterator[str]:
    """Yield a line, with file and line, for every place without a usable cavity, and for a goal that already holds."""
    opened: set[str] = set()
    for keys, skill in placed_skills(task.config):
        if isinstance(skill, OpenConfig):
            opened.update(skill.objects[:1])
        elif isinstance(skill, CloseConfig):
            opened -= set(skill.objects[:1])
        elif isinstance(skill, PlaceConfig) and skill.relation == "in" and skill.objects[1] in scene.assets:
            if skill.objects[1] in opened and cavities_of(scene, skill.objects[1]):
                continue  # What will be open then is not known in advance.
            try:
                entries_into(scene, skill)
            except NoCavityError as error:
                yield f"{task.where(*keys)}: {error}"
    try:
        judge = make_judge(scene, with_arms(task, scene.instance).config.skills, None)
    except HandloomError as error:
        yield f"{task.where('goal')}: {error}" if task.config.goal else str(error)
        return
    if judge.goal and all(held for _, held in judge.terms):
        said = "; ".join(in_words(term, scene) for term in judge.goal)
        yield f"{task.where('goal' if task.config.goal else 'skills')}: the goal holds before anything is done: {said}"


def crowded_targets(task: Task, scene: Scene) -> Iterator[str]:
    """Yield a line, with file and line, for every target that cannot hold all objects put on it side by side.

    In a container, only objects that must stand need room side by side; others may lie on top of each other. Targets
    and objects that are moved again are not judged.
    """
    skills = [*placed_skills(task.config)]
    moves = Counter(skill.objects[0] for _, skill in skills if isinstance(skill, PlaceConfig))
    groups: dict[tuple[str, str | None, str | None], list[tuple[tuple[str | int, ...], PlaceConfig]]] = {}
    for keys, skill in skills:
        if not isinstance(skill, PlaceConfig) or skill.relation not in FREE or has_own_spot(skill):
            continue
        name, target = skill.objects[:2]
        stands = skill.relation == "on" or must_stand(scene, skill) is not False
        if stands and moves[name] == 1 and not moves[target] and {name, target} <= scene.assets.keys():
            groups.setdefault((target, skill.place_part_prim_path, skill.relation), []).append((keys, skill))
    for (target, part, relation), group in groups.items():
        places = [skill for _, skill in group]
        if len(places) < 2:
            continue
        try:
            box = world_box(scene, target, part) if relation == "on" else entries_into(scene, places[0])[0].box
        except NoCavityError:
            continue
        fitting = most_that_fit(scene, places, box)
        if fitting < len(places):
            names = ", ".join(skill.objects[0] for skill in places)
            yield (
                f"{task.where(*group[-1][0])}: {target} holds {fitting} of these {len(places)} side by side: {names}; "
                f"use a larger {target}, smaller objects, or put some of them elsewhere"
            )


def unsaid_demands(task: Task, scene: Scene) -> Iterator[str]:
    """Yield a line if the judge demands that placed objects end upright although the task does not say so."""
    try:
        goal = make_judge(scene, with_arms(task, scene.instance).config.skills, None).goal
    except HandloomError:
        return
    # An insert makes another axis than the object's own up point upwards, and says so.
    ends = [(term.arguments["object"], tuple(term.arguments["axis"])) for term in goal if term.name == "points_up"]
    upright = {name for name, axis in ends if axis == tuple(scene.assets[name].up)}
    found: dict[str, tuple[str, str]] = {}
    for keys, skill in placed_skills(task.config):
        if not isinstance(skill, PlaceConfig) or skill_name(skill.name) != "place" or len(skill.objects) < 2:
            continue
        worded = skill.upright is not None or skill.success_upright is not None
        if not worded and skill.objects[0] in upright:
            where = (
                f"{skill.relation} {skill.objects[1]}" if skill.relation in ("in", "on") else f"at {skill.objects[1]}"
            )
            found[skill.objects[0]] = task.where(*keys), where
    if found:
        said = " and ".join(f"{name} upright {where}" for name, (_, where) in found.items())
        first, _ = next(iter(found.values()))
        yield f"{first}: the judge demands at the end: {said}, as at the start (upright: false in place allows lying)"


def unjudged_steps(task: Task) -> Iterator[str]:
    """Yield a line for every place whose object is put elsewhere later, so that the state at the end leaves it out."""
    if task.config.goal:
        return
    skills = [(keys, skill) for keys, skill in placed_skills(task.config) if isinstance(skill, PUTS)]
    for i, (keys, skill) in enumerate(skills):
        name, target = skill.objects[:2] if len(skill.objects) > 1 else ("", "")
        later = [other for _, other in skills[i + 1 :] if other.objects[:1] == (name,)]
        if later and later[-1].objects[1:2] != (target,):
            yield (
                f"{task.where(*keys)}: that {name} is put on or in {target} is not judged: a later step moves it "
                "again, and success is the state at the end; the expert does it, but who skips it succeeds as well"
            )


def goal_in_words(task: Task) -> tuple[str, ...]:
    """Return the goal of a task in its first scene, and what must hold during skills: one line for each term."""
    scene = build_scene(sample_task(task, 0, 0))
    goal = make_judge(scene, with_arms(task, scene.instance).config.skills, None).goal
    on_the_way = tuple(
        f"{skill.name}: {during(term, scene, kind.loosened_by)}; else the expert's attempt fails"
        for _, skill in placed_skills(task.config)
        for kind in [skill_class(skill.name)]
        for term in kind.throughout(skill)
    )
    if not goal:
        return ("every skill by its own terms: none of them changes anything but the robot", *on_the_way)
    told = tuple(in_words(term, scene) + (", at some time" if term.seconds else "") for term in goal)
    return (*told, *on_the_way)
