"""Requests of the task page: the text of a task, its mistakes, its scenes, the expert, completion, saving."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from handloom.dataset.files.durable import atomic_write
from handloom.errors import InputError, NotAllowedError, NotFoundError, unknown_name
from handloom.tasks.config.loading import library as shipped_tasks
from handloom.tasks.config.packs import find_pack_task
from handloom.viewer.library import Library
from handloom.viewer.task_page.completion import completions
from handloom.viewer.task_page.worker_process import WorkerProcess
from handloom.web import Request, Response, Route, json_response
from handloom.web.exchange import BINARY

CHECK_SECONDS, SAMPLE_SECONDS, EXPERT_SECONDS = 60.0, 120.0, 600.0
"""Time limit of a request [s]."""
LONGEST_TEXT = 500_000
"""Maximum length of a task text that the page edits [characters]."""


class TaskShelf:
    """The tasks that the page may show: those of the command line, and all that ship with Handloom."""

    def __init__(self, given: tuple[str, ...]) -> None:
        self.files: dict[str, Path] = {}
        """Key in requests > file; library tasks have their name as key, the user's files have a number."""
        self.names: dict[str, str] = {}
        """Key > name given by the user."""
        self.indices: dict[str, int] = {}
        """Key > index in the ``tasks`` list of its file, for tasks of packs that share a file."""
        ours = shipped_tasks()
        for number, name in enumerate(given):
            of_pack = None if Path(name).suffix else find_pack_task(name)
            if of_pack is not None:
                key = name.replace("/", ":")
                self.files[key], self.names[key], ours = of_pack.file, name, {**ours, key: of_pack.file}
                self.indices[key] = of_pack.index or 0
                continue
            if name not in ours and not Path(name).suffix:
                raise unknown_name("task", name, ours)
            key = name if name in ours else f"own{number}"
            self.files[key], self.names[key] = ours.get(name) or Path(name), name
        self.own = {key for key in self.files if key not in ours}
        """Keys of the user's own files, which the page may write with ``--edit``."""
        self.files = {**self.files, **{name: file for name, file in ours.items() if name not in self.files}}

    def file(self, key: str) -> Path:
        """Return the file of a task."""
        if key not in self.files:
            raise unknown_name("task", key, shipped_tasks())
        return self.files[key]

    def listed(self) -> list[dict[str, Any]]:
        """Return all tasks, those of the command line first."""
        return [{"key": key, "name": self.names.get(key, key), "own": key in self.own} for key in self.files]


def task_routes(library: Library, *, edit: bool = False) -> list[Route]:
    """Return the requests of the task page.

    Args:
        library: The arguments of ``handloom view``.
        edit: Whether the user's own task files may be written.
    """
    shelf = TaskShelf(library.tasks)
    checker, sampler, runner = WorkerProcess(), WorkerProcess(), WorkerProcess()

    def tasks(request: Request) -> Response:
        return json_response({"tasks": shelf.listed()})

    def text(request: Request) -> Response:
        key = request.places["task"]
        file = shelf.file(key)
        try:
            content = file.read_text(encoding="utf-8")
        except FileNotFoundError as error:
            raise NotFoundError(f"{file}: there is no such file") from error
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: not UTF-8 text (byte {error.start}); is this a YAML file?") from error
        if len(content) > LONGEST_TEXT:
            raise InputError(f"{file}: has {len(content)} characters; the page edits up to {LONGEST_TEXT}")
        facts = {
            "key": key,
            "name": shelf.names.get(key, file.stem) if key in shelf.indices else file.stem,
            "file": file.name,
            "text": content,
            "own": key in shelf.own,
        }
        return json_response({**facts, "writable": edit and key in shelf.own})

    def check(request: Request) -> Response:
        return _stream(checker, _asked(shelf, request, "check"), CHECK_SECONDS)

    def sample(request: Request) -> Response:
        return _stream(sampler, _asked(shelf, request, "sample"), SAMPLE_SECONDS, instead=True)

    def expert(request: Request) -> Response:
        return _stream(runner, _asked(shelf, request, "expert"), EXPERT_SECONDS, instead=True)

    def complete(request: Request) -> Response:
        given = request.json()
        place = given.get("place")
        if not isinstance(place, int) or isinstance(place, bool):
            raise InputError("place must be an integer: the position of the cursor")
        return json_response(completions(_text(given), place))

    def save(request: Request) -> Response:
        key = request.places["task"]
        file = shelf.file(key)
        if key not in shelf.own:
            raise NotAllowedError(
                f"{key} ships with Handloom and cannot be changed; copy the text into your own file and open that: "
                "handloom view my_task.yaml --edit"
            )
        text = _text(request.json())
        with atomic_write(file) as partial:
            partial.write_text(text, encoding="utf-8")
        return json_response({"saved": file.name})

    return [
        Route("GET", "/api/tasks", tasks),
        Route("GET", "/api/tasks/{task}", text),
        Route("POST", "/api/tasks/{task}/check", check),
        Route("POST", "/api/tasks/{task}/sample", sample),
        Route("POST", "/api/tasks/{task}/expert", expert),
        Route("POST", "/api/tasks/{task}/complete", complete),
        Route("POST", "/api/tasks/{task}/save", save, edits=True),
    ]


def _stream(worker: WorkerProcess, asked: dict[str, Any], seconds: float, *, instead: bool = False) -> Response:
    answers: Iterator[bytes] = worker.ask(asked, seconds=seconds, instead=instead)
    return Response(body=answers, kind=BINARY)


def _asked(shelf: TaskShelf, request: Request, what: str) -> dict[str, Any]:
    """Return the request to the child process, built from validated values only."""
    given = request.json()
    seed, episode = given.get("seed", 0), given.get("episode", 0)
    for name, value in (("seed", seed), ("episode", episode)):
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise InputError(f"{name} must be a whole number >= 0, got {value!r}")
    return {
        "do": what,
        "path": str(shelf.file(request.places["task"])),
        "index": shelf.indices.get(request.places["task"], 0),
        "text": _text(given),
        "seed": seed,
        "episode": episode,
        "deep": given.get("deep") is True,
        "reach": given.get("reach") is not False,
    }


def _text(given: dict[str, Any]) -> str:
    text = given.get("text")
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise InputError(f"text must be the text of a task, of at most {LONGEST_TEXT} characters")
    return text
