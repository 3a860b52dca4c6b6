"""Task files of the published shape that wipe, hand over, sort parts, use belts and flip."""

import numpy as np
from reference_picks import drawn, longer, picked
from reference_rigs import (
    CONFIGS,
    Values,
    above,
    aside,
    beside,
    goal,
    library,
    on,
    rigid,
    robot_entry,
    side,
    skills_of,
    stood,
    task,
)

HANDS = {"lift2": {"left": "lift2/lift2/fl/link6", "right": "lift2/lift2/fr/link6"}}
"""Bodies that objects start at."""
TOOLS = ("sponge", "white_cloth", "brown_cloth")


def clean_dirt(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes a sponge or a cloth and wipes three patches away, two of which are called invisible."""
    tool = TOOLS[int(rng.integers(len(TOOLS)))]
    held = rigid("tool", f"long_horizon/clean_dirt/{tool}/{tool}_01", scale=(0.5, 0.4, 0.5))
    dirt = [
        {
            **rigid(f"wuzi_{i}", f"long_horizon/wuzi/wuzi_{i}", category="wuzi", scale=(0.3, 0.3, 0.02)),
            "target_class": "GeometryObject" if i == 0 else "RigidObject",
            "texture": {
                "texture_lib": "dirt",
                "apply_randomization": True,
                "texture_id": 5,
                "texture_scale": [0.001, 0.001],
            },
        }
        for i in range(3)
    ]
    regions = [on("tool", *side(arm, rig))]
    regions += [
        on(f"wuzi_{i}", *beside(arm, rig, -0.3 + 0.1 * i, -0.12 - 0.04 * i), yaw=(0, 0), visible=i == 0)
        for i in range(3)
    ]
    wipe = [[0, -0.06, 0], [0, 0.06, 0], [0, -0.06, 0], [0, 0.06, 0], [0, 0, 0]]
    way = [
        picked("tool", rig, rng, grasp_scale=0.5, post_grasp_offset_min=0.008, post_grasp_offset_max=0.008, lift_th=0)
    ]
    way += [
        {
            "name": "move",
            "objects": ["tool", f"wuzi_{i}"],
            "delta_trans": wipe,
            "success_threshold": float(rng.choice([0.04, 0.05])),
            "hold_vec_weight": [1, 1, 1, 0, 0, 3],
            "invisible_object": [f"wuzi_{i}"],
        }
        for i in range(3)
    ]
    return stood(longer(task(rig, [held, *dirt], regions, [{rig: [{arm: way}]}]), 1500), rig, rng, along=True)


def wipe_with_held(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task whose tool is in the hand from the start; the robot's entry says how its arm and fingers stand."""
    values = clean_dirt(rig, arm, rng)
    entry = values["tasks"][0]
    tool = {"init_parent": f"{rig}/{HANDS[rig][arm]}", "init_translation": [0.0, 0.0, 0.0]}
    entry["objects"][0] |= {**tool, "init_orientation": [0.707, 0, 0, 0.707]}
    entry["regions"] = [region for region in entry["regions"] if region["object"] != "tool"]
    entry["skills"][0][rig][0][arm].pop(0)
    wiping = {f"{arm}_joint_home": [0.0, 2.1183, 0.91657, 1.1151, 0.0, 0.0], f"{arm}_gripper_home": [0.02]}
    entry["robots"] = [robot_entry(rig, **wiping)]
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


def pool() -> list[Values]:
    """Return the places on two belts that objects share: ten on the far one, ten on the near one."""
    far = [([-0.2 + 0.15 * i, 0.85, 0.0], [-0.18 + 0.15 * i, 0.65, 0.0], 45) for i in range(10)]
    near = [([-1.4 + 0.28 * i, -0.8, 0.0], [-1.37 + 0.28 * i, -0.7, 0.05], 5) for i in range(10)]
    return [
        {"random_config": {"pos_range": [low, high], "yaw_rotation": [-yaw, yaw]}} for low, high, yaw in (*far, *near)
    ]


def belt(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task on two belts, with places from a list: negative indices, low above high, objects in containers."""
    foods = ("bread", "beef", "ham", "cheese", "lettuce")
    objects = [
        rigid(f"{food}_{i}", f"long_horizon/sandwich/{food}/{food}_0{i}", gap=False) for food in foods for i in range(2)
    ]
    objects += [
        rigid(f"tray_{i}", f"long_horizon/tray/tray_0{i}", gap=False, orientation_mode="keep") for i in range(2)
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
    values["tasks"][0]["random_region_list"] = pool()
    return values


RACKS = {"bread": "bread_shelf", "ham": "plate", "cheese": "plate", "lettuce": "shelf"}
"""Food > what it comes on."""


def ham_sandwich(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task on two belts with slices of food, each on a small shelf or plate of its own; one is taken."""
    objects, regions = list[Values](), list[Values]()
    foods = [food for food in RACKS for _ in range(4)]
    numbers = [foods[:i].count(food) for i, food in enumerate(foods)]
    for food, i in zip(foods, numbers, strict=True):
        rack, slice_ = f"{food}_{RACKS[food]}_{i}", f"{food}_{i}"
        objects.append(rigid(slice_, f"long_horizon/sandwich/{food}_slice/{food}_slice_0{i}", gap=False))
        objects.append(rigid(rack, f"long_horizon/sandwich/{RACKS[food]}/{RACKS[food]}_0{i}", gap=False))
        # The slice that is taken comes towards the robot on the near belt; the others are wherever there is room.
        priority = [-4, -5] if slice_ == "ham_0" else False
        on_belt = {"object": rack, "target": "conveyor", "random_type": "A_on_B_region_sampler", "priority": priority}
        inside = {
            "object": slice_,
            "target": rack,
            "container": rack,
            "z_init": round(float(rng.uniform(0.05, 0.07)), 3),
        }
        chosen = slice(0, 0) if slice_ == "ham_0" else slice(len(regions), None)
        regions[chosen] = [on_belt, {**inside, "sub_tgt_prim": "/World"}]
    values = on_conveyor(rig, objects, regions, skills_of(rig, {arm: [caught("ham_0", rig, rng)]}))
    values["tasks"][0] |= {"random_region_list": pool(), "neglect_collision_names": ["conveyor", "shelf", "tray"]}
    return values
