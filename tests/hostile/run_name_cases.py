"""Runs, archives and datasets whose names are paths; all hashes are written anew, as a stranger would."""

import json
import random
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from name_cases import kind
from names import Words, far, name

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from hostile_datasets.honest import honest_run
from hostile_datasets.signing import sign_archives, sign_files

READS = {
    "verify": ["verify", "RUN", "--workers", "0"],
    "report": ["report", "RUN", "-o", "page"],
    "export": ["export", "RUN", "-o", "out.h5", "--no-images"],
    "render": ["render", "RUN", "-o", "drawn", "--workers", "0", "--preset", "fast"],
    "join": ["merge", "RUN", "-o", "merged"],
    "merge": ["merge", "RUN"],
    "augment": ["augment", "RUN", "--executor", "inline", "--render", "none", "--attempts", "1", "--json"],
    "cameras": ["render", "RUN", "-o", "drawn", "--workers", "0", "--preset", "fast", "--cameras", "CAMERAS"],
}


@cache
def _honest(root: Path) -> Path:
    return honest_run(root / "honest")


def _run(folder: Path) -> Path:
    honest = _honest(folder.parents[2])
    shutil.copytree(honest, folder / "run", symlinks=True)
    shutil.copy(honest.parent / "rest.yaml", folder / "rest.yaml")
    return folder / "run"


def _edit(file: Path, change: Any) -> None:
    value = json.loads(file.read_text())
    change(value)
    file.write_text(json.dumps(value, indent=1))


def _words(folder: Path, rng: random.Random, *verbs: str) -> list[Words]:
    places = {"RUN": str(folder / "run"), "CAMERAS": str(folder / "cameras.yaml")}
    return [[places.get(word, word) for word in READS[verb]] for verb in rng.sample(verbs, 2)]


def _signed(folder: Path) -> None:
    sign_archives(folder / "run" / "dataset")
    sign_files(folder / "run" / "dataset")


@kind
def archives(folder: Path, rng: random.Random) -> list[Words]:
    run = _run(folder)
    model, picture = (
        far(folder, rng.choice(["mesh.stl", "model.xml", "stage.usda"]), rng),
        far(folder, "picture.png", rng),
    )
    allowed = {"allow_outside": True} if rng.random() < 0.5 else {}

    def change(value: dict[str, Any]) -> None:
        robot, obj = value["robots"][0], value["objects"][-1]
        fixture = next(thing for thing in value["objects"] if thing["fixed"])
        deeds = [
            lambda: robot.update(robot=far(folder, rng.choice(["robot", "robot/robot.yaml", "secret.txt"]), rng)),
            lambda: robot.update(overrides={"model": far(folder, "robot/model.xml", rng)}),
            lambda: robot.update(overrides={"target_class": "stranger:Policy"}),
            lambda: obj.update(category="file", parameters={"path": model, **allowed}),
            lambda: obj.update(look={"picture": picture, "repeat": [1, 1]}),
            lambda: fixture["parameters"].update(picture=picture),
            lambda: obj.update(category=rng.choice(["stranger:brick", "os:system"])),
            lambda: obj.update(name=name(folder, rng)),
            lambda: value["cameras"][0].update(name=name(folder, rng)),
            lambda: value.update(task=name(folder, rng)),
        ]
        rng.choice(deeds)()

    for episode in sorted((run / "dataset" / "extras").iterdir()):
        _edit(episode / "instance.json", change)
    _signed(folder)
    return _words(folder, rng, "verify", "report", "export", "render", "augment")


@kind
def manifests(folder: Path, rng: random.Random) -> list[Words]:
    run = _run(folder)
    values = yaml.safe_load((run / "run.yaml").read_text())
    pick = {"name": "pick", "objects": ["apple"], "npy_name": far(folder, "secret.npy", rng)}
    deeds = [
        lambda: values.update(task_name=name(folder, rng)),
        lambda: values.update(task_path=far(folder, "task.yaml", rng)),
        lambda: values["task"].update(asset_root=far(folder, "", rng)),
        lambda: values["task"].update(allow_outside=True),
        lambda: values["task"]["robots"][0].update(robot_config_file=far(folder, "robot", rng)),
        lambda: values["task"]["objects"][0].update(path=far(folder, "mesh.stl", rng)),
        lambda: values["task"].update(skills=[{"franka": [{"left": [pick]}]}]),
        lambda: values["task"]["cameras"][0].update(camera_file=far(folder, "secret.yaml", rng)),
        lambda: values.update(source=f"augment={far(folder, 'victim', rng)}|thesis.txt|0123456789abcdef"),
        lambda: values.update(source="stranger:Policy"),
        lambda: values.update(source=f"policy={far(folder, 'mesh.stl', rng)}"),
    ]
    for deed in rng.sample(deeds, 2):
        deed()
    if rng.random() < 0.5:
        values["task"]["allow_outside"] = True
    (run / "run.yaml").write_text(yaml.safe_dump(values))
    if values["task_name"] != "rest":  # Augmenting compares it with the archives.
        for episode in sorted((run / "dataset" / "extras").iterdir()):
            _edit(episode / "instance.json", lambda value: value.update(task=values["task_name"]))
        _signed(folder)
    _write_cameras(folder, rng)
    return _words(folder, rng, "augment", "render", "report", "merge", "cameras")


def _write_cameras(folder: Path, rng: random.Random) -> None:
    eye = {"name": name(folder, rng) or "x", "translation": [0, 0, 1], "orientation": [1, 0, 0, 0], "size": [32, 32]}
    cameras = {"cameras": [{**eye, "camera_file": far(folder, "secret.yaml", rng)}]}
    (folder / "cameras.yaml").write_text(yaml.safe_dump(cameras))


@kind
def datasets(folder: Path, rng: random.Random) -> list[Words]:
    run = _run(folder)
    dataset, camera = run / "dataset", name(folder, rng)
    extras = dataset / "extras" / "episode_000000"

    def features(info: dict[str, Any]) -> None:
        info["features"] = {(camera if "images" in key else key): value for key, value in info["features"].items()}

    def listed(sheet: dict[str, Any]) -> None:
        sheet["files"][far(folder, "secret.txt", rng)] = sheet["files"].pop("instance.json")

    def replaced(file: Path, there: str) -> None:
        file.unlink(missing_ok=True)
        file.symlink_to(folder.parents[2] / "outside" / there)

    entry = {"bytes": 1, "sha256": "0" * 64}
    deeds = [
        lambda: _edit(dataset / "meta" / "info.json", lambda v: v.update(data_path=far(folder, "secret.npy", rng))),
        lambda: _edit(dataset / "meta" / "info.json", lambda v: v.update(video_path=far(folder, "secret.npy", rng))),
        lambda: _edit(dataset / "meta" / "info.json", features),
        lambda: _edit(extras / "episode.json", listed),
        lambda: _edit(dataset / "meta" / "files.json", lambda v: v.update({far(folder, "secret.txt", rng): entry})),
        lambda: replaced(extras / "instance.json", "secret.json"),
        lambda: replaced(extras / "episode.json", "secret.json"),
        lambda: replaced(dataset / "meta" / "info.json", "secret.json"),
        lambda: replaced(run / "run.yaml", "secret.yaml"),
        lambda: replaced(run / "finished.json", "secret.json"),
        lambda: replaced(run / "report", ""),
        lambda: replaced(run / "journal" / "unit_000009.jsonl", "secret.json"),
        lambda: replaced(run / "rendered", "victim"),
        lambda: replaced(run / "lock", "secret.txt"),
    ]  # fmt: skip
    rng.choice(deeds)()
    return _words(folder, rng, *(verb for verb in READS if verb != "cameras"))


@kind
def failures(folder: Path, rng: random.Random) -> list[Words]:
    run = _run(folder)
    reason = name(folder, rng)
    for episode in sorted((run / "dataset" / "extras").iterdir()):
        failure = {"stage": "execute", "reason": reason, "detail": reason}
        _edit(episode / "timeline.json", lambda value, failure=failure: value.update(failure=failure))
    for file in sorted((run / "journal").glob("*.jsonl")):
        row = {**json.loads(file.read_text().splitlines()[0]), "reason": reason, "detail": reason}
        file.write_text(json.dumps(row) + "\n")
    _signed(folder)
    return _words(folder, rng, "verify", "report", "render", "join", "augment")
