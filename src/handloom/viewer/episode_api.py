"""Requests of the episode page: facts, signals, videos, images and contacts of an episode."""

import threading
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.flags import flag_key, read_flags, write_flag
from handloom.dataset.files.shapes import Timeline
from handloom.engine.trust import trusted_record
from handloom.engine.verification.verify import verify_episode
from handloom.episode.columns import STATE
from handloom.errors import FileError, InputError, NotFoundError
from handloom.judging.wording.words import in_words
from handloom.labels.kinds import LABEL_FILE
from handloom.scene import Scene, build_scene
from handloom.values import Check, EpisodeRecord
from handloom.viewer.commands import make_command
from handloom.viewer.episode_source import EpisodeSource
from handloom.viewer.library import Library
from handloom.viewer.pictures import STRIP, PictureCache, picture, strip
from handloom.viewer.signals import gripper_events, signals_of
from handloom.web import Request, Response, Route, json_response
from handloom.web.exchange import file_response

KEPT = "private, max-age=600"
"""Image addresses include the state of their dataset, so a browser may cache them."""


def episode_routes(library: Library) -> list[Route]:
    """Return the requests of the episode page."""
    cache, writing, replaying = PictureCache(), threading.Lock(), threading.Lock()

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

    def verify(request: Request) -> Response:
        source, index = asked(library, request)
        if not source.has_archive(index):
            raise InputError("this episode has no archive, so it cannot be replayed")
        with replaying:
            found = verify_episode(str(source.archive_folder(index)))
        good = {"exact": "replays bit for bit", "close": "replays within tolerance; it was made on another platform"}
        text = f"{found.frames} frames: {good.get(found.verdict) or f'{found.verdict}: {found.detail}'}"
        return json_response({"good": found.good, "verdict": found.verdict, "text": text})

    def contacts(request: Request) -> Response:
        source, index = asked(library, request)
        if not source.has_archive(index):
            return json_response({"touches": []})
        with replaying:
            return json_response({"touches": touches_of(source.archive_folder(index))})

    def flag(request: Request) -> Response:
        source, index = asked(library, request)
        body = request.json()
        note = body.get("note", "")
        if not isinstance(note, str) or not isinstance(body.get("flagged"), bool):
            raise InputError("a flag is {'flagged': true or false, 'note': text}")
        key = flag_key(index, source.table().row(index))
        with writing:
            kept = write_flag(source.flags_root(index), key, note.strip() if body["flagged"] else None)
        return json_response({"flag": kept})

    def attempt(request: Request) -> Response:
        return json_response(attempt_facts(library, request.places["shelf"], request.number("attempt")))

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
        Route("GET", "/api/episodes/{source}/{episode}/contacts", contacts),
        Route("POST", "/api/episodes/{source}/{episode}/verify", verify),
        Route("POST", "/api/episodes/{source}/{episode}/flag", flag, edits=True),
        Route("GET", "/api/attempts/{shelf}/{attempt}", attempt),
        Route("GET", "/api/videos/{source}/{camera}/{chunk}/{file}.mp4", video),
    ]


def asked(library: Library, request: Request) -> tuple[EpisodeSource, int]:
    """Return the source and the index of the episode in a request."""
    source = library.source(request.places["source"])
    return source, source.check(request.number("episode"))


def episode_facts(source: EpisodeSource, index: int) -> dict[str, Any]:
    """Return the facts about an episode, without signals and images."""
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
        "goal_words": [in_words(_check(check)) for check in timeline.get("goal", [])],
        "has_archive": source.has_archive(index),
        "has_labels": EpisodeFiles.at(source.archive_folder(index)).has(LABEL_FILE),
        "flag": read_flags(source.flags_root(index)).get(flag_key(index, table.row(index))),
        "commands": _commands(source.root, row),
    }


def attempt_facts(library: Library, shelf: str, attempt: int) -> dict[str, Any]:
    """Return the facts about a failed attempt that left only its receipt."""
    run = library.run(shelf)
    receipt = None if run is None else run.receipts().get(attempt)
    if run is None or receipt is None:
        raise NotFoundError(f"{library.shelf(shelf).name} has no attempt {attempt}")
    settings = run.settings
    return {
        "shelf": shelf,
        "dataset": library.shelf(shelf).name,
        "attempt": attempt,
        "task": settings.task_name,
        "seed": settings.seed,
        "receipt": receipt.to_json(),
        "command": make_command(run.path, task=settings.task_name, seed=settings.seed, attempt=attempt),
    }


def _check(entry: dict[str, Any]) -> Check:
    return Check(name=entry["name"], arguments=dict(entry["arguments"]))


def _commands(root: Path, row: dict[str, Any]) -> dict[str, str]:
    task, seed, attempt = row.get("task_name"), row.get("seed"), row.get("attempt_index")
    made = make_command(root, task=task, seed=seed, attempt=attempt)
    return {"make": made} if made else {}


def _timeline(source: EpisodeSource, index: int) -> dict[str, Any]:
    """Return the timeline of an episode; damaged timelines and those of other writers are skipped."""
    try:
        files = EpisodeFiles.at(source.archive_folder(index))
        return dict(files.json("timeline.json", Timeline)) if files.has("timeline.json") else {}
    except FileError:
        return {}


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


GAP = 3
"""Contacts lost for fewer frames than this count as continuous."""
GRAINS = "fluid"
"""Name shared by the grains of a scene."""
MOST_SPANS = 400


def touches_of(folder: Path) -> list[dict[str, Any]]:
    """Return the contacts of an archived episode: of robots with anything, and of objects with others.

    Args:
        folder: Folder of the archive.

    Returns:
        ``first``, ``second``: the two bodies, a robot first; ``start``, ``stop``: frames, the second exclusive;
        ``robot``: whether one of them is a robot. Contacts that last the whole episode are omitted.

    Raises:
        FileError: The states do not match the scene.
        NotAllowedError: The archive refers to code or files that the user must allow.
    """
    _, record = trusted_record(folder)
    return touches(build_scene(record.instance), record)


def touches(scene: Scene, record: EpisodeRecord) -> list[dict[str, Any]]:
    """Return the contacts of a record in its scene, whose state is overwritten; see ``touches_of``."""
    world, states = scene.world, record.states[record.kept]
    if states.shape[1:] != world.save_state().shape:
        raise FileError("its states do not match the scene of its instance; it was recorded by another version")
    names = [world.model.body(int(body)).name.partition("/")[0] for body in world.model.geom_bodyid]
    owners = sorted(set(names))
    number = np.array([owners.index(name) for name in names])
    seen: dict[tuple[int, int], list[int]] = {}
    for frame, state in enumerate(states):
        mujoco.mj_setState(world.model, world.data, np.ascontiguousarray(state), STATE)
        mujoco.mj_forward(world.model, world.data)
        contact = world.data.contact
        geoms = contact.geom.reshape(-1, 2)
        pressing = geoms[(contact.efc_address >= 0) & np.all(geoms >= 0, axis=1)]
        pairs = np.unique(np.sort(number[pressing], axis=1), axis=0) if len(pressing) else pressing
        for one, other in pairs.tolist():
            if one != other:
                seen.setdefault((one, other), []).append(frame)
    found = []
    for (one, other), frames in seen.items():
        pair = sorted((owners[one], owners[other]), key=lambda name: (name not in scene.robots, name))
        if GRAINS in pair:
            continue
        for start, stop in _stretches(frames):
            if (start, stop) != (0, len(states)):
                is_robot = pair[0] in scene.robots
                found.append({"first": pair[0], "second": pair[1], "start": start, "stop": stop, "robot": is_robot})
    return sorted(found, key=lambda span: (not span["robot"], span["start"]))[:MOST_SPANS]


def _stretches(frames: list[int]) -> list[tuple[int, int]]:
    """Return the contiguous spans in an increasing list of frames."""
    found = [[frames[0], frames[0] + 1]]
    for frame in frames[1:]:
        if frame - found[-1][1] < GAP:
            found[-1][1] = frame + 1
        else:
            found.append([frame, frame + 1])
    return [(start, stop) for start, stop in found]
