"""Built-in fixtures: tables and sheets, defined by a few numbers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError, unknown_name
from handloom.objects import ObjectAsset
from handloom.render.looks import Look
from handloom.render.materials import Finish
from handloom.render.pictures import open_picture
from handloom.render.textures import SIZE, add_texture, texture

Color = tuple[float, float, float]

TABLE_TOP = 0.03
"""Thickness of a table top [m]."""
TABLE_LEG = 0.028
"""Radius of a table leg [m]."""
EDGE = 0.002
"""Radius of the visually rounded edges of tables and sheets with a material [m]."""
FIXTURES = ("table", "plane")
"""Categories this module builds."""
GRAY = (0.5, 0.5, 0.5)
PICTURES = 48
"""Number of textures that a worker caches; one takes up to 0.8 MB."""


@dataclass(frozen=True)
class FixtureSource:
    """Builds the model of a fixture from its parameters."""

    category: str
    parameters: Mapping[str, Any]

    def spec(self) -> mujoco.MjSpec:
        """Return a new model with one root body ``object``, origin at the centre of the bounding box."""
        spec = mujoco.MjSpec()
        spec.modelname = self.category
        body = spec.worldbody.add_body(name="object")
        add_surface(spec, "surface", self.parameters)
        spec.add_material(name="frame", rgba=[0.24, 0.25, 0.27, 1.0], specular=0.3, shininess=0.4)
        size = self.parameters["size"]
        if self.category == "table":
            _add_table(body, size)
        else:
            # A thin box: visible from both sides, unlike MuJoCo's planes, with an edge too thin to hide anything.
            sheet = body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[size[0] / 2, size[1] / 2, size[2] / 2],
                material="surface",
                group=2,
            )
            if self.parameters.get("material"):
                sheet.name = "top"
        return spec

    def looks(self) -> tuple[Look, ...]:
        """Return its look for Handloom's renderer if it has a material."""
        finish = finish_of_surface(self.parameters)
        return () if finish is None else (Look(body="object", hides=("top",), edge=EDGE, finish=finish),)

    def fingerprint(self) -> str:
        """Return a hash of category and parameters."""
        text = json.dumps([self.category, dict(self.parameters)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def fixture_asset(category: str, parameters: Mapping[str, Any]) -> ObjectAsset:
    """Return a table or a plane.

    Args:
        category: ``table`` or ``plane``.
        parameters: ``size`` (3,) [m] and ``color`` (3,) RGB in 0..1, optionally with a ``material`` and its
            ``texture_seed``; or, instead of the colour, the name of a procedural ``texture`` with its ``texture_seed``
            and ``repeat`` (2,) per metre.
    """
    if category not in FIXTURES:
        raise unknown_name("fixture", category, FIXTURES)
    size = np.asarray(parameters["size"], float)
    if size.shape != (3,) or np.any(size <= 0):
        raise InputError(f"a {category} needs a size of three positive numbers [m], got {parameters['size']}")
    source = FixtureSource(category, dict(parameters))
    return ObjectAsset(
        category=category,
        name=category,
        synonyms=(category,),
        color=None,
        parameters=dict(parameters),
        aabb=np.stack([-size / 2, size / 2]),
        keypoints={},
        axes={},
        rests="upright",
        source=source,
        looks=source.looks(),
    )


def plain_parameters(category: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the same fixture without its look, for physics only."""
    return {"size": parameters["size"], "color": list(GRAY)} if category in FIXTURES else dict(parameters)


def finish_of_surface(parameters: Mapping[str, Any]) -> Finish | None:
    """Return the material of a surface, or None if it has a colour or a texture."""
    if not parameters.get("material"):
        return None
    red, green, blue = (float(value) for value in parameters["color"])
    return Finish(
        material=parameters["material"], color=(red, green, blue), seed=int(parameters.get("texture_seed", 0))
    )


def add_surface(spec: mujoco.MjSpec, name: str, parameters: Mapping[str, Any]) -> None:
    """Add a material: a ``color``, a procedural ``texture`` with its ``texture_seed``, or the file of a ``picture``.

    A ``material`` of the renderer also has a colour, for backends that draw no materials.
    Textures and images are repeated ``repeat`` times per metre.
    """
    if parameters.get("texture") or parameters.get("picture"):
        image = (
            _picture_file(parameters["picture"])
            if parameters.get("picture")
            else _picture(parameters["texture"], int(parameters.get("texture_seed", 0)))
        )
        add_texture(spec, name, image, repeat=tuple(parameters.get("repeat", (1.0, 1.0))))
        material = spec.material(name)
        material.specular, material.shininess = 0.2, 0.3
    else:
        spec.add_material(name=name, rgba=[*parameters["color"], 1.0], specular=0.2, shininess=0.3)


@lru_cache(maxsize=PICTURES)
def _picture(name: str, seed: int) -> NDArray[np.uint8]:
    """Draw a procedural texture; identical in every episode, and cached because it is slow."""
    return texture(name, np.random.default_rng(seed))


@lru_cache(maxsize=PICTURES)
def _picture_file(path: str) -> NDArray[np.uint8]:
    """Read an image as a square with the size of the procedural textures."""
    with open_picture(path) as image:
        return np.asarray(image.convert("RGB").resize((SIZE, SIZE)))


def _add_table(body: mujoco.MjsBody, size: Any) -> None:
    """Add a top and four legs; both collide."""
    x, y, z = (float(value) for value in size)
    body.add_geom(
        name="top",
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[x / 2, y / 2, TABLE_TOP / 2],
        pos=[0, 0, z / 2 - TABLE_TOP / 2],
        material="surface",
        group=2,
    )
    inset, half = 0.06, (z - TABLE_TOP) / 2
    for sx in (-1, 1):
        for sy in (-1, 1):
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CYLINDER,
                size=[TABLE_LEG, half, 0],
                pos=[sx * (x / 2 - inset), sy * (y / 2 - inset), -z / 2 + half],
                material="frame",
                group=2,
            )
