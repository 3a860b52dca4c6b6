"""The reorderer flattens by name and refuses names nobody has."""

import numpy as np
import pytest

from handloom.retarget import FloatType, NDArrayType, TensorGroupType, TensorReorderer, group_of

ARRAY = TensorGroupType("a", [NDArrayType("a", (3,))])
SCALARS = TensorGroupType("s", [FloatType("u"), FloatType("v")])


def reorderer(order, **kinds) -> TensorReorderer:
    kinds = kinds or {"a": "array", "s": "scalar"}
    return TensorReorderer({"a": ["x", "y", "z"], "s": ["u", "x"]}, order, "r", kinds)


def test_elements_come_out_in_the_order_asked_and_the_first_input_wins() -> None:
    inputs = {"a": group_of(ARRAY, np.array([1, 2, 3], np.float32)), "s": group_of(SCALARS, 9.0, 7.0)}
    out = reorderer(["z", "u", "x"])(inputs)["output"][0]
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, [3, 9, 1])


def test_an_unknown_name_raises_instead_of_becoming_zero() -> None:
    with pytest.raises(ValueError, match="no input has an element 'w'; known: u, x, y, z"):
        reorderer(["x", "w"])


def test_unknown_ports_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="no input 'b'"):
        reorderer(["x"], a="array", b="array")
    with pytest.raises(ValueError, match="'matrix'"):
        reorderer(["x"], a="matrix")


def test_all_inputs_are_required() -> None:
    with pytest.raises(ValueError, match="Required input 's'"):
        reorderer(["x"])({"a": group_of(ARRAY, np.zeros(3, np.float32))})
