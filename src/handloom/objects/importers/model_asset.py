"""From a model in normal form to an object asset."""

from pathlib import Path

import mujoco
import numpy as np

from handloom.objects.annotations import Keypoint
from handloom.objects.geometry import Reach, posed
from handloom.objects.importers.import_options import ImportOptions
from handloom.objects.link import Link
from handloom.objects.object_asset import ObjectAsset, SpecSource, link_keypoints
from handloom.objects.part import point


def asset_from_source(
    path: Path, source: SpecSource, model: mujoco.MjModel, links: tuple[Link, ...], options: ImportOptions
) -> ObjectAsset:
    """Return the asset; its frame is that of the file, its name the category in words."""
    six = np.concatenate([np.eye(3), -np.eye(3)])
    data = posed(model)
    reach = np.maximum(Reach(model, data, solid=True)(six), Reach(model, data, solid=False)(six))
    aabb = np.stack([-reach[3:], reach[:3]])
    middle = aabb.mean(axis=0)
    keypoints = {
        "center": Keypoint(position=point(middle)),
        "top": Keypoint(position=point([*middle[:2], aabb[1, 2]])),
        "bottom": Keypoint(position=point([*middle[:2], aabb[0, 2]])),
    }
    axes = {}
    if links:
        more, axes = link_keypoints(links[0])
        keypoints.update(more)
    name = options.category.replace("_", " ")
    return ObjectAsset(
        category=options.category,
        name=name,
        synonyms=(name,),
        color=None,
        parameters=_parameters(path, options),
        aabb=aabb,
        keypoints=keypoints,
        axes=axes,
        joints=links,
        rests="upright" if links else "any",
        source=source,
    )


def _parameters(path: Path, options: ImportOptions) -> dict[str, float | int | str | bool]:
    """Return what ``make_object`` needs to import the file again."""
    given: dict[str, float | int | str | bool] = {"path": str(path), "scale": options.scale}
    for name in ("unit", "up", "mass", "substance", "info_name", "allow_outside"):
        value = getattr(options, name)
        if value not in {None, "plastic", False}:
            given[name] = value
    return given
