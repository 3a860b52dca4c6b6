"""Task files of the shape that is published for the reference system: keys, types, robots, frequent and rare values.

The published files are not ours to ship. What is here is written from a list of keys, value ranges and counts; nothing
is copied. ``write_checkout(folder, count)`` writes a checkout without assets: arenas, robot and camera files, and task
files six to nine folders below its root.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

CONFIGS = "workflows/simbox/core/configs"
Values = dict[str, Any]

CATEGORIES = [
    *(
        f"omniobject3d-{name}"
        for name in ("banana", "lemon", "tomato", "bread", "sweet_potato", "hami_melon", "toy_plane")
    ),
    *(f"omniobject3d-{name}" for name in ("shoe", "hair_dryer", "tooth_paste", "garage_kit", "pomegranate", "whistle")),
    *(f"omniobject3d-{name}" for name in ("steamed_bun", "toothpick_box", "facial_cream")),
    *("google_scan-book", "google_scan-box", "phocal-bottle", "real-scanner", "real-discarded_bag"),
]
RIGS: dict[str, Values] = {
    "genie1": {
        "file": "genie1",
        "arms": ("left", "right"),
        "z": -0.75,
        "y": -0.8,
        "cameras": {
            "head": ("head_link2", (0.05, -0.05, 0.0), (0.0, 0.697, 0.0128, -0.717), "realsense_d455_v3"),
            "hand_left": ("gripper_l_base_link", (-0.01, -0.07, 0.08), (0.62, 0.33, -0.33, -0.62), "realsense_d405_v2"),
            "hand_right": (
                "gripper_r_base_link",
                (0.015, 0.094, 0.07),
                (0.62, 0.33, -0.33, -0.62),
                "realsense_d405_v2",
            ),
        },
        "keys": {"use_batch": True, "collision_activation_distance": 0.05},
    },
    "lift2": {
        "file": "lift2",
        "arms": ("left", "right"),
        "z": -0.75,
        "y": -0.82,
        "cameras": {
            "head": ("lift2/lift2/h_link6", (0.1, 0.02, 0.03), (0.6602, 0.2534, -0.2534, -0.6602), "realsense_d455_v3"),
            "hand_left": ("lift2/lift2/fl/link6", (0.07, 0.01, 0.08), (0.62, 0.33, -0.33, -0.62), "realsense_d405"),
            "hand_right": ("lift2/lift2/fr/link6", (0.07, 0.01, 0.08), (0.62, 0.33, -0.33, -0.62), "realsense_d405"),
        },
        "keys": {
            "left_joint_home": [0.0, 0.34, -0.14, 0.0, 0.0, 0.0],
            "right_joint_home": [0.0, 0.34, -0.14, 0.0, 0.0, 0.0],
            "left_joint_home_std": [0.05, 0.1, 0.1, 0.1, 0.1, 0.1],
            "right_joint_home_std": [0.05, 0.1, 0.1, 0.1, 0.1, 0.1],
        },
    },
    "split_aloha": {
        "file": "split_aloha",
        "arms": ("left", "right"),
        "z": -0.75,
        "y": -0.98,
        "cameras": {
            "head": (
                "split_aloha_mid_360/top_camera_link",
                (0, -0.00818, 0.1),
                (0.658, 0.259, -0.282, -0.648),
                "astra",
            ),
            "hand_left": ("split_aloha_mid_360/fl/link6", (0, 0.08, 0.05), (0, 0, 0.965, 0.259), "realsense_d435i"),
            "hand_right": ("split_aloha_mid_360/fr/link6", (0, 0.08, 0.04), (0, 0, 0.972, 0.233), "realsense_d435i"),
        },
        "keys": {"left_joint_home_std": [0.01] * 6, "ignore_substring": ["material", "table", "floor"]},
    },
    "franka": {
        "file": "fr3",
        "arms": ("left",),
        "z": 0.0,
        "y": -0.42,
        "cameras": {
            "hand": ("panda_hand", (0.085, 0, -0.02), (0.153, 0.690, 0.690, 0.153), "realsense_d405_v2"),
            "head": ("", (0.85, -0.75, 1.45), (0.73, 0.50, 0.26, 0.39), "realsense_d455_v3"),
        },
        "keys": {"left_joint_home": [0, -0.143, 0, -2.435, 0, 2.235, 0.789], "constrain_grasp_approach": True},
    },
    "frankarobotiq": {
        "file": "franka_robotiq85",
        "arms": ("left",),
        "z": 0.0,
        "y": -0.42,
        "cameras": {
            "hand": ("panda_link7/camera_mount/camera", (0, 0, 0), (1, 0, 0, 0), "realsense_d435i"),
            "head": ("", (0.85, -0.75, 1.45), (0.73, 0.50, 0.26, 0.39), "realsense_d455_v3"),
        },
        "keys": {"tcp_offset": 0.2},
    },
}
TABLES = {
    "randomized_table_arena": (0.001, 0.001053, 0.001056),
    "clean_table_arena": (0.001, 0.001053, 0.001056),
    "mid_table_arena": (0.000525, 0.001053, 0.001056),
    "wide_table_arena": (0.0015, 0.0015, 0.001),
    "dark_table_arena": (0.001, 0.001002, 0.001056),
}


def arena(scale: tuple[float, float, float]) -> Values:
    """Return a table of a file in millimetres between four walls."""
    look = {
        "texture_lib": "table_textures",
        "apply_randomization": True,
        "texture_id": 1,
        "texture_scale": [0.001, 0.001],
    }
    plane = {"target_class": "PlaneObject", "size": [3.0, 5.0]}
    wall = {"texture_lib": "background_textures", "apply_randomization": True, "texture_id": 1, "texture_scale": [1, 1]}
    at = ([-2, 0, 1], [2, 0, 1], [0, -2, 1], [0, 2, 1])
    turned = ([0, 90, 0], [0, 90, 0], [90, 0, 0], [90, 0, 0])
    walls = [
        {"name": f"background{i}", **plane, "translation": at[i], "euler": turned[i], "texture": wall} for i in range(4)
    ]
    return {
        "name": "table_arena",
        "fixtures": [
            {
                "name": "table",
                "path": "table0/instance.usd",
                "target_class": "GeometryObject",
                "translation": [0.0, 0.0, round(0.355 * 1000 * scale[2], 5)],
                "scale": list(scale),
                "texture": look,
            },
            {
                "name": "floor",
                **plane,
                "size": [5.0, 5.0],
                "translation": [0, 0, 0],
                "texture": {**wall, "texture_lib": "floor_textures"},
            },
            *walls,
        ],
    }


def conveyor_arena() -> Values:
    """Return two belts that run in opposite directions."""
    return {
        "name": "conveyor_arena",
        "fixtures": [
            {
                "name": "conveyor",
                "path": "long_horizon/conveyor/World.usd",
                "target_class": "ConveyorObject",
                "translation": [0.0, 0.0, 0.7],
                "quaternion": [1, 0, 0, 0],
                "scale": [1, 1, 1],
                "linear_velocity": [0.05, 0, 0],
                "linear_track_list": ["track_01", "track_03"],
                "angular_velocity": [0, 0, 20],
                "angular_track_list": ["track_02", "track_04"],
            },
            {"name": "floor", "target_class": "PlaneObject", "size": [50, 50], "translation": [0, 0, 0]},
        ],
    }


def robot_entry(name: str, rig: str | None = None, **keys: Any) -> Values:
    """Return a robot as tasks name it."""
    rig = rig or name
    file = {"robot_config_file": f"{CONFIGS}/robots/{RIGS[rig]['file']}.yaml"}
    return {"name": name, **file, "euler": [0, 0, 90], **RIGS[rig]["keys"], **keys}


def cameras(names: dict[str, str]) -> list[Values]:
    """Return the cameras of robots, name > rig."""
    entries = []
    for i, (name, rig) in enumerate(names.items()):
        for camera, (parent, translation, orientation, file) in RIGS[rig]["cameras"].items():
            owner = f"${{tasks.0.robots.{i}.name}}" if camera != "head" else name
            entries.append(
                {
                    "name": f"{owner}_{camera}",
                    "translation": list(translation),
                    "orientation": list(orientation),
                    "camera_axes": "usd",
                    "camera_file": f"{CONFIGS}/cameras/{file}.yaml",
                    "parent": f"{owner}/{parent}" if parent else "",
                    "apply_randomization": True,
                    "max_translation_noise": 0.03,
                    "max_orientation_noise": 5,
                }
            )
    return entries


def on(name: str, low: Any, high: Any, target: str = "table", yaw: Any = (-180, 180), **more: Any) -> Values:
    """Return a region."""
    ranges = {"pos_range": [list(low), list(high)], "yaw_rotation": list(yaw)}
    return {"object": name, "target": target, "random_type": "A_on_B_region_sampler", "random_config": ranges, **more}


def stand(rig: str, name: str | None = None, x: float = 0.0) -> Values:
    """Return the region of a robot before the table."""
    place = [x, RIGS[rig]["y"], RIGS[rig]["z"]]
    return on(name or rig, place, place, yaw=(0, 0))


def rigid(
    name: str, folder: str, *, category: str = "", euler: Any = (90, 0, 0), scale: Any = (1, 1, 1), **more: Any
) -> Values:
    """Return a rigid object of a file that is not there."""
    return {
        "name": name,
        "path": f"{folder}/Aligned_obj.usd",
        "target_class": "RigidObject",
        "dataset": "oo3d",
        "category": category or "bottle",
        "prim_path_child": "Aligned",
        "translation": [0, 0, 0],
        "euler": list(euler),
        "scale": list(scale),
        "apply_randomization": True,
        "orientation_mode": "suggested",
        **more,
    }


def library(category: str) -> str:
    """Return the folder of the first instance of a category."""
    return f"pick_and_place/pre-train-pick/assets/{category}/{category.partition('-')[2]}_001"


def task(rig: str, objects: list[Values], regions: list[Values], skills: Any, **keys: Any) -> Values:
    """Return a task file of one robot."""
    more = {
        "name": "banana_base_task",
        "asset_root": "workflows/simbox/assets",
        "task": "BananaBaseTask",
        "task_id": 0,
        "offset": None,
        "render": True,
        "arena_file": f"{CONFIGS}/arenas/randomized_table_arena.yaml",
        "env_map": {
            "envmap_lib": "envmap_lib",
            "apply_randomization": True,
            "intensity_range": [4000, 7000],
            "rotation_range": [0, 180],
        },
        "neglect_collision_names": ["table"],
        "robots": [robot_entry(rig)],
        "objects": objects,
        "regions": [*regions, stand(rig)],
        "cameras": cameras({rig: rig}),
        "data": {
            "task_dir": "pick_and_place",
            "language_instruction": "Pick up the object.",
            "detailed_language_instruction": "Pick up the object with ${tasks.0.robots.0.name}.",
            "collect_info": "",
            "version": "v1.0",
            "update": True,
            "max_episode_length": 500,
        },
        "skills": skills,
    }
    return {"tasks": [{**more, **keys}]}


CLUTTER = {
    "path": "pick_and_place/pre-train-pick/assets",
    "min_num": 3,
    "max_num": 7,
    "scale": [0.001, 0.001, 0.001],
    "target": "table",
    "pos_range": [[-0.7, -0.35], [0.7, 0.4]],
    "min_object_distance": 0.03,
    "exclude_keywords": ["shoe", "book", "hair_dryer", "box", "cube", "whistle", "discarded", "ball"],
}
PICK = {
    "name": "pick",
    "filter_z_dir": ["downward", 140],
    "pre_grasp_offset": 0.05,
    "gripper_change_steps": 10,
    "t_eps": 0.025,
    "o_eps": 1,
    "process_valid": True,
    "lift_th": 0.02,
    "post_grasp_offset_min": 0.1,
    "post_grasp_offset_max": 0.15,
    "test_mode": "forward",
}
PLACE = {
    "name": "place",
    "filter_z_dir": ["downward", 140],
    "x_ratio_range": [0.4, 0.6],
    "y_ratio_range": [0.4, 0.6],
    "pre_place_z_offset": 0.2,
    "place_z_offset": 0.1,
    "success_mode": "xybbox",
    "position_constraint": "object",
    "gripper_change_steps": 20,
}
HOME = {"name": "heuristic__skill", "mode": "home", "gripper_state": 1}
WAY = {"ignore_substring": ["decanter", "visual", "cup"], "success_threshold": "5e-3"}


def side(arm: str, rig: str) -> tuple[list[float], list[float]]:
    """Return where objects of an arm lie; a robot at negative y looks along +y and has its left at negative x."""
    if len(RIGS[rig]["arms"]) == 1:
        return [-0.25, -0.1, 0.0], [-0.1, 0.1, 0.0]
    return ([-0.42, -0.3, 0.0], [-0.32, -0.2, 0.0]) if arm == "left" else ([0.32, -0.3, 0.0], [0.42, -0.2, 0.0])


def goal(arm: str, rig: str) -> tuple[list[float], list[float]]:
    """Return where things lie that an arm puts others on or into."""
    if len(RIGS[rig]["arms"]) == 1:
        return [0.08, 0.0, 0.0], [0.14, 0.08, 0.0]
    return ([-0.2, -0.26, 0.0], [-0.16, -0.22, 0.0]) if arm == "left" else ([0.16, -0.26, 0.0], [0.2, -0.22, 0.0])


def single_pick(rig: str, arm: str, category: str) -> Values:
    """Return a task that lifts one object among clutter."""
    scale = (0.001, 0.001, 0.001) if rig != "lift2" else (1.1, 1.2, 1.1)
    obj = rigid("pick_object", library(category), scale=scale, optimize_2d_layout=True)
    keys = {"filter_z_dir": ["forward", 90] if rig in ("lift2", "split_aloha") else ["downward", 140]}
    skills = [{rig: [{arm: [{**PICK, **keys, "objects": ["pick_object"]}]}]}]
    return task(rig, [obj], [on("pick_object", *side(arm, rig))], skills, distractors=CLUTTER)


def single_pnp(rig: str, arm: str, category: str) -> Values:
    """Return a task that puts one object into a container whose category is a left-over."""
    objects = [
        rigid("pick_object_left", library(category), scale=(0.001,) * 3),
        rigid("container", "pick_and_place/functional/basket/basket_01", category="box", orientation_mode="keep"),
    ]
    regions = [on("pick_object_left", *side(arm, rig)), on("container", *goal(arm, rig), yaw=(0, 0))]
    way = [{**PICK, "objects": ["pick_object_left"]}, {**PLACE, "objects": ["pick_object_left", "container"]}, HOME]
    return task(rig, objects, regions, [{rig: [{arm: way}]}], distractors=CLUTTER)


def functional_pick(rig: str, arm: str, category: str) -> Values:
    """Return a task that draws from twenty categories at their own size."""
    obj = rigid("pick_object", library(category), randomization_scope=list(CATEGORIES[:20]), scale_mode="suggested")
    skills = [{rig: [{arm: [{**PICK, "objects": ["pick_object"], "grasp_scale": 0.8}]}]}]
    return task(rig, [obj], [on("pick_object", *side(arm, rig))], skills)


def stack_bowls(rig: str, arm: str, _: str) -> Values:
    """Return a task with objects of different factors per axis."""
    objects = [
        rigid(f"bowl_{i}", f"basic/stack_bowls/bowl/bowl_0{i}", category="bowl", scale=(1.0, 0.9, 1.3))
        for i in range(2)
    ]
    regions = [on("bowl_0", *side(arm, rig)), on("bowl_1", *goal(arm, rig))]
    way = [{**PICK, "objects": ["bowl_0"]}, {**PLACE, "objects": ["bowl_0", "bowl_1"], "success_mode": "height"}]
    return task(rig, objects, regions, [{rig: [{arm: way}]}])


def insert_flower(rig: str, arm: str, _: str) -> Values:
    """Return a task that aligns the own axes of two objects."""
    objects = [
        rigid("flower", "basic/flower/flower_01", category="flower"),
        rigid("vase", "basic/vase/vase_01", category="vase", orientation_mode="keep", apply_randomization=False),
    ]
    regions = [on("flower", *side(arm, rig)), on("vase", *goal(arm, rig), yaw=(0, 0))]
    place = {**PLACE, "objects": ["flower", "vase"], "success_mode": "flower", "align_pick_obj_axis": [0, 1, 0]}
    place |= {"align_place_obj_axis": [0, 1, 0], "align_obj_tol": 15, "success_th": 0.1}
    return task(rig, objects, regions, [{rig: [{arm: [{**PICK, "objects": ["flower"]}, place]}]}])


def pour(rig: str, arm: str, _: str) -> Values:
    """Return a task with a fluid, letters in container_up, and factors on grasps."""
    objects = [
        rigid(
            "decanter",
            "basic/decanter/decanter_01",
            category="decanter",
            orientation_mode="keep",
            texture={
                "texture_lib": "glass_textures",
                "apply_randomization": True,
                "texture_id": 0,
                "texture_scale": [0.001, 0.001],
            },
        ),
        rigid("cup", "basic/redwine_glass/glass_01", category="cup", orientation_mode="keep"),
    ]
    regions = [on("decanter", *side(arm, rig), yaw=(0, 0)), on("cup", *goal(arm, rig), yaw=(0, 0))]
    way = [
        {
            "name": "manualpick",
            "objects": ["decanter"],
            "filter_z_dir": ["forward", 90],
            "pre_grasp_offset": 0,
            "post_grasp_offset_min": 0.0,
            "post_grasp_offset_max": 0.008,
            "test_mode": "ik",
            "grasp_scale": 0.8,
            "update_pose_cost_metric_none": True,
            "adjust_ori": ["y", "z", "max"],
            "adjust_rotate_axis": "z",
            "adjust_angle_list_cfg": [-30, 30, 21],
            "manual_adjust_ori": [["x", -15], ["y", -15]],
            "adjust_trans_offset": [0.0, 0.0, 0.07],
            "pre_grasp_offset_manual": [-0.1, 0, 0],
        },
        {
            "name": "move",
            "objects": ["decanter", "cup"],
            "delta_trans": [[0, 0, 0.2]],
            **WAY,
            "hold_vec_weight": [1, 1, 1, 0, 0, 0],
        },
        {
            "name": "approach__rotate",
            "objects": ["decanter", "cup"],
            "distance": 0.1,
            "obj_yaw_offset": 90,
            **WAY,
            "rotate": {
                "type": "random",
                "objects": ["decanter", "cup"],
                "rotate_obj_euler": [[0, 0, -90], [0, 0, 90]],
                "success_threshold": 0.5,
            },
        },
        {
            "name": "rotate__obj",
            "objects": ["decanter"],
            "rotate_obj_euler_delta": [[-60, 0, 0], [-50, 0, 0]],
            "obj_axis_offset": [["z", 0.03]],
            "success_threshold_move": "5e-3",
            "success_threshold_rotate": 0.087,
            "ignore_substring": ["decanter", "visual", "cup"],
            "trans_offset": [0, 0, 0.05],
        },
        {"name": "wait", "objects": ["decanter"], "wait_steps": 40, **WAY},
        {
            "name": "joint__ctrl",
            "objects": ["decanter"],
            "gripper_state": -1,
            "num_steps": 60,
            "ctrl_list": [[5, 40, "delta"]],
            "success_threshold_js": "3e-2",
        },
        {
            "name": "pour__water__succ",
            "container_name": "cup",
            "particle_num_th_min": 50,
            "particle_num_th_max": 4000,
            "container_radius": 0.03,
            "container_up": [["cup", "y", 0.9], ["decanter", "z", 0.8]],
            "gripper_state": -1.0,
        },
    ]
    fluid = {
        "container_name": "decanter",
        "color": [0.4, 0, 0],
        "emissiveColor": [0.03, 0, 0],
        "opacity": 0.9,
        "particleContactOffset": 0.003,
        "numParticlesX": 12,
        "numParticlesY": 12,
        "numParticlesZ": 450,
        "center_z": True,
        "spacing_scale": 1,
        "max_velocity": 0.4,
        "mass": 1e-07,
    }
    return task(rig, objects, regions, [{rig: [{arm: way}]}], fluid=fluid)


def clean_dirt(rig: str, arm: str, _: str) -> Values:
    """Return a task that wipes three patches away, two of which the file calls invisible."""
    sponge = rigid("sponge", "long_horizon/sponge/sponge_01", category="sponge", init_parent=f"{rig}/{HANDS[rig][arm]}")
    sponge |= {"init_translation": [0.0, 0.0, 0.0], "init_orientation": [0.707, 0, 0, 0.707]}
    dirt = [
        {
            **rigid(f"wuzi_{i}", f"long_horizon/wuzi/wuzi_{i}", category="wuzi", scale=(0.3, 0.3, 0.02)),
            "target_class": "GeometryObject",
            "texture": {
                "texture_lib": "dirt",
                "apply_randomization": True,
                "texture_id": 5,
                "texture_scale": [0.001, 0.001],
            },
        }
        for i in range(3)
    ]
    low, _ = side(arm, rig)
    regions = [
        on(f"wuzi_{i}", [low[0] + 0.08 * i, -0.1, 0], [low[0] + 0.08 * i + 0.02, 0.0, 0], yaw=(0, 0), visible=i == 0)
        for i in range(3)
    ]
    wipe = [[0, -0.06, 0], [0, 0.06, 0], [0, -0.06, 0], [0, 0.06, 0], [0, 0, 0]]
    way = [
        {
            "name": "move",
            "objects": ["sponge", f"wuzi_{i}"],
            "delta_trans": wipe,
            "success_threshold": 0.05,
            "hold_vec_weight": [1, 1, 1, 0, 0, 0],
            "invisible_object": [f"wuzi_{i}"],
        }
        for i in range(3)
    ]
    entry = robot_entry(rig, left_gripper_home=[0.0], right_gripper_home=[0.0])
    return task(rig, [sponge, *dirt], regions, [{rig: [{arm: way}]}], robots=[entry], neglect_collision_names=["table"])


HANDS = {"lift2": {"left": "lift2/lift2/fl/link6", "right": "lift2/lift2/fr/link6"}}
"""Bodies that objects start at."""


def belt(rig: str, arm: str, _: str) -> Values:
    """Return a task on two belts, with places from a list: negative indices, low above high, objects in containers."""
    foods = ("bread", "beef", "ham", "cheese", "lettuce")
    objects = [
        rigid(f"{food}_{i}", f"long_horizon/sandwich/{food}/{food}_0{i}", gap=False) for food in foods for i in range(2)
    ]
    objects += [
        rigid(f"tray_{i}", f"long_horizon/tray/tray_0{i}", gap=False, orientation_mode="keep") for i in range(2)
    ]
    pool = [
        {
            "random_config": {
                "pos_range": [[-1.6 + 0.3 * i, 0.85, 0.0], [-1.5 + 0.3 * i, 0.65, 0.0]],
                "yaw_rotation": [-45, 45],
            }
        }
        for i in range(10)
    ]
    pool += [
        {
            "random_config": {
                "pos_range": [[-1.5 + 0.3 * i, -0.85, 0.0], [-1.4 + 0.3 * i, -0.65, 0.05]],
                "yaw_rotation": [-5, 5],
            }
        }
        for i in range(10)
    ]
    regions = [on("tray_0", [-0.05, -0.05, 0], [0.05, 0.05, 0], target="table"), on("tray_1", [0.3, 0, 0], [0.3, 0, 0])]
    first, second = [-1, -2, -3], [-1, -2, -3, -4, -5, -6, -7, -8, -9]
    for i, obj in enumerate(objects[:8]):
        priority = {0: first, 1: second, 2: [0, 1, 5], 3: False}.get(i, [])
        regions.append(
            {"object": obj["name"], "target": "conveyor", "random_type": "A_on_B_region_sampler", "priority": priority}
        )
    regions += [
        {
            "object": objects[8]["name"],
            "target": "tray_0",
            "container": "tray_0",
            "z_init": 0.07,
            "sub_tgt_prim": "/World",
        },
        {
            "object": objects[9]["name"],
            "target": "tray_1",
            "container": "tray_1",
            "z_init": 0.05,
            "sub_tgt_prim": "/World",
        },
    ]
    pick = {
        "name": "dynamicpick",
        "objects": ["bread_0"],
        "filter_z_dir": ["downward", 150],
        "pick_range": [-0.35, 0.3],
        "time_bias": 1.0,
        "filter_y_dir": ["forward", 90],
        "tcp_offset": 0.12,
        "pre_grasp_offset": 0.1,
        "pivot_angle_z": [-20, 15],
        "pos_adjust_z": [0.02, 0.04],
        "pick_bias": 0.05,
        "post_grasp_offset_min": 0.1,
        "post_grasp_offset_max": 0.27,
    }
    values = task(rig, objects, regions, [{rig: [{arm: [pick]}]}], random_region_list=pool)
    values["tasks"][0]["arena_file"] = f"{CONFIGS}/arenas/conveyor_table_arena.yaml"
    return values


def two_robots(rig: str, _: str, __: str) -> Values:
    """Return a task of two robots without their files, six cameras, and targets that no object has."""
    names = {f"{rig}_0": rig, f"{rig}_1": rig}
    track = {
        "name": "track",
        "target": "target_left",
        "ignore_substring": ["visual"],
        "way_points_num": 3,
        "T_tcp_2_ee": [[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        "way_points_trans": {"min": [-0.202, -0.176, 0.134], "max": [0.102, 0.176, 0.204]},
        "way_points_ori": [0.707107, 0.0, 0.707107, 0],
        "max_noise_deg": 180,
    }
    robots = [robot_entry(f"{rig}_0", rig), {**robot_entry(f"{rig}_1", rig), "euler": [0, 0, 270]}]
    del robots[1]["robot_config_file"]
    place = [0.0, -RIGS[rig]["y"], RIGS[rig]["z"]]
    values = task(rig, [], [], [{name: [{"left": [track]}] for name in names}], robots=robots)
    values["tasks"][0] |= {
        "cameras": cameras(names),
        "regions": [stand(rig, f"{rig}_0"), on(f"{rig}_1", place, place, yaw=(0, 0))],
        "objects": [],
    }
    return values


def handover(rig: str, _: str, category: str) -> Values:
    """Return a task that passes an object from hand to hand; the window of grasps is along the object's own y."""
    objects = [
        rigid("pick_object", "long_horizon/handover/bottle/bottle_01", category="bottle"),
        *(rigid(f"distractor_{i}", library(category), euler=(0, 0, 0)) for i in range(3)),
    ]
    regions = [on("pick_object", *side("left", rig))]
    regions += [on(f"distractor_{i}", [-0.4 + 0.3 * i, 0.15, 0], [-0.3 + 0.3 * i, 0.25, 0]) for i in range(3)]
    present = {
        "name": "goto__pose",
        "position": [0.3, -0.25, 0.15],
        "position_constraint": "object",
        "objects": ["pick_object"],
    }
    present |= {
        "align_obj_axis": [0, 1, 0],
        "align_ref_axis": [0, 0, 1],
        "align_obj_tol": 30,
        "filter_x_dir": ["forward", 70],
    }
    present |= {"gripper_state": -1, "interp_nums": 1, "max_noise_m": 0.05, "max_noise_deg": 5, "frame": "robot"}
    take = {**PICK, "objects": ["pick_object"], "close_wait_steps": 10}
    blocks = [
        {"left": [{**take, "constraints": ["y", 0.2, 0.3]}, present]},
        {
            "right": [
                {
                    **take,
                    "constraints": ["y", 0.65, 0.9],
                    "lift_th": 0.0,
                    "post_grasp_offset_min": 0,
                    "post_grasp_offset_max": 0,
                }
            ]
        },
        {
            "right": [{"name": "gripper__action", "gripper_state": -1, "wait_steps": 7}],
            "left": [
                {"name": "gripper__action", "gripper_state": 1, "post_action": True, "post_action_offset": 0.1},
                {
                    "name": "heuristic__skill",
                    "mode": "rel_ee",
                    "value": [[1, 0, 0, 0], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]],
                },
            ],
        },
    ]
    return task(rig, objects, regions, [{rig: blocks}])


def bolts(rig: str, arm: str, _: str) -> Values:
    """Return a task that picks small parts at annotated poses."""
    objects = [
        rigid("bolt_left1", "long_horizon/parts/bolt/bolt_01", scale=(0.8, 0.8, 0.8)),
        rigid("box", "long_horizon/parts/box/box_01", category="box", orientation_mode="keep", filter_collision=True),
    ]
    regions = [on("bolt_left1", *side(arm, rig)), on("box", *goal(arm, rig), yaw=(0, 0))]
    way = [
        {
            "name": "dexpick",
            "objects": ["bolt_left1"],
            "pick_pose_idx": 0,
            "pre_grasp_offset": 0,
            "post_grasp_offset": 0.1,
        },
        {
            "name": "dexplace",
            "objects": ["bolt_left1", "box"],
            "camera_axis_filter": [{"direction": [0, 0, 1]}, {"degree": [0, 45]}],
        },
    ]
    return task(rig, objects, regions, [{rig: [{arm: way}]}])


def package(rig: str, arm: str, _: str) -> Values:
    """Return a task that fails a pick, flips a package and scans it."""
    objects = [
        rigid("package_0", "long_horizon/package/package_01", scale=(0.7, 0.7, 0.7)),
        rigid("pick_0", library("omniobject3d-lemon")),
    ]
    regions = [on("package_0", *side(arm, rig)), on("pick_0", [0.3, 0.1, 0], [0.35, 0.2, 0])]
    fail = {
        "name": "fail_pick",
        "objects": ["pick_0"],
        "filter_z_dir": ["forward", 90],
        "filter_x_dir": ["downward", 120],
        "post_grasp_offset_min": 0.075,
        "post_grasp_offset_max": 0.125,
        "grasp_x_offset_min": 0.03,
        "grasp_x_offset_max": 0.06,
        "grasp_y_offset_min": 0.03,
        "grasp_y_offset_max": 0.06,
    }
    way = [
        fail,
        {"name": "flip", "objects": ["package_0"], "ee_axis": [1, 0, -0.2]},
        {"name": "scan", "objects": ["package_0"]},
    ]
    return task(rig, objects, regions, [{rig: [{arm: way}]}])


def door(rig: str, arm: str, _: str) -> Values:
    """Return a task that opens something articulated of which only the folder is named."""
    mw = {
        "name": "microwave",
        "target_class": "ArticulatedObject",
        "path": "",
        "category": "",
        "obj_info_path": "",
        "dataset": "pm",
        "art_cat": "art/open_v/microwaves",
        "info_name": "open_v",
        "euler": [90, 0, 0],
        "joint_position_range": [0.34, 0.45],
        "apply_randomization": True,
        "fix_base": True,
        "scale": [1, 1, 1],
    }
    ranges = {f"{axis}_{end}": 0.0 for axis in "xyz" for end in ("min", "max")}
    constraints = [
        {
            "name": "fingers_contact_with_link0",
            "type": "point2point_constraint",
            "keypoint_name": "tool_head",
            "target_keypoint_name": "articulated_object_head",
            "tolerance": 1e-06,
        },
        {
            "name": "hand_parallel_to_link0_edge",
            "type": "frame_axis_parallel",
            "axis_from_keypoint_name": "tool_head",
            "axis_to_keypoint_name": "tool_side",
            "target_axis": "link0_contact_axis",
            "target_inner_product": -1,
            "tolerance": 0.6,
        },
    ]
    skill = {
        "name": "open",
        "objects": ["microwave"],
        "collision_valid": False,
        "planner_setting": {
            "task_name": "OpenBox",
            "category_name": "Articulated",
            "contact_pose_index": 2,
            "success_threshold": 0.7,
            "tool_keypoint_name_list": ["tool_head", "tool_tail", "tool_side"],
            "success_mode": "abs",
            "update_art_joint": True,
            "object_keypoint_name_list": ["articulated_object_head", "articulated_object_tail"],
            "constraint_list": constraints,
            "pre_actuation_motions": [["translate_z", 0.1]],
            "post_actuation_motions": [["rotate", -0.2]] * 6,
            "keypose_random_range": {"orientation": ranges, "position": ranges},
            "modify_actuation_motion": ["translate_z", 0.02],
        },
    }
    regions = [on("microwave", [-0.05, 0.1, 0], [0.05, 0.2, 0], yaw=(0, 0))]
    return task(rig, [mw], regions, [{rig: [{arm: [skill]}]}])


FAMILIES = (
    ("pick_and_place/{rig}/single_pick/{arm}/", single_pick, ("lift2", "split_aloha", "genie1", "franka"), 64),
    ("pick_and_place/{rig}/single_pnp/{arm}/", single_pnp, ("genie1",), 18),
    ("pick_and_place/genie1/single_func_pick/{arm}/", functional_pick, ("genie1",), 1),
    ("basic/{rig}/stack_bowls/train/v1/", stack_bowls, ("split_aloha", "franka"), 3),
    ("basic/{rig}/insert_flower/train/v1/", insert_flower, ("lift2", "split_aloha"), 2),
    ("basic/{rig}/pour/v1/", pour, ("lift2", "split_aloha"), 2),
    ("long_horizon/{rig}/clean_dirt/", clean_dirt, ("lift2",), 2),
    ("basic/{rig}/belt/", belt, ("lift2",), 1),
    ("basic/{rig}/track/", two_robots, ("lift2",), 1),
    ("long_horizon/{rig}/handover/", handover, ("lift2",), 1),
    ("long_horizon/{rig}/parts/", bolts, ("lift2",), 1),
    ("long_horizon/{rig}/package/", package, ("frankarobotiq", "lift2"), 1),
    ("art/{rig}/open_v/a/b/c/", door, ("lift2", "split_aloha"), 4),
)
"""Folder, maker, robots and share of the files, in about the published proportions."""


def tasks(count: int) -> Iterator[tuple[str, Values]]:
    """Yield path below the tasks' folder and values of files, every family and robot among the first."""
    pairs = [(folder, make, rig) for folder, make, rigs, _ in FAMILIES for rig in rigs]
    shares = np.array([share / len(rigs) for _, _, rigs, share in FAMILIES for _ in rigs], float)
    rng = np.random.default_rng(0)
    for i in range(count):
        folder, make, rig = pairs[i if i < len(pairs) else int(rng.choice(len(pairs), p=shares / shares.sum()))]
        arms = RIGS[rig]["arms"]
        arm, category = arms[i % len(arms)], CATEGORIES[i % len(CATEGORIES)]
        values = make(rig, arm, category)
        if make is single_pick:
            arenas = list(TABLES)
            values["tasks"][0]["arena_file"] = f"{CONFIGS}/arenas/{arenas[i % len(arenas)]}.yaml"
        yield f"{folder.format(rig=rig, arm=arm)}{make.__name__}_{i:04d}.yaml", values


def write_checkout(root: Path, count: int) -> list[Path]:
    """Write a checkout without assets and return its task files."""
    from handloom.robots.load import ZOO_FOLDER
    from handloom.scene.camera_config import CAMERAS

    configs = root / CONFIGS
    for folder in ("arenas", "robots", "cameras", "tasks"):
        (configs / folder).mkdir(parents=True, exist_ok=True)
    arenas = {name: arena(scale) for name, scale in TABLES.items()}
    both = arena((0.001, 0.001053, 0.001056))
    both["fixtures"] += conveyor_arena()["fixtures"][:1]
    for name, values in {**arenas, "conveyor_table_arena": both}.items():
        (configs / "arenas" / f"{name}.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    for stem, camera in CAMERAS.items():
        values = {
            "camera_type": "RealSense",
            "camera_params": list(camera.camera_params),
            "frequency": 30,
            "pixel_size": 3,
            "resolution_width": camera.resolution_width,
            "resolution_height": camera.resolution_height,
            "f_number": 2.0,
            "focus_distance": 0.6,
        }
        (configs / "cameras" / f"{stem}.yaml").write_text(yaml.safe_dump(values))
    for stem in ("fr3", "franka_robotiq85", "genie1", "lift2", "split_aloha"):
        (configs / "robots" / f"{stem}.yaml").write_text(yaml.safe_dump(published_robot(ZOO_FOLDER / stem)))
    files = []
    for name, values in tasks(count):
        file = configs / "tasks" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            yaml.dump(
                values, sort_keys=False, default_flow_style=None, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)
            )
        )
        files.append(file)
    return files


SIDES = ("gripper_keypoints", "ee_path", "base_path", "filter_paths", "forbid_collision_paths")
PUBLISHED = [
    *("target_class", "gripper_max_width", "gripper_min_width", "tcp_offset", "ee_axis", "R_ee_graspnet"),
    *(f"{side}_{key}" for side in ("fl", "fr") for key in SIDES),
]


def published_robot(folder: Path) -> Values:
    """Return the published keys of a robot file of the zoo, and those that mean something to the reference only."""
    ours = yaml.safe_load((folder / "robot.yaml").read_text())
    wanted = ("_indices", "_home", "_home_std")
    values = {key: value for key, value in ours.items() if key in PUBLISHED or key.endswith(wanted)}
    values |= {"path": f"{folder.name}/robot.usd", "robot_file": [f"workflows/robots/{folder.name}_left.yml"]}
    values |= {
        "solver_position_iteration_count": 128,
        "solver_velocity_iteration_count": 4,
        "stabilization_threshold": 0.005,
    }
    if "extra_depth" in ours:
        values["extra_depth_file"] = "tcp2base_offset.json"
    return json.loads(json.dumps(values))


if __name__ == "__main__":
    write_checkout(Path(sys.argv[1]), int(sys.argv[2]))
