"""Where things may lie: the six published region samplers as data."""

from typing import Literal

from pydantic import Field, model_validator

from handloom.config import Config

Triple = tuple[float, float, float]
Range = tuple[float, float]
Sampler = Literal[
    "A_on_B_region_sampler",
    "A_in_B_region_sampler",
    "A_by_B_region_sampler",
    "A_by_B_circle_sampler",
    "A_face_B_circle_sampler",
    "A_along_B_C_circle_sampler",
]

REQUIRED: dict[str, tuple[str, ...]] = {
    "A_on_B_region_sampler": ("pos_range", "yaw_rotation"),
    "A_in_B_region_sampler": (),
    "A_by_B_region_sampler": ("pos_range", "yaw_rotation"),
    "A_by_B_circle_sampler": ("r_range", "theta_range", "yaw_rotation"),
    "A_face_B_circle_sampler": ("r_range", "yaw_rotation"),
    "A_along_B_C_circle_sampler": ("r_range", "yaw_rotation"),
}
"""Which keys of ``random_config`` a sampler cannot do without."""


class RandomConfig(Config):
    """Ranges of a sampler; which of them count depends on the sampler."""

    pos_range: tuple[Triple, Triple] | None = None
    """Lowest and highest shift in x, y, z [m]."""
    yaw_rotation: Range | None = None
    """Lowest and highest turn about the world's z axis [deg]."""
    r_range: Range | None = None
    """Lowest and highest distance [m]."""
    theta_range: Range | None = None
    """Lowest and highest direction [deg]."""
    x_bias: float = 0.0
    y_bias: float = 0.0
    z_bias: float = 0.0
    """Shift for ``A_in_B`` [m]."""

    @model_validator(mode="after")
    def _ranges_ascend(self) -> "RandomConfig":
        for key in ("yaw_rotation", "r_range", "theta_range"):
            pair = getattr(self, key)
            if pair is not None and pair[0] > pair[1]:
                raise ValueError(f"{key} must go from low to high, got {list(pair)}")
        if self.pos_range is not None and any(a > b for a, b in zip(*self.pos_range, strict=True)):
            raise ValueError(
                f"pos_range must go from low to high in every axis, got {[list(p) for p in self.pos_range]}"
            )
        return self


class RegionConfig(Config):
    """Places ``object`` relative to ``target``; robots are placed this way too."""

    object: str
    """What is placed."""
    target: str
    """What it is placed on, in or by."""
    random_type: Sampler = "A_on_B_region_sampler"
    random_config: RandomConfig | None = None
    """Ranges; absent when they come from ``random_region_list`` or a container."""
    sub_tgt_prim: str | None = None
    """Part of the target to use instead of the whole."""
    priority: tuple[int, ...] | bool | None = None
    """Draw from ``random_region_list``: one of these indices, or any when empty or false."""
    container: str | None = None
    """Put the object at a place of this container."""
    z_init: float | None = None
    """Height above the container's origin [m]."""
    target2: str | None = None
    """Second target of ``A_along_B_C``."""
    visible: bool = True

    @model_validator(mode="after")
    def _sampler_has_its_ranges(self) -> "RegionConfig":
        if self.random_type == "A_along_B_C_circle_sampler" and self.target2 is None:
            raise ValueError("A_along_B_C_circle_sampler needs target2")
        if self.random_config is None:
            if self.priority is None and self.container is None and REQUIRED[self.random_type]:
                raise ValueError(f"{self.random_type} needs a random_config, a container or a priority")
            return self
        missing = [key for key in REQUIRED[self.random_type] if getattr(self.random_config, key) is None]
        if missing:
            raise ValueError(f"random_config of {self.random_type} needs {', '.join(missing)}")
        return self

    @property
    def draws_from_pool(self) -> bool:
        """Whether the ranges come from ``random_region_list``."""
        return self.priority is not None


class DistractorsConfig(Config):
    """Clutter that is not part of the task."""

    target: str
    """Surface they lie on."""
    min_num: int = Field(default=0, ge=0)
    max_num: int = Field(default=0, ge=0)
    pos_range: tuple[Triple, Triple] | tuple[Range, Range]
    """Rectangle on the target [m]."""
    path: str = ""
    """Asset library; empty picks from our own."""
    scale: Triple = (1.0, 1.0, 1.0)
    min_object_distance: float = Field(default=0.03, ge=0)
    """Free space to the task's objects [m]."""
    distractor_buffer: float = Field(default=0.03, ge=0)
    """Free space between distractors [m]."""
    max_attempts: int = Field(default=10, ge=1)
    fallback_z: float = -5.0
    exclude_categories: tuple[str, ...] = ()
    exclude_keywords: tuple[str, ...] = ()
