"""Names of one kind of model element, bound to indices once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.errors import unknown_name


class NameTable(Mapping[str, int]):
    """Names > indices of one kind of element of a compiled model; an unknown name raises an error with suggestions.

    Unnamed elements have no entry; ``label`` still gives them a printable name.

    Args:
        model: The compiled model.
        kind: Word used in messages, e.g. ``"joint"``.
        object_type: MuJoCo's word for the same.
        count: Number of elements of that kind.
    """

    def __init__(self, model: mujoco.MjModel, kind: str, object_type: mujoco.mjtObj, count: int) -> None:
        self.kind = kind
        found = [mujoco.mj_id2name(model, object_type, index) for index in range(count)]
        self._labels = tuple(name or f"#{index}" for index, name in enumerate(found))
        self._index = {name: index for index, name in enumerate(found) if name}

    def __getitem__(self, name: str) -> int:
        try:
            return self._index[name]
        except KeyError:
            raise unknown_name(self.kind, name, self._index) from None

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def label(self, index: int) -> str:
        """Return the name of an element, or ``#index`` when it has none."""
        return self._labels[index]

    def indices(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Return the indices (n,) of names, in the given order."""
        return np.array([self[name] for name in names], dtype=np.int64)

    @property
    def labels(self) -> Sequence[str]:
        """One printable name per element, in index order."""
        return self._labels
