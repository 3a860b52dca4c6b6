"""Small tasks as Python values."""

import copy

ARENA = {
    "name": "bare",
    "fixtures": [
        {
            "name": "table",
            "target_class": "GeometryObject",
            "category": "table",
            "size": [1.4, 1.0, 0.75],
            "translation": [0, 0, 0.375],
        }
    ],
}
TABLE_TOP = 0.75
TASK = {
    "arena_file": "arena.yaml",
    "robots": [{"name": "franka", "robot_config_file": "fr3", "euler": [0, 0, 90]}],
    "objects": [],
    "regions": [
        {
            "object": "franka",
            "target": "table",
            "random_config": {"pos_range": [[0, -0.42, 0], [0, -0.42, 0]], "yaw_rotation": [0, 0]},
        }
    ],
    "skills": [{"franka": [{"left": [{"name": "home"}]}]}],
}


def thing(name, category, **more):
    """Return an object entry of the library."""
    return {"name": name, "target_class": "RigidObject", "category": category, **more}


def region(name, target="table", low=(-0.2, 0.0, 0.0), high=(0.2, 0.2, 0.0), yaw=(-180, 180), **more):
    """Return a region that puts something on something."""
    ranges = {"pos_range": [list(low), list(high)], "yaw_rotation": list(yaw)}
    return {"object": name, "target": target, "random_config": ranges, **more}


def task_values(*, objects=(), regions=(), **keys):
    """Return a task of one robot at a table; ``objects`` and ``regions`` are added, other keys replace."""
    task = copy.deepcopy(TASK)
    task["objects"] += objects
    task["regions"] += regions
    return task | keys
