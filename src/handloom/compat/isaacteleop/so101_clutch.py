"""``SO101ClutchRetargeter``: a name that two revisions of Isaac Teleop publish for two clutches."""

from typing import Any

from handloom.compat.isaacteleop.watched_nodes import WatchedPoseClutchRetargeter
from handloom.retarget import SO101PositionClutchRetargeter


class SO101ClutchRetargeter(WatchedPoseClutchRetargeter):
    """The clutch of the revision that the arguments belong to.

    With a ``home_base_T_ee`` it is that of release 1.5, ``SO101PoseClutchRetargeter``, which needs one. Without, it is
    that of the published SO-101 page, ``SO101PositionClutchRetargeter``, which takes the live end effector as its home.
    The names of the ports of both are here.
    """

    ROBOT_EE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT
    ROBOT_BASE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT

    def __new__(cls, name: str, home_base_T_ee: Any = None, *_: Any, **settings: Any) -> Any:
        """Return a clutch of either class."""
        if home_base_T_ee is not None and not isinstance(home_base_T_ee, str):
            return super().__new__(cls)
        if isinstance(home_base_T_ee, str):  # The page has the device in this place.
            settings["input_device"] = home_base_T_ee
        return SO101PositionClutchRetargeter(name, **settings)
