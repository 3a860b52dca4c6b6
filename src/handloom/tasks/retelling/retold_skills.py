"""The deeds of a task without robot-specific keys: hand axes, retreats in a hand's frame, tuned heights.

Tasks for any robot are used unchanged. In older tasks, which are written for one robot, each skill is replaced by its
short form, as in a task for any robot; the meaning of success is kept.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handloom.errors import InputError
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.parts import SkillConfig
from handloom.tasks.config.arm_words import OTHER
from handloom.tasks.config.task_config import TaskConfig, placed_skills

PICK_KEPT = ("constraints", "rim", "largest_lever", "final_gripper_state", "npy_name", "grasp_scale", "lift_th")
"""Keys of a pick that concern the object, or success."""
PLACE_KEPT = (
    *("place_part_prim_path", "at_point", "at_frame", "facing", "point_down", "gap", "rim", "target_held", "upright"),
    *("lean", "beside", "success_mode", "success_th", "success_tilt", "success_upright", "threshold", "process_valid"),
)
"""Keys of a place that set the object's place, or the meaning of success."""
JOINT_KEPT = ("joint", "amount", "least_amount", "by", "grasp", "hold", "momentary")
POUR_KEPT = ("poured", "spilled")
LEFT_OUT = ("artpreplan",)
"""Skills that only test whether their original robot can do a later one."""
LIFT_MORE = 0.02
"""Extra lift of a hand above the height that success requires [m]."""
WAYS = {"forward": "front", "leftward": "side", "rightward": "side"}
"""Published direction of the hand in the arm's base > the equivalent for every robot."""
LOOSE = 0.5
"""Sufficient fraction of a joint's range if a later skill shuts it again."""


@dataclass(frozen=True, kw_only=True)
class WorkPlace:
    """Frames and axes to which the keys of an older task refer."""

    work_point: tuple[float, float]
    """Origin of its work frame, from the middle of the table [m]."""
    hand_axis: str
    """Axis of its robot's hand, ``x``, ``y`` or ``z``, that points at the grasped object."""


def flat_steps(config: TaskConfig, place: WorkPlace) -> list[Any]:
    """Return the steps of a one-handed task in order, as written in a deed file.

    Args:
        config: The task.
        place: Work frame and hand of the original task.

    Raises:
        InputError: Hands work at the same time, or a skill has no robot-independent form.
    """
    blocks = [block for stage in config.skills for own in stage.values() for block in own]
    if any(sum(bool(skills) for skills in block.values()) > 1 for block in blocks):
        raise InputError("two arms work at once in it, and the other robot has one")
    skills = [skill for _, skill in placed_skills(config)]
    if any(OTHER in block for block in blocks) or any(getattr(skill, "handed", False) for skill in skills):
        raise InputError("one hand gives something to the other, which takes two arms, and the other robot has one")
    if any(skill.both_arms for skill in skills):
        both = next(skill.name for skill in skills if skill.both_arms)
        raise InputError(f"{both} takes two arms, and the other robot has one")
    if config.work_point is not None:
        return [_plain(skill) for skill in skills]
    steps = [_translated(skill, skills[k + 1 :], config, place) for k, skill in enumerate(skills)]
    return [step for step in steps if step is not None]


def renamed(config: TaskConfig, robot: str) -> list[Any]:
    """Return the skills of a two-arm task, in the same nesting, for another two-arm robot.

    Raises:
        InputError: They are written for one specific robot.
    """
    if config.work_point is None:
        raise InputError(
            "it is written for the two arms of one robot; write it as a deed with robot: NAME "
            "(docs/guides/write_a_task.md), generate that and retell it"
        )
    return [
        {
            robot: [
                {arm: [_plain(skill) for skill in skills] for arm, skills in block.items()}
                for blocks in stage.values()
                for block in blocks
            ]
        }
        for stage in config.skills
    ]


def _plain(skill: SkillConfig) -> dict[str, Any]:
    return skill.model_dump(mode="json", exclude_unset=True, by_alias=True)


def _translated(skill: SkillConfig, later: Sequence[SkillConfig], config: TaskConfig, place: WorkPlace) -> Any:
    """Return the short form of a skill; None for one that is left out."""
    given = _plain(skill)
    if skill.name in LEFT_OUT:
        return None
    if skill.name == "place":
        return _place(given, config, place)
    if skill.name == "pick":
        return _pick(given, place)
    if skill.name == "open":
        return _open(given, later)
    if skill.name not in TRANSLATIONS:
        known = ", ".join(sorted({*TRANSLATIONS, "open", "pick", "place"}))
        raise InputError(
            f"its skill {skill.name} is written for the hand of its own robot and has no form that any robot can "
            f"follow; those that have one: {known}. Tasks for any robot (handloom list tasks) can be retold completely"
        )
    return TRANSLATIONS[skill.name](given)


def _kept(given: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: given[key] for key in (*keys, "instruction") if key in given}


def _approach(given: Mapping[str, Any], place: WorkPlace) -> dict[str, Any]:
    """Return the direction of a hand, unless it is down, which is the default for every hand."""
    approach = given.get("approach")
    filtered = given.get(f"filter_{place.hand_axis}_dir")
    if approach is None and filtered is not None:
        approach = WAYS.get(filtered[0])
    word = approach if isinstance(approach, str) or approach is None else approach[0]
    return {} if word in (None, "down") else {"approach": approach}


def _pick(given: Mapping[str, Any], place: WorkPlace) -> dict[str, Any]:
    lift = float(given.get("lift_th", 0.0)) + LIFT_MORE
    higher = {"post_grasp_offset_min": lift, "post_grasp_offset_max": lift + LIFT_MORE} if lift > 0.05 else {}
    return {"pick": given["objects"][0], **higher, **_approach(given, place), **_kept(given, PICK_KEPT)}


def _place(given: Mapping[str, Any], config: TaskConfig, place: WorkPlace) -> dict[str, Any]:
    name, target = given["objects"][:2]
    mode = given.get("success_mode", "3diou")
    relation = given.get("relation") or {"inside": "in", "beside": "beside"}.get(mode, "to")
    step = {"place": name, relation: target, **_approach(given, place), **_kept(given, PLACE_KEPT)}
    if mode == "3diou":
        step["success_mode"] = mode  # The published default, which a short place lacks.
    if target == config.work_surface:
        step |= _spot_of_work_place(given, config, place.work_point)
    elif "at" in given:
        step["at"] = given["at"]
    return step


def _spot_of_work_place(
    given: Mapping[str, Any], config: TaskConfig, work_point: tuple[float, float]
) -> dict[str, Any]:
    """Return a spot on the table in the work frame, which moves with the scene."""
    if given.get("at_frame") == "work":
        return {"at": given["at"], "at_frame": "work"}
    if "at" in given:
        x, y = given["at"]
        return {"at": [x - work_point[0], y - work_point[1]], "at_frame": "work"}
    raise InputError(
        f"it places {given['objects'][0]} on the {config.work_surface} by ratios of that, which differs from robot to "
        "robot; name the spot with at: [x, y]"
    )


def _open(given: Mapping[str, Any], later: Sequence[SkillConfig]) -> dict[str, Any]:
    name = given["objects"][0]
    shut = any(skill.name == "close" and skill.objects[:1] == (name,) for skill in later)
    # The opening is part of the goal only if nothing shuts it again.
    least = {"least_amount": LOOSE} if shut else {"least_amount": None}
    return {"open": name, **least, **_joint_keys(given)}


def _joint_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    if given.get("planner_setting") is not None:
        raise InputError(
            f"its skill {given['name']} has a planner_setting with points of its own robot's hand; leave that out, and "
            "the hand takes the handle that the object names"
        )
    amount = (
        {} if "by" in given else {"amount": given.get("amount", ArticulatedSkillConfig.model_fields["amount"].default)}
    )
    return {**amount, **_kept(given, JOINT_KEPT)}


def _turned(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"press" if given.get("momentary") else "turn": given["objects"][0], **_joint_keys(given)}


def _pour(given: Mapping[str, Any]) -> dict[str, Any]:
    source, target = given["objects"][:2]
    return {"pour": source, "into": target, **_kept(given, POUR_KEPT)}


TRANSLATIONS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "close": lambda given: {"close": given["objects"][0], **_joint_keys(given)},
    "rotate": _turned,
    "pour": _pour,
    "home": lambda given: {"home": None, **_kept(given, ())},
    "wait": dict,
}
"""Skill > its short form."""


def objects_of_steps(config: TaskConfig) -> Iterator[str]:
    """Yield the objects that skills and goal of a task name."""
    for _, skill in placed_skills(config):
        yield from skill.objects
    for term in config.goal:
        yield from term.names
