"""The public names fit together: what one returns, the next one takes."""

from pathlib import Path

import numpy as np
import pytest

import handloom as hl
from handloom.errors import FileError, InputError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one success, and a failure at its last frame."""
    folder = tmp_path_factory.mktemp("runs")
    hl.generate("fr3_pick_cube", folder / "good", n=1, workers=0, render="none")
    short = ("data.max_episode_length=40",)
    with pytest.raises(hl.HandloomError):
        hl.generate("fr3_pick_cube", folder / "bad", n=1, workers=0, render="none", keep_failures=True, overrides=short)
    return folder


@pytest.mark.parametrize("dataset", ["good", "bad/failures"])
def test_the_last_state_of_an_archive_can_be_put_into_the_scene_of_its_instance(run, dataset):
    archive = hl.DatasetReader(run / dataset).archive(0)
    scene = hl.build_scene(archive.instance)
    scene.world.restore_state(archive.states["integration"][-1])
    np.testing.assert_array_equal(scene.world.save_state(), archive.states["integration"][-1])
    renderer = hl.Renderer(scene.world.model, looks=scene.looks)
    camera = scene.instance.cameras[0]
    image = renderer.render(scene.world.data, [camera])[camera.name]["rgb"]
    assert image.std() > 5


def test_the_files_of_an_episode_can_be_listed_counted_and_asked_for(run):
    files = hl.DatasetReader(run / "good").archive_files(0)
    assert "episode.json" in files
    assert "nothing.json" not in files
    assert 3 not in files
    assert list(files) == list(files.names())
    assert len(files) == len(files.names()) > 3


def test_a_task_is_sampled_by_its_name_or_file(run):
    assert hl.sample_task("fr3_pick_cube", 0, 0) == hl.sample_task(hl.load_task("fr3_pick_cube"), 0, 0)


def test_an_instance_that_is_none_is_refused_by_what_is_missing():
    with pytest.raises(FileError, match="this is not a task instance: "):
        hl.build_scene({"task": "cube"})
    with pytest.raises(InputError, match=r"build_scene takes a TaskInstance.*sample_task"):
        hl.build_scene(hl.load_task("fr3_pick_cube"))  # pyright: ignore[reportArgumentType]
