"""``handloom list KIND``: list what is available."""

from typing import Annotated, Literal

import tyro

from handloom.errors import InputError


def run(
    kind: tyro.conf.Positional[Literal["robots", "objects", "tasks", "skills", "packs"]],
    *,
    pack: Annotated[str, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = "",
) -> None:
    """List the available robots, objects, tasks, skills or packs, one per line with a short description.

    Args:
        kind: What to list: robots, objects, tasks, skills or packs of tasks.
        pack: Only the tasks of this pack.
    """
    if pack and kind != "tasks":
        raise InputError(f"--pack only applies to tasks: handloom list tasks --pack {pack}")
    if pack:
        _tasks_of_pack(pack)
    else:
        LISTS[kind]()


def _robots() -> None:
    from handloom.robots import load_robot, robot_names

    for name in robot_names():
        robot = load_robot(name)
        parts = [f"{arm.name} arm with {len(arm.joint_names)} joints" for arm in robot.arms]
        if robot.config.drive:
            parts.append(f"{robot.config.drive.kind} drive")
        print(f"{name:<18}{', '.join(parts)}")


def _objects() -> None:
    import numpy as np

    from handloom.objects import make_object, object_categories

    for category in object_categories():
        obj = make_object(category, rng=np.random.default_rng(0))
        kinds = [f"joints: {', '.join(joint.name for joint in obj.joints)}"] if obj.articulated else []
        kinds += ["container"] if obj.holds else []
        print(f"{category:<18}{', '.join(obj.synonyms):<50}{'; '.join(kinds)}".rstrip())


def _tasks() -> None:
    from handloom.tasks import library

    _deeds()
    print("\ntasks of one robot:")
    width = max(map(len, library())) + 2
    for name, path in library().items():
        first = path.read_text(encoding="utf-8").splitlines()[0]
        print(f"{name:<{width}}{first.removeprefix('# Task:').strip()}")


def _deeds() -> None:
    """Print the robot-independent tasks, with the measured success rate of each robot."""
    from handloom.tasks.config.deed_form import workplaces
    from handloom.tasks.config.deed_rates import deed_rates
    from handloom.tasks.config.loading import deeds, shipped

    rates, robots = deed_rates(), [*workplaces(shipped())]
    wide = max(map(len, deeds())) + 2
    print("robot-independent tasks (handloom generate NAME --robot ROBOT), with measured successes/attempts:")
    print(f"{'':<{wide}}" + "".join(f"{robot:>18}" for robot in robots))
    for name in deeds():
        print(f"{name:<{wide}}" + "".join(f"{rates.word(name, robot):>18}" for robot in robots))
    print(rates.note())


def _tasks_of_pack(name: str) -> None:
    """Print the tasks of a pack, one per line, with the published success rate if there is one."""
    from handloom.tasks.config.packs import load_pack

    pack = load_pack(name)
    facts = pack.config.published
    for task in pack.tasks:
        rates = facts.rates.get(task, ()) if facts is not None else ()
        names = facts.robots if facts is not None and facts.robots else ("",) * len(rates)
        told = ", ".join(f"{robot} {rate:g} %".strip() for robot, rate in zip(names, rates, strict=True))
        print(f"{name}/{task}" + (f"  published: {told}" if told else ""))


def _packs() -> None:
    from handloom.tasks.config.packs import load_pack, pack_names

    for name in pack_names():
        pack = load_pack(name)
        print(f"{name:<12}{len(pack.tasks)} tasks on {', '.join(pack.config.robots)}: {pack.config.title}")


def _skills() -> None:
    from handloom.skills.configs import SKILL_CONFIGS

    for name, config in SKILL_CONFIGS.items():
        summary = (config.__doc__ or "").splitlines()[0]
        print(f"{name:<20}{summary}")


LISTS = {"robots": _robots, "objects": _objects, "tasks": _tasks, "skills": _skills, "packs": _packs}
