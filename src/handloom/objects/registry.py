"""The categories of the library and the function that makes an object of one."""

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from handloom.errors import InputError, unknown_name
from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices, Value
from handloom.objects.object_asset import ObjectAsset, link_keypoints

Drawing = Callable[[Choices], Blueprint]

CATEGORIES: Final[dict[str, str]] = {
    "block": "handloom.objects.library.blocks:block",
    "cube": "handloom.objects.library.blocks:cube",
    "cylinder_block": "handloom.objects.library.blocks:cylinder_block",
    "hex_nut": "handloom.objects.library.blocks:hex_nut",
    "studded_brick": "handloom.objects.library.blocks:studded_brick",
    "triangle_block": "handloom.objects.library.blocks:triangle_block",
    "cup": "handloom.objects.library.drinkware:cup",
    "glass": "handloom.objects.library.drinkware:glass",
    "mug": "handloom.objects.library.drinkware:mug",
    "wine_glass": "handloom.objects.library.drinkware:wine_glass",
    "bottle": "handloom.objects.library.packages:bottle",
    "can": "handloom.objects.library.packages:can",
    "cardboard_box": "handloom.objects.library.packages:cardboard_box",
    "cereal_box": "handloom.objects.library.packages:cereal_box",
    "food_tin": "handloom.objects.library.packages:food_tin",
    "jar": "handloom.objects.library.packages:jar",
    "milk_carton": "handloom.objects.library.packages:milk_carton",
    "snack_box": "handloom.objects.library.packages:snack_box",
    "spray_bottle": "handloom.objects.library.packages:spray_bottle",
}
"""Category > ``module:function``; the function draws a blueprint from its choices."""


def object_categories() -> tuple[str, ...]:
    """Return the names of all categories in the library, sorted."""
    return tuple(sorted(CATEGORIES))


def make_object(
    category: str,
    *,
    rng: np.random.Generator | None = None,
    scale: float | None = None,
    color: str | None = None,
    parameters: Mapping[str, Value] | None = None,
) -> ObjectAsset:
    """Make one object: the same generator state or the same parameters give the same object.

    Args:
        category: A name in the library, or ``my_module:my_function`` for a drawing of your own.
        rng: Draws what is not given; not needed when ``parameters`` is complete.
        scale: Factor on all lengths; masses follow with the third power. Default 1.
        color: Colour word of the main part, e.g. ``"red"``.
        parameters: Fixed parameters, for example all of another object's.

    Raises:
        NotFoundError: No such category or colour.
        InputError: A parameter is unknown, missing or senseless.
    """
    given = dict(parameters or {})
    given.update({k: v for k, v in (("scale", scale), ("color", color)) if v is not None})
    factor = given.pop("scale", 1.0)
    if isinstance(factor, str | bool) or not math.isfinite(factor) or not 0.01 <= factor <= 100.0:
        raise InputError(f"{category}: scale must be a number from 0.01 to 100, got {factor!r}")
    choices = Choices(rng, given, category)
    drawing = _drawing(category)(choices)
    taken = {"scale": float(factor), **choices.finish()}
    return asset_from_blueprint(category, drawing.scaled(float(factor)).centered(), taken)


def asset_from_blueprint(category: str, blueprint: Blueprint, parameters: Mapping[str, Value]) -> ObjectAsset:
    """Wrap a finished blueprint; the main joint's annotation joins the keypoints and axes."""
    keypoints, axes = dict(blueprint.keypoints), dict(blueprint.axes)
    if blueprint.links:
        more_keypoints, more_axes = link_keypoints(blueprint.links[0])
        keypoints.update(more_keypoints)
        axes.update(more_axes)
    noun = blueprint.words[0]
    return ObjectAsset(
        category=category,
        name=f"{blueprint.color} {noun}" if blueprint.color else noun,
        synonyms=blueprint.words,
        color=blueprint.color,
        parameters=dict(parameters),
        aabb=blueprint.aabb(),
        keypoints=keypoints,
        axes=axes,
        joints=blueprint.links,
        holds=blueprint.holds,
        rests=blueprint.rests,
        source=blueprint,
    )


def _drawing(category: str) -> Drawing:
    """Import the function behind a category, or behind a user's ``module:function``."""
    if category not in CATEGORIES and ":" not in category:
        raise unknown_name("object category", category, CATEGORIES)
    module, _, function = CATEGORIES.get(category, category).partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except (ModuleNotFoundError, AttributeError) as error:
        raise InputError(f"object category {category!r}: cannot import {function!r} of {module!r}: {error}") from error
