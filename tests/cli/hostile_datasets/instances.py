"""Scenes and timelines that ask for too much, for files or for code."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from hostile_datasets.kinds import EPISODE, KINDS, WEIRD, edit_json


def instance(change: Callable[[Any, Random], None]) -> Callable[[Any, Random], None]:
    def mutation(run: Path, rng: Random) -> None:
        edit_json(run / f"{EPISODE}/instance.json", lambda value: change(value, rng))

    KINDS[change.__name__] = mutation
    return change


@instance
def instance_time(value: Any, rng: Random) -> None:
    value.update(rng.choice([{"substeps": 10**9}, {"fps": 10**9}, {"substeps": 0}, {"fps": 0}, {"fps": -30}]))


@instance
def instance_crowd(value: Any, rng: Random) -> None:
    apple = next(thing for thing in value["objects"] if not thing["fixed"])
    value["objects"] += [{**apple, "name": f"a{i}"} for i in range(rng.choice([300, 20_000]))]


@instance
def instance_camera(value: Any, rng: Random) -> None:
    size = rng.choice([10**5, 10**9, 30_000, -1, 0])
    value["cameras"][0].update(width=size, height=size)


@instance
def instance_cameras(value: Any, rng: Random) -> None:
    value["cameras"] = [{**value["cameras"][0], "name": rng.choice(["x", f"c{i}"])} for i in range(3000)]


@instance
def instance_numbers(value: Any, rng: Random) -> None:
    thing = rng.choice([*value["objects"], *value["robots"]])
    thing.update(position=[rng.choice([1e300, 1e12, -1e30])] * 3, quat=rng.choice([[0, 0, 0, 0], [1e200] * 4]))


@instance
def instance_code(value: Any, rng: Random) -> None:
    names = [
        "stranger:brick",
        "os:system",
        "shutil:rmtree",
        "builtins:exec",
        "handloom.cli.runs.generate:run",
        ":",
        "a.b:c",
    ]
    value["objects"][-1]["category"] = rng.choice(names)


@instance
def instance_files(value: Any, rng: Random) -> None:
    path = rng.choice(["/etc/passwd", "/dev/zero", "/proc/self/mem", "../../../x.obj", "/", "a.xml", "https://x/y.glb"])
    value["objects"][-1].update(category="file", parameters={"path": path})


@instance
def instance_robot(value: Any, rng: Random) -> None:
    value["robots"][0]["robot"] = rng.choice(["/etc", "..", "/dev/zero", "no_robot", "", "\x00", "/proc/self"])


@instance
def instance_overrides(value: Any, rng: Random) -> None:
    key = rng.choice(["target_class", "model", "left_joint_home", "physics", "gripper_max_width", "zzz"])
    value["robots"][0]["overrides"] = {key: rng.choice([*WEIRD, "stranger:Robot", "/etc/passwd"])}


@instance
def instance_parameters(value: Any, rng: Random) -> None:
    thing = rng.choice(value["objects"])
    for key in thing["parameters"]:
        if rng.random() < 0.5:
            thing["parameters"][key] = rng.choice(WEIRD)


@instance
def instance_look(value: Any, rng: Random) -> None:
    look = {"texture": rng.choice(["wood", "/etc/passwd", 5]), "texture_seed": rng.choice([-1, 10**30, "x"])}
    value["objects"][-1]["look"] = {**look, "repeat": rng.choice([[1e9, 1e9], 0, "x"])}


@instance
def instance_fluid(value: Any, rng: Random) -> None:
    grains = [[0.0, 0.0, 1.0 + 0.001 * i] for i in range(rng.choice([100_000, 3]))]
    value["fluid"] = {"container": "box", "radius": rng.choice([1e-9, 0.0, 1e9]), "mass": 1e-3, "positions": grains}


@instance
def instance_lights(value: Any, rng: Random) -> None:
    value["lights"] = (
        [{**value["lights"][0], "name": f"l{i}", "radius": 1e9} for i in range(2000)]
        if value["lights"]
        else [{"name": "x", "directional": True, "position": [0, 0, 0], "direction": [0, 0, 0], "diffuse": [1e9] * 3}]
    )


def timeline(change: Callable[[Any, Random], None]) -> Callable[[Any, Random], None]:
    def mutation(run: Path, rng: Random) -> None:
        edit_json(run / f"{EPISODE}/timeline.json", lambda value: change(value, rng))

    KINDS[change.__name__] = mutation
    return change


@timeline
def timeline_checks(value: Any, rng: Random) -> None:
    value["spans"][0]["checks"] = [
        {"name": rng.choice(["os:system", "hand_at", "lifted", ""]), "arguments": rng.choice([{}, {"x": 1}, None, []])}
    ]


@timeline
def timeline_spans(value: Any, rng: Random) -> None:
    value["spans"][0].update(start=rng.choice([-(10**30), 5.5, None]), end=rng.choice([10**30, 10**9, "x"]))


@timeline
def timeline_left_out(value: Any, rng: Random) -> None:
    value["left_out"] = rng.choice([[[0, 10**30]], [[1]], [["a", "b"]], "xy", [[-5, 3]], [[0, 10**9]], 7])


@timeline
def timeline_failure(value: Any, rng: Random) -> None:
    value["failure"] = rng.choice([{}, "x", {"stage": "nowhere"}, {"stage": [], "reason": 5}, 0])
