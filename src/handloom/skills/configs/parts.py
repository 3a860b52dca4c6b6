"""Pieces that several skill configs share."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from handloom.config import Config

Triple = tuple[float, float, float]
Range = tuple[float, float]
Hold = tuple[float, float, float, float, float, float]
"""Weights of [angular x, y, z, linear x, y, z] of the hand in the goal's axes: a part with a weight above 0 changes on
the way no more than the goal requires; 0 leaves it free."""
DirectionFilter = tuple[str, float] | tuple[str, float, float]
"""``[direction, a]`` or ``[direction, a, b]`` in degrees; see :class:`Filters`."""

ApproachWord = Literal["down", "side", "front", "any"]
Approach = ApproachWord | tuple[ApproachWord, Annotated[float, Field(gt=0, le=180)]]
"""A word, or ``[word, degrees]``; see :class:`Filters`."""
APPROACH_ANGLE = {"down": 40.0, "side": 30.0, "front": 45.0, "any": 180.0}
"""Largest angle between the hand and each direction if no angle is given [deg]."""
LARGEST = 1e5
"""Largest magnitude accepted for a length [m], an angle [deg] or a number of frames; larger ones could overflow."""
POSITIVE = ("forward", "leftward", "upward")
NEGATIVE = ("backward", "rightward", "downward")


class SkillConfig(Config):
    """Keys every skill has."""

    name: str
    """Name of the skill."""
    objects: tuple[str, ...] = ()
    """Objects of the skill; the meaning of each position depends on the skill."""
    ignore_substring: tuple[str, ...] = ()
    """Planner obstacles whose name contains one of these are ignored during this skill."""
    instruction: str = ""
    """The skill in words, for sub-task labels (ours)."""
    by_arm: dict[Literal["left", "right"], dict[str, Any]] = Field(default_factory=dict)
    """Keys with other values if this arm does it, for tasks that leave the choice of arm to the scene (ours)."""
    objects_needed: ClassVar[int] = 0
    """Number of objects that the skill requires."""
    both_arms: ClassVar[bool] = False
    """Whether the skill uses both arms of the robot, whichever of them it is listed under."""

    @field_validator("*")
    @classmethod
    def _numbers_are_sane(cls, given: Any) -> Any:
        for number in _numbers(given):
            if not -LARGEST <= number <= LARGEST:  # also NaN, which a key of any kind could hold
                raise ValueError(f"{number:g} is not between {-LARGEST:g} and {LARGEST:g}, the limits of skill numbers")
        return given

    @model_validator(mode="after")
    def _has_its_objects(self) -> "SkillConfig":
        if len(self.objects) < self.objects_needed:
            raise ValueError(f"{self.name} needs {self.objects_needed} object(s), got {len(self.objects)}")
        return self


class Tolerances(SkillConfig):
    """Tolerances of a reached pose, and whether speeds are checked at the end."""

    t_eps: float = Field(default=1e-3, gt=0)
    """[m]"""
    o_eps: float = Field(default=5e-3, gt=0)
    """[rad]"""
    process_valid: bool = True
    """Success also requires joints and objects at rest."""


class Filters(Config):
    """Keep end-effector orientations whose axes point the right way in the arm base.

    With e the component of that end-effector axis along base x (forward, backward), y (leftward, rightward) or z
    (upward, downward): positive directions keep e >= cos a, negative ones e <= cos a; a third value bounds the other
    side. ``[downward, 140]`` keeps axes at least 140 degrees away from up.

    Which axis of the hand points at the object differs from robot to robot; ``approach`` says the same for every robot.
    """

    approach: Approach | None = None
    """Direction in which the hand points, on every robot: ``down``, ``side`` (level), ``front`` (away from the arm's
    base) or ``any``; ``[down, 20]`` to within 20 degrees (ours)."""

    filter_x_dir: DirectionFilter | None = None
    filter_y_dir: DirectionFilter | None = None
    filter_z_dir: DirectionFilter | None = None

    @field_validator("approach", mode="before")
    @classmethod
    def _is_a_direction(cls, given: Any) -> Any:
        word = given[0] if isinstance(given, list | tuple) and len(given) == 2 else given
        if given is not None and (not isinstance(word, str) or word not in APPROACH_ANGLE):
            raise ValueError(f"approach is {', '.join(APPROACH_ANGLE)} or [word, degrees]")
        return given

    @model_validator(mode="after")
    def _directions_are_known(self) -> "Filters":
        for key in ("filter_x_dir", "filter_y_dir", "filter_z_dir"):
            given: Any = getattr(self, key)
            if given is not None and given[0] not in POSITIVE + NEGATIVE:
                raise ValueError(f"{key}: direction must be one of {', '.join(POSITIVE + NEGATIVE)}, got {given[0]!r}")
        return self


def _numbers(given: Any) -> Iterator[float]:
    """Yield every number in a value, in its lists, mappings and configs."""
    if isinstance(given, int | float):
        yield given
    elif isinstance(given, Config):
        yield from _numbers(dict(given))
    elif isinstance(given, list | tuple | dict):
        for item in given.values() if isinstance(given, dict) else given:
            yield from _numbers(item)
