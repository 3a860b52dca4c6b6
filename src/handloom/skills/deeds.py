"""Effects of each skill of a task on the world: the goal of the task, and the steps towards it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from handloom.judging.ahead import RESTING, lasting_terms
from handloom.judging.checks import NATURES, Nature, holds
from handloom.judging.goal_config import GoalTerm, goal_terms
from handloom.judging.joint_terms import kept_terms, most_turn
from handloom.judging.judge import Judge, Step
from handloom.judging.lasting import REST, at_rest, joint_of, still_standing
from handloom.judging.moved_containers import container_terms
from handloom.judging.point_terms import held_by_both, in_one_hand
from handloom.judging.relations import facing_terms, upright_terms
from handloom.scene import Scene
from handloom.scene.fixtures import FIXTURES
from handloom.scene.measures import world_box
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.articulated_objects.joint_strategies import (
    OPENED,
    shut_end,
    shut_terms,
    turns_by_angle,
)
from handloom.skills.configs.articulated import ArticulatedSkillConfig, ArtPreplanConfig, CloseConfig
from handloom.skills.configs.motions import PourConfig, PourWaterSuccConfig
from handloom.skills.configs.parts import SkillConfig
from handloom.skills.configs.picks import DexPickConfig, DynamicPickConfig, FailPickConfig, PickConfig
from handloom.skills.configs.places import (
    CarryConfig,
    DexPlaceConfig,
    FlipConfig,
    HangConfig,
    MoveConfig,
    PlaceConfig,
    RotateObjConfig,
    ScanConfig,
)
from handloom.skills.held_objects.flip_and_scan import MARGIN as SCAN_MARGIN
from handloom.skills.held_objects.flip_and_scan import SIDE_UP
from handloom.skills.held_objects.pour import container_checks
from handloom.skills.placing.hang import RAISED as HUNG
from handloom.skills.placing.landing import attitude_checks, outcome_checks, relation_checks
from handloom.skills.placing.spots import asked_spot
from handloom.skills.registry import checked_config, make_skill, skill_class
from handloom.skills.schedule import Stages
from handloom.spatial import matrix_from_rotvec
from handloom.values import Check

SEEN = 0.1
"""Time for which a scanner must have seen an object [s]."""
WIPED = 0.5
"""Required duration of wiping [s]."""
SPOT = 0.03
"""Position tolerance of a placed object [m]."""
TILT = 0.3
"""Tolerance of a requested tilt [rad]."""
GRASP_KINDS = (PickConfig, DexPickConfig, DynamicPickConfig)
RELATIONS = frozenset({"relation", "resting", "inside", "beside"})
"""Our own success modes of a place: their terms describe the world."""
MERE_MOTIONS = frozenset(
    {
        *("artpreplan", "goto__pose", "gripper__action", "heuristic__skill", "home", "joint__ctrl", "mobile__rotate"),
        *("mobile__translate", "move", "navigate", "reposition", "track", "wait"),
    }
)
"""Skills that only change the robot."""
PLANNED = frozenset({"lower_than", "near"})
"""Terms of a place whose values come from the expert's plan."""


def make_judge(scene: Scene, stages: Stages, rng: np.random.Generator | None, *, hold: float = REST) -> Judge:
    """Return the judge of a task: by its author's goal or, without one, by the effects of its skills.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task, as its file nests them.
        rng: Draws the end of a task that consists of motions only, as the expert would; None leaves that to the
            expert's own terms.
        hold: How long the goal must hold [s].
    """
    steps = steps_of(scene, stages, rng)
    written = tuple(GoalTerm.model_validate(entry) for entry in scene.instance.goal)
    goal = goal_terms(scene, written, _handled(steps)) if written else goal_of(scene, steps)
    return Judge(scene, goal, steps, hold=hold)


def steps_of(scene: Scene, stages: Stages, rng: np.random.Generator | None) -> tuple[Step, ...]:
    """Return the skills of a task with the effects of each on the world.

    If no skill changes the world, as in a task with motions only, the goal is the pose of the hand or the base.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task, as its file nests them.
        rng: Draws as the expert would for hand goals that depend on a draw; None leaves such goals out.
    """
    joints: dict[tuple[str, str], float] = {}
    given = [
        (robot, arm, checked_config(config))
        for stage in stages
        for robot, blocks in stage.items()
        for block in blocks
        for arm, skills in block.items()
        for config in skills
    ]
    given = [(robot, arm, config) for robot, arm, config in given if skill_class(config.name).kind != "mistake"]
    steps = [_step(robot, arm, config, deeds(scene, config, joints)) for robot, arm, config in given]
    if rng is None or any(step.terms for step in steps):
        return tuple(steps)
    return tuple(_step(robot, arm, config, _motions(scene, robot, arm, config, rng)) for robot, arm, config in given)


def goal_of(scene: Scene, steps: Sequence[Step]) -> tuple[Check, ...]:
    """Return the terms that must hold after all steps: those that no later step undoes."""
    goal: list[Check] = []
    for i, step in enumerate(steps):
        later = [other for other in steps[i + 1 :] if other.terms]
        standing = still_standing(step.terms, step.objects, [(other.skill, other.objects) for other in later])
        final = not any(other.objects[:1] == step.objects[:1] for other in later)
        turned = [joint_of(term) for other in later for term in other.terms]
        for term in step.terms:
            nature = NATURES[term.name]
            if nature is Nature.JOINT:
                stands = joint_of(term) not in turned
            else:
                stands = bool(term.seconds) or term in standing or (final and nature is Nature.MOMENT)
            goal += [term] if stands and term not in goal else []
    if goal and all(not term.seconds and holds(scene, term) for term in goal):
        # A state that ends as it began, such as of a drawer that is opened and shut, must have differed in between.
        once = 1.0 / scene.instance.fps
        undone = [term for step in steps for term in step.terms if term not in goal and not holds(scene, term)]
        goal += [replace(term, seconds=once) for term in undone]
    handled = dict.fromkeys(term.arguments.get("object") for term in goal if term.name in RESTING)
    goal += at_rest(scene, [name for name in handled if name])
    goal += kept_terms(scene, [term for step in steps for term in step.terms])
    goal += container_terms(scene, goal, _handled(steps))
    return (*goal, *lasting_terms(scene, goal, _handled(steps)))


def _handled(steps: Sequence[Step]) -> set[str]:
    """Return the objects that skills grasp: the first one that each skill names."""
    return {step.objects[0] for step in steps if step.objects}


def deeds(scene: Scene, config: SkillConfig, joints: dict[tuple[str, str], float]) -> tuple[Check, ...]:
    """Return the terms of the world that hold after a skill; none for an intermediate place of the expert.

    Args:
        scene: The scene in its first state.
        config: The skill.
        joints: Positions of object joints that earlier skills moved; updated in place [m or rad].
    """
    own = getattr(skill_class(config.name), "deeds", None)
    if own is not None:
        return tuple(own(scene, config))
    for kind, of in DEEDS:
        if isinstance(config, kind):
            return of(scene, config)
    if isinstance(config, ArticulatedSkillConfig) and not isinstance(config, ArtPreplanConfig):
        return _joint(scene, config, joints)
    return ()


def _step(robot: str, arm: str, config: SkillConfig, terms: tuple[Check, ...]) -> Step:
    return Step(
        robot=robot,
        arm=arm,
        skill=config.name,
        objects=config.objects,
        instruction=config.instruction,
        terms=terms,
    )


def _motions(scene: Scene, robot: str, arm: str, config: SkillConfig, rng: np.random.Generator) -> tuple[Check, ...]:
    """Return the terms that the hand or base reaches, at some time, the goal of a motion skill."""

    def controller(robot: str, arm: str) -> ArmController:
        return ArmController(scene, scene.robot(robot).arm(arm))

    skill = make_skill(scene, robot, arm, config, rng, controller)
    skill.simple_generate_manip_cmds()
    if not skill.has_terms():
        return ()
    once = 1.0 / scene.instance.fps
    return tuple(
        Check(name=check.name, arguments=check.arguments, seconds=once)
        for check in skill.checks()
        if check.name in ("hand_at", "base_at", "joints_at")
    )


def _grasp(scene: Scene, config: Any) -> tuple[Check, ...]:
    if getattr(config, "final_gripper_state", -1) == 1:
        return ()
    name = config.objects[0]
    if getattr(config, "handed", False):
        both = Check(name=held_by_both.__name__, arguments={"object": name}, seconds=1.0 / scene.instance.fps)
        return (both, Check(name=in_one_hand.__name__, arguments={"object": name}))
    terms = [Check(name="in_hand", arguments={"object": name})]
    if config.lift_th > 0.0:
        from_z = float(scene.object_pose(name)[2, 3])
        terms.append(Check(name="lifted", arguments={"object": name, "from_z": from_z, "by": config.lift_th}))
    return tuple(terms)


def _place(scene: Scene, config: PlaceConfig) -> tuple[Check, ...]:
    if config.success_mode in RELATIONS:
        return (*relation_checks(scene, config), *_spot(scene, config), *attitude_checks(config))
    name = config.objects[0]
    outcome = outcome_checks(config, {"object": name}, below=np.inf, near=np.inf)
    terms = [check for check in outcome if check.name not in (*PLANNED, "released") and not check.share]
    return (*terms, *attitude_checks(config), Check(name="let_go", arguments={"object": name}))


def _spot(scene: Scene, config: PlaceConfig) -> tuple[Check, ...]:
    """Return the terms for the spot and the rotation of the object given by the task; on a tray, any spot will do.

    Ratios of a table or the floor also name a spot.
    """
    name, target = config.objects[:2]
    facing, spot = facing_terms(scene, name, config.facing), asked_spot(scene, config)
    if spot is not None:
        near = {"low": (spot - SPOT).tolist(), "high": (spot + SPOT).tolist()}
        return (Check(name="placed_at", arguments={"object": name, **near}), *facing)
    furniture = any(obj.name == target and obj.category in FIXTURES for obj in scene.instance.objects)
    if not furniture or config.relation != "on" or config.ratio_widest is not None:
        return facing
    box = world_box(scene, target, config.place_part_prim_path)[:, :2]
    ratios = np.sort(np.array([config.x_ratio_range, config.y_ratio_range], float), axis=1)
    low, high = (box[0] + ratios[:, k] * (box[1] - box[0]) for k in (0, 1))
    spot = {"low": (low - SPOT).tolist(), "high": (high + SPOT).tolist()}
    return (Check(name="placed_at", arguments={"object": name, **spot}), *facing)


def _dexplace(scene: Scene, config: DexPlaceConfig) -> tuple[Check, ...]:
    name, target = config.objects[:2]
    pair = {"object": name, "target": target, "part": config.place_part_prim_path}
    return (
        Check(name="over_box", arguments={**pair, "margin": 0.0}),
        Check(name="inside", arguments={**pair, "share": 0.5}),
        Check(name="let_go", arguments={"object": name}),
    )


def _carry(scene: Scene, config: CarryConfig) -> tuple[Check, ...]:
    name, target = config.objects[:2]
    return (
        Check(name="carried_by", arguments={"object": name, "target": target}),
        *upright_terms(scene, name, float(config.tilt)),
        Check(name="let_go", arguments={"object": name}),
    )


def _hang(scene: Scene, config: HangConfig) -> tuple[Check, ...]:
    name, target = config.objects[:2]
    if config.approach_only:
        return (Check(name="in_hand", arguments={"object": name}),)
    return (
        Check(name="touches", arguments={"object": name, "target": target}),
        Check(name="raised_above", arguments={"object": name, "target": target, "by": HUNG}),
        Check(name="let_go", arguments={"object": name}),
    )


def _flip(scene: Scene, config: FlipConfig) -> tuple[Check, ...]:
    up = {"object": config.objects[0], "axis": list(config.up_axis), "angle": SIDE_UP}
    return (
        Check(name="points_up", arguments=up),
        Check(name="let_go", arguments={"object": config.objects[0]}),
    )


def _scan(scene: Scene, config: ScanConfig) -> tuple[Check, ...]:
    if len(config.objects) < 2:
        return ()
    far = config.view_distance[1] + SCAN_MARGIN
    seen = {"object": config.objects[0], "scanner": config.objects[1], "distance": far}
    return (Check(name="in_view", arguments=seen, seconds=SEEN),)


def _move(scene: Scene, config: MoveConfig) -> tuple[Check, ...]:
    held, goal = config.objects[:2]
    if config.press is None or held == goal:
        return ()
    if config.press_part is not None:
        about = {"object": held, "target": goal, "part": config.press_part}
        return (Check(name="wipes", arguments=about, seconds=WIPED),)
    return (Check(name="touches", arguments={"object": held, "target": goal}, seconds=WIPED),)


def _pour(scene: Scene, config: PourConfig) -> tuple[Check, ...]:
    container, target = config.objects[:2]
    amounts = {"container": container, "target": target, "share": config.poured, "spilled": config.spilled}
    return (Check(name="poured", arguments=amounts),)


def _pour_water(scene: Scene, config: PourWaterSuccConfig) -> tuple[Check, ...]:
    return container_checks(config)


def _rotate_held(scene: Scene, config: RotateObjConfig) -> tuple[Check, ...]:
    """Return the term for a tilt of the object by the given angles; a rotation about the vertical alone has none."""
    name = config.objects[0]
    up = scene.object_pose(name)[2, :3]
    tilts = []
    low, high = np.array(config.rotate_obj_euler_delta, float)
    for degrees in product(*(np.linspace(low[k], high[k], 3) for k in range(3))):
        x, y, z = (matrix_from_rotvec(np.deg2rad(degrees[k]) * np.eye(3)[k]) for k in range(3))
        tilts.append(float(np.arccos(np.clip(up @ (x @ y @ z) @ up, -1.0, 1.0))))
    if max(tilts) < 2.0 * TILT:
        return ()
    tilt = {"object": name, "axis": up.tolist(), "low": min(tilts) - TILT, "high": max(tilts) + TILT}
    return (Check(name="tilted", arguments=tilt, seconds=SEEN),)


def _joint(scene: Scene, config: ArticulatedSkillConfig, joints: dict[tuple[str, str], float]) -> tuple[Check, ...]:
    name = config.objects[0]
    asset = scene.assets[name]
    if not asset.articulated:
        return ()
    link = asset.joints[asset.joint_index(config.joint)]
    start = joints.get((name, link.joint), scene.world.joint_position(f"{name}/{link.joint}"))
    (low, high), told = link.range, config.planner_setting
    if isinstance(config, CloseConfig):
        joints[name, link.joint] = shut_end(link) if told is None else min(max(0.0, low), high)
        wanted = shut_terms(link, start)
    else:
        motion = config.amount * (high - low)
        if config.by is not None:
            motion = float(np.deg2rad(config.by)) if link.kind == "hinge" else config.by
        end = float(np.clip(start + motion * (1.0 if abs(high) >= abs(low) else -1.0), low, high))
        joints[name, link.joint] = end
        enough = np.inf if config.least_amount is None else config.least_amount * (high - low)
        wanted = {"threshold": min(OPENED * abs(end - start), enough), "mode": "abs"}
        if turns_by_angle(config, link):
            # Of a turn in several grasps, the whole may be off, not each part by itself.
            whole = end - scene.world.joint_position(f"{name}/{link.joint}")
            wanted["most"] = most_turn(whole) - abs(whole) + motion
    if told is not None:
        wanted.pop("most", None)
        wanted["threshold"] = told.success_threshold
        wanted["mode"] = told.success_mode or ("zero" if isinstance(config, CloseConfig) else "abs")
    if config.momentary:
        joints[name, link.joint] = start
    once = 1.0 / scene.instance.fps if config.momentary else 0.0
    about = {"object": name, "joint": link.joint, "start": start, **wanted}
    return (Check(name="joint_state", arguments=about, seconds=once),)


Deeds = Callable[[Scene, Any], tuple[Check, ...]]
DEEDS: tuple[tuple[type[SkillConfig], Deeds], ...] = (
    (FailPickConfig, lambda scene, config: ()),
    *((kind, _grasp) for kind in GRASP_KINDS),
    (PlaceConfig, _place),
    (DexPlaceConfig, _dexplace),
    (CarryConfig, _carry),
    (HangConfig, _hang),
    (FlipConfig, _flip),
    (ScanConfig, _scan),
    (MoveConfig, _move),
    (PourConfig, _pour),
    (PourWaterSuccConfig, _pour_water),
    (RotateObjConfig, _rotate_held),
)
"""Config of a skill > its effects on the world."""
