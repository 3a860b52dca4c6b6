"""The child process: answers, says what is wrong, stops when nobody listens, and is replaced when it dies."""

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from handloom.tasks.config.loading import library
from handloom.viewer.scene3d.container import unpacked
from handloom.viewer.task_page.worker_process import WorkerProcess

FILE = library()["fr3_pick_place"]
TEXT = FILE.read_text(encoding="utf-8")


def request(what: str, text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"do": what, "path": str(FILE), "text": text, "seed": 0, "episode": 0, "reach": False, **more}


def headers(answers: Iterator[bytes]) -> list[dict[str, Any]]:
    found = [unpacked(answer[4:])[0] for answer in answers]
    return [header for header in found if header["kind"] != "beat"]


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerProcess]:
    process = WorkerProcess()
    yield process
    process.close()


def test_a_sampled_scene_comes_with_its_pictures(worker: WorkerProcess) -> None:
    found = headers(worker.ask(request("sample"), seconds=100))
    assert [header["kind"] for header in found] == ["checked", "scene", "picture", "picture", "done"]
    scene = found[1]
    assert [camera["name"] for camera in scene["cameras"]] == ["head", "hand"]
    assert {term["words"] for term in scene["terms"]} >= {"cube rests on plate", "cube is released"}


def test_a_mistake_is_a_message_at_its_line(worker: WorkerProcess) -> None:
    text = TEXT.replace("category: cube", "category: cubee")
    checked, done = headers(worker.ask(request("check", text), seconds=60))
    assert done["kind"] == "done"
    (mistake,) = checked["mistakes"]
    assert mistake["line"] == text[: text.index("cubee")].count("\n") + 1
    assert "cube" in mistake["text"]


def test_regions_without_room_are_a_message_at_their_line_and_a_typed_reason(worker: WorkerProcess) -> None:
    text = TEXT.replace("[[0.1, 0.02, 0.0], [0.2, 0.15, 0.0]]", "[[-0.14, 0.08, 0.0], [-0.13, 0.09, 0.0]]")
    text = text.replace("[[-0.22, 0.0, 0.0], [-0.05, 0.17, 0.0]]", "[[-0.14, 0.08, 0.0], [-0.13, 0.09, 0.0]]")
    found = headers(worker.ask(request("sample", text), seconds=100))
    end = next(header for header in found if header["kind"] == "end")
    assert end["failure"]["stage"] == "sample"
    (mistake,) = [mistake for header in found if header["kind"] == "checked" for mistake in header["mistakes"]]
    assert mistake["line"] > 0


def test_work_that_nobody_waits_for_is_stopped_and_the_child_is_kept(worker: WorkerProcess) -> None:
    headers(worker.ask(request("check"), seconds=60))
    child = worker.child
    answers = worker.ask(request("sample", reach=True), seconds=100)
    kinds = []
    for answer in answers:
        kinds.append(unpacked(answer[4:])[0]["kind"])
        if kinds[-1] == "scene":
            break
    answers.close()
    begun = time.monotonic()
    headers(worker.ask(request("check"), seconds=60))
    assert time.monotonic() - begun < 20
    assert worker.child is child


def test_work_that_takes_too_long_is_stopped(worker: WorkerProcess) -> None:
    found = headers(worker.ask(request("sample", reach=True), seconds=0.2))
    assert found[-1]["kind"] == "done"
    (fault,) = [header for header in found if header["kind"] == "fault"]
    assert "took longer than" in fault["text"]


def test_a_child_that_dies_is_reported_and_replaced(worker: WorkerProcess) -> None:
    headers(worker.ask(request("check"), seconds=60))
    answers = worker.ask(request("sample", reach=True), seconds=100)
    next(answers)
    assert worker.child is not None
    os.kill(worker.child.pid, signal.SIGKILL)
    found = headers(answers)
    assert any(header["kind"] == "fault" for header in found)
    assert headers(worker.ask(request("check"), seconds=100))[0]["mistakes"] == []


def test_code_that_a_task_names_is_never_run(worker: WorkerProcess, tmp_path: Any) -> None:
    witness = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(witness)!r}, 'w').close()\n", encoding="utf-8")
    file = tmp_path / "task.yaml"
    text = TEXT.replace("category: cube,", "category: 'evil:make',")
    file.write_text(text, encoding="utf-8")
    for what in ("check", "sample", "expert"):
        found = headers(worker.ask({**request(what, text), "path": str(file)}, seconds=100))
        assert found[-1]["kind"] == "done"
        assert not any(header["kind"] == "scene" for header in found)
    assert not witness.exists()
