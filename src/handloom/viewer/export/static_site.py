"""The page as plain files for any web server: every response of the server is a file under the same path."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av

from handloom.dataset.files.durable import atomic_write, file_errors, link_or_copy
from handloom.errors import FileError, InputError
from handloom.safe_paths import below
from handloom.viewer.episode_source import Camera, EpisodeSource
from handloom.viewer.export.dataset_card import dataset_card
from handloom.viewer.library import Library
from handloom.viewer.pictures import pictures
from handloom.viewer.view_app import STATIC, routes_of
from handloom.web import Request, Route
from handloom.web.web_app import POLICY, called

MARK = "handloom_site.json"
"""Marker file of a folder that holds an exported site and may be overwritten."""
LIVE = '<meta name="handloom-mode" content="live">'
MODULES = ("scene3d", "task")
"""Parts of the page that need the server."""


def export_site(
    library: Library, folder: Path, on_episode: Callable[[int, int], None] = lambda done, all: None
) -> Path:
    """Write the page of everything in a library; return the folder.

    Args:
        library: Content of the page.
        folder: Target: a new folder, an empty one, or one with an earlier site.
        on_episode: Called after every episode with the number written and the total.

    Raises:
        InputError: There is no dataset, or the folder contains something else.
        FileError: Something cannot be read or written.
    """
    if not library.shelves:
        raise InputError("--export writes datasets and runs; give at least one")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise InputError(f"{folder} is not empty and contains no exported page; choose another folder")
    with file_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, MARK, json.dumps({"site_version": 1}).encode())
        _copy_page(folder)
        site = _Site(library, folder)
        total = sum(source.table().count for key in library.shelves for source in library.sources(key))
        for done, _ in enumerate(site.write(), 1):
            on_episode(done, total)
        _write(folder, "README.md", dataset_card(library).encode())
    return folder


class _Site:
    """Writes the responses of the server as files."""

    def __init__(self, library: Library, folder: Path) -> None:
        self.library, self.folder = library, folder
        self.routes: list[Route] = routes_of(library)
        self._videos: set[str] = set()

    def write(self) -> Iterator[None]:
        """Write everything; yields after every episode."""
        self.keep("/api/site", {**self.ask("/api/site"), "tasks": []})
        for key in self.library.shelves:
            told = self.ask(f"/api/datasets/{key}")
            told.pop("path", None)
            if told["run"] is not None:
                told["run"]["running"] = False
                self.keep(f"/api/evaluations/{key}", self.ask(f"/api/evaluations/{key}"))
            self.keep(f"/api/datasets/{key}", told)
            self.keep(f"/api/datasets/{key}/oddness", self.ask(f"/api/datasets/{key}/oddness"))
            for lost in told["attempts"]:
                path = f"/api/attempts/{key}/{lost['attempt']}"
                self.keep(path, self.ask(path))
            for source in self.library.sources(key):
                for index in range(source.table().count):
                    self.episode(source, index)
                    yield

    def episode(self, source: EpisodeSource, index: int) -> None:
        """Write one episode: facts, numbers, thumbnails, videos."""
        base = f"/api/episodes/{source.key}/{index}"
        facts = self.ask(base)
        cameras = []
        for camera in facts["cameras"]:
            place = source.video_place(index, camera["name"])
            if camera["video"] is None and place is not None:
                path = f"/api/videos/{source.key}/{camera['number']}/episode_{index}.mp4"
                write_stream(source, index, source.camera(camera["number"]), self.place(path))
                camera["video"] = {"path": path, "start": 0.0}
            elif camera["video"] is not None and place is not None:
                self.video(camera["video"]["path"], source.video_file(camera["name"], place.chunk, place.file))
            if camera["video"] is not None:
                cameras.append(camera)
        self.keep(base, {**facts, "cameras": cameras, "has_archive": False})
        self.keep(f"{base}/signals", self.ask(f"{base}/signals"))
        if facts["has_labels"]:
            self.keep(f"{base}/labels", self.ask(f"{base}/labels"))
        if source.cameras:
            answer = self._called(f"{base}/strip.jpg")
            if answer.status == 200 and isinstance(answer.body, bytes):
                _write(self.folder, f"{base}/strip.jpg".lstrip("/"), answer.body)

    def video(self, path: str, file: Path) -> None:
        """Copy a video file once, regardless of the number of episodes in it."""
        if path not in self._videos:
            self._videos.add(path)
            target = self.place(path)
            target.unlink(missing_ok=True)
            link_or_copy(file, target)

    def place(self, path: str) -> Path:
        """Return the file for a path, creating its folder."""
        file = below(self.folder, path.lstrip("/"), what="the exported page")
        file.parent.mkdir(parents=True, exist_ok=True)
        return file

    def ask(self, path: str) -> dict[str, Any]:
        """Return the server's response to a request, or raise its error."""
        answer = self._called(path)
        assert isinstance(answer.body, bytes)
        found = json.loads(answer.body)
        if answer.status != 200:
            raise FileError(found["error"])
        return found

    def keep(self, path: str, value: dict[str, Any]) -> None:
        """Write a response."""
        _write(self.folder, f"{path.lstrip('/')}.json", json.dumps(value, separators=(",", ":")).encode())

    def _called(self, path: str) -> Any:
        for route in self.routes:
            if route.method == "GET" and (places := route.places(path)) is not None:
                return called(route.handler, Request(path=path, places=places))
        raise InputError(f"the page has no request {path}")


def _copy_page(folder: Path) -> None:
    """Copy the files of the page, marked as static."""
    for file in sorted(STATIC.rglob("*")):
        name = file.relative_to(STATIC)
        if file.is_dir() or file.is_symlink() or name.parts[0] in MODULES:
            continue
        target = below(folder, name.as_posix(), what="the exported page")
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.as_posix() != "index.html":
            shutil.copyfile(file, target)
            continue
        policy = "; ".join(part for part in POLICY.split("; ") if not part.startswith("frame-ancestors"))
        head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n  {LIVE.replace("live", "static")}'
        target.write_text(file.read_text(encoding="utf-8").replace(LIVE, head), encoding="utf-8")


def _write(folder: Path, name: str, content: bytes) -> None:
    file = below(folder, name, what="the exported page")
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(file) as partial:
        partial.write_bytes(content)


CODEC, OPTIONS = "libx264", {"preset": "veryfast", "crf": "20", "g": "2", "bf": "0", "threads": "1"}


def write_stream(source: EpisodeSource, index: int, camera: Camera, file: Path) -> None:
    """Write the images of a camera in one episode as a separate video.

    Args:
        source: The dataset.
        index: Number of the episode.
        camera: The camera.
        file: File to write.
    """
    length = source.table().columns["length"][source.check(index)]
    images = pictures(source, index, camera, range(length))
    height, width = (side - side % 2 for side in images[0].shape[:2])
    with av.open(str(file), "w", format="mp4") as container:
        stream = container.add_stream(CODEC, rate=source.fps, options=OPTIONS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for image in images:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image[:height, :width].copy(), format="rgb24")))
        container.mux(stream.encode(None))
