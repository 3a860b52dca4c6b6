"""Task files of the published shape that pour from one vessel into another."""

from collections.abc import Callable

import numpy as np
from reference_picks import longer, picked
from reference_rigs import Values, aside, goal, on, rigid, side, stood, task

VESSELS: dict[str, tuple[str, str, str]] = {
    "pour_baijiu": ("liquors", "liquors_glass", "y"),
    "pour_redwine": ("decanter", "redwine_glass", "z"),
    "water_plant": ("watering_can", "plant", "z"),
    "pour_water": ("pot", "cup", "y"),
}
"""Deed > what is poured from, what into, and the own axis of the latter that is up.

Of the former it is z: the turns that are asked of it, [0, 0, yaw] in the world, leave that axis up.
"""

GLASS = {"texture_lib": "glass_textures", "apply_randomization": True, "texture_id": 0, "texture_scale": [0.001, 0.001]}
STANDING = {"y": (90, 0, 0), "z": (0, 0, 0)}
"""Own axis > angles that turn it up."""


BAIJIU = {"numParticlesX": 12, "numParticlesY": 12, "numParticlesZ": 25, "particleContactOffset": 0.003}
"""Fluid of the flat flask: a block of small particles."""
COUNTED = {"pour_baijiu": {"particle_num_th_min": 150, "container_radius": 0.02}}
"""Deed > how it is judged where that is not as the others are."""
LIFTED = {"pour_redwine": ([0, 0, 0.13], [0, 0, 1, 1, 0, 0])}
"""Deed > how the vessel is lifted first and which parts of the hand's pose are weighed; others lift it higher."""


def fluid_in(name: str, rng: np.random.Generator) -> Values:
    """Return a fluid in one of the published ways to write it."""
    plain = {"container_name": name, "color": [0.4, 0, 0], "opacity": 0.9, "numParticlesX": 7, "numParticlesY": 7}
    plain |= {"numParticlesZ": int(rng.choice([25, 100, 450]))}
    plain |= {"emissiveColor": [0.03, 0, 0], "particleContactOffset": float(rng.choice([0.003, 0.004, 0.005]))}
    more = {"center_z": bool(rng.random() < 0.5), "spacing_scale": 1, "max_velocity": 0.4, "mass": 1e-07}
    return plain | (more if rng.random() < 0.5 else {"max_velocity": 1})


def pour(word: str) -> Callable[[str, str, np.random.Generator], Values]:
    """Return the maker of tasks that take a vessel, bring it beside another, tilt it and turn it back."""
    source, target, target_up = VESSELS[word]

    def make(rig: str, arm: str, rng: np.random.Generator) -> Values:
        objects = [
            rigid(source, f"basic/{word}/{source}/{source}_01", euler=(0, 0, 0), orientation_mode="keep"),
            rigid(target, f"basic/{word}/{target}/{target}_01", euler=STANDING[target_up], orientation_mode="keep"),
        ]
        objects[0]["texture"] = GLASS
        regions = [on(source, *side(arm, rig), yaw=(0, 0)), on(target, *goal(arm, rig), yaw=(0, 0))]
        near = {"ignore_substring": [source, "visual", target], "success_threshold": "5e-3"}
        across = {"ignore_substring": [source, "visual", target], "success_threshold_move": "5e-3"}
        across["success_threshold_rotate"] = float(rng.choice([0.087, 0.16]))
        inward = 1 if arm == "left" else -1
        approach = {"name": "approach__rotate", "objects": [source, target], **near, "hold_vec_weight": [0] * 6}
        approach |= {"distance": 0.1, "obj_yaw_offset": 0 if arm == "left" else 180}
        yaws = [[0, 0, -30], [0, 0, 30]]
        approach["rotate"] = {"type": "random", "objects": [source, target], "rotate_obj_euler": yaws}
        approach["rotate"] |= {"success_threshold": 0.5}
        tilt = [0, 100 * inward, 0]
        tilted = {"name": "rotate__obj", "objects": [source], "rotate_obj_euler_delta": [tilt, tilt], **across}
        back = {**tilted, "rotate_obj_euler_delta": [[-x for x in tilt]] * 2}
        lift, weights = LIFTED.get(word, ([0, 0, 0.2], [1, 1, 1, 0, 0, 0]))
        way = [
            taken(source, rig),
            {
                "name": "move",
                "objects": [source, source],
                "delta_trans": [lift],
                **near,
                "hold_vec_weight": weights,
            },
            approach,
            {**tilted, "obj_axis_offset": [["z", 0.03]], "trans_offset": [0, 0, 0.05]},
            {"name": "wait", "objects": [source], "wait_steps": 40, **near},
            back,
            judged(source, target, target_up) | COUNTED.get(word, {}),
        ]
        fluid = fluid_in(source, rng) | (BAIJIU if word == "pour_baijiu" else {})
        return stood(
            longer(task(rig, objects, regions, [{rig: [{arm: way}]}], fluid=fluid), 1500), rig, rng, along=True
        )

    make.__name__ = word
    return make


def taken(name: str, rig: str) -> Values:
    """Return a pick from the side whose grasps are tuned by hand."""
    sideways = {
        "lift2": {"filter_x_dir": ["forward", 60], "filter_z_dir": ["upward", 60], "adjust_ori": ["z", "z", "max"]},
        "split_aloha": {
            "filter_z_dir": ["forward", 60],
            "filter_y_dir": ["upward", 90],
            "adjust_ori": ["y", "z", "max"],
        },
    }[rig]
    pick = {"name": "manualpick", "objects": [name], **sideways, "pre_grasp_offset": 0, "test_mode": "ik"}
    pick |= {"post_grasp_offset_min": 0.0, "post_grasp_offset_max": 0.008, "grasp_scale": 0.8}
    pick |= {"adjust_rotate_axis": "x" if rig == "lift2" else "z", "adjust_angle_list_cfg": [-30, 30, 21]}
    pick |= {"manual_adjust_ori": [["x", -15], ["y", -15]], "adjust_trans_offset": [0.0, 0.0, 0.07]}
    return pick | {"pre_grasp_offset_manual": [-0.1, 0, 0], "update_pose_cost_metric_none": True}


def judged(source: str, target: str, target_up: str) -> Values:
    """Return the judgement of a pour: grains in the target, both vessels upright."""
    counted = {"container_name": target, "particle_num_th_min": 50, "particle_num_th_max": 4000}
    counted |= {"container_radius": 0.04, "gripper_state": -1.0}
    return {"name": "pour__water__succ", **counted, "container_up": [[target, target_up, 0.9], [source, "z", 0.8]]}


def pour_coke(rig: str, arm: str, rng: np.random.Generator) -> Values:
    """Return a task that takes a can with a plain pick, faces a bowl and pours; the joint moves are within skills."""
    objects = [rigid("coke", "basic/pour_coke/coke/coke_01", orientation_mode="keep")]
    objects.append(rigid("bowl", "basic/pour_coke/bowl/bowl_01", category="bowl", orientation_mode="keep"))
    regions = [on("coke", *side(arm, rig), yaw=(0, 0)), on("bowl", *goal(arm, rig), yaw=(0, 0))]
    near = {"ignore_substring": ["coke", "visual", "bowl"], "success_threshold": "5e-3"}
    approach = {"name": "approach__rotate", "objects": ["coke", "bowl"], **near, "approach_axis": "-x", "z_offset": 0.1}
    approach |= {"distance": 0.15, "rotate": {"type": "towards", "objects": ["coke", "bowl"], "success_threshold": 1}}
    approach |= {"dummy_forward": {"gripper_state": -1.0, "num_steps": 80}}
    turn = {"name": "rotate__obj", "objects": ["coke"], "success_threshold_move": "5e-3", "rotate_only": True}
    turn |= {"success_threshold_rotate": 0.16, "ignore_substring": near["ignore_substring"]}
    turn |= {"rotate_obj_euler_delta": [[100, 0, 0], [100, 0, 0]]}
    judge = {"name": "pour__water__succ", "container_name": "bowl", "particle_num_th_min": 50, "gripper": "close"}
    judge |= {"particle_num_th_max": 300, "container_radius": 0.04}
    wait = {"name": "wait", "objects": ["coke"], "wait_steps": 80, **near}
    pick = {key: value for key, value in picked("coke", rig, rng).items() if not key.startswith("filter")}
    way = [{**pick, **aside(rig, rng)}, approach, turn, wait, judge]
    values = task(rig, objects, regions, [{rig: [{arm: way}]}], fluid=fluid_in("coke", rng))
    return stood(longer(values, 1500), rig, rng, along=True)
