"""LeRobot checkpoints as policies: what is one, what is missing, and the real LeRobot running one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from handloom.config import allow_code
from handloom.dataset import column_feature, video_feature
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.policy import lerobot_policy
from handloom.engine.policy.lerobot_policy import LeRobotPolicy
from handloom.engine.policy.policies import policy_source
from handloom.episode.observer import Observer, chosen_cameras
from handloom.episode.policy_source import check_inputs
from handloom.errors import FileError, InputError, MissingExtraError, NotAllowedError
from handloom.scene import build_scene
from handloom.tasks import Task, load_task, sample_task

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


def test_a_checkpoint_without_lerobot_says_how_to_give_it_an_environment(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lerobot_policy, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"lerobot-env/bin/pip install lerobot, then add --policy-python"):
        policy_source(str(checkpoint))


def test_a_checkpoint_is_named_by_its_content_and_found_inside_the_folder_of_a_step(checkpoint: Path) -> None:
    python = Path(sys.executable)
    name = policy_source(str(checkpoint), python=python)
    assert name.startswith(f"policy=lerobot|{checkpoint}|")
    assert name.endswith(f"|{python}")
    assert policy_source(str(checkpoint.parent), python=python) == name
    (checkpoint / "policy_preprocessor.json").write_text('{"name": "other", "steps": []}')
    assert policy_source(str(checkpoint), python=python) != name


def test_an_interpreter_that_cannot_run_lerobot_is_named(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"names a Python interpreter, such as .*; got nowhere/python"):
        policy_source(str(checkpoint), python=Path("nowhere/python"))
    with pytest.raises(InputError, match="--policy-python is for the folder of a LeRobot checkpoint"):
        policy_source("my_module:MyPolicy", python=Path(sys.executable))
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho this is no Python >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(FileError, match=r"cannot be loaded: .*/python ended with code 3: this is no Python"):
        LeRobotPolicy(checkpoint, python=broken)
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(MissingExtraError, match="bare has no package 'torch'; LeRobot needs different versions"):
        LeRobotPolicy(checkpoint, python=bare)


@pytest.mark.parametrize("file", ["policy_preprocessor.json", "policy_postprocessor.json"])
def test_a_checkpoint_that_names_a_class_runs_nothing(checkpoint: Path, tmp_path: Path, file: str) -> None:
    canary = tmp_path / "canary"
    step = {"class": "subprocess.Popen", "config": {"args": ["touch", str(canary)]}}
    (checkpoint / file).write_text(json.dumps({"steps": [{"registry_name": "to_batch_processor"}, step]}))
    with pytest.raises(NotAllowedError, match=rf"{file}: steps.1: the class 'subprocess.Popen'; .* --allow-code"):
        policy_source(str(checkpoint), python=Path(sys.executable))
    with pytest.raises(NotAllowedError, match=r"subprocess.Popen"):
        LeRobotPolicy(checkpoint, python=Path(sys.executable))
    assert not canary.exists()
    with allow_code():
        assert policy_source(str(checkpoint), python=Path(sys.executable))


def test_the_name_of_the_folder_on_the_command_line_does_not_allow_its_code(checkpoint: Path) -> None:
    (checkpoint / "policy_preprocessor.json").write_text('{"steps": [{"class": "os.system"}]}')
    with allow_code(str(checkpoint)), pytest.raises(NotAllowedError, match=r"os\.system"):
        policy_source(str(checkpoint), python=Path(sys.executable))


@pytest.mark.parametrize(
    ("config", "step", "message"),
    [
        ({**CONFIG, "type": "groot"}, {}, "config.json: the policy type 'groot'"),
        (CONFIG, {"registry_name": "action_tokenizer_processor"}, "the step 'action_tokenizer_processor'"),
        (CONFIG, {"registry_name": ["device_processor"]}, "steps.0: registry_name must be a name"),
        (CONFIG, {"registry_name": "normalizer_processor", "class": 5}, ""),
        (CONFIG, {"registry_name": "device_processor", "state_file": "../x.safetensors"}, "a file in the folder"),
        (CONFIG, {"registry_name": "device_processor", "state_file": "/x.safetensors"}, "a file in the folder"),
    ],
)
def test_parts_that_fetch_code_or_lead_elsewhere_are_refused(
    checkpoint: Path, config: dict, step: dict, message: str
) -> None:
    (checkpoint / "config.json").write_text(json.dumps(config))
    (checkpoint / "policy_preprocessor.json").write_text(json.dumps({"steps": [step] if step else []}))
    if not message:  # LeRobot looks at the class only where there is no registered name.
        assert policy_source(str(checkpoint), python=Path(sys.executable))
        return
    with pytest.raises((NotAllowedError, FileError), match=message):
        policy_source(str(checkpoint), python=Path(sys.executable))


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("config.json", None, r"no LeRobot checkpoint: there is no config.json .*checkpoints/last/pretrained_model"),
        ("config.json", "{", "is not valid JSON"),
        ("config.json", '{"model": "bert"}', "it has no 'type', such as act or diffusion"),
        ("config.json", '{"type": "reward_classifier"}', "'reward_classifier' has no output 'action'"),
        ("model.safetensors", None, "it has no model.safetensors in it"),
        ("policy_preprocessor.json", "[]", "it has no list 'steps'"),
        ("policy_preprocessor.json", '{"steps": 5}', "it has no list 'steps'"),
        (
            "policy_preprocessor.json",
            None,
            r"LeRobot before 0.4 did not save it; try: python -m lerobot.processor.migrate",
        ),
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
    with pytest.raises(FileError, match="only an adapter: merge it into its policy"):
        policy_source(str(checkpoint))


def test_a_checkpoint_takes_no_weights(checkpoint: Path) -> None:
    with pytest.raises(InputError, match="contain their weights"):
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
        pytest.skip("HANDLOOM_READER_PYTHON does not name an interpreter with lerobot")
    task = load_task("fr3_pick_cube", overrides=SMALL[:2])
    run = RunDirectory.begin(tmp_path / "run", RunSettings.of_task(task, seed=1))
    generate_run(run, Goal(successes=2), InlineExecutor())
    saved = tmp_path / "checkpoints" / "last" / "pretrained_model"
    episodes = [observations(task, seed=5, episode=episode) for episode in range(2)]
    for episode, (words, frames) in enumerate(episodes):
        seen = {name: np.stack([frame[name] for frame in frames]) for name in frames[0]}
        np.savez(tmp_path / f"episode_{episode}.npz", words=np.array(words), **seen)
    script = str(Path(__file__).parent / "train_with_lerobot.py")
    trained = called(python, script, str(run.dataset), str(saved), str(tmp_path))
    assert trained["losses"][-1] < 0.7 * trained["losses"][0]
    assert set(trained["inputs"]) >= {"observation.images.hand", "observation.images.head", "observation.state"}
    # Ours and LeRobot's own loop give the same actions, over the end of a chunk and with another start.
    policy = LeRobotPolicy(saved, python=Path(python))
    for episode, (words, frames) in enumerate(episodes):
        policy.reset(words, np.random.default_rng(episode))
        actions = np.load(tmp_path / f"actions_{episode}.npy")
        assert np.array_equal(np.array([policy.act(frame) for frame in frames]), actions)
    # In this environment, with that interpreter.
    options = ["-n", "2", "--executor", "inline", "--videos", "0", "-o", str(tmp_path / "result"), "--json"]
    words = ["-m", "handloom", "evaluate", "fr3_pick_cube", "--policy", str(saved.parent), "--policy-python", python]
    found = called(sys.executable, *words, "--set", *SMALL, *options)
    assert (found["scenes"], found["successes"]) == (2, 0)
    assert found["failure_reasons"] == {"pick_not_grasped": 2}
    wrong = [word.replace("fr3_pick_cube", "lift2_handover") for word in words]
    refused = subprocess.run(
        [sys.executable, *wrong, *options[:-3], "-o", str(tmp_path / "no")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2, refused.stderr
    assert (
        "observation.state of shape (8,)" in refused.stderr or "the policy needs observation.images" in refused.stderr
    )


@pytest.mark.reader
def test_lerobot_itself_would_run_what_we_refuse(checkpoint: Path, tmp_path: Path) -> None:
    python = os.environ.get("HANDLOOM_READER_PYTHON", "")
    if not python:
        pytest.skip("HANDLOOM_READER_PYTHON does not name an interpreter with lerobot")
    canary = tmp_path / "canary"
    step = {"class": "subprocess.Popen", "config": {"args": ["touch", str(canary)]}}
    (checkpoint / "policy_preprocessor.json").write_text(json.dumps({"name": "p", "steps": [step]}))
    words = [sys.executable, "-m", "handloom", "evaluate", "fr3_pick_cube", "--policy", str(checkpoint)]
    words += ["--policy-python", python, "-n", "1", "-o", str(tmp_path / "result")]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (refused.returncode, canary.exists()) == (2, False), refused.stderr
    assert "--allow-code" in refused.stderr
    load = "from lerobot.processor import PolicyProcessorPipeline as P; import sys;"
    load += "P.from_pretrained(sys.argv[1], config_filename='policy_preprocessor.json')"
    subprocess.run([python, "-c", load, str(checkpoint)], capture_output=True, check=False)
    assert canary.exists()


def observations(task: Task, *, seed: int, episode: int) -> tuple[str, list[dict]]:
    """Return the words and some observations of a scene that nobody drives."""
    scene = build_scene(sample_task(task, seed, episode))
    observer, frames = Observer(scene), []
    for _ in range(7):
        frames.append(observer.observe())
        scene.world.step(scene.instance.substeps)
    return scene.instance.instruction, frames


def called(python: str, *words: str) -> dict:
    finished = subprocess.run([python, *words], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr[-3000:]
    return json.loads(finished.stdout.splitlines()[-1])
