"""Task files of the published shape that pour, wipe, hand over, sort parts, use belts, flip and follow targets."""

import numpy as np
from reference_picks import drawn, longer, picked
from reference_rigs import (
    CONFIGS,
    RIGS,
    WAY,
    Values,
    above,
    aside,
    beside,
    cameras,
    goal,
    library,
    on,
    rigid,
    robot_entry,
    side,
    skills_of,
    stand,
    task,
)

HANDS = {"lift2": {"left": "lift2/lift2/fl/link6", "right": "lift2/lift2/fr/link6"}}
"""Bodies that objects start at."""


def pour(rig: str, arm: str, rng: np.random.Generator) -> Values:
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
            **aside(rig, rng),
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
            "objects": ["decanter", "decanter"],
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


def clean_dirt(rig: str, arm: str, rng: np.random.Generator) -> Values:
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
    wiping = [0.0, 2.1183, 0.91657, 1.1151, 0.0, 0.0]
    entry = robot_entry(rig, left_joint_home=wiping, left_gripper_home=[0.02], right_gripper_home=[0.0])
    return task(rig, [sponge, *dirt], regions, [{rig: [{arm: way}]}], robots=[entry], neglect_collision_names=["table"])


def two_robots(rig: str, _: str, __: np.random.Generator) -> Values:
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


def handover(rig: str, _: str, rng: np.random.Generator) -> Values:
    """Return a task that passes an object from hand to hand; the window of grasps is along the object's own y."""
    objects = [
        rigid("pick_object", "long_horizon/handover/bottle/bottle_01", category="bottle"),
        *(rigid(f"distractor_{i}", library(drawn(rng)), euler=(0, 0, 0)) for i in range(3)),
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
    take = {**picked("pick_object", rig, rng), "close_wait_steps": 10}
    other = {key: value for key, value in take.items() if not key.startswith("filter")} | aside(rig, rng)
    blocks = [
        {"left": [{**take, "constraints": ["y", 0.2, 0.3]}, present]},
        {
            "right": [
                {
                    **other,
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
    return longer(task(rig, objects, regions, [{rig: blocks}]), 1500)


def bolts(rig: str, arm: str, rng: np.random.Generator) -> Values:
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


def flip_package(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes a package and turns it over."""
    objects = [rigid("package_0", "long_horizon/flip_package/package/package_01", scale=(0.7, 0.7, 0.7))]
    regions = [on("package_0", *beside(arm, rig, -0.3, -0.34), yaw=(-20, 20))]
    way = [picked("package_0", rig, rng), {"name": "flip", "objects": ["package_0"], "ee_axis": [1, 0, -0.2]}]
    return longer(task(rig, objects, regions, skills_of(rig, {arm: way})), 800)


def on_conveyor(rig: str, objects: list[Values], regions: list[Values], skills: list[Values]) -> Values:
    """Return a task of a robot that stands beside two belts and faces the nearer one."""
    place = [0.0, -1.35, -0.905]
    robot = on(rig, place, place, target="conveyor", yaw=(0, 0))
    values = longer(task(rig, objects, regions, skills), 2500)
    values["tasks"][0] |= {
        "regions": [*regions, robot],
        "arena_file": f"{CONFIGS}/arenas/conveyor_arena.yaml",
        "neglect_collision_names": ["conveyor"],
    }
    return values


def caught(name: str, rig: str, rng: np.random.Generator) -> Values:
    """Return a pick of something on a belt."""
    pick = {"name": "dynamicpick", "objects": [name], **above(rig, rng), "pick_range": [-0.3, 0.3], "time_bias": 1.0}
    pick |= {"tcp_offset": 0.12, "pre_grasp_offset": 0.1, "pivot_angle_z": [-20, 15], "pos_adjust_z": [0.02, 0.04]}
    return pick | {"pick_bias": 0.05, "post_grasp_offset_min": 0.1, "post_grasp_offset_max": 0.2}


def conveyor_package(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes a package from a belt and holds it before a scanner."""
    objects = [rigid("package_0", "long_horizon/package/package/package_01", scale=(0.7, 0.7, 0.7))]
    x = -0.5 if RUNS[rig] > 0 else 0.5
    regions = [on("package_0", [x - 0.1, -0.8, 0.0], [x + 0.1, -0.7, 0.0], target="conveyor")]
    way = [caught("package_0", rig, rng), {"name": "scan", "objects": ["package_0"]}]
    return on_conveyor(rig, objects, regions, skills_of(rig, {arm: way}))


RUNS = {"lift2": -0.05, "split_aloha": -0.05}
"""Robot > speed of the belt before it [m/s]."""


def belt(rig: str, arm: str, rng: np.random.Generator) -> Values:
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
                "pos_range": [[-0.2 + 0.15 * i, 0.85, 0.0], [-0.18 + 0.15 * i, 0.65, 0.0]],
                "yaw_rotation": [-45, 45],
            }
        }
        for i in range(10)
    ]
    pool += [
        {
            "random_config": {
                "pos_range": [[-1.4 + 0.28 * i, -0.8, 0.0], [-1.37 + 0.28 * i, -0.7, 0.05]],
                "yaw_rotation": [-5, 5],
            }
        }
        for i in range(10)
    ]
    trays = (("tray_0", -1.2), ("tray_1", -0.6))
    regions = [on(name, [x, 0.73, 0], [x, 0.77, 0], target="conveyor", yaw=(0, 0)) for name, x in trays]
    # The first entry of the near belt that runs towards the robot, then whatever is left.
    first, second = [-4, -5], [-1, -2, -3]
    for i, obj in enumerate(objects[:8]):
        priority = {0: first, 1: second, 2: [5, 6, 7], 3: False}.get(i, [])
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
    values = on_conveyor(rig, objects, regions, skills_of(rig, {arm: [caught("bread_0", rig, rng)]}))
    values["tasks"][0]["random_region_list"] = pool
    return values
