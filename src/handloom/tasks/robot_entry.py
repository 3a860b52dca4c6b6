"""A robot as a task file lists it: placement, and any key of its ``robot.yaml`` as an override."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from handloom.config import Angles, Config, Position, Quaternion, UnusedKey
from handloom.robots import RobotConfig


class RobotEntry(Config):
    """One robot of a task."""

    name: str = Field(min_length=1)
    """Name in skills and cameras."""
    robot_config_file: str
    """A robot of the zoo (``fr3``), a robot folder, or a robot YAML file."""
    translation: Position = (0.0, 0.0, 0.0)
    """Position in the world [m]; a region replaces it."""
    euler: Angles | None = None
    """Extrinsic xyz angles [deg]."""
    quaternion: Quaternion | None = None
    """wxyz; wins over euler."""
    scale: Annotated[Any, UnusedKey("a robot has the size it has")] = None
    ignore_substring: tuple[str, ...] = ("material", "Plane", "conveyor", "scene", "table")
    """Planner obstacles whose name contains one of these are left out."""
    use_batch: Annotated[bool, UnusedKey("candidates are always tested in batch")] = False
    collision_activation_distance: Annotated[float | None, UnusedKey("cuRobo's; ours is the planner's padding")] = None
    constrain_grasp_approach: Annotated[bool, UnusedKey("a grasp is always approached on a straight line")] = False
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Keys of ``robot.yaml`` that this task replaces; written beside the others in the task file."""

    @model_validator(mode="before")
    @classmethod
    def _collect_overrides(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        robot = {
            key: value for key, value in given.items() if key in RobotConfig.model_fields.keys() - cls.model_fields
        }
        own = {key: value for key, value in given.items() if key not in robot}
        overrides = own.get("overrides", {})
        return {**own, "overrides": {**overrides, **robot} if isinstance(overrides, dict) else overrides}

    @classmethod
    def more_keys(cls) -> set[str]:
        """Return the keys of ``robot.yaml``."""
        return set(RobotConfig.model_fields)
