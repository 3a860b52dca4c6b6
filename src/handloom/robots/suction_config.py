"""What ``robot.yaml`` says of a gripper that holds by suction."""

from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from handloom.config import Config


class SuctionConfig(Config):
    """Suction cups of an arm. The drive joint of its gripper is the valve: past half way to closed, the cups draw."""

    points: Annotated[tuple[str, ...], Field(min_length=1)]
    """Bodies of the cups; the ray that looks for an object begins at their origins."""
    forward_axis: Literal["X", "Y", "Z"] = "Z"
    """Axis of these bodies that points to the object."""
    clearance_offset: float = 0.0
    """How far out along it the ray starts [m]."""
    max_grip_distance: PositiveFloat = 0.01
    """How far from the origin an object is attached [m]."""
    coaxial_force_limit: float = -1.0
    """Pull per cup above which it lets go [N]; 0 or less: none."""
    shear_force_limit: float = -1.0
    """Force across its axis above which a cup lets go [N]; 0 or less: none."""
    retry_interval: Annotated[float, Field(ge=0)] = 0.0
    """How long free cups go on trying after the valve closes [s]; 0: once."""
    cup_radius: PositiveFloat = 0.02
    """Radius of the lip [m]: the patch that must be flat."""
