"""``SO101ClutchRetargeter``: a name that two revisions of Isaac Teleop use for different clutches."""

from typing import Any

from handloom.compat.isaacteleop.watched_nodes import WatchedPoseClutchRetargeter
from handloom.retarget import SO101PositionClutchRetargeter


class SO101ClutchRetargeter(WatchedPoseClutchRetargeter):
    """The clutch of the revision that matches the arguments.

    With a ``home_base_T_ee``, this is ``SO101PoseClutchRetargeter`` of release 1.5, which needs one. Without it, this
    is ``SO101PositionClutchRetargeter`` of the published SO-101 page, which takes the live end effector as its home.
    Has the port names of both.
    """

    ROBOT_EE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT
    ROBOT_BASE_POS_INPUT = SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT

    def __new__(cls, name: str, home_base_T_ee: Any = None, *_: Any, **settings: Any) -> Any:
        """Return a clutch of either class."""
        if home_base_T_ee is not None and not isinstance(home_base_T_ee, str):
            return super().__new__(cls)
        if isinstance(home_base_T_ee, str):  # The page has the device at this position.
            settings["input_device"] = home_base_T_ee
        return SO101PositionClutchRetargeter(name, **settings)
