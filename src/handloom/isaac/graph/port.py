"""Ports of a node (name, type, default), and the port types with the values they accept."""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from handloom.errors import InputError, unknown_name


@dataclass(frozen=True, kw_only=True)
class PortType:
    """A published type name and its meaning here.

    Values are stored so that they cannot be changed in place: numbers and strings unchanged, arrays of numbers as
    read-only ndarrays, other arrays as tuples.
    """

    name: str
    """Published name, e.g. ``double[3][]``."""
    family: str
    """Type of a single value: execution, number, integer, bool, text, target, or any of these."""
    shape: tuple[int | None, ...] = ()
    """Shape of an array; None stands for any length."""

    @property
    def default(self) -> Any:
        """Value of a port that was never set."""
        if self.family in {"execution", "target"}:
            return None
        zero = {"number": 0.0, "integer": 0, "bool": False, "text": "", "any": 0.0}[self.family]
        if not self.shape:
            return zero
        return self.read(np.full([size or 0 for size in self.shape], zero).tolist(), "default")

    def read(self, value: Any, where: str) -> Any:
        """Return a value in its stored form.

        Args:
            value: What was given.
            where: The port, for error messages.

        Raises:
            InputError: The value is not of this type.
        """
        if self.family == "execution":
            raise InputError(f"{where} is an execution port and holds no value")
        if self.family == "number" and self.shape:
            return self._read_numbers(value, where)
        if self.shape:
            if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
                raise self._wrong(value, where)
            items = tuple(_SCALARS[self.family](item, self, where) for item in value)
            if self.shape[0] is not None and len(items) != self.shape[0]:
                raise self._wrong(value, where)
            return items
        return _SCALARS[self.family](value, self, where)

    def accepts(self, source: "PortType") -> bool:
        """Return whether an output of type ``source`` may feed an input of this type.

        Vectors and quaternions are plain arrays of their length, an integer is a number, tokens and strings are texts,
        and an array of fixed length may be connected where any length is allowed.
        """
        # The value of an "any" port is checked when it is read.
        free = "any" in {source.family, self.family} and "execution" not in {source.family, self.family}
        if not free and source.family != self.family and (source.family, self.family) != ("integer", "number"):
            return False
        return len(source.shape) == len(self.shape) and all(
            here is None or here == there for here, there in zip(self.shape, source.shape, strict=True)
        )

    def _read_numbers(self, value: Any, where: str) -> Any:
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise self._wrong(value, where) from error
        if array.size == 0 and self.shape[0] is None:
            array = array.reshape([size or 0 for size in self.shape])
        fits = array.ndim == len(self.shape) and all(
            want is None or want == size for want, size in zip(self.shape, array.shape, strict=True)
        )
        if not fits:
            raise self._wrong(value, where)
        array.setflags(write=False)
        return array

    def _wrong(self, value: Any, where: str) -> InputError:
        return InputError(f"{where} takes {self.name}, got {value!r}")


def port_type(name: str) -> PortType:
    """Return the type with a published name; NotFoundError if there is none."""
    if name not in PORT_TYPES:
        raise unknown_name("port type", name, PORT_TYPES)
    return PORT_TYPES[name]


def _number(value: Any, kind: PortType, where: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{where} takes {kind.name}, got {value!r}")
    if math.isnan(value):
        raise InputError(f"{where} takes {kind.name}, got NaN")
    return float(value)


def _integer(value: Any, kind: PortType, where: str) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InputError(f"{where} takes {kind.name}, got {value!r}")
    return int(value)


def _bool(value: Any, kind: PortType, where: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{where} takes {kind.name}, got {value!r}")
    return bool(value)


def _text(value: Any, kind: PortType, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where} takes {kind.name}, got {value!r}")
    return value


def _target(value: Any, kind: PortType, where: str) -> str | None:
    return None if value is None else _text(value, kind, where)


def _any(value: Any, kind: PortType, where: str) -> Any:
    for family in ("bool", "integer", "number", "text"):
        with contextlib.suppress(InputError):
            return _SCALARS[family](value, kind, where)
    raise InputError(f"{where} takes a number, a bool or a string, got {value!r}")


_SCALARS: dict[str, Callable[[Any, PortType, str], Any]] = {
    "number": _number,
    "integer": _integer,
    "bool": _bool,
    "text": _text,
    "target": _target,
    "any": _any,
}

# Published type name > meaning. Quaternions of graph ports are xyzw.
PORT_TYPES: dict[str, PortType] = {
    kind.name: kind
    for kind in (
        PortType(name="execution", family="execution"),
        PortType(name="bool", family="bool"),
        PortType(name="bool[]", family="bool", shape=(None,)),
        PortType(name="bool[2]", family="bool", shape=(2,)),
        PortType(name="double", family="number"),
        PortType(name="double[]", family="number", shape=(None,)),
        PortType(name="double[2]", family="number", shape=(2,)),
        PortType(name="double[3]", family="number", shape=(3,)),
        PortType(name="double[4]", family="number", shape=(4,)),
        PortType(name="double[3][]", family="number", shape=(None, 3)),
        PortType(name="double[4][]", family="number", shape=(None, 4)),
        PortType(name="vectord[3]", family="number", shape=(3,)),
        PortType(name="quatd[4]", family="number", shape=(4,)),
        PortType(name="int", family="integer"),
        PortType(name="int[]", family="integer", shape=(None,)),
        PortType(name="uint", family="integer"),
        PortType(name="string", family="text"),
        PortType(name="token", family="text"),
        PortType(name="token[]", family="text", shape=(None,)),
        PortType(name="target", family="target"),
        PortType(name="any", family="any"),
        PortType(name="any[]", family="any", shape=(None,)),
    )
}


@dataclass(frozen=True, kw_only=True)
class Port:
    """One input or output of a node type; made by ``port``."""

    name: str
    """Published name without ``inputs:`` or ``outputs:``."""
    type: PortType
    default: Any = field(compare=False)
    """Value of an unset input, or of an output that is not computed yet."""
    latched: bool = False
    """Whether the value of the first compute stays in force until the graph stops."""
    command: bool = False
    """Whether this is a command, which the published node clears on stop."""
    source: bool = False
    """Whether this input may feed other inputs, such as the value of a constant."""
    nan: bool = False
    """Whether NaN has a meaning here; otherwise it is rejected."""

    def read(self, value: Any, where: str) -> Any:
        """Return a value in its stored form; InputError if it is not of the port's type or is NaN."""
        stored = self.type.read(value, where)
        if isinstance(stored, np.ndarray) and not self.nan and np.any(np.isnan(stored)):
            raise InputError(f"{where} does not take NaN, got {stored.tolist()}")
        return stored


def port(
    name: str,
    type_name: str,
    default: Any = None,
    *,
    latched: bool = False,
    command: bool = False,
    source: bool = False,
    nan: bool = False,
) -> Port:
    """Describe a port.

    Args:
        name: Published name.
        type_name: Published type, e.g. ``double[]``.
        default: Value if none is set; None takes the default of the type.
        latched: See ``Port``.
        command: See ``Port``.
        source: See ``Port``.
        nan: See ``Port``.
    """
    kind = port_type(type_name)
    value = kind.default if default is None else kind.read(default, name)
    return Port(name=name, type=kind, default=value, latched=latched, command=command, source=source, nan=nan)
