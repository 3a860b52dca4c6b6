"""Grasps of any object and robot, annotated on first use and kept."""

import hashlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handloom.cache import user_cache
from handloom.errors import HandloomError
from handloom.grasping.annotate import annotate
from handloom.grasping.annotate_options import AnnotateOptions
from handloom.grasping.grasp_file import read_grasps, write_grasps
from handloom.grasping.gripper_shape import GripperShape
from handloom.objects import ObjectAsset

ALGORITHM = 2
"""Raised whenever the annotator gives other rows for the same input, so that no old file is taken."""


def grasps_for(
    asset: ObjectAsset, gripper: GripperShape, *, options: AnnotateOptions | None = None
) -> NDArray[np.float32]:
    """Return the grasp rows (n, 17) of an object; annotated on first use, then read from the cache.

    The generator is seeded by the content of object, gripper and options, so the rows depend on nothing else: not on
    the run, the worker, or whether the cache was there.

    Args:
        asset: The object.
        gripper: Shape of the gripper.
        options: Settings of the annotator.
    """
    options = options or AnnotateOptions()
    key = grasp_key(asset, gripper, options)
    file = cache_file(key)
    if file.is_file():
        try:
            return read_grasps(file)
        except HandloomError:
            # A damaged cache file is no reason to stop: the rows can be computed again.
            file.unlink(missing_ok=True)
    rows = annotate(asset, gripper, options, np.random.default_rng(int(key[:16], 16))).rows
    write_grasps(file, rows)
    return rows


def grasp_key(asset: ObjectAsset, gripper: GripperShape, options: AnnotateOptions) -> str:
    """Return the hash of everything that the rows depend on."""
    words = (ALGORITHM, asset.content_hash, gripper.content_hash, sorted(asdict(options).items()))
    return hashlib.sha256(repr(words).encode()).hexdigest()


def cache_file(key: str) -> Path:
    """Return where rows of a key are kept."""
    return user_cache() / "grasps" / f"{key[:32]}.npy"
