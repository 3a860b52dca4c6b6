"""Requests of the episode page: what is known of an episode, its numbers, its videos and pictures."""

from typing import Any

from handloom.dataset.reading import read_json
from handloom.dataset.shapes import Timeline
from handloom.viewer.episode_source import EpisodeSource
from handloom.viewer.library import Library
from handloom.viewer.pictures import STRIP, PictureCache, picture, strip
from handloom.viewer.signals import gripper_events, signals_of
from handloom.web import Request, Response, Route, json_response
from handloom.web.exchange import file_response

KEPT = "private, max-age=600"
"""Pictures have the state of their dataset in their address, so a browser may keep them."""


def episode_routes(library: Library) -> list[Route]:
    """Return the requests of the episode page."""
    cache = PictureCache()

    def episode(request: Request) -> Response:
        source, index = asked(library, request)
        return json_response(episode_facts(source, index))

    def signals(request: Request) -> Response:
        source, index = asked(library, request)
        found = signals_of(source.frames(index), source.features)
        return json_response({"signals": found, "events": gripper_events(found)})

    def thumbnails(request: Request) -> Response:
        source, index = asked(library, request)
        made = cache.get((source.key, source.stamp(), index), lambda: strip(source, index))
        return Response(body=made, kind="image/jpeg", cache=KEPT, headers={"X-Pictures": str(STRIP)})

    def frame(request: Request) -> Response:
        source, index = asked(library, request)
        camera, number = source.camera(request.number("camera")), request.number("frame")
        return Response(body=picture(source, index, camera, number), kind="image/jpeg", cache=KEPT)

    def video(request: Request) -> Response:
        source = library.source(request.places["source"])
        camera = source.camera(request.number("camera"))
        file = source.video_file(camera.name, request.number("chunk"), request.number("file"))
        return file_response(file, request)

    return [
        Route("GET", "/api/episodes/{source}/{episode}", episode),
        Route("GET", "/api/episodes/{source}/{episode}/signals", signals),
        Route("GET", "/api/episodes/{source}/{episode}/strip.jpg", thumbnails),
        Route("GET", "/api/episodes/{source}/{episode}/frames/{camera}/{frame}.jpg", frame),
        Route("GET", "/api/videos/{source}/{camera}/{chunk}/{file}.mp4", video),
    ]


def asked(library: Library, request: Request) -> tuple[EpisodeSource, int]:
    """Return the source and the number of the episode that a request is about."""
    source = library.source(request.places["source"])
    return source, source.check(request.number("episode"))


def episode_facts(source: EpisodeSource, index: int) -> dict[str, Any]:
    """Return what is known of an episode, without its numbers and pictures."""
    table = source.table()
    row = {name: value for name, value in table.row(index).items() if "/" not in name and name != "cameras"}
    timeline = _timeline(source, index)
    return {
        "source": source.key,
        "shelf": source.key.rstrip("fp"),
        "dataset": source.name,
        "index": index,
        "count": table.count,
        "fps": source.fps,
        "length": table.columns["length"][index],
        "words": table.columns["words"][index],
        "row": row,
        "cameras": [_camera(source, index, number) for number in range(len(source.cameras))],
        "segments": row.get("segments") or [],
        "spans": timeline.get("spans", []),
        "goal": timeline.get("goal", []),
        "failure": timeline.get("failure"),
        "has_archive": source.has_archive(index),
    }


def _timeline(source: EpisodeSource, index: int) -> dict[str, Any]:
    file = source.archive_folder(index) / "timeline.json"
    return dict(read_json(file, Timeline)) if file.is_file() else {}


def _camera(source: EpisodeSource, index: int, number: int) -> dict[str, Any]:
    camera = source.camera(number)
    place = source.video_place(index, camera.name) if camera.playable else None
    return {
        "name": camera.name,
        "short": camera.name.removeprefix("observation.images.").removeprefix("observation."),
        "number": number,
        "kind": camera.kind,
        "width": camera.width,
        "height": camera.height,
        "video": None
        if place is None
        else {"path": f"/api/videos/{source.key}/{number}/{place.chunk}/{place.file}.mp4", "start": place.start},
    }
