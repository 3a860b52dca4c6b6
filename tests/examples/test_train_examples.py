"""The training example runs from demonstrations to an ONNX file, and both forms of the policy answer alike."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "train"
TASK = "fr3_pick_place"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:(torch|onnx)"),
]


def _prepared(folder: Path, task: str) -> Path:
    """Return a folder of two demonstrations, prepared with pictures of 32 pixels."""
    from handloom.cli.main import main

    words = ["-n", "2", "--seed", "7", "--render", "none", "--executor", "inline", "--disturb", "0.01", "--json"]
    assert main(["generate", task, *words, "-o", str(folder / "run")]) == 0
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    from data import prepare

    prepare(folder / "run" / "dataset", folder / "prepared", size=32, workers=1, wordings=True)
    return folder / "prepared"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _prepared(tmp_path_factory.mktemp("train"), TASK)


def test_prepared_actions_lead_where_the_hand_goes(prepared: Path) -> None:
    episode = np.load(prepared / "000000.npz")
    asked, measured = episode["T_base_tcp_asked"][:, 0, :3, 3], episode["T_base_tcp"][:, 0, :3, 3]
    # The hand follows what it is asked for, pushed about by 1 cm.
    assert np.median(np.linalg.norm(asked[:-6] - measured[6:], axis=1)) < 0.03
    assert episode["pictures"].shape[1:] == (2, 32, 32, 3)
    cube = episode["T_base_object"][:, 0, 0, :3, 3]
    assert np.linalg.norm(cube[-1] - cube[0]) > 0.1


def test_two_arms_a_base_and_a_drawer_are_prepared(tmp_path: Path) -> None:
    episode = np.load(_prepared(tmp_path, "lift2_drive_open_drawer") / "000000.npz")
    assert episode["T_base_tcp"].shape[1:] == (2, 4, 4)
    assert np.abs(episode["twist_asked"]).max() > 0.02  # The base drives.
    names = episode["objects"].tolist()
    moved = np.linalg.norm(np.diff(_between(episode, names, "cabinet", "cabinet.drawer_1")[[0, -1]], axis=0))
    assert moved > 0.1  # It is opened.
    still = _between(episode, names, "cabinet", "cabinet.drawer_0")
    assert np.abs(still - still[0]).max() < 0.005


def _between(episode: Any, names: list[str], base: str, part: str) -> Any:
    """Return the place of a part in the frame of another body (frames, 3)."""
    T = episode["T_base_object"][:, 0]
    return (np.linalg.inv(T[:, names.index(base)]) @ T[:, names.index(part)])[:, :3, 3]


@pytest.mark.parametrize(("pictures", "head"), [(True, "direct"), (False, "flow")])
def test_an_exported_policy_answers_like_the_trained_one(
    prepared: Path, tmp_path: Path, pictures: bool, head: str
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    from export import export
    from model import Trained
    from train import train

    from handloom.engine.policy.policies import OnnxPolicy
    from handloom.gym import TaskEnvironment

    weights = tmp_path / "model.pt"
    train((prepared,), output=weights, pictures=pictures, head=head, steps=2, batch=4)
    export(weights, tmp_path / "model.onnx")
    trained, exported = Trained(str(weights)), OnnxPolicy(tmp_path / "model.onnx")
    assert exported.actions == "tool_pose"
    assert exported.frames_per_action == trained.frames_per_action == 3
    names = tuple(trained.cameras)
    assert exported.cameras == names
    environment = TaskEnvironment(TASK, actions="tool_pose", cameras=names, size=(32, 32), objects=not pictures)
    seen, info = environment.reset(seed=1)
    answers = []
    for policy in (trained, exported):
        policy.reset(info["instruction"], np.random.default_rng(0))
        answers.append(policy.act(seen))
    assert answers[0].shape == (4, 8)
    signs = np.sign((answers[0][:, 3:7] * answers[1][:, 3:7]).sum(1, keepdims=True))
    answers[1][:, 3:7] *= signs
    assert np.abs(answers[0] - answers[1]).max() < 1e-3
    environment.step(answers[0][0])


def test_one_policy_learns_tasks_with_other_objects(prepared: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from train import train

    other = _prepared(tmp_path, "fr3_pick_cube")
    episode = dict(np.load(other / "000000.npz"))
    assert len(set(episode["instructions"].tolist())) > 15  # The task's own and many others.
    assert all("cube" in text or "block" in text for text in episode["instructions"])
    episode["objects"] = np.array([f"other_{name}" for name in episode["objects"].tolist()], dtype=str)
    np.savez(other / "000000.npz", **episode)
    (other / "000001.npz").write_bytes((other / "000000.npz").read_bytes())
    weights = tmp_path / "model.pt"
    train((prepared, other), output=weights, pictures=True, steps=3, batch=8)
    saved = torch.load(weights, weights_only=False)
    assert saved["config"]["words"]
    assert {"cube", "other_cube"} <= set(saved["config"]["objects"])
    assert all(value.isfinite().all() for value in saved["weights"].values())


def test_a_hand_that_stands_still_but_means_to_move_is_stalled() -> None:
    pytest.importorskip("torch")
    from model import ARM, STILL, stalled

    chunk = np.zeros((12, ARM))
    chunk[:, 0] = np.linspace(0.0, 0.1, 12)
    still, moving = np.zeros((1, 4)), np.array([[2 * STILL, 0.0, 0.0, 0.0]])
    closing = np.array([[0.0, 0.0, 0.0, -0.5]])
    assert stalled(still, chunk)
    assert not stalled(moving, chunk)
    assert not stalled(closing, chunk)
    assert not stalled(still, np.zeros((12, ARM)))  # It means to stay.
