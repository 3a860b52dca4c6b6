"""Slots and groups: unset, absent, corrupted, copied."""

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.retarget import (
    UNSET_VALUE,
    FloatType,
    NDArrayType,
    OptionalTensorGroup,
    OptionalType,
    Tensor,
    TensorGroup,
    TensorGroupType,
    group_of,
)

PAIR = TensorGroupType("pair", [FloatType("a"), NDArrayType("b", (2,))])


@pytest.fixture
def unchecked():
    Tensor.set_runtime_validation(False)
    yield
    Tensor.set_runtime_validation(True)


def test_an_unset_slot_cannot_be_read() -> None:
    slot = Tensor(FloatType("a"))
    assert repr(UNSET_VALUE) == "<UNSET>"
    assert repr(slot) == "Tensor(type=a, value=<UNSET>)"
    with pytest.raises(ValueError, match="value has not been set"):
        _ = slot.value


def test_a_refused_write_leaves_the_old_value() -> None:
    slot = Tensor(FloatType("a"), 1.0)
    with pytest.raises(TypeError):
        slot.value = 2
    assert slot.value == 1.0
    with pytest.raises(AttributeError):
        slot.tensor_type = FloatType("b")


def test_reading_notices_a_value_changed_in_place() -> None:
    array = np.zeros(2, np.float32)
    slot = Tensor(NDArrayType("b", (2,)), array)
    array.resize((1, 2), refcheck=False)
    with pytest.raises(RuntimeError, match="Tensor value corrupted"):
        _ = slot.value


def test_the_check_on_reading_can_be_switched_off(unchecked) -> None:
    array = np.zeros(2, np.float32)
    slot = Tensor(NDArrayType("b", (2,)), array)
    array.resize((1, 2), refcheck=False)
    assert slot.value is array


def test_an_optional_group_starts_absent_and_becomes_present_by_a_good_write_only() -> None:
    group = OptionalTensorGroup(OptionalType(PAIR))
    assert group.is_none
    with pytest.raises(ValueError, match="absent"):
        _ = group[0]
    with pytest.raises(TypeError):
        group[0] = 1
    assert group.is_none
    group[0] = 1.0
    assert not group.is_none
    assert group[-2] == 1.0
    group.set_none()
    assert group.is_none


def test_an_index_out_of_range_names_the_slots() -> None:
    group = TensorGroup(PAIR)
    with pytest.raises(IndexError, match=r"2 slots \(a, b\); there is no index 2"):
        group[2] = 1.0


def test_a_required_group_is_never_absent() -> None:
    group = TensorGroup(PAIR)
    assert not group.is_none
    with pytest.raises(TypeError, match="required"):
        group.set_none()


def test_a_snapshot_is_independent_and_of_the_same_class() -> None:
    for group in (TensorGroup(PAIR), OptionalTensorGroup(OptionalType(PAIR))):
        group[1] = np.ones(2, np.float32)
        twin = group.create_snapshot()
        group[1][0] = 5.0
        assert type(twin) is type(group)
        assert twin[1][0] == 1.0
        assert not twin.get_tensor(0).is_set
    assert OptionalTensorGroup(OptionalType(PAIR)).create_snapshot().is_none


def test_group_of_wants_one_value_per_slot() -> None:
    assert group_of(PAIR, 1.0, np.zeros(2, np.float32))[0] == 1.0
    with pytest.raises(InputError, match="2 slots, got 1 values"):
        group_of(PAIR, 1.0)
