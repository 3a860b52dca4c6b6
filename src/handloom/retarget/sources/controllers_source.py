"""The two controllers of an operator."""

from handloom.retarget.inputs.controller_input import ControllerInput
from handloom.retarget.sources.device_source import DeviceSource
from handloom.retarget.sources.pose_transform import ControllerTransform


class ControllersSource(DeviceSource):
    """Gives ``controller_left`` and ``controller_right``, each an optional ``ControllerInput``."""

    LEFT = "controller_left"
    RIGHT = "controller_right"
    devices = (LEFT, RIGHT)
    group_type = ControllerInput()
    transform_class = ControllerTransform
