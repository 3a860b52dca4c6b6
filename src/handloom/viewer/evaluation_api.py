"""Requests of the evaluation page: the outcome of every scene, and the factors in which the scenes differ."""

import threading
from typing import Any

from handloom.dataset.files.reading import read_json
from handloom.dataset.files.shapes import PlainObject
from handloom.engine.policy.evaluation import evaluation_of
from handloom.errors import FileError, InputError
from handloom.viewer.library import Library
from handloom.viewer.scene_factors import factors_of
from handloom.web import Request, Response, Route, json_response


def evaluation_routes(library: Library) -> list[Route]:
    """Return the requests of the evaluation page."""
    kept: dict[str, tuple[Any, dict[str, Any]]] = {}
    lock = threading.Lock()

    def evaluation(request: Request) -> Response:
        key = request.places["shelf"]
        stamp = tuple((source.key, source.stamp()) for source in library.sources(key))
        with lock:
            if key not in kept or kept[key][0] != stamp:
                kept[key] = stamp, scenes_of(library, key)
            return json_response(kept[key][1])

    return [Route("GET", "/api/evaluations/{shelf}", evaluation)]


def scenes_of(library: Library, key: str) -> dict[str, Any]:
    """Return the outcome of every attempt of a run, and the factors of their scenes."""
    run, shelf = library.run(key), library.shelf(key)
    if run is None:
        raise InputError(f"{shelf.name} is a dataset without its run; scenes are shown of runs and evaluations")
    receipts = run.counted()
    places = {
        attempt: (source, index)
        for source in library.sources(key)
        for index, attempt in enumerate(source.table().columns["attempt_index"])
    }
    scenes, instances = [], []
    for attempt, receipt in receipts.items():
        source, index = places.get(attempt, (None, None))
        scenes.append(
            {
                "attempt": attempt,
                "success": receipt.success,
                "stage": receipt.stage,
                "reason": receipt.reason,
                "detail": receipt.detail,
                "seconds": receipt.frames / receipt.fps,
                "skills": list(receipt.skills),
                "source": source and source.key,
                "index": index,
            }
        )
        instances.append(None if source is None or index is None else _instance(source.archive_folder(index)))
    return {
        "key": key,
        "name": shelf.name,
        "task": run.settings.task_name,
        "seed": run.settings.seed,
        "policy": run.settings.source,
        "result": evaluation_of(receipts.values(), seed=run.settings.seed).to_json(),
        "scenes": scenes,
        "factors": factors_of(instances),
    }


def _instance(folder: Any) -> dict[str, Any] | None:
    try:
        return read_json(folder / "instance.json", PlainObject)
    except FileError:
        return None
