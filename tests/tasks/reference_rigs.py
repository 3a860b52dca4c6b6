"""Parts of task files in the published shape: robots, arenas, cameras, objects, regions and the keys every file has.

Written from a list of keys, value ranges and counts; nothing is copied.
"""

from typing import Any

import numpy as np

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
            "left_joint_home": [0.0] * 6,
            "right_joint_home": [0.0] * 6,
            "left_joint_home_std": [0.1] * 6,
            "right_joint_home_std": [0.1] * 6,
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
        "keys": {
            "left_joint_home": [0.0048, 0.342, -0.14, 0.0168, 0.1439, -0.0025],
            "right_joint_home": [0.0048, 0.342, -0.14, 0.0168, 0.1439, -0.0025],
            "left_joint_home_std": [0.125, 0.245, 0.245, 0.234, 0.271, 0.217],
            "right_joint_home_std": [0.125, 0.245, 0.245, 0.234, 0.271, 0.217],
            "ignore_substring": ["material", "table", "floor"],
        },
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


STANDS = {"lift2": ((-0.86, -0.64), (-0.75, -0.6)), "split_aloha": ((-0.89, -0.83), (-0.775, -0.73))}
"""Robot > ranges of y and z [m] from the middle of the table top at which published files put it."""


def stood(values: Values, rig: str, rng: np.random.Generator, *, along: bool = False) -> Values:
    """Return a task whose robot stands somewhere in the range of the published files.

    Args:
        values: The task file.
        rig: The robot.
        rng: Generator of the place.
        along: Whether the objects on the table keep their distance from the robot.
    """
    y, z = (round(float(rng.uniform(*limits)), 3) for limits in STANDS[rig])
    for region in values["tasks"][0]["regions"]:
        corners = region["random_config"]["pos_range"]
        for corner in corners if along and region["object"] != rig and region["target"] == "table" else ():
            corner[1] += y - RIGS[rig]["y"]
        if region["object"] == rig:
            region["random_config"]["pos_range"] = [[0.0, y, z], [0.0, y, z]]
    return values


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


AXES = {
    "genie1": ("z", "y"),
    "lift2": ("x", "z"),
    "split_aloha": ("z", "y"),
    "franka": ("z", "x"),
    "frankarobotiq": ("z", "x"),
}
"""Robot > axes of its hand frame: where it reaches, and which one looks forward when it reaches down."""


def above(rig: str, rng: np.random.Generator) -> Values:
    """Return filters of a hand that reaches down, in one of the published ways to say so."""
    reach, forward = AXES[rig]
    down = {f"filter_{reach}_dir": ["downward", int(rng.choice([120, 130, 140]))]}
    return down | ({f"filter_{forward}_dir": ["forward", 90]} if rng.random() < 0.6 else {})


def aside(rig: str, rng: np.random.Generator) -> Values:
    """Return filters of a hand that reaches forward."""
    return {f"filter_{AXES[rig][0]}_dir": ["forward", int(rng.choice([45, 60]))]}


def beside(arm: str, rig: str, x: float, y: float, spread: float = 0.02) -> tuple[list[float], list[float]]:
    """Return a place given for the left arm, mirrored for the right one; one arm alone stands in the middle."""
    if len(RIGS[rig]["arms"]) == 1:
        x, y = x + 0.28, y + 0.25
    elif arm == "right":
        x = -x
    return [x - spread, y - spread, 0.0], [x + spread, y + spread, 0.0]


def side(arm: str, rig: str) -> tuple[list[float], list[float]]:
    """Return where objects of an arm lie; a robot at negative y looks along +y and has its left at negative x."""
    return beside(arm, rig, -0.38, -0.24, 0.04)


def goal(arm: str, rig: str) -> tuple[list[float], list[float]]:
    """Return where things stand that an arm puts others on or into."""
    return beside(arm, rig, -0.17, -0.22, 0.02)


def skills_of(rig: str, *blocks: dict[str, list[Values]]) -> list[Values]:
    """Return one stage of blocks of one robot."""
    return [{rig: list(blocks)}]
