"""Task files of the published shape of which there are few: targets, hanging, shelves, trays, two lids, the example."""

import numpy as np
from reference_articulated import articulated, moved
from reference_picks import drawn, longer, picked, placed
from reference_rigs import (
    CONFIGS,
    HOME,
    RIGS,
    Values,
    beside,
    cameras,
    library,
    on,
    rigid,
    robot_entry,
    side,
    skills_of,
    task,
)

TRACKED = {
    "lift2": ([0.707107, 0.0, 0.707107, 0], [0.1, 0, 0]),
    "split_aloha": ([0.0, 1.0, 0.0, 0], [0, 0, 0.1]),
    "franka": ([0.0, 1.0, 0.0, 0], [0, 0, 0.1]),
}
"""Robot > attitude of its hand that reaches down, and where the target is shown in the hand's frame."""


def track_targets(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task without objects in which every arm follows targets over the table."""
    quat, tip = TRACKED[rig]
    arms = RIGS[rig]["arms"]
    ways = {}
    for arm in arms:
        low, high = {"left": (0.026, 0.376), "right": (-0.376, -0.026)}[arm] if len(arms) > 1 else (-0.2, 0.2)
        reach = {"min": [-0.202, low, 0.134], "max": [0.102, high, 0.204]}
        track = {"name": "track", "target": f"target_{arm}", "ignore_substring": ["visual"], "way_points_num": 3}
        track |= {"T_tcp_2_ee": [[1, 0, 0, tip[0]], [0, 1, 0, tip[1]], [0, 0, 1, tip[2]], [0, 0, 0, 1]]}
        ways[arm] = [{**track, "way_points_trans": reach, "way_points_ori": quat, "max_noise_deg": 180}]
    return longer(task(rig, [], [], skills_of(rig, ways)), 800)


def hang_cup(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that hangs a cup on a rack: put from the side, along an own axis of the rack."""
    objects = [
        rigid("mug", "basic/hang_the_cup/mug/mug_01", category="mug", orientation_mode="keep"),
        rigid("rack", "basic/hang_the_cup/cup_rack/rack_01", category="rack", orientation_mode="keep"),
    ]
    regions = [on("mug", *side(arm, rig), yaw=(-20, 20)), on("rack", *beside(arm, rig, -0.12, -0.15), yaw=(0, 0))]
    sign = -1 if arm == "left" else 1
    place = {"name": "place", "objects": ["mug", "rack"], "place_direction": "horizontal", "success_mode": "cup"}
    place |= {"align_place_obj_axis": [1, 0, 0], "offset_place_obj_axis": [0, 0, -1], "z_ratio_range": [0.73, 0.73]}
    place |= {"x_ratio_range": [0.5, 0.5], "y_ratio_range": [0.5, 0.5], "pre_place_align": 0.15 * sign}
    place |= {"place_align": 0.07 * sign, "pre_place_offset": 0.027, "place_offset": 0.027, "success_th": 0.05}
    place |= {"position_constraint": "object", "ignore_substring": ["mug"], "post_place_vector": [-0.1, 0, 0]}
    return longer(task(rig, objects, regions, skills_of(rig, {arm: [picked("mug", rig, rng), place, HOME]})), 1000)


def tray_on_rack(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that stands a plate in a rack, aligned with it."""
    objects = [
        rigid("plate", "basic/sort_tray/plate/plate_01", category="plate"),
        rigid("dish_rack", "basic/sort_tray/dish_rack/rack_01", category="rack", orientation_mode="keep"),
    ]
    regions = [on("plate", *side(arm, rig)), on("dish_rack", *beside(arm, rig, -0.12, -0.15), yaw=(0, 0))]
    place = placed("plate", "dish_rack", rig, rng, success_mode="flower", success_th=0.05, place_z_offset=0.05)
    place = {key: value for key, value in place.items() if not key.startswith("filter")}
    place |= {"align_pick_obj_axis": [0, 1, 0], "align_place_obj_axis": [1, 0, 0], "align_obj_tol": 30}
    return longer(task(rig, objects, regions, skills_of(rig, {arm: [picked("plate", rig, rng), place]})), 800)


def serve_tray(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task in which two hands take a tray at annotated places, with something on it, and lift it."""
    objects = [
        rigid("tray", "long_horizon/tray/tray/tray_01", category="tray", orientation_mode="keep"),
        rigid("bread_0", "long_horizon/tray/bread/bread_01"),
    ]
    regions = [
        on("tray", [-0.02, -0.25, 0], [0.02, -0.22, 0], yaw=(0, 0)),
        {
            "object": "bread_0",
            "target": "tray",
            "random_type": "A_in_B_region_sampler",
            "random_config": {"x_bias": 0.04},
        },
    ]
    ways = {}
    for arm in RIGS[rig]["arms"]:
        pick = picked("tray", rig, rng, npy_name=f"Aligned_grasp_sparse_{arm}6.npy", tcp_offset=0.12)
        ways[arm] = [{**pick, "post_grasp_offset_min": 0.1, "post_grasp_offset_max": 0.1}]
    names = ["shelf", "bowl", "plate"]
    return longer(task(rig, objects, regions, skills_of(rig, ways), neglect_collision_names=names), 800)


def sandwich(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that stacks food from shelves on a plate."""
    foods = ("bread", "beef")
    objects = [rigid("plate", "long_horizon/sandwich/plate/plate_01", category="plate", orientation_mode="keep")]
    regions = [on("plate", *beside(arm, rig, -0.12, -0.25), yaw=(0, 0))]
    way = []
    for i, food in enumerate(foods):
        objects.append(rigid(f"{food}_0", f"long_horizon/sandwich/{food}/{food}_01", orientation_mode="keep"))
        shelf = f"{food}_shelf"
        objects.append(rigid(shelf, f"long_horizon/sandwich/{shelf}/shelf_01", category="box", orientation_mode="keep"))
        regions.append(on(shelf, *beside(arm, rig, -0.42 + 0.16 * i, -0.26 + 0.1 * i), yaw=(0, 0)))
        inside = {"object": f"{food}_0", "target": shelf, "random_type": "A_in_B_region_sampler"}
        regions.append({**inside, "random_config": {"x_bias": 0.0, "z_bias": -0.04} if i else {"x_bias": -0.02}})
        way.append(picked(f"{food}_0", rig, rng, ignore_substring=[shelf], tcp_offset=0.12))
        way += [placed(f"{food}_0", "plate", rig, rng, place_z_offset=0.05 + 0.03 * i), HOME]
    names = ["shelf", "bowl", "plate"]
    return longer(task(rig, objects, regions, skills_of(rig, {arm: way}), neglect_collision_names=names), 2500)


def two_robot_sandwich(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task of four stages in which two robots, one without its file, stack on one plate from two sides."""
    names = {f"{rig}_0": rig, f"{rig}_1": rig}
    robots = [robot_entry(f"{rig}_0", rig), {**robot_entry(f"{rig}_1", rig), "euler": [0, 0, 270]}]
    del robots[1]["robot_config_file"]
    objects = [rigid("plate", "long_horizon/sandwich/plate/plate_01", category="plate", orientation_mode="keep")]
    objects += [rigid(f"bread_{i}", f"long_horizon/sandwich/bread/bread_0{i}") for i in range(2)]
    floor = RIGS[rig]["y"] + 0.09  # Nearer than alone: the plate in the middle is for both.
    regions = [on("plate", [-0.22, -0.02, 0], [-0.18, 0.02, 0], yaw=(0, 0))]
    regions += [on(f"bread_{i}", [-0.4, y, 0], [-0.36, y, 0]) for i, y in enumerate((-0.22, 0.22))]
    regions += [
        on(f"{rig}_{i}", [0, y, 0], [0, y, 0], target="floor", yaw=(0, 0)) for i, y in enumerate((floor, -floor))
    ]
    stages = []
    for i, arm in enumerate(("left", "right")):
        way = [picked(f"bread_{i}", rig, rng), placed(f"bread_{i}", "plate", rig, rng)]
        stages += [{f"{rig}_{i}": [{arm: way}]}, {f"{rig}_{i}": [{arm: [HOME]}]}]
    values = longer(task(rig, objects, regions, stages, robots=robots), 4000)
    values["tasks"][0] |= {"cameras": cameras(names), "regions": regions}
    values["tasks"][0]["arena_file"] = f"{CONFIGS}/arenas/mid_table_arena.yaml"
    values["tasks"][0]["data"]["language_instruction"] = "Put the bread on the plate.;Put the bread on the plate."
    return values


def close_both_lids(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task that shuts the two flaps of a package, each of which has an annotation of its own."""
    entry = articulated("package", "art/close_h/package", "close_h_left", (1.0, 1.2))
    del entry["joint_position_range"]
    entry["strict_init"] = {"joint_positions": [1.3, -1.3], "joint_indices": [0, 1]}
    region = on("package", [-0.02, -0.12, 0], [0.02, -0.08, 0], yaw=(0, 0))
    other = moved("close", "package", 0.08)
    other |= {"obj_info_path": "art/close_h/package/package_01/Kps/close_h_right/info.json"}
    other["planner_setting"]["update_art_joint"] = True
    arms = RIGS[rig]["arms"]
    blocks = [{arms[0]: [moved("close", "package", 0.08)]}, {arms[-1]: [other]}]
    return longer(task(rig, [entry], [region], skills_of(rig, *blocks)), 1200)


def pack_out(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes something out of a box and puts it on the table beside it."""
    objects = [rigid("pick_0", library(drawn(rng)), scale=(0.001,) * 3)]
    objects.append(rigid("box", "long_horizon/pack/carton/carton_01", category="box", orientation_mode="keep"))
    regions = [on("box", *beside(arm, rig, -0.2, -0.25), yaw=(0, 0))]
    regions.append(
        {
            "object": "pick_0",
            "target": "box",
            "random_type": "A_in_B_region_sampler",
            "random_config": {"z_bias": -0.04},
        }
    )
    place = placed("pick_0", "box", rig, rng, success_mode="left" if arm == "left" else "right", place_z_offset=0.05)
    place |= {"x_ratio_range": [-0.5, -0.4] if arm == "left" else [1.15, 1.25]}
    return longer(task(rig, objects, regions, skills_of(rig, {arm: [picked("pick_0", rig, rng), place, HOME]})), 1000)


def example(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return the one file of the robot with a Robotiq hand: a fruit into a bin, no pictures, assets of the examples."""
    objects = [rigid("pick_object", library("omniobject3d-banana"), scale=(1, 1, 1))]
    objects.append(rigid("bin", "pick_and_place/bins/gso_box/box_01", category="box", orientation_mode="keep"))
    regions = [on("pick_object", *side(arm, rig)), on("bin", *beside(arm, rig, -0.1, -0.22), yaw=(0, 0))]
    way = [picked("pick_object", rig, rng), placed("pick_object", "bin", rig, rng), HOME]
    values = task(rig, objects, regions, skills_of(rig, {arm: way}), render=False)
    values["tasks"][0] |= {"asset_root": "workflows/simbox/example_assets"}
    values["tasks"][0]["env_map"]["apply_randomization"] = False
    return values
