"""A hand that is open only as far as a rim needs."""

from dataclasses import dataclass, field

from handloom.arrays import Array
from handloom.grasping import RIM_OPENING, GripperShape


@dataclass(frozen=True, kw_only=True, eq=False)
class Preshape:
    """How far the fingers are open on the way to a grasp."""

    level: float
    """As a level of the gripper's shape."""
    drive: Array
    """Targets of the gripper (g,) [m or rad]."""
    joints: dict[str, float] = field(default_factory=dict)
    """Where the joints of the hand stand then [m or rad], by their names in the robot's model."""

    @classmethod
    def for_rims(cls, gripper: GripperShape) -> "Preshape":
        """Return the opening that grasps of rims were searched with."""
        level = gripper.level_at(RIM_OPENING)
        return cls(level=level, drive=gripper.drive_at(level), joints=gripper.joints_at(level))
