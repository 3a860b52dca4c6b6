"""What all device samples share: comparison, slots in order, and their JSON form."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from handloom.errors import InputError, suggest
from handloom.retarget.sources.snapshot_fields import decoded, encoded


@dataclasses.dataclass(frozen=True, eq=False)
class Snapshot:
    """One sample of one device; the fields of a subclass are the slots of its group type, in order."""

    label: ClassVar[str]
    """How errors call it."""

    def slots(self) -> tuple[Any, ...]:
        """Return the values in the order of the group type."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def to_record(self) -> dict[str, Any]:
        """Return the fields as strict JSON values; ``from_record`` reads them back exactly."""
        return {field.name: encoded(getattr(self, field.name)) for field in dataclasses.fields(self)}

    @classmethod
    def from_record(cls, record: Any) -> Self:
        """Read a mapping of field names to JSON values; unknown and missing fields are refused."""
        if not isinstance(record, Mapping):
            raise InputError(f"{cls.label} must be a mapping of fields, got {type(record).__name__}")
        known = {field.name: field for field in dataclasses.fields(cls)}
        for name in record:
            if name not in known:
                raise InputError(f"{cls.label} has no field {name!r}; {suggest(str(name), known)}")
        missing = [n for n, field in known.items() if n not in record and field.default is dataclasses.MISSING]
        if missing:
            raise InputError(f"{cls.label} lacks the fields {', '.join(missing)}")
        return cls(**{name: decoded(value) for name, value in record.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot) or type(self) is not type(other):
            return False
        pairs = zip(self.slots(), other.slots(), strict=True)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(repr(self.to_record()))
