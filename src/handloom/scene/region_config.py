"""Regions for the positions of objects: the six published region samplers, and one for cavities, as data."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from handloom.config import Config, Degrees, Metres, Position, UnusedKey

Triple = tuple[float, float, float]
Sampler = Literal[
    "A_on_B_region_sampler",
    "A_in_B_region_sampler",
    "A_in_B_cavity_sampler",
    "A_by_B_region_sampler",
    "A_by_B_circle_sampler",
    "A_face_B_circle_sampler",
    "A_along_B_C_circle_sampler",
]

MAX_DISTRACTORS = 100
"""Maximum number of distractors; more would be a mistake and take minutes to simulate."""

REQUIRED: dict[str, tuple[str, ...]] = {
    "A_on_B_region_sampler": ("pos_range", "yaw_rotation"),
    "A_in_B_region_sampler": (),
    "A_in_B_cavity_sampler": (),
    "A_by_B_region_sampler": ("pos_range", "yaw_rotation"),
    "A_by_B_circle_sampler": ("r_range", "theta_range", "yaw_rotation"),
    "A_face_B_circle_sampler": ("r_range", "yaw_rotation"),
    "A_along_B_C_circle_sampler": ("r_range", "yaw_rotation"),
}
"""Keys of ``random_config`` that a sampler requires."""


class RandomConfig(Config):
    """Ranges of a sampler; each sampler uses some of them."""

    pos_range: tuple[Position, Position] | None = None
    """Lowest and highest shift in x, y, z [m]; in any order. Two numbers are x and y (ours). In a cavity it counts from
    its middle, along the axes of the target; without it the object may lie anywhere in the cavity."""
    yaw_rotation: tuple[Degrees, Degrees] | None = None
    """Lowest and highest turn about the world's z axis [deg]; if absent and the sampler needs it: any (ours)."""
    r_range: tuple[Metres, Metres] | None = None
    """Lowest and highest distance [m]."""
    theta_range: tuple[Degrees, Degrees] | None = None
    """Lowest and highest direction [deg]."""
    axes: Literal["world", "target"] = "world"
    """Whether ``pos_range`` of ``A_on_B`` is along the world's x and y, as published, or along the target's own, from
    which ``yaw_rotation`` is then measured as well: counters of a room face any direction (ours)."""
    x_bias: Metres = 0.0
    """Shift for ``A_in_B`` [m]."""
    y_bias: Metres = 0.0
    """Shift for ``A_in_B`` [m]."""
    z_bias: Metres = 0.0
    """Shift for ``A_in_B`` [m]."""

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, given: Any) -> Any:
        """Accept entries of ``random_region_list`` in the published form, inside a ``random_config``."""
        return given["random_config"] if isinstance(given, dict) and set(given) == {"random_config"} else given

    @field_validator("pos_range", mode="before")
    @classmethod
    def _level(cls, given: Any) -> Any:
        """Add a height of zero to points with two numbers."""
        flat = isinstance(given, list | tuple) and all(isinstance(p, list | tuple) and len(p) == 2 for p in given)
        return [(*point, 0.0) for point in given] if flat else given

    @classmethod
    def more_keys(cls) -> set[str]:
        """Return the key that wraps published entries."""
        return {"random_config"}

    @field_validator("pos_range")
    @classmethod
    def _ascending(cls, given: tuple[Triple, Triple] | None) -> tuple[Triple, Triple] | None:
        """Sort the two ends of every axis; published files give them in any order."""
        if given is None:
            return None
        (x, y, z), (i, j, k) = given
        return (min(x, i), min(y, j), min(z, k)), (max(x, i), max(y, j), max(z, k))

    @model_validator(mode="after")
    def _ranges_ascend(self) -> "RandomConfig":
        for key in ("yaw_rotation", "r_range", "theta_range"):
            pair = getattr(self, key)
            if pair is not None and pair[0] > pair[1]:
                raise ValueError(f"{key} must go from low to high, got {list(pair)}")
        return self


class RegionConfig(Config):
    """Places ``object`` relative to ``target``; robots are placed in the same way."""

    object: str
    """Object or robot that the region places."""
    target: str
    """Object on, in or by which it is placed."""
    random_type: Sampler = "A_on_B_region_sampler"
    """on: middle of B plus a shift, A's lowest point on B's highest; in: origin of B plus a bias, A sunk 5 mm into B's
    top; in cavity: at rest inside a cavity of B, such as a closed drawer (ours); by: beside B with bottoms level, at a
    shift, in a direction and distance (circle), in the direction of B's x axis (face), or there but further by the
    distance from B to ``target2`` (along)."""
    random_config: RandomConfig | None = None
    """Ranges; absent when they come from ``random_region_list`` or a container."""
    sub_tgt_prim: str | None = None
    """Part of the target to use instead of the whole: a body or keypoint of it, e.g. ``board_1`` of a shelf; for
    ``A_in_B`` the cavity in which the object starts, e.g. ``drawer_1``."""
    priority: tuple[int, ...] | bool | None = None
    """Draw from the entries of ``random_region_list`` left by earlier regions: one of these indices, negative ones
    count from the end; or any entry when empty or false."""
    container: str | None = None
    """Put the object at a free place of this container: one of its ``gap`` offsets, each used once, if it has any."""
    z_init: Metres | None = None
    """Height of the object's origin above the container's [m]; goes with ``container``."""
    within_reach: bool = False
    """Only spots where the arms that handle the object can reach it, by the robot's reach map (ours)."""
    clear: Metres = 0.0
    """Minimum distance from objects placed by other such regions, seen from above [m] (ours)."""
    target2: str | None = None
    """Second target of ``A_along_B_C``."""
    visible: Annotated[bool | None, UnusedKey("the reference system ignores it; visible of the object applies")] = None

    @model_validator(mode="before")
    @classmethod
    def _any_turn(cls, given: Any) -> Any:
        """Give a region without a yaw range any rotation."""
        if not isinstance(given, dict):
            return given
        ranges, kind = given.get("random_config"), given.get("random_type", "A_on_B_region_sampler")
        needed = REQUIRED.get(kind, ()) if isinstance(kind, str) else ()
        if isinstance(ranges, dict) and "yaw_rotation" in needed and {"pos_range", "r_range"} & ranges.keys():
            return {**given, "random_config": {"yaw_rotation": (-180.0, 180.0), **ranges}}
        return given

    @model_validator(mode="after")
    def _sampler_has_its_ranges(self) -> "RegionConfig":
        if self.random_type == "A_along_B_C_circle_sampler" and self.target2 is None:
            raise ValueError("A_along_B_C_circle_sampler needs target2")
        if self.z_init is not None and self.container is None:
            raise ValueError("z_init goes with a container")
        if self.random_config is None:
            if self.priority is None and self.container is None and REQUIRED[self.random_type]:
                raise ValueError(f"{self.random_type} needs a random_config, a container or a priority")
            return self
        missing = self.missing_ranges(self.random_config)
        if missing and not self.draws_from_pool and self.container is None:
            raise ValueError(f"random_config of {self.random_type} needs {', '.join(missing)}")
        return self

    def missing_ranges(self, ranges: RandomConfig) -> tuple[str, ...]:
        """Return the keys that this region's sampler needs and ``ranges`` lacks."""
        return tuple(key for key in REQUIRED[self.random_type] if getattr(ranges, key) is None)

    @property
    def draws_from_pool(self) -> bool:
        """Whether the ranges come from ``random_region_list``."""
        return self.priority is not None


class DistractorsConfig(Config):
    """Clutter that is not part of the task."""

    target: str
    """Surface on which they lie."""
    min_num: int = Field(default=0, ge=0, le=MAX_DISTRACTORS)
    """Minimum number; if even these do not fit, ``handloom check`` reports it."""
    max_num: int = Field(default=0, ge=0, le=MAX_DISTRACTORS)
    """Largest number; uniform from min_num to max_num, and those that do not fit are left out."""
    pos_range: tuple[Position, Position] | tuple[tuple[Metres, Metres], tuple[Metres, Metres]]
    """Rectangle on the target, relative to its middle [m]."""
    path: str = ""
    """Folder of assets, ``<category>/<instance>/<file>``; empty picks from Handloom's library."""
    scale: Triple = (1.0, 1.0, 1.0)
    """Size factor of assets, the same in all three axes; library objects have the right size."""
    min_object_distance: float = Field(default=0.03, ge=0, le=10)
    """Free space to the task's objects [m]."""
    distractor_buffer: float = Field(default=0.03, ge=0, le=10)
    """Free space between distractors [m]."""
    max_attempts: int = Field(default=10, ge=1, le=1000)
    """Number of positions tried for each."""
    fallback_z: Annotated[float, UnusedKey("distractors that do not fit are left out, not hidden")] = -5.0
    exclude_categories: tuple[str, ...] = ()
    """Categories that are not used; those of the task's own objects never are."""
    exclude_keywords: tuple[str, ...] = ()
    """Categories to leave out: those whose name contains one of these, or of a family: fruit, tools, toys, desk,
    drinkware, tableware, packages, storage, blocks, laboratory."""

    @model_validator(mode="after")
    def _ranges_ascend(self) -> "DistractorsConfig":
        if self.min_num > self.max_num:
            raise ValueError(f"min_num must not be above max_num, got {self.min_num} and {self.max_num}")
        if any(a > b for a, b in zip(*self.pos_range, strict=True)):
            raise ValueError(
                f"pos_range must go from low to high in every axis, got {[list(p) for p in self.pos_range]}"
            )
        return self
