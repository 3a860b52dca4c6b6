"""Assembles the page: content, table of requests, files, server."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from handloom.viewer.dataset_api import dataset_routes
from handloom.viewer.episode_api import episode_routes
from handloom.viewer.evaluation_api import evaluation_routes
from handloom.viewer.labels_api import label_routes
from handloom.viewer.library import Library
from handloom.viewer.scene3d.scene_routes import scene_routes
from handloom.viewer.task_page.task_routes import task_routes
from handloom.web import Request, Response, Route, StaticFiles, WebApp, WebServer, is_loopback, json_response
from handloom.web.certificate import self_signed, token_of

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Address and permissions of the page."""

    host: str = "127.0.0.1"
    port: int = 0
    """0 chooses a free port."""
    edit: bool = False
    """Whether flags and task files may be written."""
    https: bool = False
    """Use HTTPS even on this machine; other machines always get HTTPS."""
    certificate_folder: Path | None = None
    """Folder of the self-signed certificate and the token."""


def routes_of(library: Library, *, edit: bool = False) -> list[Route]:
    """Return the table of requests; each part of the page has its own module."""

    def site(request: Request) -> Response:
        return json_response({"datasets": library.described(), "tasks": list(library.tasks), "edit": edit})

    return [
        Route("GET", "/api/site", site),
        *scene_routes(library),
        *task_routes(library, edit=edit),
        *dataset_routes(library),
        *episode_routes(library),
        *evaluation_routes(library),
        *label_routes(library),
    ]


def view_server(library: Library, options: ViewOptions) -> WebServer:
    """Return the server of the page, not yet started."""
    secure = options.https or not is_loopback(options.host)
    folder = options.certificate_folder
    names = [str(shelf.path.resolve()) for shelf in library.shelves.values()] or list(library.tasks)
    app = WebApp(
        token_of(Path(names[0] if names else "view"), folder),
        StaticFiles({"": STATIC}),
        routes=routes_of(library, edit=options.edit),
        edit=options.edit,
        keep_token=True,
    )
    certificate = self_signed(options.host, folder, extra="view") if secure else None
    return WebServer(app, host=options.host, port=options.port, certificate=certificate, extra="view")


def serve(library: Library, options: ViewOptions, on_ready: Callable[[str], None] = lambda address: None) -> None:
    """Serve the page until the program is interrupted.

    Args:
        library: Content of the page.
        options: Address and permissions.
        on_ready: Called with the address of the page.
    """
    server = view_server(library, options)
    server.start()
    try:
        on_ready(server.address)
        server.wait()
    finally:
        server.close()
