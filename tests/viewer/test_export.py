"""The page as plain files, the dataset card, the rerun recording, MuJoCo's viewer."""

import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import pytest

from browser import PROGRAM, Browser
from handloom.cli.main import main
from handloom.errors import InputError
from handloom.viewer.episode_source import DatasetSource
from handloom.viewer.export.dataset_card import dataset_card
from handloom.viewer.export.static_site import export_site
from handloom.viewer.library import Library
from handloom.viewer.pictures import depths


@pytest.fixture(scope="module")
def site(ours: Path, plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_site(Library([ours, plain]), tmp_path_factory.mktemp("site") / "page")


def test_every_answer_of_the_server_is_a_file_under_the_same_path(site: Path, asked, ours: Path, plain: Path) -> None:
    ask = asked(ours, plain)
    for path in ("/api/episodes/d0/3/signals", "/api/episodes/d1/2/signals"):
        assert json.loads((site / f"{path[1:]}.json").read_text(encoding="utf-8")) == ask.json(path)
    assert len(list((site / "api" / "episodes" / "d0").glob("*.json"))) == 6
    told = json.loads((site / "api" / "datasets" / "d0.json").read_text(encoding="utf-8"))
    assert "path" not in told  # Where it lay on this machine is nobody's business.
    assert str(ours.parent) not in "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.json"))


def test_streams_that_no_browser_plays_become_videos(site: Path) -> None:
    facts = json.loads((site / "api" / "episodes" / "d0" / "1.json").read_text(encoding="utf-8"))
    videos = [site / camera["video"]["path"][1:] for camera in facts["cameras"]]
    assert len(videos) == 3
    with av.open(str(videos[1])) as container:
        assert container.streams.video[0].codec_context.name == "h264"
        assert sum(1 for _ in container.decode(video=0)) == facts["length"]


def test_the_exported_page_says_that_nobody_answers_and_allows_no_inline_script(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert 'content="static"' in text
    assert "script-src 'self'" in text
    assert text.count("<script") == 1


def test_a_site_is_written_again_over_itself_and_never_over_anything_else(plain: Path, tmp_path: Path) -> None:
    export_site(Library([plain]), tmp_path / "page")
    export_site(Library([plain]), tmp_path / "page")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        export_site(Library([plain]), tmp_path / "mine")
    with pytest.raises(InputError, match="at least one"):
        export_site(Library([], ["fr3_pick_cube"]), tmp_path / "none")


def test_the_card_says_what_is_in_it_and_words_are_no_markup(ours: Path, tmp_path: Path) -> None:
    from view_data import write_plain_dataset

    evil = write_plain_dataset(tmp_path / "evil", words=lambda index: "<script>x</script> | **b** [a](b)")
    card = dataset_card(Library([ours, evil]))
    assert "| episodes | 6 |" in card
    assert "fr3 (3), so101 (3)" in card
    assert "<script>" not in card
    assert r"\<script\>x" in card
    assert card.startswith("---\ntask_categories: [robotics]")


def test_depth_comes_back_in_metres(ours: Path) -> None:
    source = DatasetSource("d0", "ours", ours)
    images = depths(source, 1, source.camera(1), [0, 10, 19])
    assert [float(image.mean()) for image in images] == pytest.approx([0.5, 0.6, 0.69], abs=0.002)


def test_a_rerun_recording_needs_its_extra_and_its_ending(ours: Path, tmp_path: Path, capsys) -> None:
    try:
        import rerun  # noqa: F401
    except ImportError:
        assert main(["view", str(ours), "--rerun", str(tmp_path / "e.rrd")]) == 2
        assert "pip install 'handloom[rerun]'" in capsys.readouterr().err
        return
    assert main(["view", str(ours), "--rerun", str(tmp_path / "e.mp4")]) == 2
    assert main(["view", str(ours), "--rerun", str(tmp_path / "e.rrd"), "--episode", "2"]) == 0
    assert (tmp_path / "e.rrd").stat().st_size > 10_000


def test_mujocos_viewer_needs_a_display_and_one_task(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert main(["view", "fr3_pick_cube", "--mujoco"]) == 2
    assert "no display" in capsys.readouterr().err
    assert main(["view", "a", "b", "--mujoco"]) == 2


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    handler.log_message = lambda *_: None  # type: ignore[attr-defined]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.browser
@pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed")
def test_an_exported_page_works_on_any_web_server(served: str) -> None:
    with Browser(size=(1440, 900)) as browser:
        browser.open(f"{served}#/dataset/d0+d1")
        browser.wait("document.querySelectorAll('.episode.seen').length === 9", "the cards with their pictures")
        browser.run("location.hash = '#/episode/d0/3'")
        browser.wait("document.querySelectorAll('video').length === 3", "the videos")
        browser.wait(
            "[...document.querySelectorAll('video')].every((video) => video.readyState >= 2)", "their pictures"
        )
        browser.wait("document.querySelectorAll('.uplot').length === 2", "the plots")
        assert browser.run("document.querySelectorAll('.tools button').length") == 0  # Nothing that needs a server.
        assert browser.errors == []


def test_arrays_of_depth_are_images(ours: Path) -> None:
    source = DatasetSource("d0", "ours", ours)
    (image,) = depths(source, 0, source.camera(1), [0])
    assert image.shape == (48, 64)
    assert image.dtype == np.float32
