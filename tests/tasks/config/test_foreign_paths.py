"""A task reads files of its own surroundings, and others only where the user says so."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from handloom.cache import user_cache
from handloom.cli.main import BAD_INPUT, DONE, FAILED, main
from handloom.errors import ConfigError, HandloomError, NotAllowedError
from handloom.grasping import write_grasps
from handloom.tasks import load_task, sample_task

BLOCK = "<mujoco><worldbody><body name='b'><geom type='box' size='.02 .03 .02'/></body></worldbody></mujoco>"
CAMERA = {"name": "c", "translation": [0, 0, 1], "orientation": [1, 0, 0, 0]}
SPOT = {"pos_range": [[0, 0.15, 0], [0, 0.15, 0]], "yaw_rotation": [0, 0]}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with files of the user's that have nothing to do with the task in ``home/downloads``."""
    monkeypatch.setenv("HANDLOOM_CACHE", str(user_cache()))  # The kernels are compiled; the home of a test has none.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "elsewhere"
    for name in ("library/mug/one", "covers", "arm"):
        (folder / name).mkdir(parents=True)
    (folder / "block.xml").write_text(BLOCK)
    (folder / "library" / "mug" / "one" / "model.xml").write_text(BLOCK)
    (folder / "arena.yaml").write_text("fixtures: [{name: table, target_class: GeometryObject, category: table}]\n")
    (folder / "eye.yaml").write_text("camera_params: [50, 50, 32, 24]\nresolution_width: 64\nresolution_height: 48\n")
    (folder / "base.yaml").write_text("table_height: [0.7, 0.8]\n")
    Image.new("RGB", (8, 8), (255, 0, 0)).save(folder / "covers" / "red.png")
    row = [0.5, 0.04, 0.02, 0.01, *np.eye(3).ravel(), 0.0, 0.0, 0.0, -1.0]
    write_grasps(folder / "grasps.npy", [row])
    (tmp_path / "home" / "downloads").mkdir(parents=True)
    return folder


def task_file(elsewhere: Path, **keys: object) -> Path:
    values = {
        "name": "t",
        "robots": [{"name": "franka", "robot_config_file": "fr3", "translation": [0, -0.4, 0.75]}],
        "objects": [{"name": "a", "target_class": "RigidObject", "category": "cube"}],
        "regions": [{"object": "a", "target": "table", "random_config": SPOT}],
        "skills": [{"franka": [{"left": [{"name": "home"}]}]}],
        **keys,
    }
    file = elsewhere.parent / "home" / "downloads" / "task.yaml"
    file.write_text(yaml.safe_dump({k: v for k, v in values.items() if v is not None}))
    return file


def thing(**keys: object) -> list[dict[str, object]]:
    return [{"name": "a", "target_class": "RigidObject", **keys}]


def changes(elsewhere: Path, key: str) -> dict[str, object]:
    """Return keys of a task that read something elsewhere."""
    far = str(elsewhere)
    pick = {"name": "pick", "objects": ["a"], "npy_name": f"{far}/grasps.npy"}
    clutter = {"target": "table", "path": f"{far}/library", "min_num": 1, "max_num": 1, "pos_range": [[-1, -1], [1, 1]]}
    return {
        "path": {"objects": thing(path=f"{far}/block.xml")},
        "dots": {"objects": thing(path="../../elsewhere/block.xml")},
        "link": {"objects": thing(path="link/block.xml")},
        "texture": {"objects": thing(category="cube", texture={"texture_lib": f"{far}/covers"})},
        "art_cat": {"objects": thing(art_cat=f"{far}/library/mug", path="model.xml", apply_randomization=True)},
        "arena_file": {"arena_file": f"{far}/arena.yaml"},
        "camera_file": {"cameras": [{**CAMERA, "camera_file": f"{far}/eye.yaml"}]},
        "distractors": {"distractors": clutter},
        "npy_name": {"skills": [{"franka": [{"left": [pick]}]}]},
        "asset_root": {"asset_root": far, "objects": thing(path="block.xml")},
        "base": {"base": f"{far}/base.yaml"},
    }[key]


KEYS = (
    "path", "dots", "link", "texture", "art_cat", "arena_file", "camera_file", "distractors", "npy_name", "asset_root",
    "base",
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_path_that_leads_out_is_refused_when_the_task_is_read_and_can_be_allowed(elsewhere: Path, key: str) -> None:
    file = task_file(elsewhere, **changes(elsewhere, key))
    (file.parent / "link").symlink_to(elsewhere)
    with pytest.raises(HandloomError, match=r"task.yaml.*lies outside.*--allow-outside") as told:
        load_task(file)
    assert isinstance(told.value, NotAllowedError | ConfigError)
    assert sample_task(load_task(file, allow_outside=True), 0, 0).robots


@pytest.mark.parametrize("root", ["/", "~"])
def test_a_file_cannot_make_everything_its_asset_root(elsewhere: Path, root: str) -> None:
    wanted = str(elsewhere.parent / "home") if root == "~" else root
    with pytest.raises(ConfigError, match=rf"asset_root: .*pass --set asset_root={wanted}"):
        load_task(task_file(elsewhere, asset_root=wanted))


def test_an_asset_root_of_the_command_line_is_the_users_word(elsewhere: Path) -> None:
    file = task_file(elsewhere, objects=thing(path="block.xml"))
    task = load_task(file, overrides=[f"asset_root={elsewhere}"])
    assert sample_task(task, 0, 0).objects[-1].parameters["path"] == str(elsewhere / "block.xml")


def test_a_file_cannot_allow_itself_anything(elsewhere: Path) -> None:
    file = task_file(elsewhere, allow_outside=True)
    with pytest.raises(ConfigError, match=r"task.yaml:\d+: allow_outside: only the command line"):
        load_task(file)


def test_a_grasp_file_that_climbs_out_of_its_asset_is_refused(elsewhere: Path) -> None:
    pick = {"name": "pick", "objects": ["a"], "npy_name": "../../../elsewhere/grasps.npy"}
    with pytest.raises(ConfigError, match=r"npy_name: .* leads out of the folder of its asset"):
        load_task(task_file(elsewhere, skills=[{"franka": [{"left": [pick]}]}]))


def test_folders_around_the_task_are_its_own(elsewhere: Path) -> None:
    file = task_file(elsewhere, objects=thing(path="block.xml"))
    (file.parent.parent / "block.xml").write_text(BLOCK)  # in the home folder: too far up
    with pytest.raises(ConfigError, match="no asset file"):
        sample_task(load_task(file), 0, 0)
    nested = file.parent / "tasks" / "picking" / "task.yaml"
    nested.parent.mkdir(parents=True)
    file.rename(nested)
    (nested.parents[2] / "block.xml").write_text(BLOCK)
    assert sample_task(load_task(nested), 0, 0).objects[-1].parameters["path"].endswith("downloads/block.xml")


def test_what_was_allowed_reaches_workers_and_replays(elsewhere: Path, tmp_path: Path, capsys) -> None:
    (elsewhere / "outer.xml").write_text("<mujoco><include file='../library/block.xml'/></mujoco>")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "block.xml").write_text(BLOCK)
    words = {"language_instruction": "Go home."}
    file = task_file(elsewhere, objects=thing(path=f"{elsewhere}/outer.xml"), data=words)
    words = ["--attempts", "1", "--render", "none", "-o", str(tmp_path / "run"), "--workers", "1"]
    assert main(["generate", str(file), *words]) == BAD_INPUT
    assert not (tmp_path / "run").exists()
    assert main(["generate", str(file), *words, "--allow-outside"]) == DONE
    assert main(["verify", str(tmp_path / "run"), "--workers", "0"]) == FAILED  # The archive cannot allow it.
    assert "--allow-outside" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "run"), "--workers", "1", "--allow-outside"]) == DONE
    assert "1 of 1 episodes replay bit for bit" in capsys.readouterr().out
