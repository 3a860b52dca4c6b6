"""Who may look, and at what: links that lead out, other machines, the command line, the pace of a live run."""

import json
import shutil
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from handloom.cli.datasets.view import told_apart
from handloom.cli.main import main
from handloom.errors import InputError
from handloom.viewer.dataset_api import Pace
from handloom.viewer.library import Library, LiveRun
from handloom.viewer.view_app import ViewOptions, view_server


def test_a_video_that_is_a_link_to_elsewhere_is_not_served(asked, plain: Path, tmp_path: Path) -> None:
    root = tmp_path / "towels"
    shutil.copytree(plain, root)
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    video = root / "videos" / "observation.images.top" / "chunk-000" / "file-000.mp4"
    video.unlink()
    video.symlink_to(tmp_path / "secret.mp4")
    ask = asked(root)
    for path in ("/api/videos/d0/0/0/0.mp4", "/api/episodes/d0/0/strip.jpg", "/api/episodes/d0/0/frames/0/0.jpg"):
        answer = ask(path)
        assert answer.status == 403, path
        assert "by a link" in json.loads(answer.body)["error"]


@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", "a/../../../b", "x\\y", "nul\0"])
def test_a_camera_whose_name_leads_out_of_the_dataset_shows_nothing(
    asked, plain: Path, tmp_path: Path, name: str
) -> None:
    root = tmp_path / "towels"
    shutil.copytree(plain, root)
    info = json.loads((root / "meta" / "info.json").read_text(encoding="utf-8"))
    info["features"] = {name: info["features"]["observation.images.top"]}
    (root / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    assert asked(root)("/api/videos/d0/0/0/0.mp4").status in (400, 403)


@pytest.mark.parametrize(
    "path",
    [
        "/api/videos/d0/0/0/..%2f..%2fmeta%2finfo.mp4",
        "/api/videos/d0/0/-1/0.mp4",
        "/api/videos/d0/0/0/99.mp4",
        "/api/videos/d0/%2e%2e/0/0.mp4",
        "/api/episodes/..%2f/0",
        "/api/datasets/%2e%2e%2f%2e%2e%2fetc",
        "/api/episodes/d0/0/frames/0/٣.jpg",
    ],
)
def test_encoded_names_and_odd_numbers_are_refused_over_the_wire(plain: Path, path: str) -> None:
    server = view_server(Library([plain]), ViewOptions())
    server.start()
    try:
        with pytest.raises((urllib.error.HTTPError, UnicodeEncodeError)) as refused:
            urllib.request.urlopen(f"{server.origin}{path}?token={server.app.token}")
        if isinstance(refused.value, urllib.error.HTTPError):
            assert refused.value.code in (400, 403, 404)
            refused.value.close()
    finally:
        server.close()


def test_other_machines_get_https_and_nothing_else(plain: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    server = view_server(Library([plain]), ViewOptions(host="0.0.0.0", certificate_folder=tmp_path))
    server.start()
    try:
        assert server.address.startswith("https://")
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        address = f"https://127.0.0.1:{server.port}/api/site"
        with urllib.request.urlopen(f"{address}?token={server.app.token}", context=trusting) as answer:
            assert answer.status == 200
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address, context=trusting)
        assert refused.value.code == 403
        refused.value.close()
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/api/site")
    finally:
        server.close()


def test_folders_and_tasks_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert told_apart((str(tmp_path / "run"), "fr3_pick_cube", "my/task.yaml")) == (
        [tmp_path / "run"],
        ["fr3_pick_cube", "my/task.yaml"],
    )
    with pytest.raises(InputError, match="no such folder"):
        told_apart(("out/none",))


def test_bad_words_on_the_command_line_are_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["view"], ["view", str(tmp_path)], ["view", "out/nothing/here"]):
        assert main(words) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_the_pace_of_a_run_is_that_of_the_last_minutes() -> None:
    clock = iter([0.0, 10.0, 100.0, 1000.0])
    pace = Pace(now=lambda: next(clock))
    live = LiveRun(wanted=100, counts_successes=True, workers=3)
    run = {"finished": False}
    assert pace.figures({**run, "attempts": 10, "episodes": 5}, live)["attempts_per_hour"] is None
    figures = pace.figures({**run, "attempts": 20, "episodes": 10}, live)
    assert figures["attempts_per_hour"] == pytest.approx(3600.0)
    assert figures["seconds_left"] == pytest.approx(90 * 2.0)
    assert (figures["workers"], figures["wanted"], figures["running"]) == (3, 100, True)
    assert pace.figures({**run, "attempts": 30, "episodes": 10}, None)["seconds_left"] is None
    assert pace.figures({**run, "attempts": 30, "episodes": 10}, None)["workers"] is None
