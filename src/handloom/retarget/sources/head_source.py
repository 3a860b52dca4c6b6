"""The head of an operator."""

from handloom.retarget.inputs.head_input import HeadInput
from handloom.retarget.sources.device_source import DeviceSource
from handloom.retarget.sources.pose_transform import HeadTransform


class HeadSource(DeviceSource):
    """Gives ``head``, an optional ``HeadInput``; it may be valid without being tracked at the moment."""

    HEAD = "head"
    devices = (HEAD,)
    group_type = HeadInput()
    transform_class = HeadTransform
