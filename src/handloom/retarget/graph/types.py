"""Types of single slots: scalars and arrays, with their validation, and the errors of the graph."""

from abc import ABC, abstractmethod
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np

from handloom.errors import InputError, NotFoundError


class TensorTypeError(InputError, TypeError):
    """A value does not conform to the type of the slot it was written to. The slot keeps its old value."""


class SlotIndexError(NotFoundError, IndexError):
    """An index that a group has no slot for."""


class UnknownParameterError(NotFoundError, KeyError):
    """A tunable parameter that does not exist."""

    # KeyError prints the repr of its argument; a message should be printed without quotes.
    __str__ = Exception.__str__


class UnknownLeafWarning(UserWarning):
    """Inputs were given for a leaf that the graph does not have."""


class StatefulNodeWarning(UserWarning):
    """A node that carries state from frame to frame is bound twice and would advance twice per frame."""


class TensorType(ABC):
    """The type of one slot: a scalar or an array with its shape, precision and device.

    Two types are compatible if they have exactly the same class and that class considers them equal.
    Names are for display and never affect compatibility.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        """Name of the slot, e.g. ``grip_position``."""
        return self._name

    def is_compatible_with(self, other: "TensorType") -> bool:
        """Return whether a value of ``other`` may flow into a slot of this type."""
        return self is other or (type(self) is type(other) and self._check_instance_compatibility(other))

    @abstractmethod
    def _check_instance_compatibility(self, other: Any) -> bool:
        """Compare with another type of the same class."""

    @abstractmethod
    def validate_value(self, value: Any) -> None:
        """Accept ``value`` or raise.

        Raises:
            TensorTypeError: The value does not conform; the message gives the reason.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r})"


class _ScalarType(TensorType):
    """A slot for a single Python number; all slots of the same scalar class are compatible."""

    expected: ClassVar[str]

    def _check_instance_compatibility(self, other: Any) -> bool:
        return True

    def _refuse(self, value: Any) -> TensorTypeError:
        return TensorTypeError(f"slot {self.name!r} takes {self.expected}, got {type(value).__name__} {value!r}")


class FloatType(_ScalarType):
    """A Python ``float``, including ``numpy.float64``, NaN and infinity; integers and bools are rejected."""

    expected = "a float"

    def validate_value(self, value: Any) -> None:
        """Accept floats only."""
        if not isinstance(value, float):
            raise self._refuse(value)


class IntType(_ScalarType):
    """A Python ``int`` that is not a bool."""

    expected = "an int (a bool is not one)"

    def validate_value(self, value: Any) -> None:
        """Accept ints only."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._refuse(value)


class BoolType(_ScalarType):
    """A Python ``bool``; 0, 1 and ``numpy.bool_`` are rejected."""

    expected = "True or False"

    def validate_value(self, value: Any) -> None:
        """Accept bools only."""
        if not isinstance(value, bool):
            raise self._refuse(value)


class DLDataType(IntEnum):
    """Kinds of numbers, with the codes of DLPack."""

    INT = 0
    UINT = 1
    FLOAT = 2
    BFLOAT = 4


class DLDeviceType(IntEnum):
    """Kinds of memory, with the codes of DLPack."""

    CPU = 1
    CUDA = 2
    CPU_PINNED = 3
    OPENCL = 4
    VULKAN = 7
    METAL = 8
    VPI = 9
    ROCM = 10


# The published interface has these five types. torch and Warp print the same names with a prefix.
KNOWN_DTYPES: dict[str, tuple[DLDataType, int]] = {
    "float32": (DLDataType.FLOAT, 32),
    "float64": (DLDataType.FLOAT, 64),
    "int32": (DLDataType.INT, 32),
    "int64": (DLDataType.INT, 64),
    "uint8": (DLDataType.UINT, 8),
}
_NUMPY_DTYPES = {key: np.dtype(name) for name, key in KNOWN_DTYPES.items()}


class NDArrayType(TensorType):
    """A slot for an array of fixed shape, precision and device.

    Args:
        name: Name of the slot.
        shape: Shape of the array.
        dtype: Kind of number.
        dtype_bits: Bits per number.
        device_type: Memory type of the array.
        device_id: Which of several devices.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: DLDataType = DLDataType.FLOAT,
        dtype_bits: int = 32,
        device_type: DLDeviceType = DLDeviceType.CPU,
        device_id: int = 0,
    ) -> None:
        super().__init__(name)
        self.shape = tuple(shape)
        self.dtype = dtype
        self.dtype_bits = dtype_bits
        self.device_type = device_type
        self.device_id = device_id
        # Nearly every slot holds a NumPy array on the CPU, so its check is only three comparisons.
        on_cpu = device_type == DLDeviceType.CPU and device_id == 0
        self._numpy_dtype = _NUMPY_DTYPES.get((dtype, dtype_bits)) if on_cpu else None

    def _check_instance_compatibility(self, other: "NDArrayType") -> bool:
        return (
            self.shape == other.shape
            and self.dtype == other.dtype
            and self.dtype_bits == other.dtype_bits
            and self.device_type == other.device_type
            and self.device_id == other.device_id
        )

    def validate_value(self, value: Any) -> None:
        """Accept arrays of this shape, precision and device; the error lists every mismatch."""
        if type(value) is np.ndarray and value.dtype == self._numpy_dtype and value.shape == self.shape:
            return
        missing = [name for name in ("__dlpack__", "__dlpack_device__", "shape", "dtype") if not hasattr(value, name)]
        if missing:
            raise TensorTypeError(
                f"slot {self.name!r} takes an array that supports DLPack, got {type(value).__name__} "
                f"without {', '.join(missing)}; try numpy.asarray(..., numpy.float32)"
            )
        mismatches = self._mismatches(value)
        if mismatches:
            raise TensorTypeError(f"slot {self.name!r}: {'; '.join(mismatches)}")

    def _mismatches(self, value: Any) -> list[str]:
        kind, bits = self._known_dtype(value)
        device_type, device_id = value.__dlpack_device__()
        pairs = [
            ("shape", self.shape, tuple(value.shape)),
            ("dtype", self.dtype.name, kind.name),
            ("dtype bits", self.dtype_bits, bits),
            ("device type", int(self.device_type), int(device_type)),
            ("device id", self.device_id, int(device_id)),
        ]
        return [f"{what} mismatch: expected {want}, got {got}" for what, want, got in pairs if want != got]

    def _known_dtype(self, value: Any) -> tuple[DLDataType, int]:
        # Exact names: a substring test would mistake uint32 for int32.
        name = str(value.dtype).rsplit(".", 1)[-1]
        if name not in KNOWN_DTYPES:
            raise TensorTypeError(
                f"slot {self.name!r}: arrays of dtype {value.dtype} are not supported; known: {', '.join(KNOWN_DTYPES)}"
            )
        return KNOWN_DTYPES[name]
