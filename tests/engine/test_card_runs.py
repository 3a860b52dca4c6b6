"""Runs whose pictures a card draws: the same videos, said in the dataset, and never mixed with the processor's."""

import sys
from pathlib import Path

import pytest

from handloom.cli import main
from handloom.dataset import DatasetReader, merge_episodes
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run, verify_dataset
from handloom.engine.rerender import rerender_run
from handloom.errors import FileError
from handloom.render.cuda import cuda_renderer
from handloom.render.cuda.card_drawer import CardDrawer
from handloom.tasks import load_task

sys.path.insert(0, str(Path(__file__).parents[1] / "render" / "cuda"))
from lanes import COMPILER, Lanes

TASK = "fr3_pick_cube"
SMALL = ("cameras.0.size=[16, 16]", "cameras.1.size=[16, 16]")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


class StandIn:
    """Draws with the card's kernels, lane by lane."""

    card = "stand-in"

    def __init__(self, preset):
        self._drawer = CardDrawer(Lanes(), preset)
        self._drawn = []

    def hand_in(self, moments, kinds):
        self._drawn.append(self._drawer.draw_many([moments], kinds)[0])

    def take_out(self):
        return self._drawn.pop(0)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same demonstration, drawn by the processor and by what stands in for a card."""
    folder = tmp_path_factory.mktemp("runs")
    task = load_task(TASK, overrides=SMALL)
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_renderer, "shared_drawing", StandIn)
        for backend in ("cpu", "cuda"):
            settings = RunSettings.of_task(
                task, seed=0, preset="fast", backend=backend, lerobot_features=("segmentation",)
            )
            found[backend] = RunDirectory.begin(folder / backend, settings)
            generate_run(found[backend], Goal(successes=1), InlineExecutor())
    return found


def test_the_videos_are_the_same_files(runs):
    videos = [
        {str(f.relative_to(run.dataset)): f.read_bytes() for f in (run.dataset / "videos").rglob("*.mp4")}
        for run in runs.values()
    ]
    assert len(videos[0]) == 4
    assert videos[0] == videos[1]


def test_the_dataset_names_backend_and_card(runs):
    said = {backend: DatasetReader(run.dataset).episode(0).columns for backend, run in runs.items()}
    assert said["cpu"]["render_backend"] == "cpu"
    assert "render_card" not in said["cpu"]
    assert (said["cuda"]["render_backend"], said["cuda"]["render_card"]) == ("cuda", "stand-in")


def test_verify_holds_a_cards_ids_against_the_processors(runs):
    (result,) = verify_dataset(runs["cuda"].dataset, InlineExecutor())
    assert result.verdict == "exact"
    assert "instance ids of three frames, rendered on stand-in, with those of the CPU" in result.compared


def test_a_dataset_never_mixes_two_backends(runs, tmp_path):
    episodes = [next((run.path / "episodes").glob("episode_*")) for run in runs.values()]
    with pytest.raises(FileError, match="rendered by cpu, those of the other by cuda; render one of the runs again"):
        merge_episodes(episodes, tmp_path / "mixed")


def test_a_run_is_drawn_again_by_another_backend(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_renderer, "shared_drawing", StandIn)
    drawn = rerender_run(runs["cpu"], tmp_path / "again", InlineExecutor(), preset="fast", backend="cuda")
    assert DatasetReader(drawn).episode(0).columns["render_backend"] == "cuda"


def test_runs_of_earlier_versions_keep_their_fingerprint():
    task = load_task(TASK, overrides=SMALL)
    plain, card = (RunSettings.of_task(task, seed=0, backend=backend) for backend in ("cpu", "cuda"))
    assert plain.fingerprint() != card.fingerprint()
    values = plain.model_dump()
    del values["backend"]
    assert RunSettings.model_validate(values).fingerprint() == plain.fingerprint()


def test_without_a_card_generate_fails_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["generate", TASK, "-n", "1", "--backend", "cuda", "-o", str(tmp_path / "run")]) != 0
    said = capsys.readouterr().err.strip().splitlines()
    assert "pip install 'handloom[gpu]'" in said[-1]
