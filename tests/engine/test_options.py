"""What a run can be asked for: other columns, depth and language, failures kept, drawing later."""

import json
import shutil
from pathlib import Path

import mujoco
import numpy as np
import pytest

from handloom.dataset import DatasetReader, check_layout, record_of_archive
from handloom.engine import (
    Goal,
    InlineExecutor,
    ProcessExecutor,
    RunDirectory,
    RunSettings,
    generate_run,
    verify_dataset,
)
from handloom.engine.rerender import RenderOverrides, read_cameras, rerender_run
from handloom.errors import ConfigError, NotFoundError
from handloom.render import Renderer
from handloom.render.labels import geoms_of_body
from handloom.scene import build_scene
from handloom.tasks import load_task

SMALL = ("cameras.0.size=[32, 32]", "cameras.1.size=[48, 32]")


def generate(folder: Path, *overrides: str, **options) -> RunDirectory:
    settings = RunSettings.of_task(load_task("fr3_pick_cube", overrides=(*SMALL, *overrides)), seed=0, **options)
    run = RunDirectory.begin(folder, settings)
    generate_run(run, Goal(attempts=1), InlineExecutor())
    return run


@pytest.fixture(scope="module")
def undrawn(tmp_path_factory) -> RunDirectory:
    """A run of one demonstration with all columns, whose cameras are drawn later."""
    folder = tmp_path_factory.mktemp("later") / "run"
    return generate(folder, columns=("canonical", "reference"), lerobot_features=("language",), render="later")


def test_segmentation_is_a_stream_of_ids_that_are_exactly_those_of_the_renderer(undrawn, tmp_path):
    look = RenderOverrides(size=(31, 24))  # Odd: the coded picture is a column wider.
    drawn = rerender_run(undrawn, tmp_path / "d", InlineExecutor(), look=look, preset="balanced", segmentation=True)
    reader = DatasetReader(drawn)
    assert check_layout(drawn) == ()
    assert "language_persistent" in reader.info["features"]
    record = record_of_archive(reader.archive(0))
    model, data = (world := build_scene(record.instance).world).model, world.data
    names = json.loads(reader.episodes[0].columns["segmentation"])
    assert {"", "table", "floor", "wall_back", "cube", "franka"} <= set(names)
    renderer = Renderer(model, "balanced")
    for frame, state in list(enumerate(record.states[record.kept]))[::40]:
        mujoco.mj_setState(model, data, np.ascontiguousarray(state), mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(model, data)
        for camera, images in renderer.render(data, record.instance.cameras, ("segmentation",)).items():
            stored = reader.image(0, f"observation.images.{camera}_segmentation", frame)
            assert (stored.shape, stored.dtype) == ((24, 32), np.uint8)
            for name, body in (("cube", "cube/object"), ("franka", "franka/fr3_link0"), ("table", "table/object")):
                truth = np.isin(images["segmentation"], geoms_of_body(model, body))
                np.testing.assert_array_equal(stored[:, :31] == names.index(name), truth)
            np.testing.assert_array_equal(stored[:, :31] == 0, images["segmentation"] < 0)
    stored = reader.image(0, "observation.images.head_segmentation", 0)
    assert {names[k] for k in np.unique(stored)} >= {"cube", "franka", "table"}
    assert [v.verdict for v in verify_dataset(drawn, InlineExecutor())] == ["exact"]


def test_ids_that_are_not_what_the_states_show_do_not_pass_verification(undrawn, tmp_path):
    look = RenderOverrides(size=(32, 24))
    drawn = rerender_run(undrawn, tmp_path / "d", InlineExecutor(), look=look, preset="fast", segmentation=True)
    videos = drawn / "videos" / "observation.images.head_segmentation"
    other = drawn / "videos" / "observation.images.hand_segmentation"
    shutil.rmtree(videos)
    shutil.copytree(other, videos)
    (verdict,) = verify_dataset(drawn, InlineExecutor())
    assert verdict.verdict == "different"
    assert "head_segmentation" in verdict.detail
    assert "of frame 0 are wrong" in verdict.detail


def test_both_styles_of_columns_stand_side_by_side(undrawn):
    frames = DatasetReader(undrawn.dataset).frames(0)
    assert {"observation.state", "action", "states.joint.position", "master_actions.gripper.openness"} <= set(frames)
    np.testing.assert_array_equal(frames["observation.state"][:, :7], frames["states.joint.position"])
    np.testing.assert_array_equal(frames["actions.joint.position"][:-1], frames["states.joint.position"][1:])


def test_language_columns_name_the_sub_tasks(undrawn):
    reader = DatasetReader(undrawn.dataset)
    first = reader.rows(0)["language_persistent"][0].as_py()
    assert [row["content"] for row in first] == [segment["label"] for segment in reader.episodes[0].columns["segments"]]
    assert check_layout(undrawn.dataset) == ()


def test_a_run_without_pictures_is_drawn_later_with_other_sizes_and_depth(undrawn, tmp_path):
    assert DatasetReader(undrawn.dataset).table.videos == ()
    drawn = rerender_run(
        undrawn, tmp_path / "drawn", InlineExecutor(), look=RenderOverrides(size=(20, 16)), preset="fast", depth=True
    )
    reader = DatasetReader(drawn)
    assert {video.name: video.shape for video in reader.table.videos} == {
        "observation.images.head": (16, 20, 3),
        "observation.images.head_depth": (16, 20, 1),
        "observation.images.hand": (16, 20, 3),
        "observation.images.hand_depth": (16, 20, 1),
    }
    depth = reader.image(0, "observation.images.head_depth", 0)
    assert 0.2 < np.median(depth) < 5.0
    assert [v.verdict for v in verify_dataset(drawn, InlineExecutor())] == ["exact"]
    assert [path.name for path in tmp_path.iterdir()] == ["drawn"]


CAMERAS = """
cameras:
  - {name: franka_side, translation: [0.9, 0.0, 1.1], orientation: [0.56, 0.43, 0.43, 0.56],
     camera_file: realsense_d455_v3, size: [20, 16]}
"""


def test_a_run_is_drawn_with_other_cameras_lights_and_textures(undrawn, tmp_path):
    (tmp_path / "cameras.yaml").write_text(CAMERAS)
    look = RenderOverrides(cameras=read_cameras(tmp_path / "cameras.yaml"), relight=3, retexture=4)
    before = record_of_archive(DatasetReader(undrawn.dataset).archive(0)).instance
    after = look.applied(before, undrawn.settings)
    assert [camera.name for camera in after.cameras] == ["side"]
    assert after.lights != before.lights
    seeds = [thing.parameters.get("texture_seed") for thing in (*before.objects, *after.objects)]
    assert seeds[: len(before.objects)] != seeds[len(before.objects) :]
    assert look.applied(before, undrawn.settings) == after
    drawn = rerender_run(undrawn, tmp_path / "drawn", InlineExecutor(), look=look, preset="fast")
    assert [video.name for video in DatasetReader(drawn).table.videos] == ["observation.images.side"]
    assert [v.verdict for v in verify_dataset(drawn, InlineExecutor())] == ["exact"]


def test_a_wrong_camera_file_is_named_with_its_line(tmp_path):
    (tmp_path / "cameras.yaml").write_text(CAMERAS.replace("translation", "translaton"))
    with pytest.raises(ConfigError, match=r"cameras.yaml:3: .*did you mean 'translation'"):
        read_cameras(tmp_path / "cameras.yaml")


def test_failures_go_to_a_dataset_of_their_own_with_the_reason(tmp_path):
    run = generate(tmp_path / "run", "data.max_episode_length=30", keep_failures=True)
    assert not run.dataset.exists()
    (episode,) = DatasetReader(run.failures).episodes
    assert (episode.columns["success"], episode.columns["failure_reason"], episode.length) == (
        False,
        "out_of_frames",
        30,
    )
    assert not run.episodes.exists()


def test_unknown_words_are_refused_with_those_that_exist():
    task = load_task("fr3_pick_cube")
    with pytest.raises(NotFoundError, match="no column style named 'refrence'; did you mean 'reference'"):
        RunSettings.of_task(task, seed=0, columns=("refrence",))
    with pytest.raises(NotFoundError, match="no optional feature named 'dept'; did you mean 'depth'"):
        RunSettings.of_task(task, seed=0, lerobot_features=("dept",))


def test_a_manifest_of_another_version_is_named_and_left_alone(undrawn, tmp_path):
    manifest = tmp_path / "run.yaml"
    text = undrawn.settings.to_yaml().replace("manifest_version: 1", "manifest_version: 0")
    manifest.write_text(text)
    with pytest.raises(ConfigError, match=r"it has version 0 and was written by Handloom .*another folder with -o"):
        RunDirectory.begin(tmp_path, undrawn.settings)
    assert manifest.read_text() == text
    manifest.write_text("- not a manifest")
    with pytest.raises(ConfigError, match="not a run manifest"):
        RunDirectory.open(tmp_path)


class KillsItsFirstWorker(ProcessExecutor):
    """Ends one worker with SIGKILL as soon as it has begun to draw."""

    killed = False

    def _received(self, worker, pool):
        finished = super()._received(worker, pool)
        if worker.begun and not self.killed:
            worker.process.kill()
            self.killed = True
        return finished


def test_frames_of_a_renderer_that_dies_are_drawn_again(undrawn, tmp_path):
    expected = rerender_run(undrawn, tmp_path / "quiet", InlineExecutor(), preset="fast")
    executor = KillsItsFirstWorker(1)
    drawn = rerender_run(undrawn, tmp_path / "killed", executor, preset="fast")
    assert executor.killed
    videos = [path.relative_to(expected) for path in sorted(expected.rglob("*.mp4"))]
    assert videos
    assert all((drawn / path).read_bytes() == (expected / path).read_bytes() for path in videos)
