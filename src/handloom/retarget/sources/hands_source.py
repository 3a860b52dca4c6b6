"""The two hands of an operator."""

from handloom.retarget.inputs.hand_input import HandInput
from handloom.retarget.sources.device_source import DeviceSource
from handloom.retarget.sources.pose_transform import HandTransform


class HandsSource(DeviceSource):
    """Gives ``hand_left`` and ``hand_right``, each an optional ``HandInput``."""

    LEFT = "hand_left"
    RIGHT = "hand_right"
    devices = (LEFT, RIGHT)
    group_type = HandInput()
    transform_class = HandTransform
