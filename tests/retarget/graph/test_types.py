"""Types of slots and groups: what they accept, what they refuse, and what they say."""

import numpy as np
import pytest

from handloom.errors import HandloomError
from handloom.retarget import (
    BoolType,
    ControllerInput,
    ControllerInputIndex,
    DLDataType,
    FloatType,
    HandInputIndex,
    HandJointIndex,
    HeadInputIndex,
    IntType,
    NDArrayType,
    OptionalTensorGroup,
    OptionalType,
    TensorGroup,
    TensorGroupType,
    inputs,
)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (FloatType, [1.0, np.float64(2), float("nan"), float("inf")], [1, True, np.float32(1), "1", None]),
        (IntType, [0, -3], [True, 1.0, np.int32(1), "1"]),
        (BoolType, [True, False], [0, 1, np.bool_(True), 1.0]),
    ],
)
def test_scalars_are_strict(kind, good, bad) -> None:
    slot = kind("x")
    for value in good:
        slot.validate_value(value)
    for value in bad:
        with pytest.raises(TypeError, match="slot 'x'"):
            slot.validate_value(value)


def test_names_take_no_part_in_compatibility_but_classes_do() -> None:
    assert FloatType("a").is_compatible_with(FloatType("b"))
    assert not FloatType("a").is_compatible_with(IntType("a"))
    assert NDArrayType("a", (3,)).is_compatible_with(NDArrayType("b", (3,)))
    assert not NDArrayType("a", (3,)).is_compatible_with(NDArrayType("a", (3,), dtype_bits=64))


def test_an_array_error_lists_every_mismatch() -> None:
    with pytest.raises(TypeError) as caught:
        NDArrayType("p", (3,)).validate_value(np.zeros((4, 1), np.int64))
    text = str(caught.value)
    assert "shape mismatch: expected (3,), got (4, 1)" in text
    assert "dtype mismatch: expected FLOAT, got INT" in text
    assert "dtype bits mismatch: expected 32, got 64" in text


@pytest.mark.parametrize("value", [[0.0, 0.0, 0.0], (1, 2, 3), 1.0, None])
def test_lists_are_not_arrays(value) -> None:
    with pytest.raises(TypeError, match="DLPack"):
        NDArrayType("p", (3,)).validate_value(value)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint16, np.uint32, np.float16])
def test_unknown_dtypes_are_refused_and_uint32_is_not_taken_for_int32(dtype) -> None:
    with pytest.raises(TypeError, match="not supported"):
        NDArrayType("p", (3,), DLDataType.INT, 32).validate_value(np.zeros(3, dtype))


def test_all_five_known_dtypes_pass() -> None:
    for dtype, kind, bits in (
        (np.float32, DLDataType.FLOAT, 32),
        (np.float64, DLDataType.FLOAT, 64),
        (np.int32, DLDataType.INT, 32),
        (np.int64, DLDataType.INT, 64),
        (np.uint8, DLDataType.UINT, 8),
    ):
        NDArrayType("p", (2,), kind, bits).validate_value(np.zeros(2, dtype))


def test_dlpack_codes_are_the_published_ones() -> None:
    from handloom.retarget import DLDeviceType

    assert [int(v) for v in DLDataType] == [0, 1, 2, 4]
    assert [int(v) for v in DLDeviceType] == [1, 2, 3, 4, 7, 8, 9, 10]


def test_group_compatibility_follows_the_published_table() -> None:
    required = TensorGroupType("r", [FloatType("x")])
    optional = OptionalType(required)
    required.check_compatibility(TensorGroupType("s", [FloatType("y")]))
    optional.check_compatibility(required)
    optional.check_compatibility(OptionalType(required))
    with pytest.raises(ValueError, match="Cannot connect optional output"):
        required.check_compatibility(optional)
    with pytest.raises(ValueError, match=r"size mismatch: expected 1 tensors, got 2 tensors: input .* output 's'"):
        required.check_compatibility(TensorGroupType("s", [FloatType("x"), FloatType("y")]))
    with pytest.raises(
        HandloomError, match=r"Tensor 0 type mismatch: expected FloatType \('.*'\), got IntType \('.*'\)"
    ):
        required.check_compatibility(TensorGroupType("s", [IntType("x")]))


def test_optional_is_idempotent_and_knows_its_inner_type() -> None:
    required = TensorGroupType("r", [FloatType("x")])
    optional = OptionalType(required)
    assert OptionalType(optional) is optional
    assert optional.is_optional
    assert not required.is_optional
    assert optional.inner_type is required.inner_type is required
    assert len(optional) == 1


def test_controller_slots_are_in_the_published_order() -> None:
    assert [index.name for index in ControllerInputIndex] == [
        "GRIP_POSITION",
        "GRIP_ORIENTATION",
        "GRIP_IS_VALID",
        "AIM_POSITION",
        "AIM_ORIENTATION",
        "AIM_IS_VALID",
        "PRIMARY_CLICK",
        "SECONDARY_CLICK",
        "THUMBSTICK_X",
        "THUMBSTICK_Y",
        "THUMBSTICK_CLICK",
        "MENU_CLICK",
        "SQUEEZE_VALUE",
        "TRIGGER_VALUE",
    ]
    assert len(ControllerInput()) == 14


def test_hand_joints_are_in_openxr_order() -> None:
    assert [index.name for index in HandInputIndex] == [
        "JOINT_POSITIONS",
        "JOINT_ORIENTATIONS",
        "JOINT_RADII",
        "JOINT_VALID",
    ]
    assert (HandJointIndex.PALM, HandJointIndex.WRIST, HandJointIndex.THUMB_METACARPAL) == (0, 1, 2)
    assert (HandJointIndex.THUMB_TIP, HandJointIndex.INDEX_TIP, HandJointIndex.MIDDLE_METACARPAL) == (5, 10, 11)
    assert (HandJointIndex.RING_METACARPAL, HandJointIndex.LITTLE_METACARPAL, HandJointIndex.LITTLE_TIP) == (16, 21, 25)
    assert [index.name for index in HeadInputIndex] == ["POSITION", "ORIENTATION", "IS_VALID", "IS_TRACKED"]


def test_the_old_head_name_warns() -> None:
    with pytest.warns(DeprecationWarning, match="HeadInput"):
        assert inputs.HeadPose is inputs.HeadInput
    with pytest.warns(DeprecationWarning, match="HeadInputIndex"):
        assert inputs.HeadPoseIndex is inputs.HeadInputIndex
    with pytest.raises(AttributeError, match="did you mean 'HeadInput'"):
        _ = inputs.HedInput


def test_groups_and_their_types_are_written_as_published() -> None:
    kind = TensorGroupType("pose", [FloatType("x"), IntType("n")])
    assert repr(kind) == "TensorGroupType(2 types: x:FloatType, n:IntType)"
    assert repr(OptionalType(kind)) == f"Optional({kind!r})"
    group = OptionalTensorGroup(OptionalType(kind))
    assert repr(group) == "OptionalTensorGroup(pose, absent)"
    with pytest.raises(ValueError, match="Cannot read from absent OptionalTensorGroup 'pose'"):
        _ = group[0]
    group[0] = 1.0
    assert repr(group) == "OptionalTensorGroup(pose, 2 tensors)"
    with pytest.raises(ValueError, match="Tensor 'n' value has not been set"):
        _ = group[1]
    with pytest.raises(TypeError, match="Cannot set_none on a required TensorGroup"):
        TensorGroup(kind).set_none()
