"""Device sources by their published names."""

from handloom.compat.published import published

NAMES = {
    "IDeviceIOSource": "handloom.retarget:DeviceSource",
    "ControllersSource": "handloom.retarget:ControllersSource",
    "HandsSource": "handloom.retarget:HandsSource",
    "HeadSource": "handloom.retarget:HeadSource",
    "JointStateSource": "handloom.retarget:JointStateSource",
}

__getattr__, __dir__ = published(__name__, NAMES)
