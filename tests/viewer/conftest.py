"""Datasets to look at, and a way to ask the page's requests without a server."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handloom.viewer.library import Library
from handloom.viewer.view_app import ViewOptions, view_server
from handloom.web import Request, Response, WebServer
from handloom.web.web_app import called

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of ours with colours, depth and ids."""
    from view_data import write_dataset

    return write_dataset(tmp_path_factory.mktemp("ours") / "cubes")


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of somebody else."""
    from view_data import write_plain_dataset

    return write_plain_dataset(tmp_path_factory.mktemp("plain") / "towels")


@dataclass
class Asked:
    """Calls handlers as the server does, without one."""

    server: WebServer

    def __call__(self, path: str, method: str = "GET", **more: Any) -> Response:
        app = self.server.app
        for route in app.routes:
            if route.method == method and (places := route.places(path)) is not None:
                return called(route.handler, Request(method=method, path=path, places=places, **more))
        raise AssertionError(f"no route for {path}")

    def json(self, path: str, method: str = "GET", **more: Any) -> Any:
        answer = self(path, method, **more)
        assert isinstance(answer.body, bytes)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)


@pytest.fixture
def asked() -> Iterator[Callable[..., Asked]]:
    """Return a function that opens paths and answers their requests."""
    opened: list[WebServer] = []

    def open_paths(*paths: Path, edit: bool = False, **options: Any) -> Asked:
        server = view_server(Library(paths), ViewOptions(edit=edit, **options))
        opened.append(server)
        return Asked(server)

    yield open_paths
    for server in opened:
        server.app.close()
        server.loop.close()


@pytest.fixture(scope="session")
def evaluations(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two policies on the same eight scenes: one fails on the right, one with blue cubes."""
    from view_data import write_evaluation

    folder = tmp_path_factory.mktemp("evaluations")
    return (
        write_evaluation(folder / "first", wins=lambda index: index < 5),
        write_evaluation(folder / "second", wins=lambda index: index % 2 == 0),
    )
