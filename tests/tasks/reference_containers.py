"""Task files of the published shape that put things into bins, holders, mugs and egg boxes, or take a dish at its rim.

Regions, offsets and filters are the published numbers; nothing else is.
"""

from typing import Any

import numpy as np
from reference_articulated import articulated, moved
from reference_picks import longer
from reference_rigs import AXES, CONFIGS, HOME, RIGS, Values, on, rigid, robot_entry, skills_of, task

PICK = {"name": "pick", "pre_grasp_offset": 0.05, "gripper_change_steps": 10, "t_eps": 0.025, "o_eps": 1}
PICK |= {"process_valid": True, "lift_th": 0.02, "post_grasp_offset_min": 0.1, "post_grasp_offset_max": 0.15}
THIRD = {"lift2": "y", "split_aloha": "x"}
"""Robot > the axis of its hand frame along which the fingers close."""


def filters(rig: str, *, reach: list[Any] | None = None, forward: list[Any] | None = None) -> Values:
    """Return direction filters of the axis along which a hand reaches and of the one that looks forward then."""
    given = dict(zip(AXES[rig], (reach, forward), strict=True))
    return {f"filter_{axis}_dir": value for axis, value in given.items() if value is not None}


def standing(rig: str, low: list[float], high: list[float] | None = None) -> Values:
    """Return the region of a robot."""
    return on(rig, low, high or low, yaw=(0, 0))


def scene(
    rig: str, objects: list[Values], regions: list[Values], skills: Any, frames: int, *, arena: str = "", **robot: Any
) -> Values:
    """Return a task file whose last region is that of its robot, whose keys are given too."""
    values = longer(task(rig, objects, [], skills, robots=[robot_entry(rig, **robot)]), frames)
    values["tasks"][0]["regions"] = regions
    if arena:
        values["tasks"][0]["arena_file"] = f"{CONFIGS}/arenas/{arena}.yaml"
    return values


def rubbish_bins(rig: str, rng: np.random.Generator, root: str) -> Values:
    """Return a task in which both arms in turn drop rubbish into bins that stand on the floor beside the table."""
    ends, objects, regions, blocks = {"left": -1.0, "right": 1.0}, [], [], []
    near = {"lift2": (-0.25, 0.05), "split_aloha": (-0.2, 0.1)}[rig]
    inner, height = {"lift2": ((0.2, 0.3), 0.25), "split_aloha": ((0.3, 0.4), 0.3)}[rig]
    folders = {"left": "non_recyclable_garbage/obj_0", "right": "recyclable_garbage/bottle_0"}
    twice = int(rng.integers(4)) % 2
    for arm, sign in ends.items():
        names = [f"pick_object_{arm}", *([f"pick_object_{arm}2"] if twice and arm == "left" else [])]
        low, high = sorted((sign * 0.3, sign * 0.025))
        way: list[Values] = []
        for k, name in enumerate(names):
            objects.append(
                rigid(name, f"{root}/{folders[arm]}", euler=(0, 0, 0), orientation_mode="random")
                | {"optimize_2d_layout": True}
            )
            yaw = (-45, 15) if arm == "left" else (-15, 45)
            regions.append(on(name, [low, near[0], 0.0], [high, near[1], 0.0], yaw=yaw))
            down = filters(rig, reach=["downward", 150], forward=["forward", 60])
            way.append({**PICK, **down, "objects": [name], "pre_grasp_offset": 0.1 if k else 0.05})
            place = {"name": "place", "objects": [name, f"gso_box_{arm}"], "place_direction": "vertical"}
            place |= filters(rig, reach=["downward", 150], forward=["forward", 30])
            ratio = list(inner) if sign > 0 else [round(1.0 - r, 2) for r in reversed(inner)]
            place |= {"x_ratio_range": ratio, "y_ratio_range": list(inner), "success_mode": "height"}
            way.append({**place, "pre_place_z_offset": height, "place_z_offset": height})
        blocks.append({arm: [*way, HOME]})
    for arm, sign in ends.items():
        can = "nonrecyclable_can" if arm == "left" else "recyclable_can"
        entry = rigid(f"gso_box_{arm}", f"{root}/garbage_can/{can}", category="box", apply_randomization=False)
        objects.append({**entry, "target_class": "GeometryObject"})
        at = [sign * 0.6, 0.0, -0.75]
        regions.append(on(f"gso_box_{arm}", at, at, yaw=(0, 0)))
    low, high = {
        "lift2": ([-0.025, -0.75, -0.725], [0.025, -0.75, -0.675]),
        "split_aloha": ([0.0, -0.86, -0.775], [0.0, -0.86, -0.725]),
    }[rig]
    regions.append(standing(rig, low, high))
    ignored = {"ignore_substring": ["material", "table", "gso_box"]}
    home = {f"{arm}_joint_home{word}": [0.0] * 6 for arm in ends for word in ("", "_std")}
    return scene(rig, objects, regions, skills_of(rig, *blocks[::-1]), 4000, arena="mid_table_arena", **ignored, **home)


def sort_rubbish(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task that sorts rubbish into two bins on the floor."""
    return rubbish_bins(rig, rng, "long_horizon/sort_the_rubbish")


def example_rubbish(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return the same with the assets of the examples."""
    values = rubbish_bins(rig, rng, "task/sort_the_rubbish")
    values["tasks"][0]["asset_root"] = "workflows/simbox/example_assets"
    return values


def insert_markpen(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that puts a lying pen upright into a pen holder, their own axes aligned to five degrees."""
    fixed = {"apply_randomization": False, "category": "gift"}
    folder = "basic/insert_the_markpen_in_penholder"
    objects = [rigid("oo3d_object1", f"{folder}/pen/pen0", euler=(0, 0, 0), **fixed)]
    objects.append(rigid("oo3d_object2", f"{folder}/container/container1", scale=(0.12,) * 3, **fixed))
    for entry in objects:
        del entry["orientation_mode"]
    pen, holder = ((-0.28, -0.2), (0.0, 0.1)) if arm == "left" else ((0.2, 0.28), (-0.1, 0.0))
    regions = [standing(rig, [0.0, -0.86, -0.725 if rig == "lift2" else -0.905])]
    regions += [on("oo3d_object1", [pen[0], -0.25, 0.0], [pen[1], -0.15, 0.0], yaw=(-20, 20))]
    regions += [on("oo3d_object2", [holder[0], -0.25, 0.0], [holder[1], -0.15, 0.0], yaw=(0, 0))]
    pick = {"name": "pick", "objects": ["oo3d_object1"], "pre_grasp_offset": 0.05}
    pick |= filters(rig, reach=["downward", 160], forward=["forward", 60])
    pick |= {"pre_grasp_hold_vec_weight": [1, 1, 1, 0, 0, 0]}
    place = inserted("oo3d_object1", "oo3d_object2", rig, tolerance=5, before=0.2, at=0.1)
    place |= {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5], "success_th": 0.15}
    place |= {"post_place_hold_vec_weight": [0, 0, 0, 1, 1, 0]}
    ignored = ["material", "Plane", "table", "conveyor", "scene", "oo3d_object2"]
    return scene(rig, objects, regions, skills_of(rig, {arm: [pick, place]}), 1300, ignore_substring=ignored)


def inserted(name: str, holder: str, rig: str, *, tolerance: int, before: float, at: float) -> Values:
    """Return a place that stands something long in something upright; the hand lies on its side then."""
    place = {"name": "place", "objects": [name, holder], "place_direction": "vertical", "success_mode": "flower"}
    place |= filters(rig, forward=["upward", 40])
    place |= {"align_pick_obj_axis": [0, 1, 0], "align_place_obj_axis": [0, 1, 0], "align_obj_tol": tolerance}
    return place | {"pre_place_z_offset": before, "place_z_offset": at, "position_constraint": "object"}


def store_toothbrush(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task in which both arms take a toothbrush and its paste at once and put them into a mug in turn."""
    folder = "basic/store_the_toothbrushes/omniobject3d-"
    kept = {"orientation_mode": "keep", "optimize_2d_layout": False}
    mug = rigid("mug", f"{folder}mug/google_scan-mug_0160", category="box", scale=(0.0017, 0.0013, 0.0017), **kept)
    things = {"left": "tooth_brush", "right": "tooth_paste"}
    objects = [
        *(
            rigid(name, f"{folder}{name}/{name}_001", euler=(0, 0, 0), scale=(0.001,) * 3, **kept)
            for name in things.values()
        ),
        mug,
    ]
    far, front, back = {"lift2": (0.45, -0.25, -0.05), "split_aloha": (0.5, -0.2, 0.0)}[rig]
    regions = [on("tooth_brush", [-far, front, 0.0], [-0.2, back, 0.0], yaw=(-45, 45))]
    regions += [on("tooth_paste", [0.2, front, 0.0], [far, back, 0.0], yaw=(-45, 45))]
    regions += [on("mug", [-0.05, -0.15, 0.0], [0.05, 0.05, 0.0], yaw=(0, 0))]
    low, high = {
        "lift2": ([-0.025, -0.8, -0.7], [0.025, -0.8, -0.6]),
        "split_aloha": ([0.0, -0.86, -0.765], [0.0, -0.86, -0.765]),
    }[rig]
    regions.append(standing(rig, low, high))
    steep = 160 if rig == "lift2" else 150
    down = filters(rig, reach=["downward", steep], forward=["forward", 60])
    lifted = {"post_grasp_offset_min": 0.15, "post_grasp_offset_max": 0.2}
    picks = {arm: [{**PICK, **down, **lifted, "objects": [name]}] for arm, name in things.items()}
    puts = {}
    for arm, name in things.items():
        place = inserted(name, "mug", rig, tolerance=30, before=0.15, at=0.1)
        place |= {f"filter_{THIRD[rig]}_dir": ["forward", 90, 0] if arm == "left" else ["forward", 180, 90]}
        ratio = [0.4, 0.5] if arm == "left" else [0.5, 0.6]
        place |= {"x_ratio_range": ratio, "y_ratio_range": [0.3, 0.5], "success_th": 0.05, "ignore_substring": ["mug"]}
        puts[arm] = place
    last = {"left": [HOME], "right": [puts["right"], HOME]}
    return scene(rig, objects, regions, skills_of(rig, picks, {"left": [puts["left"]]}, last), 4000)


SIDEWAYS = {"left": ["backward", 135], "right": ["forward", 45]}
"""Arm of genie1 > where the closing axis of its hand looks."""


def store_eggs(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task in which each arm of genie1 puts an egg into a box of 1.2 times its size, reaching forward."""
    objects, blocks, regions = [], [], []
    for arm in RIGS[rig]["arms"]:
        name = f"pick_object_{arm}"
        egg = rigid(name, "basic/store_the_eggs/omniobject3d-egg_p/omniobject3d-egg_098", euler=(0, 0, 0))
        objects.append({**egg, "scale": [0.001] * 3, "apply_randomization": False, "optimize_2d_layout": True})
        del objects[-1]["orientation_mode"]
        regions.append(on(name, [-0.15, -0.18, 0.0], [0.15, -0.06, 0.0], yaw=(0, 0)))
        ahead = {"filter_x_dir": SIDEWAYS[arm], "filter_y_dir": ["downward", 120]}
        pick = {"name": "pick", "objects": [name], **ahead, "filter_z_dir": ["forward", 135, 45], "lift_th": 0.0}
        pick |= {"pre_grasp_offset": 0.08, "gripper_change_steps": 20, "process_valid": True}
        pick |= {"post_grasp_offset_min": 0.0, "post_grasp_offset_max": 0.0, "return_to_pregrasp": True}
        place = {"name": "place", "objects": [name, "gso_box"], "position_constraint": "object", **ahead}
        place |= {"filter_x_dir": ["backward", 110] if arm == "left" else ["forward", 70]}
        place |= {"filter_z_dir": ["forward", 70], "success_mode": "xybbox", "gripper_change_steps": 20}
        place |= {"x_ratio_range": [0.48, 0.52] if arm == "left" else [0.75, 0.85]}
        place |= {"y_ratio_range": [0.2, 0.3] if arm == "left" else [0.15, 0.35]}
        place |= {"pre_place_z_offset": 0.03, "place_z_offset": 0.03}
        blocks.append({arm: [pick, place, HOME]})
    tray = rigid("gso_box", "basic/store_the_eggs/egg_placer3/098_egg_placer_000_orange", euler=(0, 0, 0))
    objects.append({**tray, "category": "box", "scale": [1.2] * 3, "apply_randomization": False})
    del objects[-1]["orientation_mode"]
    regions.append(on("gso_box", [-0.05, 0.14, 0.01], [0.05, 0.18, 0.01], yaw=(0, 0)))
    regions.append(standing(rig, [-0.025, -0.81, -0.85], [0.025, -0.81, -0.73]))
    return scene(rig, objects, regions, skills_of(rig, *blocks), 800, tcp_offset=0.2)


def bin_trash(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that drops rubbish into an open can on the table and shuts its lid."""
    can = articulated("trashcan", "long_horizon/put_the_trashcan_in_trashcan/trashcan", "close_h", (1.3, 1.4))
    can |= {"euler": [0, 0, 0], "scale": [0.001] * 3}
    del can["fix_base"]
    folder = "long_horizon/put_the_trashcan_in_trashcan/trash/obj_1"
    objects = [can, rigid("trash_0", folder, euler=(0, 0, 0), orientation_mode="random")]
    regions = [on("trash_0", [0.0, -0.2, 0.0], [0.35, 0.15, 0.0], yaw=(0, 0))]
    regions += [on("trashcan", [-0.15, -0.2, 0.0], [0.0, 0.15, 0.0], yaw=(0, 0))]
    regions += [standing(rig, [-0.025, -0.5, -0.1], [0.025, -0.5, 0.1])]
    pick = {**PICK, "objects": ["trash_0"], "filter_x_dir": ["forward", 90], "filter_z_dir": ["downward", 140]}
    pick |= {"lift_th": 0.2, "post_grasp_offset_min": 0.2, "post_grasp_offset_max": 0.3, "test_mode": "ik"}
    place = {"name": "place", "objects": ["trash_0", "trashcan"], "position_constraint": "object"}
    place |= {"filter_x_dir": ["forward", 90], "filter_z_dir": ["downward", 110], "success_mode": "xybbox"}
    place |= {"pre_place_z_offset": 0.1, "place_z_offset": 0.1, "t_eps": 0.01, "o_eps": 1}
    way = [moved("artpreplan", "trashcan", 0.08), pick, place, moved("close", "trashcan", 0.08)]
    return scene(rig, objects, regions, skills_of(rig, {arm: way}), 4000, left_joint_home_std=[0.025] * 7)


def stack_cubes(rig: str, first: str, rng: np.random.Generator) -> Values:
    """Return a task that stacks a cube of each arm on a dish, which both hands then take at its rim and lift."""
    dish = rigid("place_object", "basic/stack_lift/dish/google_scan-dish_0086", category="plate", scale=(0.001,) * 3)
    dish["apply_randomization"] = False
    del dish["orientation_mode"]
    arms = ("left", "right") if first == "left" else ("right", "left")
    cube = {"scale": (0.001,) * 3, "euler": (0, 0, 0), "orientation_mode": "keep"}
    folder = "basic/stack_lift/omniobject3d-rubik_cube/omniobject3d-rubik_cube_001"
    objects = [dish, *(rigid(f"pick_object_{arm}1", folder, **cube) for arm in ("left", "right"))]
    back = 0.0 if rig == "lift2" else -0.05
    regions = [on("place_object", [-0.05, -0.25, 0.0], [0.05, -0.15, 0.0], yaw=(0, 0))]
    regions += [on("pick_object_left1", [-0.4, -0.25, 0.0], [-0.2, back, 0.0], yaw=(-45, 45))]
    regions += [on("pick_object_right1", [0.2, -0.25, 0.0], [0.4, back, 0.0], yaw=(-45, 45))]
    low, high = {
        "lift2": ([-0.025, -0.75, -0.72], [0.025, -0.75, -0.72]),
        "split_aloha": ([-0.025, -0.885, -0.73], [0.025, -0.835, -0.73]),
    }[rig]
    regions.append(standing(rig, low, high))
    ways = {}
    for k, arm in enumerate(arms):
        name = f"pick_object_{arm}1"
        pick = {"name": "pick", "objects": [name], "t_eps": 0.01, "o_eps": 1, "tcp_offset": 0.11, "pre_grasp_offset": 0}
        pick |= filters(rig, reach=["downward", 160], forward=["forward", 40])
        pick |= {"gripper_change_steps": 10, "post_grasp_offset_min": 0.1, "post_grasp_offset_max": 0.1}
        place = {"name": "place", "objects": [name, "place_object"], f"filter_{THIRD[rig]}_dir": ["leftward", 10]}
        place |= filters(rig, **({"forward": ["forward", 40]} if rig == "lift2" else {"reach": ["downward", 160]}))
        place |= {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5], "position_constraint": "object"}
        place |= {"align_pick_obj_axis": [0, 0, 1], "align_place_obj_axis": [0, 1, 0], "align_obj_tol": 30}
        place |= {"place_z_offset": 0.04 * k, "success_mode": "xybbox"}
        if k and rig == "split_aloha":
            place["post_place_vector"] = [0, 0, -0.1]
        ways[arm] = [pick, place]
    home = {"name": "heuristic__skill", "mode": "home"}
    blocks: list[dict[str, list[Values]]] = [{arms[0]: ways[arms[0]]}, {arms[0]: [home], arms[1]: ways[arms[1]]}]
    if rig == "lift2":
        blocks.append({arms[1]: [home]})
    blocks += both_rims(rig)
    keys = {"constrain_grasp_approach": True, "ignore_substring": ["material", "table"]}
    keys |= {f"{arm}_joint_home{word}": [0.0] * 6 for arm in arms for word in ("", "_std")}
    return scene(rig, objects, regions, skills_of(rig, *blocks), 3000, arena="clean_table_arena", **keys)


def both_rims(rig: str) -> list[dict[str, list[Values]]]:
    """Return blocks in which both hands go to annotated places of a dish in a fixed attitude, close and rise."""
    offset, quat, steps, rise = {
        "lift2": (0.155, [0.70711, 0, 0.70711, 0], 6, 0.15),
        "split_aloha": (0.145, [0, 0.70711, 0.70711, 0], 7, 0.2),
    }[rig]
    picks, closes, lifts = {}, {}, {}
    for arm in ("left", "right"):
        pick = {"name": "pick", "objects": ["place_object"], "npy_name": f"Aligned_grasp_sparse_{arm}6.npy"}
        pick |= {"tcp_offset": offset, **filters(rig, forward=["forward", 10]), "t_eps": 0.01, "o_eps": 1}
        pick |= {"pre_grasp_offset": 0.0, "gripper_change_steps": 10, "final_gripper_state": 1}
        pick |= {"post_grasp_offset_min": 0, "post_grasp_offset_max": 0, "fixed_orientation": quat}
        picks[arm] = [pick]
        closes[arm] = [{"name": "gripper__action", "gripper_state": -1, "wait_steps": steps}]
        up = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, rise], [0, 0, 0, 1]]
        lifts[arm] = [{"name": "heuristic__skill", "mode": "rel_ee", "value": up, "gripper_state": -1}]
    return [picks, closes, lifts]


def pick_camera(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes a camera from the table, the hand pointing between forward and down."""
    name = f"pick_object_{arm}"
    folder = "pick_and_place/pre-train-pick/assets/omniobject3d-camera/omniobject3d-camera_001"
    obj = rigid(name, folder, category="omniobject3d-camera", euler=(0, 0, 0), scale=(0.001,) * 3)
    ends = (-0.25, 0.15) if arm == "left" else (-0.15, 0.25)
    regions = [on(name, [ends[0], -0.16, 0.0], [ends[1], 0.0, 0.0])]
    regions += [standing(rig, [0.0, -0.85, -0.85], [0.0, -0.8, -0.73])]
    pick = {"name": "pick", "objects": [name], "filter_x_dir": SIDEWAYS[arm], "filter_y_dir": ["downward", 120]}
    pick |= {"filter_z_dir": ["forward", 135, 45], "pre_grasp_offset": 0.05, "gripper_change_steps": 20}
    pick |= {"t_eps": 0.01, "o_eps": 1, "process_valid": True, "lift_th": 0.0}
    pick |= {"post_grasp_offset_min": 0.0, "post_grasp_offset_max": 0.0}
    words = ["shoe", "book", "hair_dryer", "box", "cube", "whistle", "discarded", "ball"]
    clutter = {"path": "pick_and_place/pre-train-pick/assets", "min_num": 5, "max_num": 10, "scale": [0.001] * 3}
    clutter |= {"target": "table", "pos_range": [[-0.6, -0.35], [0.6, 0.35]], "min_object_distance": 0.03}
    values = scene(rig, [obj], regions, skills_of(rig, {arm: [pick]}), 300)
    values["tasks"][0]["distractors"] = {**clutter, "exclude_keywords": words}
    return values
