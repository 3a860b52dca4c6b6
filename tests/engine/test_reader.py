"""The real lerobot reads a generated dataset: states exact, frames aligned with a fresh rendering.

The reader lives in an environment of its own; name its interpreter in ``HANDLOOM_READER_PYTHON``.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from handloom.dataset import DatasetReader, record_of_archive
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.episode.columns import episode_columns, rendered_frames
from handloom.scene import build_scene
from handloom.tasks import load_task

SCRIPT = Path(__file__).parents[1] / "dataset" / "read_with_lerobot.py"
CAMERA = "observation.images.head"


@pytest.mark.reader
def test_lerobot_reads_what_was_generated(tmp_path):
    python = os.environ.get("HANDLOOM_READER_PYTHON", "")
    if not python:
        pytest.skip("HANDLOOM_READER_PYTHON does not name an interpreter with lerobot")
    run = RunDirectory.begin(tmp_path / "run", RunSettings.of_task(load_task("fr3_pick_cube"), seed=1))
    generate_run(run, Goal(successes=2), InlineExecutor())
    out = tmp_path / "read.npz"
    subprocess.run([python, str(SCRIPT), str(run.dataset), str(out), CAMERA, "30"], check=True, capture_output=True)
    read = np.load(out)
    states, images = [], []
    dataset = DatasetReader(run.dataset)
    for episode in dataset.episodes:
        record = record_of_archive(dataset.archive(episode.index))
        scene = build_scene(record.instance)
        states.append(episode_columns(scene, record).values["observation.state"].astype(np.float32))
        images += [frame["head"]["rgb"] for frame in rendered_frames(scene, record, preset="balanced")]
    np.testing.assert_array_equal(read["states"], np.concatenate(states))
    error = np.abs(read["images"].astype(float) - np.array(images, dtype=float)).mean(axis=(1, 2, 3))
    assert error.max() < 2.0, f"mean pixel error {error.mean():.2f}/255, worst frame {error.max():.2f}/255"
