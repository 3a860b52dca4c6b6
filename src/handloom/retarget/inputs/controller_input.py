"""One motion controller: two poses, their validity, buttons, stick and triggers."""

from functools import cache

from handloom.retarget.graph.ndarray_type import NDArrayType
from handloom.retarget.graph.scalar_types import BoolType, FloatType
from handloom.retarget.graph.tensor_group_type import TensorGroupType
from handloom.retarget.inputs.slot_index import slot_index


@cache
def ControllerInput() -> TensorGroupType:  # noqa: N802 - published name
    """Return the type of one controller, 14 slots.

    Poses are in the frame of the device's session (OpenXR: x right, y up, z backward) [m] with quaternions
    xyzw. The grip pose is the palm, the aim pose points along -z. Clicks are 0 or 1, the stick lies in -1..1
    (right and up are positive), squeeze and trigger in 0..1.
    """
    return TensorGroupType(
        "controller_input",
        [
            NDArrayType("controller_grip_position", (3,)),
            NDArrayType("controller_grip_orientation", (4,)),
            BoolType("controller_grip_is_valid"),
            NDArrayType("controller_aim_position", (3,)),
            NDArrayType("controller_aim_orientation", (4,)),
            BoolType("controller_aim_is_valid"),
            FloatType("controller_primary_click"),
            FloatType("controller_secondary_click"),
            FloatType("controller_thumbstick_x"),
            FloatType("controller_thumbstick_y"),
            FloatType("controller_thumbstick_click"),
            FloatType("controller_menu_click"),
            FloatType("controller_squeeze_value"),
            FloatType("controller_trigger_value"),
        ],
    )


ControllerInputIndex = slot_index("ControllerInputIndex", ControllerInput(), prefix="controller_")
