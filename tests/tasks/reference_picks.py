"""Task files of the published shape that lift, put, stack, insert and sort."""

from typing import Any

import numpy as np
from reference_rigs import (
    CATEGORIES,
    CLUTTER,
    CONFIGS,
    HOME,
    PICK,
    PLACE,
    TABLES,
    Values,
    above,
    beside,
    goal,
    library,
    on,
    rigid,
    side,
    skills_of,
    task,
)


def drawn(rng: np.random.Generator) -> str:
    """Return a category."""
    return CATEGORIES[int(rng.integers(len(CATEGORIES)))]


def picked(name: str, rig: str, rng: np.random.Generator, **keys: Any) -> Values:
    """Return a pick from above."""
    plain = {key: value for key, value in PICK.items() if key != "filter_z_dir"}
    return {**plain, **above(rig, rng), "objects": [name], **keys}


def placed(name: str, target: str, rig: str, rng: np.random.Generator, **keys: Any) -> Values:
    """Return a place from above."""
    plain = {key: value for key, value in PLACE.items() if key != "filter_z_dir"}
    return {**plain, **above(rig, rng), "objects": [name, target], **keys}


def longer(values: Values, frames: int) -> Values:
    """Return a task file with more frames."""
    values["tasks"][0]["data"]["max_episode_length"] = frames
    return values


def single_pick(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that lifts one object among clutter; the hand may come from anywhere but the back."""
    scale = (0.001, 0.001, 0.001) if rig != "lift2" else (1.1, 1.2, 1.1)
    obj = rigid("pick_object", library(drawn(rng)), scale=scale, optimize_2d_layout=True)
    keys = {"filter_z_dir": ["forward", 90]} if rig in ("lift2", "split_aloha") and rng.random() < 0.5 else {}
    pick = {**PICK, **keys, "objects": ["pick_object"]} if keys else picked("pick_object", rig, rng)
    values = task(rig, [obj], [on("pick_object", *side(arm, rig))], skills_of(rig, {arm: [pick]}), distractors=CLUTTER)
    arenas = list(TABLES)
    values["tasks"][0]["arena_file"] = f"{CONFIGS}/arenas/{arenas[int(rng.integers(len(arenas)))]}.yaml"
    return values


def single_pnp(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that puts one object into a container whose category is a left-over."""
    objects = [
        rigid("pick_object_left", library(drawn(rng)), scale=(0.001,) * 3),
        rigid("container", "pick_and_place/functional/basket/basket_01", category="box", orientation_mode="keep"),
    ]
    regions = [on("pick_object_left", *side(arm, rig)), on("container", *goal(arm, rig), yaw=(0, 0))]
    way = [picked("pick_object_left", rig, rng), placed("pick_object_left", "container", rig, rng), HOME]
    return task(rig, objects, regions, skills_of(rig, {arm: way}), distractors=CLUTTER)


def functional_pick(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that draws from twenty categories at their own size."""
    obj = rigid("pick_object", library(drawn(rng)), randomization_scope=list(CATEGORIES[:20]), scale_mode="suggested")
    way = [picked("pick_object", rig, rng, grasp_scale=0.8)]
    return task(rig, [obj], [on("pick_object", *side(arm, rig))], skills_of(rig, {arm: way}))


def dual_pnp(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task in which both arms put something into one container at the same time."""
    arms = ("left", "right")
    objects = [rigid(f"pick_object_{arm}", library(drawn(rng)), scale=(0.001,) * 3) for arm in arms]
    objects.append(rigid("container", "pick_and_place/functional/basket/basket_01", orientation_mode="keep"))
    regions = [on(f"pick_object_{arm}", *side(arm, rig)) for arm in arms]
    regions.append(on("container", [-0.02, -0.22, 0.0], [0.02, -0.18, 0.0], yaw=(0, 0)))
    ratios = {"left": [0.3, 0.4], "right": [0.6, 0.7]}
    ways = {
        arm: [
            picked(f"pick_object_{arm}", rig, rng),
            placed(f"pick_object_{arm}", "container", rig, rng, x_ratio_range=ratios[arm]),
            HOME,
        ]
        for arm in arms
    }
    return longer(task(rig, objects, regions, skills_of(rig, ways)), 1200)


def stacked(rig: str, arm: str, rng: np.random.Generator, word: str, **keys: Any) -> Values:
    """Return a task that puts one of two alike objects on the other."""
    objects = [rigid(f"{word}_{i}", f"basic/stack_{word}s/{word}/{word}_0{i}", category=word, **keys) for i in range(2)]
    regions = [on(f"{word}_0", *side(arm, rig)), on(f"{word}_1", *goal(arm, rig))]
    ratios = {"x_ratio_range": [0.48, 0.52], "y_ratio_range": [0.48, 0.52], "place_z_offset": 0.05}
    way = [picked(f"{word}_0", rig, rng), placed(f"{word}_0", f"{word}_1", rig, rng, **ratios)]
    return task(rig, objects, regions, skills_of(rig, {arm: way}))


def stack_bowls(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task with objects of different factors per axis."""
    return stacked(rig, arm, rng, "bowl", scale=(1.0, 0.9, 1.3))


def inserted(rig: str, arm: str, rng: np.random.Generator, word: str, holder: str) -> Values:
    """Return a task that puts something long into something upright, their own axes aligned."""
    objects = [
        rigid(word, f"basic/{word}/{word}_set/{word}_01", category=word),
        rigid(holder, f"basic/{holder}/{holder}/{holder}_01", category=holder, orientation_mode="keep"),
    ]
    objects[1]["apply_randomization"] = False
    regions = [on(word, *side(arm, rig)), on(holder, *beside(arm, rig, -0.22, -0.08), yaw=(0, 0))]
    place = placed(word, holder, rig, rng, success_mode="flower", success_th=0.05, place_z_offset=0.02)
    place |= {"align_pick_obj_axis": [0, 1, 0], "align_place_obj_axis": [0, 1, 0], "align_obj_tol": 15}
    place = {key: value for key, value in place.items() if not key.startswith("filter")}
    return task(rig, objects, regions, skills_of(rig, {arm: [picked(word, rig, rng), place]}))


def insert_flower(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a flower for a vase."""
    return inserted(rig, arm, rng, "flower", "vase")


def arrange_tableware(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that lays cutlery beside a plate."""
    objects = [
        rigid("fork", "basic/arrange_tableware/fork/fork_01", category="fork"),
        rigid("plate", "basic/arrange_tableware/plate/plate_01", category="plate", orientation_mode="keep"),
    ]
    regions = [on("fork", *beside(arm, rig, -0.44, -0.26), yaw=(60, 120))]
    regions.append(on("plate", *beside(arm, rig, -0.12, -0.2), yaw=(0, 0)))
    on_left = arm == "left"
    ratios = [-0.35, -0.25] if on_left else [1.2, 1.25]
    place = placed("fork", "plate", rig, rng, success_mode="left" if on_left else "right", threshold=0.01)
    place |= {"x_ratio_range": ratios, "place_z_offset": 0.02, "pre_place_z_offset": 0.1}
    return task(rig, objects, regions, skills_of(rig, {arm: [picked("fork", rig, rng), place]}))


def pack_objects(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that packs two things into a box and goes home after each."""
    objects = [rigid(f"pick_{i}", library(drawn(rng)), scale=(0.001,) * 3) for i in range(2)]
    objects.append(rigid("box", "long_horizon/pack/carton/carton_01", category="box", orientation_mode="keep"))
    regions = [on(f"pick_{i}", *beside(arm, rig, -0.46 + 0.13 * i, -0.28 + 0.1 * i)) for i in range(2)]
    regions.append(on("box", *beside(arm, rig, -0.14, -0.2), yaw=(0, 0)))
    way = []
    for i in range(2):
        way += [picked(f"pick_{i}", rig, rng), placed(f"pick_{i}", "box", rig, rng), HOME]
    return longer(task(rig, objects, regions, skills_of(rig, {arm: way})), 1500)


def recovery_pick(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that misses an object, opens its hand and takes it then."""
    regions = [on("pick_0", *side(arm, rig))]
    miss = {"name": "fail_pick", "objects": ["pick_0"], **above(rig, rng)}
    miss |= {"post_grasp_offset_min": 0.075, "post_grasp_offset_max": 0.125}
    miss |= {f"grasp_{axis}_offset_{end}": value for axis in "xy" for end, value in (("min", 0.03), ("max", 0.06))}
    opened = {"name": "gripper__action", "gripper_state": 1}
    way = [miss, opened, picked("pick_0", rig, rng)]
    return longer(task(rig, [rigid("pick_0", library(drawn(rng)))], regions, skills_of(rig, {arm: way})), 800)
