"""LeRobot checkpoints as policies: what is one, what is missing, and the real LeRobot running one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handloom.dataset import column_feature, video_feature
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.policies import policy_source
from handloom.episode.observer import chosen_cameras
from handloom.episode.policy_source import check_inputs
from handloom.errors import FileError, InputError, MissingExtraError
from handloom.tasks import load_task, sample_task

CONFIG = {"type": "act", "output_features": {"action": {"type": "ACTION", "shape": [8]}}}
SMALL = ["cameras.0.size=[64, 48]", "cameras.1.size=[32, 32]", "data.max_episode_length=40"]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """The files of a checkpoint, which LeRobot itself could not load."""
    folder = tmp_path / "pretrained_model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_bytes(b"weights")
    for name in ("policy_preprocessor.json", "policy_postprocessor.json"):
        (folder / name).write_text('{"steps": []}')
    return folder


def test_a_checkpoint_without_lerobot_says_what_to_install(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lerobot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'handloom\[lerobot\]'"):
        policy_source(str(checkpoint))


def test_a_checkpoint_is_named_by_its_content_and_found_inside_the_folder_of_a_step(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lerobot", json)  # Only that it can be imported matters here.
    name = policy_source(str(checkpoint))
    assert name.startswith(f"policy=lerobot|{checkpoint}|")
    assert policy_source(str(checkpoint.parent)) == name
    (checkpoint / "policy_preprocessor.json").write_text('{"steps": [{"config": {"eps": 1}}]}')
    assert policy_source(str(checkpoint)) != name


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("config.json", None, r"no LeRobot checkpoint: there is no config.json .*checkpoints/last/pretrained_model"),
        ("config.json", "{", "is no JSON"),
        ("config.json", '{"model": "bert"}', "it has no 'type', such as act or diffusion"),
        ("config.json", '{"type": "reward_classifier"}', "'reward_classifier' without the output 'action'"),
        ("model.safetensors", None, "there is no model.safetensors in it"),
        ("policy_preprocessor.json", None, r"LeRobot before 0.4 saved none, try: python -m lerobot.processor.migrate"),
    ],
)
def test_a_folder_that_cannot_be_run_says_what_is_wrong_without_lerobot(
    checkpoint: Path, file: str, text: str | None, message: str
) -> None:
    (checkpoint / file).unlink()
    if text is not None:
        (checkpoint / file).write_text(text)
    with pytest.raises(FileError, match=message):
        policy_source(str(checkpoint))


def test_an_adapter_alone_is_refused(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").rename(checkpoint / "adapter_model.safetensors")
    (checkpoint / "adapter_config.json").write_text("{}")
    with pytest.raises(FileError, match="an adapter only: merge it into its policy"):
        policy_source(str(checkpoint))


def test_a_checkpoint_takes_no_weights(checkpoint: Path) -> None:
    with pytest.raises(InputError, match="have their weights inside"):
        policy_source(str(checkpoint), checkpoint / "model.safetensors")


def test_every_missing_input_is_named() -> None:
    observed = (column_feature("observation.state", list("abcdefgh")), video_feature(IMAGE, height=48, width=64))
    check_inputs({"observation.state": (8,), IMAGE: None}, observed)
    with pytest.raises(
        InputError, match=r"needs observation.images.top, observation.environment_state, which this task"
    ):
        check_inputs({"observation.images.top": None, "observation.environment_state": (4,), IMAGE: None}, observed)
    with pytest.raises(InputError, match=r"observation.state of shape \(14,\); in this task it has \(8,\)"):
        check_inputs({"observation.state": (14,)}, observed)


IMAGE = "observation.images.head"


def test_cameras_take_sizes_by_name() -> None:
    cameras = sample_task(load_task("fr3_pick_cube"), 0, 0).cameras
    assert [(c.width, c.height) for c in chosen_cameras(cameras, ["hand", "head"], {"hand": (32, 24)})] == [
        (32, 24),
        (cameras[0].width, cameras[0].height),
    ]


@pytest.mark.reader
def test_lerobot_trains_on_what_was_generated_and_what_it_saved_is_evaluated(tmp_path: Path) -> None:
    python = os.environ.get("HANDLOOM_READER_PYTHON", "")
    if not python:
        pytest.skip("HANDLOOM_READER_PYTHON does not name an interpreter with lerobot and handloom")
    task = load_task("fr3_pick_cube", overrides=SMALL[:2])
    run = RunDirectory.begin(tmp_path / "run", RunSettings.of_task(task, seed=1))
    generate_run(run, Goal(successes=2), InlineExecutor())
    saved = tmp_path / "checkpoints" / "last" / "pretrained_model"
    trained = called(python, str(Path(__file__).parent / "train_with_lerobot.py"), str(run.dataset), str(saved))
    assert trained["losses"][-1] < 0.7 * trained["losses"][0]
    assert set(trained["inputs"]) >= {"observation.images.hand", "observation.images.head", "observation.state"}
    # Ours and LeRobot's own loop give the same actions, over the end of a chunk and with another start.
    assert trained["largest_difference"] == 0.0
    options = ["-n", "2", "--executor", "inline", "--videos", "0", "-o", str(tmp_path / "result"), "--json"]
    words = ["-m", "handloom", "evaluate", "fr3_pick_cube", "--policy", str(saved.parent), "--set", *SMALL]
    found = called(python, *words, *options)
    assert (found["scenes"], found["successes"]) == (2, 0)
    assert found["failure_reasons"] == {"pick_not_grasped": 2}
    wrong = [word.replace("fr3_pick_cube", "lift2_handover") for word in words[: words.index("--set")]]
    refused = subprocess.run(
        [python, *wrong, *options[:-3], "-o", str(tmp_path / "no")], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2, refused.stderr
    assert (
        "observation.state of shape (8,)" in refused.stderr or "the policy needs observation.images" in refused.stderr
    )


def called(python: str, *words: str) -> dict:
    finished = subprocess.run([python, *words], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return json.loads(finished.stdout.splitlines()[-1])
