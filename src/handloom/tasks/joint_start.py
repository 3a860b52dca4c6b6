"""Where the joints of an articulated object start."""

import numpy as np

from handloom.errors import ConfigError
from handloom.objects import ObjectAsset
from handloom.scene.object_config import ObjectConfig
from handloom.tasks.asset_choice import ChosenAsset


def sample_joints(entry: ObjectConfig, chosen: ChosenAsset, where: str, rng: np.random.Generator) -> dict[str, float]:
    """Return the start value [m or rad] of every joint the entry speaks of, and of those tied to them.

    ``joint_position_range`` sets the main joint, ``strict_init`` any. A value beyond the joint's limits is a mistake,
    except for a stand-in, whose limits the author of the task could not know: there it is clipped.
    """
    asset = chosen.asset
    wanted: dict[int, tuple[str, float]] = {}
    if entry.joint_position_range is not None:
        wanted[0] = ("joint_position_range", float(rng.uniform(*entry.joint_position_range)))
    if entry.strict_init is not None:
        pairs = zip(entry.strict_init.joint_indices, entry.strict_init.joint_positions, strict=True)
        wanted |= {index: ("strict_init", value) for index, value in pairs}
    joints: dict[str, float] = {}
    for index, (key, value) in wanted.items():
        if index >= len(asset.joints):
            if chosen.stands_in:
                continue
            has = f"{len(asset.joints)} joint(s)" if asset.joints else "no joints"
            raise ConfigError(f"{where}: {key}: a {asset.name} has {has}, there is no joint {index}")
        joints |= _with_tied(asset, index, _within(asset, index, value, f"{where}: {key}", clip=chosen.stands_in))
    return joints


def _within(asset: ObjectAsset, index: int, value: float, where: str, *, clip: bool) -> float:
    link = asset.joints[index]
    low, high = link.range
    if not clip and not low - 1e-6 <= value <= high + 1e-6:
        raise ConfigError(f"{where}: {link.joint} of a {asset.name} goes from {low:.4g} to {high:.4g}, got {value:.4g}")
    return float(np.clip(value, low, high))


def _with_tied(asset: ObjectAsset, index: int, value: float) -> dict[str, float]:
    """Return the joint's value and those of the joints that move it or that it moves."""
    link = asset.joints[index]
    joints = {link.joint: value}
    for other in asset.joints:
        if link.drives == other.name:
            joints[other.joint] = value * link.ratio
        elif other.drives == link.name and other.ratio:
            joints[other.joint] = value / other.ratio
    return joints
