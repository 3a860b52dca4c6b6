"""Task files of the published shape that open and close doors, drawers and lids."""

from collections.abc import Callable

import numpy as np
from reference_picks import longer, picked, placed
from reference_rigs import AXES, HOME, STANDS, Values, beside, library, on, rigid, skills_of, stood, task

THINGS: dict[str, tuple[str, str, tuple[float, float], float, int]] = {
    "open_microwave": ("art/open_v/microwave", "open_v", (0.34, 0.45), 0.7, 5),
    "close_microwave": ("art/close_v/microwave", "close_v", (0.9, 1.1), 0.08, 6),
    "open_oven": ("art/open_h_down/oven", "open_h_down_handle", (0.0, 0.0), 0.3, 2),
    "close_oven": ("art/close_h_down/oven", "close_h_down", (0.9, 1.1), 0.08, 2),
    "open_laptop": ("art/open_h/laptop", "open_h", (0.4, 0.6), 0.4, 2),
    "close_laptop": ("art/close_h/laptop", "close_h", (1.0, 1.2), 0.08, 2),
    "open_pot": ("art/open_h/pot", "open_h", (0.0, 0.1), 0.2, 1),
    "close_cooker": ("art/close_h/electric_cooker", "close_h", (0.7, 0.9), 0.08, 1),
    "close_trash_can": ("art/close_h/trashcan", "close_h", (0.6, 0.8), 0.08, 2),
    "open_washing_machine": ("art/open_v/washingmachine", "open_v_handle", (0.2, 0.3), 0.3, 7),
    "close_washing_machine": ("art/close_v/washingmachine", "close_v", (0.8, 1.0), 0.08, 5),
    "close_package": ("art/close_h/package", "close_h_left", (1.0, 1.2), 0.08, 1),
    "pull_drawer": ("art/pull/storagefurniture_mid", "pull", (0.0, 0.0), 0.07, 12),
    "push_drawer": ("art/push/storagefurniture_mid", "push", (0.1, 0.14), 0.01, 12),
}
"""Deed > folder of its assets, annotation, start of the joint, threshold and number of files.

Drawers come in three heights, for two robots and each of their arms.
"""
HEIGHTS = ("low", "mid", "high")
LIDS = ("laptop", "pot", "electric_cooker", "trashcan", "package")
"""What opens upward; the hand must get to its middle or beyond."""


MICROWAVE = ([-0.3, 0.0, 0.0], [0.05, 0.15, 0.0])
"""Where published tasks of robots with two arms have a microwave [m]."""


def articulated(name: str, folder: str, info: str, start: tuple[float, float]) -> Values:
    """Return an articulated object of which only the folder is named."""
    entry = {"name": name, "target_class": "ArticulatedObject", "path": "", "category": "", "obj_info_path": ""}
    entry |= {"dataset": "pm", "art_cat": folder, "info_name": info, "euler": [90, 0, 0], "scale": [1, 1, 1]}
    return entry | {"joint_position_range": list(start), "apply_randomization": True, "fix_base": True}


def moved(skill: str, name: str, threshold: float) -> Values:
    """Return an open, a close or their test in advance, with the setting of an annotation that is not there."""
    drawer = threshold <= 0.07 and skill != "close"
    contact = "link_contact_point" if drawer else "articulated_object_head"
    ranges = {f"{axis}_{end}": 0.0 for axis in "xyz" for end in ("min", "max")}
    meets = {"name": "fingers_contact_with_link0", "type": "point2point_constraint", "keypoint_name": "tool_head"}
    meets |= {"target_keypoint_name": contact, "tolerance": 1e-06}
    along = {"name": "hand_parallel_to_link0_edge", "type": "frame_axis_parallel", "target_axis": "link0_contact_axis"}
    along |= {"axis_from_keypoint_name": "tool_head", "axis_to_keypoint_name": "tool_side"}
    across = {"name": "fingers_orthogonal_to_link0", "type": "frame_axis_parallel"}
    across |= {"axis_from_keypoint_name": "tool_head", "axis_to_keypoint_name": "tool_tail"}
    across |= {"cross_target_axis1_from_keypoint_name": "articulated_object_head"}
    across |= {"cross_target_axis1_to_keypoint_name": "articulated_object_tail"}
    across |= {"target_axis": "link0_contact_axis", "target_inner_product": 0.7, "tolerance": 0.6}
    setting = {
        "task_name": "OpenBox" if skill == "open" else "CloseBox",
        "category_name": "Articulated",
        "tool_keypoint_name_list": ["tool_head", "tool_tail", "tool_side"],
        "object_keypoint_name_list": ["articulated_object_head", "articulated_object_tail"],
        "success_threshold": threshold,
        "constraint_list": [meets, {**along, "target_inner_product": -1, "tolerance": 0.01}, across],
        "contact_pose_index": 2,
        "pre_actuation_motions": [] if skill == "open" else [["translate_x", -0.05]],
        "post_actuation_motions": [["translate_z", 0.04], *[["rotate", -0.2]] * 6],
        "keypose_random_range": {"orientation": ranges, "position": ranges},
    }
    return {"name": skill, "objects": [name], "collision_valid": False, "planner_setting": setting}


def door_setting(skill: str, rig: str) -> Values:
    """Return how published tasks move a door by its upper edge.

    To open it, the hand comes from above with one finger on each side; to close it, closed fingers push its face.
    """
    opens = skill == "open"
    meets = {"name": "fingers_contact_with_link0", "type": "point2point_constraint", "keypoint_name": "tool_head"}
    meets |= {"target_keypoint_name": "articulated_object_head", "tolerance": 1e-06}
    along = {"name": "hand_parallel_to_link0_edge", "type": "frame_axis_parallel", "target_axis": "link0_contact_axis"}
    along |= {"axis_from_keypoint_name": "tool_head", "axis_to_keypoint_name": "tool_tail" if opens else "tool_side"}
    along |= {"target_inner_product": -1, "tolerance": 0.3}
    across = {"name": "fingers_orthogonal_to_link0", "type": "frame_axis_parallel", "target_axis": "link0_contact_axis"}
    across |= {"axis_from_keypoint_name": "tool_head", "axis_to_keypoint_name": "tool_side" if opens else "tool_tail"}
    across |= {"cross_target_axis1_from_keypoint_name": "articulated_object_head"}
    across |= {"cross_target_axis1_to_keypoint_name": "articulated_object_tail"}
    across |= {"target_inner_product": 1, "tolerance": 5e-4 if opens else 0.6}
    sign, reach = (-1 if opens else 1), f"translate_{AXES[rig][0]}"
    turns = [*[["rotate", sign * 0.2]] * 4, *[["rotate", sign * 0.1]] * 2]
    return {
        "task_name": "OpenBox" if opens else "CloseBox",
        "category_name": "Articulated",
        "tool_keypoint_name_list": ["tool_head", "tool_tail", "tool_side"],
        "object_keypoint_name_list": ["articulated_object_head", "articulated_object_tail"],
        "success_threshold": 0.52 if opens else 0.08,
        "constraint_list": [meets, along, across],
        "contact_pose_index": 2,
        "pre_actuation_motions": [] if opens else [[reach, -0.05]],
        "post_actuation_motions": [[reach, 0.04], *turns] if opens else turns,
        "keypose_random_range": {"orientation": {}, "position": {}},
    }


def published_microwave(
    rig: str, arm: str, skill: str, start: tuple[float, float], *, setting: bool = True, yaw: float = 20.0
) -> Values:
    """Return a task on the jointed asset of ``reference_assets``, where published tasks have it.

    Args:
        rig: The robot.
        arm: The arm.
        skill: ``open`` or ``close``.
        start: Where the joint begins [rad]; shut is 0.524, wide open is -1.4.
        setting: Whether the task says how, or leaves it to the annotation.
        yaw: How far the asset is turned at most [deg].
    """
    entry = articulated("microwave", "art/microwaves", f"{skill}_v", start) | {"scale": [0.001, 0.001, 0.001]}
    low, high = ([-0.3, 0.0, 0.0], [0.05, 0.15, 0.0]) if rig != "franka" else ([-0.05, 0.1, 0.0], [0.1, 0.2, 0.0])
    deed_of = {"name": skill, "objects": ["microwave"]} | (
        {"planner_setting": door_setting(skill, rig)} if setting else {}
    )
    region = on("microwave", low, high, yaw=(-yaw, yaw))
    values = longer(task(rig, [entry], [region], skills_of(rig, {arm: [deed_of]})), 600)
    return stood(values, rig, np.random.default_rng(0)) if rig in STANDS else values


def deed(word: str) -> Callable[[str, str, np.random.Generator], Values]:
    """Return the maker of tasks that do one thing to one joint."""
    folder, info, start, threshold, _ = THINGS[word]
    skill = "open" if word.startswith(("open", "pull")) else "close"

    def make(rig: str, arm: str, rng: np.random.Generator) -> Values:
        thing = folder.rpartition("/")[2]
        low, high = MICROWAVE if thing == "microwave" and rig in STANDS else stands(rig, arm, lid=thing in LIDS)
        region = on("object", low, high, yaw=(-20, 20) if thing == "microwave" else (-5, 5))
        height = HEIGHTS[int(rng.integers(len(HEIGHTS)))]
        entry = articulated("object", folder.replace("mid", height), info, start)
        if thing == "microwave":
            arm = "left"  # Its door has its hinge on the left.
        values = task(rig, [entry], [region], skills_of(rig, {arm: [moved(skill, "object", threshold)]}))
        return longer(stood(values, rig, rng) if rig in STANDS else values, 600)

    make.__name__ = word
    return make


def stands(rig: str, arm: str, *, lid: bool = False) -> tuple[list[float], list[float]]:
    """Return where articulated objects stand: behind where others lie, but no further than an arm gets to a lid."""
    if rig == "franka":
        return beside(arm, rig, -0.28, 0.06 if not lid else -0.02)
    return beside(arm, rig, -0.2, 0.1 if not lid else -0.15)


def store_in_drawer(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that opens a drawer, puts something in and shuts it."""
    folder, info, _, threshold, _ = THINGS["pull_drawer"]
    objects = [articulated("drawer", folder, info, (0.0, 0.0)), rigid("pick_0", library("omniobject3d-lemon"))]
    regions = [on("drawer", *stands(rig, arm), yaw=(0, 0)), on("pick_0", *beside(arm, rig, -0.48, -0.3))]
    keys = {"place_part_prim_path": "contact_link1", "place_direction": "vertical", "place_z_offset": 0.1}
    way = [
        {**moved("artpreplan", "drawer", 0.01)},
        moved("open", "drawer", threshold),
        picked("pick_0", rig, rng),
        placed("pick_0", "drawer", rig, rng, **keys),
        {**moved("close", "drawer", 0.01), "ignore_substring": ["pick_0"]},
    ]
    return longer(task(rig, objects, regions, skills_of(rig, {arm: way})), 2500)


def heat_food(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that puts bread into an open microwave from the front with one arm and shuts it with the other."""
    folder, info, _, threshold, _ = THINGS["close_microwave"]
    objects = [articulated("microwave", folder, info, (1.3, 1.4)), rigid("pick_0", library("omniobject3d-bread"))]
    regions = [
        on("microwave", [-0.05, -0.05, 0.0], [0.05, 0.05, 0.0], yaw=(0, 0)),
        on("pick_0", [0.15, -0.3, 0.0], [0.25, -0.23, 0.0]),
    ]
    keys = {"place_direction": "horizontal", "align_pick_obj_axis": [0, 1, 0], "align_place_obj_axis": [1, 0, 0]}
    keys |= {"offset_place_obj_axis": [0, 0, -1], "pre_place_align": -0.15, "place_align": -0.07}
    keys |= {"pre_place_offset": 0.027, "place_offset": 0.027, "place_part_prim_path": "base"}
    keys |= {"y_ratio_range": [0.2, 0.4], "z_ratio_range": [0.4, 0.6], "ignore_substring": ["microwave"]}
    puts = [picked("pick_0", rig, rng), placed("pick_0", "microwave", rig, rng, **keys), HOME]
    shuts = {**moved("close", "microwave", threshold), "ignore_substring": ["pick_0"]}
    tried = {"left": [moved("artpreplan", "microwave", threshold)]}
    values = task(rig, objects, regions, skills_of(rig, tried, {"right": puts}, {"left": [shuts]}))
    return longer(stood(values, rig, rng), 2500)
