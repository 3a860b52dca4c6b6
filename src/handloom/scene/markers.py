"""Visual markers without collision: they show a goal and are moved by skills."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from handloom.objects import ObjectAsset
from handloom.scene.scene import Scene
from handloom.values import ObjectInstance

AXIS_TRIAD = "axis_triad"
"""Category of a marker: three rods along the axes of a pose."""
ROD_RADIUS, ROD_LENGTH = 0.005, 0.13
"""Size of a rod [m]; published values."""
HIDDEN = (0.0, 0.0, -5.0)
"""Position of a hidden marker, out of view of every camera [m]."""
COLORS = {
    "left": ((0.8, 0.1, 0.1), (0.1, 0.65, 0.15), (0.1, 0.2, 0.85)),
    "right": ((0.85, 0.75, 0.1), (0.75, 0.1, 0.65), (0.1, 0.7, 0.75)),
}
"""Rods along x, y, z by arm, linear RGB: red, green, blue, and yellow, magenta, cyan."""


@dataclass(frozen=True)
class TriadSource:
    """Builds the model of an axis triad."""

    parameters: Mapping[str, Any]

    def spec(self) -> mujoco.MjSpec:
        """Return a new model with one root body ``object``, which can be moved anywhere during an episode."""
        spec = mujoco.MjSpec()
        spec.modelname = AXIS_TRIAD
        body = spec.worldbody.add_body(name="object", mocap=True)
        for axis, color in enumerate(self.parameters["colors"]):
            end = (ROD_LENGTH * np.eye(3)[axis]).tolist()
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[ROD_RADIUS, 0, 0],
                fromto=[0, 0, 0, *end],
                rgba=[*color, 1.0],
                contype=0,
                conaffinity=0,
                group=2,
            )
        return spec

    def fingerprint(self) -> str:
        """Return a hash of the colours."""
        return hashlib.sha256(json.dumps([AXIS_TRIAD, dict(self.parameters)]).encode()).hexdigest()


def hide(scene: Scene, name: str) -> None:
    """Move a purely visual body below the floor, out of view of every camera."""
    world = scene.world
    # Written directly to the user inputs, which are recorded: anything else would differ in a replay.
    world.data.mocap_pos[world.model.body_mocapid[world.body_index(scene.body_of(name))], 2] = HIDDEN[2]


def marker_name(robot: str, arm: str) -> str:
    """Return the name of the marker that shows an arm its goal."""
    return f"{robot}_{arm}_target"


def marker_instance(robot: str, arm: str) -> ObjectInstance:
    """Return the marker of an arm, hidden."""
    colors = [list(color) for color in COLORS[arm]]
    name = marker_name(robot, arm)
    return ObjectInstance(
        name=name, category=AXIS_TRIAD, parameters={"colors": colors}, position=HIDDEN, fixed=True, words="target"
    )


def marker_asset(parameters: Mapping[str, Any]) -> ObjectAsset:
    """Return an axis triad with ``colors`` (3, 3), linear RGB."""
    return ObjectAsset(
        category=AXIS_TRIAD,
        name="target",
        synonyms=("target",),
        color=None,
        parameters=dict(parameters),
        aabb=np.array([[-ROD_RADIUS] * 3, [ROD_LENGTH] * 3]),
        keypoints={},
        axes={},
        rests="upright",
        source=TriadSource(dict(parameters)),
    )
