"""Varied task files, for measuring how fast and how safely they are read and sampled."""

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from handloom.tasks.sampling.assets import small_categories

ROBOTS = {"fr3": "left", "franka_robotiq85": "left", "lift2": "right", "split_aloha": "left", "genie1": "right"}
"""Robot of the zoo > arm its skills are written for."""
CAMERA = {"parent": "", "translation": [0.6, 0.6, 1.3], "orientation": [0.32, 0.21, 0.5, 0.77], "camera_axes": "usd"}


def write_task_files(folder: Path, count: int, *, seed: int = 0) -> list[Path]:
    """Write task files with one robot, two to six objects, cameras, clutter and a schedule; each a little different."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for i, rng in enumerate(np.random.default_rng(seed).spawn(count)):
        file = folder / f"task_{i:04d}.yaml"
        file.write_text(yaml.safe_dump({"tasks": [_task(rng)]}, sort_keys=False), encoding="utf-8")
        files.append(file)
    return files


def crowded_task(count: int, *, seed: int = 0) -> dict[str, Any]:
    """Return a task of one robot and many different objects on a large table."""
    rng = np.random.default_rng(seed)
    task = _task(rng)
    categories = rng.choice(small_categories(), count, replace=False).tolist()
    area = [[-0.62, -0.1, 0.0], [0.62, 0.42, 0.0]]
    task["objects"] = [
        {"name": f"thing_{i}", "target_class": "RigidObject", "category": c, "apply_randomization": True}
        for i, c in enumerate(categories)
    ]
    task["regions"] = [task["regions"][0], *(_region(f"thing_{i}", area) for i in range(count))]
    task["skills"] = [{"robot": [{"left": [{"name": "home"}]}]}]
    task["robots"] = [{"name": "robot", "robot_config_file": "fr3", "euler": [0.0, 0.0, 90.0]}]
    task.pop("distractors", None)
    return task


def _task(rng: np.random.Generator) -> dict[str, Any]:
    robot = str(rng.choice(list(ROBOTS)))
    names = [f"object_{k}" for k in range(int(rng.integers(2, 7)))]
    area = [[-0.35, -0.1, 0.0], [0.35, 0.3, 0.0]]
    held, goal = names[0], names[1]
    task: dict[str, Any] = {
        "name": f"task_{rng.integers(1 << 30)}",
        "asset_root": "assets",
        "arena_file": "arenas/table.yaml",
        "env_map": {"apply_randomization": True, "intensity_range": [4000, 7000], "rotation_range": [0, 180]},
        "neglect_collision_names": ["table"],
        "robots": [{"name": "robot", "robot_config_file": robot, "euler": [0.0, 0.0, 90.0]}],
        "objects": [_object(rng, name) for name in names],
        "regions": [_region("robot", [[0.0, -0.5, 0.0], [0.0, -0.5, 0.0]]), *(_region(name, area) for name in names)],
        "cameras": [
            {**CAMERA, "name": f"robot_camera_{k}", "camera_file": "realsense_d455"}
            for k in range(int(rng.integers(1, 4)))
        ],
        "data": {
            "language_instruction": f"Put the {held} on the {goal}.",
            "max_episode_length": int(rng.integers(200, 900)),
        },
        "skills": [{"robot": [{ROBOTS[robot]: _skills(rng, held, goal)}]}],
    }
    if rng.random() < 0.5:
        task["distractors"] = {"target": "table", "min_num": 1, "max_num": 4, "pos_range": area}
    return task


def _object(rng: np.random.Generator, name: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name,
        "target_class": "RigidObject",
        "category": str(rng.choice(small_categories())),
        "euler": [0.0, 0.0, float(rng.integers(0, 360))],
        "apply_randomization": bool(rng.random() < 0.5),
    }
    if rng.random() < 0.3:
        entry["orientation_mode"] = "suggested"
    return entry


def _region(name: str, pos_range: list[list[float]]) -> dict[str, Any]:
    ranges = {"pos_range": pos_range, "yaw_rotation": [0, 0] if name == "robot" else [-180, 180]}
    return {"object": name, "target": "table", "random_type": "A_on_B_region_sampler", "random_config": ranges}


def _skills(rng: np.random.Generator, held: str, goal: str) -> list[dict[str, Any]]:
    down = ["downward", int(rng.integers(120, 160))]
    return [
        {"name": "pick", "objects": [held], "filter_z_dir": down, "pre_grasp_offset": 0.05, "lift_th": 0.02},
        {"name": "place", "objects": [held, goal], "filter_z_dir": down, "success_mode": "xybbox"},
        {"name": "heuristic__skill", "mode": "home", "gripper_state": 1.0},
    ]
