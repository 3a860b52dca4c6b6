"""Requests of the dataset page: the episodes of a shelf as columns, and the funnel of its run."""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from handloom.dataset.episodes.flags import FlagEntry, flag_key, read_flags
from handloom.engine import report_of
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.ledger import ledger_parts
from handloom.engine.runs.run_directory import RunDirectory
from handloom.viewer.episode_source import EpisodeSource
from handloom.viewer.episode_table import SHOWN
from handloom.viewer.library import Library, LiveRun
from handloom.web import Request, Response, Route, json_response

FIRST = "d0"
"""Shelf key of the run made by this program."""
WINDOW, SOON = 300.0, 2.0
"""Window over which the rate of a run is measured, and how long to wait before showing it [s]."""
MOST_PARTS = 50
"""Number of ledger parts above which a run is too long to read on every page view (about 100,000 attempts). Its
dataset is shown, and ``handloom report`` prints the rest."""
LIVE = 120.0
"""A run whose journal is older than this counts as stopped [s]."""


def dataset_routes(library: Library) -> list[Route]:
    """Return the requests of the dataset page."""
    paces: dict[str, Pace] = {}

    def dataset(request: Request) -> Response:
        key = request.places["shelf"]
        shelf, run = library.shelf(key), library.run(key)
        sources = library.sources(key)
        run = None if run is not None and len(ledger_parts(run.path / "journal")) > MOST_PARTS else run
        receipts = {} if run is None else run.counted()
        told: dict[str, Any] = {
            "key": key,
            "name": shelf.name,
            "kind": shelf.kind,
            "path": str(shelf.path),
            "sources": [described(source) for source in sources],
            "attempts": unrecorded(receipts, sources),
            "run": None if run is None else progress(run, receipts),
        }
        if run is not None:
            pace = paces.setdefault(key, Pace())
            told["run"] |= pace.figures(told["run"], library.live if key == FIRST else None)
        return json_response(told)

    def oddness(request: Request) -> Response:
        found = {source.key: source.oddness() for source in library.sources(request.places["shelf"])}
        return json_response({key: {"scores": scores, "because": why} for key, (scores, why) in found.items()})

    return [
        Route("GET", "/api/datasets/{shelf}", dataset),
        Route("GET", "/api/datasets/{shelf}/oddness", oddness),
    ]


class Pace:
    """Rate of a run, from the attempts observed in the last few minutes."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._seen: deque[tuple[float, int, int]] = deque()

    def figures(self, run: Mapping[str, Any], live: LiveRun | None) -> dict[str, Any]:
        """Return attempts per hour, remaining seconds and workers, if known."""
        now = self._now()
        if not self._seen or self._seen[-1][1:] != (run["attempts"], run["episodes"]):
            self._seen.append((now, run["attempts"], run["episodes"]))
        while len(self._seen) > 2 and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        begin, attempts, episodes = self._seen[0]
        figures: dict[str, Any] = {"attempts_per_hour": None, "seconds_left": None, "workers": live and live.workers}
        if live is not None:
            figures |= {"wanted": live.wanted, "running": not run["finished"]}
        if now - begin > SOON and run["attempts"] > attempts:
            figures["attempts_per_hour"] = 3600.0 * (run["attempts"] - attempts) / (now - begin)
            done, before = (
                (run["episodes"], episodes) if live and live.counts_successes else (run["attempts"], attempts)
            )
            if live is not None and done > before:
                figures["seconds_left"] = max(0.0, (live.wanted - done) * (now - begin) / (done - before))
        return figures


def described(source: EpisodeSource) -> dict[str, Any]:
    """Return the episodes of a source as columns."""
    table = source.table()
    return {
        "key": source.key,
        "name": source.name,
        "kind": source.kind,
        "fps": source.fps,
        "cameras": [camera.name for camera in source.cameras.values()],
        "count": table.count,
        "stamp": short_hash(source.stamp()),
        "aspect": _aspect(source),
        "columns": {name: table.columns[name] for name in SHOWN},
        "flags": flags_of(source),
    }


def flags_of(source: EpisodeSource) -> list[tuple[int, FlagEntry]]:
    """Return the flagged episodes of a source."""
    table, found = source.table(), []
    roots = {source.flags_root(index) for index in ((0, table.count - 1) if table.count else ())}
    flags = {key: flag for root in roots for key, flag in read_flags(root).items()}
    if flags:
        hashes, lengths = table.columns["state_hash"], table.columns["length"]
        for index in range(table.count):
            key = flag_key(index, {"state_hash": hashes[index], "length": lengths[index]})
            if key in flags:
                found.append((index, flags[key]))
    return found


def _aspect(source: EpisodeSource) -> float | None:
    """Return width over height of the images in the strips."""
    camera = next((camera for camera in source.cameras.values() if camera.kind == "colour"), None)
    return camera.width / camera.height if camera and camera.height else None


def short_hash(value: object) -> str:
    """Return a short string that changes with a value."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def unrecorded(receipts: dict[int, Receipt], sources: tuple[EpisodeSource, ...]) -> list[dict[str, Any]]:
    """Return failed attempts without a stored episode, for which there is only a receipt."""
    if not receipts:
        return []
    kept = {index for source in sources for index in source.table().columns["attempt_index"]}
    return [
        {"attempt": r.episode, "stage": r.stage, "reason": r.reason, "detail": r.detail, "frames": r.frames}
        for r in receipts.values()
        if not r.success and r.episode not in kept
    ]


def progress(run: RunDirectory, receipts: dict[int, Receipt]) -> dict[str, Any]:
    """Return the outcome of a run so far."""
    settings = run.settings
    newest = max((file.stat().st_mtime for file in (run.path / "journal").glob("unit_*.jsonl")), default=0.0)
    finished = (run.path / "finished.json").is_file()
    return {
        **report_of(receipts.values()).to_json(),
        "task": settings.task_name,
        "seed": settings.seed,
        "finished": finished,
        "running": not finished and time.time() - newest < LIVE,
    }
