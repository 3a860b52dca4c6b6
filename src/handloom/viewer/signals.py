"""The signals of an episode: columns of its frames as plain lists, and the opening and closing of its grippers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

SKIPPED = ("timestamp", "frame_index", "episode_index", "index", "task_index", "subtask_index")
MOST_ENTRIES = 64
"""Maximum number of plotted entries of a feature; longer ones are flattened images or point clouds."""
DIGITS = 5
LEAST_TRAVEL = 1e-6
"""Command changes smaller than this do not count as gripper motion."""


def signals_of(rows: pa.Table, features: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return every numeric feature: its name, the names of its entries, and one list of values per entry."""
    found = []
    for name, described in features.items():
        if name in SKIPPED or name not in rows.column_names:
            continue
        values = _matrix(rows.column(name))
        if values is None or values.shape[1] > MOST_ENTRIES:
            continue
        found.append({"name": name, "names": _names(described, values.shape[1]), "values": _lists(values)})
    return found


def gripper_events(signals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return when grippers are commanded to close or open: when the command crosses the middle of its range."""
    events = []
    for signal in signals:
        if signal["name"] != "action":
            continue
        for name, values in zip(signal["names"], signal["values"], strict=True):
            if "grip" not in name.lower() and "finger" not in name.lower():
                continue
            column = np.array([np.nan if value is None else value for value in values], np.float64)
            low, high = np.nanmin(column, initial=np.inf), np.nanmax(column, initial=-np.inf)
            if not high - low > LEAST_TRAVEL:
                continue
            above = column > 0.5 * (low + high)
            for frame in np.flatnonzero(above[1:] != above[:-1]) + 1:
                what = f"{name} {'up' if above[frame] else 'down'}"
                events.append({"frame": int(frame), "kind": "gripper", "label": what})
    return sorted(events, key=lambda event: event["frame"])


def _matrix(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """Return a column as (frames, entries), None if it is not numeric."""
    kind = column.type
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], kind)
    count = len(array)
    while pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind):
        array, kind = array.flatten(), kind.value_type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)) or not count:
        return None
    if len(array) % count:
        return None
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64).reshape(count, -1)


def _names(described: Mapping[str, Any], count: int) -> list[str]:
    """Return the names of a feature's entries; others nest them in an object, or have none."""
    names = described.get("names")
    if isinstance(names, Mapping):
        names = next((value for value in names.values() if isinstance(value, list)), None)
    if isinstance(names, list) and len(names) == count:
        return [str(name) for name in names]
    return [str(number) for number in range(count)] if count > 1 else [""]


def _lists(values: NDArray[np.float64]) -> list[list[float | None]]:
    rounded = np.round(values, DIGITS)
    if np.isfinite(rounded).all():
        return rounded.T.tolist()
    return [[value if value - value == 0.0 else None for value in row] for row in rounded.T.tolist()]
