"""Requests of the task page: which tasks there are, and that only the user's own file is ever written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handloom.errors import HandloomError, InputError, NotAllowedError, NotFoundError
from handloom.tasks.config.loading import library as shipped_tasks
from handloom.viewer.library import Library
from handloom.viewer.task_page.task_routes import task_routes
from handloom.web import Request, Response

Ask = Callable[..., Any]
OURS = "fr3_pick_place"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_task.yaml"
    path.write_text(shipped_tasks()[OURS].read_text(encoding="utf-8"), encoding="utf-8")
    return path


@pytest.fixture
def ask(file: Path) -> Ask:
    """Return a function that calls the handler of a request."""
    routes = task_routes(Library([], [str(file)]), edit=True)

    def call(method: str, path: str, task: str = "", **body: Any) -> Response:
        route = next(r for r in routes if (r.method, r.pattern) == (method, path))
        return route.handler(Request(method=method, places={"task": task}, body=json.dumps(body).encode()))

    return call


def content(response: Response) -> Any:
    assert isinstance(response.body, bytes)
    return json.loads(response.body)


def test_tasks_of_the_library_and_of_the_command_line_are_listed(ask: Ask, file: Path) -> None:
    found = content(ask("GET", "/api/tasks"))
    assert found["tasks"][0] == {"key": "own0", "name": str(file), "own": True}
    assert {task["key"] for task in found["tasks"]} == {"own0", *shipped_tasks()}


def test_a_name_that_is_no_task_is_refused(ask: Ask) -> None:
    for name in ("fr3_pick_plaice", "../../etc/passwd", "/etc/passwd", "%2e%2e/x.yaml", ""):
        with pytest.raises(NotFoundError, match="no task named"):
            ask("GET", "/api/tasks/{task}", name)
    with pytest.raises(NotFoundError, match="did you mean 'fr3_pick_place'"):
        task_routes(Library([], ["fr3_pick_plase"]))


def test_only_the_users_own_file_is_written(ask: Ask, file: Path) -> None:
    before = shipped_tasks()[OURS].read_bytes()
    with pytest.raises(NotAllowedError, match="ships with Handloom"):
        ask("POST", "/api/tasks/{task}/save", OURS, text="x: 1")
    assert shipped_tasks()[OURS].read_bytes() == before
    assert content(ask("POST", "/api/tasks/{task}/save", "own0", text="x: 1\n")) == {"saved": "my_task.yaml"}
    assert file.read_text(encoding="utf-8") == "x: 1\n"


def test_writing_is_marked_as_editing(file: Path) -> None:
    """The floor refuses such requests without ``--edit``."""
    marked = [route.pattern for route in task_routes(Library([], [str(file)])) if route.edits]
    assert marked == ["/api/tasks/{task}/save"]
    plain = task_routes(Library([], [str(file)]))
    text = next(r for r in plain if r.pattern == "/api/tasks/{task}" and r.method == "GET")
    assert content(text.handler(Request(places={"task": "own0"})))["writable"] is False


@pytest.mark.parametrize(
    "body",
    [{}, {"text": 3}, {"text": "a: 1", "seed": -1}, {"text": "a: 1", "episode": "x"}, {"text": "x" * 600_000}],
    ids=["none", "number", "negative", "word", "long"],
)
def test_malformed_requests_are_answered_with_what_is_wrong(ask: Ask, body: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ask("POST", "/api/tasks/{task}/sample", OURS, **body)


def test_completion_needs_a_place(ask: Ask) -> None:
    assert (
        content(ask("POST", "/api/tasks/{task}/complete", OURS, text="reg", place=3))["items"][0]["text"] == "regions"
    )
    with pytest.raises(HandloomError, match="place"):
        ask("POST", "/api/tasks/{task}/complete", OURS, text="reg", place="3")
