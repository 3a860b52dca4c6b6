"""What touches what when: contacts of a recorded episode as stretches of frames, found again from its states."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from handloom.engine.trust import trusted_record
from handloom.episode.columns import STATE
from handloom.errors import FileError
from handloom.scene import Scene, build_scene
from handloom.values import EpisodeRecord

GAP = 3
"""Contacts that are lost for fewer frames than this go on."""
GRAINS = "fluid"
"""Name under which the grains of a scene stand."""
MOST_SPANS = 400


def touches_of(folder: Path) -> list[dict[str, Any]]:
    """Return the contacts of an archived episode: of robots with anything, and of objects with others.

    Args:
        folder: Folder of the archive.

    Returns:
        ``first``, ``second``: who touches whom, a robot first; ``start``, ``stop``: frames, the second exclusive;
        ``robot``: whether one of them is a robot. Those that hold from beginning to end are left out.

    Raises:
        FileError: The states do not fit the scene.
        NotAllowedError: The archive names code or files that the user has to allow.
    """
    _, record = trusted_record(folder)
    return touches(build_scene(record.instance), record)


def touches(scene: Scene, record: EpisodeRecord) -> list[dict[str, Any]]:
    """Return the contacts of a record in its scene, whose state is overwritten; see ``touches_of``."""
    world, states = scene.world, record.states[record.kept]
    if states.shape[1:] != world.save_state().shape:
        raise FileError("its states do not fit the scene of its instance; it was recorded by another version")
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
    """Return the stretches that increasing frames make up."""
    found = [[frames[0], frames[0] + 1]]
    for frame in frames[1:]:
        if frame - found[-1][1] < GAP:
            found[-1][1] = frame + 1
        else:
            found.append([frame, frame + 1])
    return [(start, stop) for start, stop in found]
