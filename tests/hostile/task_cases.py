"""Hostile task files, textures, robot folders and notes beside assets."""

import random
import shutil
from pathlib import Path
from typing import Any

from file_parts import (
    SECRET,
    Words,
    damaged,
    looks_at,
    mjcf,
    png,
    stl,
    task,
    thing,
    write,
)
from kinds import kind

from handloom.robots.load import ZOO_FOLDER


@kind
def texture_of_a_task(folder: Path, rng: random.Random) -> list[Words]:
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100000 100000\n"
    content = rng.choice(
        [png(100_000, 100_000), png(60_000, 60_000), png(9, 9)[:40], eps, b"", damaged(png(9, 9), rng)]
    )
    write(folder / "covers" / "a.png", content)
    look = thing(category="cube", texture={"texture_lib": "covers"})
    camera = {"name": "c", "translation": [0, 0, 2], "orientation": [1, 0, 0, 0], "camera_file": "realsense_d455"}
    file = task(folder / "task.yaml", objects=look, cameras=[{**camera, "size": [32, 32]}])
    return [["check", str(file)], ["preview", str(file), "--episodes", "1", "-o", str(folder / "out.png")]]


@kind
def texture_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    name = rng.choice(["/usr/share", "../" * 12 + "etc", "link"])
    (folder / "link").symlink_to("/usr/share")
    return looks_at(task(folder / "task.yaml", objects=thing(category="cube", texture={"texture_lib": name})))


@kind
def task_reads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    far = rng.choice([SECRET, "../" * 12 + "etc/passwd", "link"])
    (folder / "link").symlink_to(SECRET)
    pick = {"name": "pick", "objects": ["thing"], "npy_name": SECRET}
    changes: dict[str, Any] = rng.choice(
        [
            {"objects": thing(path=far)},
            {"arena_file": far},
            {"robots": [{"name": "arm", "robot_config_file": far}]},
            {"asset_root": rng.choice(["/", "/etc", "/root"])},
            {"skills": [{"arm": [{"left": [pick]}]}]},
            {
                "distractors": {
                    "target": "table",
                    "path": "/",
                    "min_num": 1,
                    "max_num": 1,
                    "pos_range": [[0, 0], [0.1, 0.1]],
                }
            },
            {"cameras": [{"name": "c", "translation": [0, 0, 1], "orientation": [1, 0, 0, 0], "camera_file": far}]},
        ]
    )
    based = write(folder / "based.yaml", f"base: {far}\ntable_height: [0.7, 0.8]\n")
    allowed = task(folder / "allowed.yaml", allow_outside=True)
    return [*looks_at(task(folder / "task.yaml", **changes)), ["check", str(based)], ["check", str(allowed)]]


@kind
def task_grows_without_end(folder: Path, rng: random.Random) -> list[Words]:
    aliases = "\n".join([f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)])
    references = "\n".join(f"r{i}: '" + f"${{r{i - 1}}}" * 10 + "'" for i in range(1, 12))
    text = rng.choice(
        [
            f"a0: &a0 x\n{aliases}\n",
            f"r0: '0123456789'\n{references}\n",
            "tasks: " + "[" * 100_000,
            "a: " + "9" * 1_000_000,
            "a: !!python/object/apply:os.system [ls]\n",
            "tasks: [{name: '${oc.env:HOME}'}]\n",
            "? " * 10_000,
            "x" * 9_000_000,
        ]
    )
    return [["check", str(write(folder / "bomb.yaml", text))]]


@kind
def task_with_a_hostile_asset(folder: Path, rng: random.Random) -> list[Words]:
    write(folder / "m.stl", stl(declared=10**9))
    mjcf(folder / "nosy.xml", asset=f"<mesh name='m' file='{SECRET}' content_type='model/stl'/>")
    mjcf(folder / "large.xml", asset="<texture name='t' type='2d' builtin='flat' width='90000' height='90000'/>")
    name = rng.choice(["m.stl", "nosy.xml", "large.xml"])
    return looks_at(task(folder / "task.yaml", objects=thing(path=name)))


@kind
def task_with_notes_beside_an_asset(folder: Path, rng: random.Random) -> list[Words]:
    write(folder / "block.stl", stl())
    notes = rng.choice(["[" * 100_000, "&a [*a]", "\0", "gap: [.nan]", "gap: {a: 1}", "x: &x {y: *x}"])
    write(folder / "gap.yaml", notes)
    write(
        folder / "Aligned_grasp_sparse.npy", b"\x93NUMPY\x01\x00" + damaged(b"v\0{'descr': '<f4', 'shape': (9,)}", rng)
    )
    objects = [*thing(path="block.stl"), {"name": "egg", "target_class": "RigidObject", "category": "egg"}]
    regions = [{"object": "egg", "target": "thing", "container": "thing"}]
    return looks_at(task(folder / "task.yaml", objects=objects, regions=regions))


@kind
def robot_folder(folder: Path, rng: random.Random) -> list[Words]:
    shutil.copytree(ZOO_FOLDER / "so101", folder / "arm")
    model = folder / "arm" / "model.xml"
    text = model.read_text(encoding="utf-8")
    inside = rng.choice(
        [
            f"<asset><mesh name='nosy' file='{SECRET}' content_type='model/stl'/></asset>",
            "<asset><texture name='t' type='2d' builtin='flat' width='90000' height='90000'/></asset>",
            "<include file='model.xml'/>",
            "<custom><numeric name='n' size='2000000000' data='1'/></custom>",
        ]
    )
    model.write_text(text.replace("</mujoco>", f"{inside}</mujoco>"), encoding="utf-8")
    file = task(folder / "task.yaml", robots=[{"name": "arm", "robot_config_file": "arm", "translation": [0, 0, 0.75]}])
    return [["check", str(file)], ["robot", "check", str(folder / "arm")], ["robot", "show", str(folder / "arm")]]


@kind
def robot_that_leads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    shutil.copytree(ZOO_FOLDER / "so101", folder / "arm")
    settings = folder / "arm" / "robot.yaml"
    far = rng.choice([SECRET, "../" * 12 + "etc/passwd"])
    text = settings.read_text(encoding="utf-8")
    settings.write_text(f"base: {far}\n{text}" if rng.random() < 0.5 else f"{text}\nmodel: {far}\n", encoding="utf-8")
    return [["robot", "check", str(folder / "arm")], ["object", "show", str(folder / "arm")]]
