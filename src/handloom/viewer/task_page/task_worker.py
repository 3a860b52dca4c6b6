"""The child process of the task page: reads, samples, draws and runs tasks, and reports the results.

The page stays responsive while this process works; a task that takes too long is cancelled by killing it, and a crash
in a native library kills only this process. Requests are JSON, one per line; answers are events of ``container``, each
preceded by its length.
"""

import json
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from handloom.config import forbid_code
from handloom.errors import HandloomError
from handloom.render import Renderer
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import make_judge
from handloom.tasks import SamplingError, Task, load_task, sample_task, worded_skills
from handloom.tasks.config.checking import refused_code
from handloom.tasks.config.loading import variety_notes
from handloom.tasks.rehearsal import rehearse
from handloom.viewer.scene3d.container import Container, event, sized
from handloom.viewer.scene3d.recorded_motion import camera_entry
from handloom.viewer.scene3d.scene_geometry import scene_geometry
from handloom.viewer.task_page.drawn_regions import drawn_regions, reach_of_arms
from handloom.viewer.task_page.watched_expert import Emit, failure_facts, run_expert, terms_of

PLACE = re.compile(r"^(?P<file>.+?\.ya?ml):(?P<line>\d+): (?P<what>.*)$", re.DOTALL)
BASE = re.compile(r"^\s*base\s*:", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Remark:
    """A message about a task file."""

    text: str
    line: int = 0
    """Line of the edited text, from 1; 0 if there is none."""
    file: str = ""
    """The file concerned, if not the edited one."""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def remarks(message: str, path: Path, text: str) -> list[Remark]:
    """Return the lines of an error message, each with the corresponding line of the edited text.

    A mistake in a base file is shown at the line that names the file.

    Args:
        message: One mistake per line, ``file:line: key: what``; lines without a location continue the previous one.
        path: The edited file.
        text: Its current text.
    """
    found: list[Remark] = []
    for line in message.splitlines():
        place = PLACE.match(line)
        if place is None:
            if found and line.startswith((" ", "\t")):
                found[-1] = Remark(text=f"{found[-1].text}\n{line}", line=found[-1].line, file=found[-1].file)
            else:
                found.append(Remark(text=_without_path(line, path)))
            continue
        own = place["file"] == str(path)
        number = int(place["line"]) if own else _base_line(text)
        file = "" if own else Path(place["file"]).name
        said = place["what"] if own else f"in {file}, line {place['line']}: {place['what']}"
        found.append(Remark(text=said, line=number, file=file))
    return found


def _without_path(line: str, path: Path) -> str:
    return line.removeprefix(f"{path}: ")


def _base_line(text: str) -> int:
    found = BASE.search(text)
    return text.count("\n", 0, found.end()) + 1 if found else 0


LARGEST_PICTURE = 480
"""Longer side of a camera's image on the page [px]."""


def check(request: dict[str, Any], emit: Emit) -> None:
    """Report the mistakes in a text; with ``deep``, also check sampled scenes, like ``handloom check``."""
    task = _loaded(request)
    notes = [*task.notices, *task.stand_ins, *variety_notes(task)]
    mistakes: list[str] = []
    if request.get("deep") and not refused_code(task):
        rehearsal = rehearse(task)
        mistakes, notes = list(rehearsal.mistakes), [*notes, *rehearsal.notes]
    emit(_said(request, "\n".join(mistakes), notes))


def sample(request: dict[str, Any], emit: Emit) -> None:
    """Sample a scene: its shapes and regions first, then the images of its cameras, then the reach of its arms."""
    task = _loaded(request)
    emit(_said(request, "", [*task.notices, *task.stand_ins]))
    scene = _sampled(task, request)
    _show(task, scene, emit)
    for camera in scene.instance.cameras:
        emit(_picture(scene, camera))
    if request.get("reach", True):
        for reach in reach_of_arms(task, scene):
            emit(event("reach", **reach))


def expert(request: dict[str, Any], emit: Emit) -> None:
    """Sample a scene and let the expert perform the task in it."""
    task = _loaded(request)
    emit(_said(request, "", [*task.notices, *task.stand_ins]))
    scene = _sampled(task, request)
    _show(task, scene, emit)
    run_expert(task, scene, emit)


JOBS: dict[str, Callable[[dict[str, Any], Emit], None]] = {"check": check, "sample": sample, "expert": expert}


def _loaded(request: dict[str, Any]) -> Task:
    return load_task(
        Path(request["path"]),
        index=int(request.get("index", 0)),
        text=request["text"],
        allow_outside=bool(request.get("allow_outside")),
    )


def _sampled(task: Task, request: dict[str, Any]) -> Scene:
    return build_scene(sample_task(task, int(request["seed"]), int(request["episode"])))


def _show(task: Task, scene: Scene, emit: Emit) -> None:
    """Send a scene: shapes, cameras, objects, regions, and which goal terms hold."""
    container, instance, model = Container(), scene.instance, scene.world.model
    judge = make_judge(scene, worded_skills(task, instance), None)
    entries = {entry.name for entry in task.config.objects}
    facts = {
        "kind": "scene",
        "geometry": container.add(scene_geometry(scene)),
        "instruction": instance.instruction,
        "seed": instance.seed,
        "episode": instance.episode,
        "fps": instance.fps,
        "cameras": [camera_entry(model, camera) for camera in instance.cameras],
        "objects": [
            {"name": obj.name, "words": obj.words, "category": obj.category, "own": obj.name in entries}
            for obj in instance.objects
        ],
        "robots": [{"name": name, "arms": [arm.name for arm in robot.arms]} for name, robot in scene.robots.items()],
        "regions": list(drawn_regions(task, scene)),
        "terms": terms_of(judge),
    }
    emit(container.packed(facts))


def _picture(scene: Scene, camera: Any) -> bytes:
    scale = min(1.0, LARGEST_PICTURE / max(camera.width, camera.height))
    spec = camera.resized(max(1, round(scale * camera.width)), max(1, round(scale * camera.height)))
    drawn = Renderer(scene.world.model, "balanced", looks=scene.looks).render(scene.world.data, [spec])[camera.name][
        "rgb"
    ]
    file, container = BytesIO(), Container()
    Image.fromarray(np.asarray(drawn, np.uint8)).save(file, format="PNG", compress_level=1)
    facts = {"kind": "picture", "camera": camera.name, "width": camera.width, "height": camera.height}
    return container.packed({**facts, "png": container.add(file.getvalue())})


def _said(request: dict[str, Any], mistakes: str, notes: list[str]) -> bytes:
    path, text = Path(request["path"]), request["text"]
    return event(
        "checked",
        mistakes=[remark.plain() for remark in remarks(mistakes, path, text)],
        notes=[remark.plain() for remark in remarks("\n".join(notes), path, text)],
        deep=bool(request.get("deep")),
    )


class CancelledError(BaseException):
    """The client has disconnected."""


def carried_out(request: dict[str, Any], emit: Emit) -> None:
    """Handle a request; report errors at their line if they have one."""
    try:
        JOBS[request["do"]](request, emit)
    except SamplingError as error:
        emit(_said(request, str(error), []))
        emit(event("end", success=False, frames=0, fps=0, failure=failure_facts(error.failure), spans=[]))
    except HandloomError as error:
        emit(_said(request, str(error), []))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        emit(event("fault", text=f"{type(error).__name__}: {error} ({where})"))


def main() -> None:
    """Serve requests in the child process until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output of libraries must not mix with the answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which waits for the answers.
    working = writing = cancelled = False

    def cancel(*_: object) -> None:
        nonlocal cancelled
        if working and not writing:
            raise CancelledError
        cancelled = working

    def emit(content: bytes) -> None:
        nonlocal writing
        writing = True  # Once started, an answer is sent completely.
        answers.write(sized(content))
        answers.flush()
        writing = False
        if cancelled:
            raise CancelledError

    signal.signal(signal.SIGUSR1, cancel)
    forbid_code()
    emit(event("ready"))
    for line in sys.stdin:
        cancelled = False
        try:
            working = True
            carried_out(json.loads(line), emit)
            working = False
        except CancelledError:
            working = cancelled = False
        emit(event("done"))


if __name__ == "__main__":
    main()
