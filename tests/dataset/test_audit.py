"""An audit finds what was planted, and nothing in a dataset without it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.cli.main import main
from handloom.dataset import (
    EpisodeOutcome,
    EpisodeWriter,
    FeatureTable,
    column_feature,
    find_episodes,
    folder_name,
    merge_episodes,
    video_feature,
)
from handloom.dataset.audit import audit_dataset
from handloom.errors import InputError

HEAD = "observation.images.head"
TABLE = FeatureTable(
    fps=30,
    features=(
        column_feature("observation.state", ["a", "b"]),
        column_feature("action", ["a", "b", "gripper"]),
        video_feature(HEAD, height=32, width=32),
    ),
)


def write(folder, index, actions, *, picture=None, task="put the red cube on the plate"):
    shade = np.random.default_rng(7).integers(40, 200, (8, 8, 3)).astype(np.uint8).repeat(4, 0).repeat(4, 1)
    with EpisodeWriter(folder / folder_name(index), TABLE) as episode:
        for _ in actions:
            episode.add_image(HEAD, shade if picture is None else picture)
        outcome = EpisodeOutcome(index=index, task=task, success=True, seed=0, robot="x")
        episode.finish(outcome, {"observation.state": actions[:, :2], "action": actions})


def smooth(index, length=60):
    t = np.linspace(0, 1, length)
    gripper = (t > 0.5).astype(float)
    return np.stack([np.sin(3 * t + index), np.cos(2 * t + 0.3 * index), gripper], axis=1).astype(np.float32)


def audited(tmp_path, episodes, **options):
    for index, actions in enumerate(episodes):
        write(tmp_path / "episodes", index, actions, **options)
    root = merge_episodes(find_episodes([tmp_path / "episodes"]), tmp_path / "dataset")
    return {finding.name: finding for finding in audit_dataset(root)}


def test_a_smooth_dataset_is_fine(tmp_path):
    found = audited(tmp_path, [smooth(k) for k in range(6)])
    assert [name for name, finding in found.items() if not finding.fine] == []
    assert found["jumps"].value == 0.0  # The gripper is a switch.


def planted(kind):
    episodes = [smooth(k) for k in range(6)]
    if kind == "idle":
        episodes[0] = np.concatenate([episodes[0], np.repeat(episodes[0][-1:], 300, axis=0)])
    elif kind == "longest pause":
        episodes[0] = np.insert(episodes[0], [30] * 120, episodes[0][30], axis=0)
    elif kind == "jumps":
        for actions in episodes:
            actions[::7, 0] += 1.5
    elif kind == "jerk":
        episodes = [e + np.random.default_rng(k).normal(0, 0.05, e.shape) * [1, 1, 0] for k, e in enumerate(episodes)]
    elif kind == "clipped":
        episodes = [np.clip(e, -0.2, 0.2) + [0, 0, 1] * (e > 0.5) for e in episodes]
    elif kind == "duplicates":
        episodes[4] = episodes[1]
    elif kind == "lengths":
        episodes[2] = smooth(2, length=400)
    elif kind == "starts":
        episodes = [smooth(k % 2) + 1e-3 * k for k in range(24)]
    return [np.asarray(e, np.float32) for e in episodes]


@pytest.mark.parametrize("kind", ["idle", "longest pause", "jumps", "jerk", "clipped", "duplicates", "lengths"])
def test_what_was_planted_is_found(tmp_path, kind):
    found = audited(tmp_path, planted(kind))
    assert not found[kind].fine, found[kind]


@pytest.mark.parametrize(("value", "kind"), [(5, "dark"), (250, "bright"), (128, "blurred")])
def test_pictures_that_show_nothing_are_found(tmp_path, value, kind):
    found = audited(tmp_path, [smooth(k) for k in range(3)], picture=np.full((32, 32, 3), value, np.uint8))
    assert not found[f"{kind} (head)"].fine
    assert not found["empty (head)"].fine


def test_a_dataset_of_others_is_looked_over_as_well(tmp_path, capsys):
    """As LeRobot's own tools leave one: no extras, no lists, names nested, further columns."""
    audited(tmp_path, [smooth(k) for k in range(3)])
    root = tmp_path / "dataset"
    for name in ("files.json", "merge.json", "histograms.json"):
        (root / "meta" / name).unlink(missing_ok=True)
    import shutil

    shutil.rmtree(root / "extras")
    info = json.loads((root / "meta/info.json").read_text())
    info["features"]["action"]["names"] = {"motors": ["a", "b", "gripper"]}
    info["features"]["observation.state"]["names"] = [["a", "b"]]
    info["features"]["next.reward"] = {"dtype": "float32", "shape": [1], "names": None}
    (root / "meta/info.json").write_text(json.dumps(info))
    file = root / "data/chunk-000/file-000.parquet"
    table = pq.read_table(file)
    table = table.append_column("next.reward", pa.array(np.zeros(len(table)), pa.float32()))
    pq.write_table(table, file)
    assert main(["audit", str(root), "--json"]) in (0, 1)
    told = json.loads(capsys.readouterr().out)
    assert {"idle", "jerk", "dark (head)", "words"} <= {row["name"] for row in told["rows"]}


def test_a_column_that_is_not_there_is_named(tmp_path):
    audited(tmp_path, [smooth(0)])
    with pytest.raises(InputError, match=r"no column 'actions'; name one of: observation\.state, action"):
        audit_dataset(tmp_path / "dataset", action="actions")
