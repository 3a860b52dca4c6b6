"""Task files of the shape that is published for the reference system: keys, types, robots, frequent and rare values.

The published files are not ours to ship. What is here is written from a list of keys, value ranges and counts; nothing
is copied. ``write_checkout(folder, count, seed)`` writes a checkout without assets: arenas, robot and camera files, and
task files six to nine folders below its root. ``python reference_files.py FOLDER COUNT SEED [spread]`` does that from a
shell; ``spread`` visits every family equally often, ``share`` draws by the published numbers from the first file on.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import yaml
from reference_articulated import THINGS, deed, heat_food, store_in_drawer
from reference_containers import (
    bin_trash,
    example_rubbish,
    insert_markpen,
    pick_camera,
    sort_rubbish,
    stack_cubes,
    store_eggs,
    store_toothbrush,
)
from reference_long import (
    belt,
    bolts,
    clean_dirt,
    conveyor_package,
    flip_package,
    ham_sandwich,
    handover,
    wipe_with_held,
)
from reference_picks import (
    arrange_tableware,
    dual_pnp,
    functional_pick,
    insert_flower,
    pack_objects,
    recovery_pick,
    single_pick,
    single_pnp,
    stack_bowls,
)
from reference_pours import VESSELS, pour, pour_coke
from reference_rare import (
    close_both_lids,
    example,
    hang_cup,
    pack_out,
    sandwich,
    serve_tray,
    track_targets,
    tray_on_rack,
    two_robot_sandwich,
)
from reference_rigs import CONFIGS, RIGS, TABLES, Values, arena, conveyor_arena

BOTH = ("lift2", "split_aloha")
Maker = Callable[[str, str, np.random.Generator], Values]
FAMILIES: tuple[tuple[str, Maker, tuple[str, ...], float], ...] = (
    *(
        ("pick_and_place/{rig}/single_pick/{arm}/", single_pick, (rig,), count)
        for rig, count in (("lift2", 206), ("split_aloha", 206), ("genie1", 206), ("franka", 103))
    ),
    ("pick_and_place/{rig}/single_pnp/{arm}/", single_pnp, ("genie1",), 206),
    ("pick_and_place/genie1/single_func_pick/{arm}/", functional_pick, ("genie1",), 10),
    ("pick_and_place/genie1/dual_pnp/", dual_pnp, ("genie1",), 2),
    ("basic/{rig}/stack_bowls/train/v1/", stack_bowls, (*BOTH, "franka"), 6),
    ("basic/{rig}/stack_cubes_lift/", stack_cubes, BOTH, 4),
    ("basic/{rig}/store_the_eggs/train/v1/", store_eggs, ("genie1",), 4),
    ("basic/{rig}/store_the_toothbrushes/train/v1/", store_toothbrush, BOTH, 4),
    ("basic/{rig}/insert_flower/train/v1/", insert_flower, BOTH, 4),
    ("basic/{rig}/insert_markpen/train/v1/", insert_markpen, BOTH, 4),
    ("basic/{rig}/arrange_tableware/train/v1/", arrange_tableware, BOTH, 4),
    *((f"basic/{{rig}}/{word}/v1/", pour(word), BOTH, 4) for word in VESSELS),
    ("basic/{rig}/pour_coke/v1/", pour_coke, BOTH, 3),
    ("basic/{rig}/hang_the_cup/train/", hang_cup, BOTH, 4),
    ("basic/{rig}/sort_the_tray/train/", tray_on_rack, BOTH, 4),
    ("basic/{rig}/conveyor/", belt, ("lift2",), 4),
    ("basic/{rig}/conveyor_package/", conveyor_package, BOTH, 4),
    ("basic/{rig}/recovery/", recovery_pick, BOTH, 2),
    ("basic/{rig}/track_the_targets/", track_targets, (*BOTH, "franka"), 3),
    ("long_horizon/{rig}/sort_the_rubbish/", sort_rubbish, BOTH, 8),
    ("long_horizon/{rig}/clean_dirt/", clean_dirt, BOTH, 24),
    ("long_horizon/{rig}/wipe_with_held/", wipe_with_held, ("lift2",), 2),
    ("long_horizon/{rig}/pack_objects/", pack_objects, BOTH, 4),
    ("long_horizon/{rig}/pack_out/", pack_out, BOTH, 4),
    ("long_horizon/{rig}/sandwich/", sandwich, BOTH, 2),
    ("long_horizon/{rig}/serve_tray/", serve_tray, ("lift2",), 4),
    ("long_horizon/{rig}/two_robots/", two_robot_sandwich, ("lift2",), 3),
    ("example/{rig}/", example_rubbish, ("split_aloha",), 1),
    ("long_horizon/{rig}/put_the_trash_in_trashcan/", bin_trash, ("frankarobotiq",), 1),
    ("pick_and_place/{rig}/single_pick/{arm}/", pick_camera, ("genie1",), 2),
    ("pick_and_place/{rig}/example/", example, ("frankarobotiq",), 1),
    ("art/{rig}/close_both_lids/a/b/c/", close_both_lids, ("lift2",), 1),
    ("long_horizon/{rig}/store_in_drawer/", store_in_drawer, BOTH, 4),
    ("long_horizon/{rig}/heat_food/", heat_food, ("lift2",), 4),
    ("long_horizon/{rig}/handover/", handover, ("lift2",), 10),
    ("long_horizon/{rig}/sort_parts/", bolts, ("lift2",), 5),
    ("long_horizon/{rig}/flip_package/", flip_package, ("lift2",), 3),
    *(
        (f"art/{{rig}}/{word}/a/b/c/", deed(word), (*BOTH, "franka") if count < 12 else BOTH, count)
        for word, (*_, count) in THINGS.items()
    ),
    ("basic/{rig}/conveyor_sandwich/", ham_sandwich, ("split_aloha",), 4),
)
"""Folder, maker, robots and number of the files, in about the published proportions."""


STAND_INS = ["proxy_assets=true"]
"""Overrides with which missing assets are replaced."""


def tasks(count: int, seed: int = 0, *, spread: bool = False, share: bool = False) -> Iterator[tuple[str, Values]]:
    """Yield path below the tasks' folder and values of files: every family and robot first, then as often as published.

    Args:
        count: Number of files.
        seed: Another one gives other files.
        spread: Every family equally often, in a random order, instead of in the published proportions.
        share: In the published proportions from the first file on.
    """
    found = [(k, *family) for family in FAMILIES for k in range(len(family[2]))]
    found.sort(key=lambda entry: entry[0])
    pairs = [(folder, make, rigs[k]) for k, folder, make, rigs, _ in found]
    shares = np.array([share / len(rigs) for _, _, _, rigs, share in found], float)
    order = np.random.default_rng([seed, 1]).permutation(len(pairs)) if spread else np.arange(len(pairs))
    rng = np.random.default_rng([seed, 0])
    for i in range(count):
        k = (
            i % len(pairs)
            if spread or (i < len(pairs) and not share)
            else int(rng.choice(len(pairs), p=shares / shares.sum()))
        )
        folder, make, rig = pairs[order[k]]
        arms = RIGS[rig]["arms"]
        arm = arms[(i + seed) % len(arms)]
        yield f"{folder.format(rig=rig, arm=arm)}{make.__name__}_{i:04d}.yaml", make(rig, arm, rng)


def write_checkout(root: Path, count: int, seed: int = 0, *, spread: bool = False, share: bool = False) -> list[Path]:
    """Write a checkout without assets and return its task files."""
    from handloom.robots.load import ZOO_FOLDER
    from handloom.scene.camera_config import CAMERAS

    configs = root / CONFIGS
    for folder in ("arenas", "robots", "cameras", "tasks"):
        (configs / folder).mkdir(parents=True, exist_ok=True)
    arenas = {name: arena(scale) for name, scale in TABLES.items()}
    for name, values in {**arenas, "conveyor_arena": conveyor_arena()}.items():
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
    for name, values in tasks(count, seed, spread=spread, share=share):
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


def written(root: Path, values: Values, name: str = "mine/one/two/task.yaml") -> Path:
    """Write a task file of its own into a checkout."""
    file = root / CONFIGS / "tasks" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(values, sort_keys=False))
    return file


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
    words = sys.argv[4:]
    write_checkout(
        Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), spread="spread" in words, share="share" in words
    )
