"""Cameras mounted by task files, and the published camera files."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from handloom.config import Config, Position, Quaternion, UnusedKey

Quad = tuple[float, float, float, float]
RENDERED_LATER = "depth and labels are rendered from recorded states on demand"

Pixels = Annotated[int, Field(gt=0, le=8192)]


class CameraFile(Config):
    """Intrinsics and resolution of a camera."""

    camera_type: Annotated[str, UnusedKey("informational")] = "RealSense"
    camera_params: Quad
    """fx, fy, cx, cy [px]."""
    resolution_width: int = Field(gt=0, le=8192)
    """[px]"""
    resolution_height: int = Field(gt=0, le=8192)
    """[px]"""
    distortion: tuple[float, float, float, float, float] | None = None
    """k1, k2, p1, p2, k3 of Brown and Conrady, for cameras with a real lens; absent: drawn (ours)."""
    frequency: Annotated[float, UnusedKey("cameras run at the frame rate of the dataset")] = 30
    pixel_size: Annotated[float, UnusedKey("focal lengths in pixels replace it")] = 3.0
    f_number: Annotated[float, UnusedKey("everything is in focus here")] = 2.0
    focus_distance: Annotated[float, UnusedKey("everything is in focus here")] = 0.6
    depth: Annotated[bool, UnusedKey(RENDERED_LATER)] = False
    with_distance: Annotated[bool, UnusedKey(RENDERED_LATER)] = True
    with_semantic: Annotated[bool, UnusedKey(RENDERED_LATER)] = False
    with_bbox2d: Annotated[bool, UnusedKey(RENDERED_LATER)] = False
    with_bbox3d: Annotated[bool, UnusedKey(RENDERED_LATER)] = False
    with_motion_vector: Annotated[bool, UnusedKey(RENDERED_LATER)] = False

    @model_validator(mode="after")
    def _focal_lengths_are_positive(self) -> "CameraFile":
        if any(not 1.0 <= length <= 1e5 for length in self.camera_params[:2]):
            raise ValueError(f"fx and fy must be from 1 to 100000 px, got {list(self.camera_params[:2])}")
        return self


class CameraConfig(Config):
    """A camera mounted on a body or fixed in the world."""

    name: str = Field(min_length=1)
    """``<robot>_<camera>``: the part after the robot's name is the name in the dataset; if cameras of two robots would
    then have the same name, they keep the full name."""
    parent: str = ""
    """Body that carries it, e.g. ``franka/panda_hand``; empty fixes it in the world."""
    translation: Position | None = None
    """Position in the parent [m]; may be absent when ``look_at`` names objects."""
    orientation: Quaternion | None = None
    """wxyz in the parent; absent with ``look_at``."""
    look_at: Position | str | tuple[str, ...] | None = None
    """Instead of an orientation: a point in the world [m], or the names of objects and robots, at whose centre the
    camera looks at the start. Without a ``translation`` the camera is opposite the first robot, far enough away to show
    them all (ours)."""
    camera_axes: Literal["usd", "ros", "world"] = "usd"
    """usd: looks along -z with y up; ros: looks along z with y down; world: looks along x with z up."""
    camera_file: str = "realsense_d455"
    """A published camera (``realsense_d455``), or a YAML file."""
    apply_randomization: bool = False
    """Move the camera a little in every episode."""
    max_translation_noise: float = Field(default=0.05, ge=0, le=10)
    """[m]"""
    max_orientation_noise: float = Field(default=10.0, ge=0, le=360)
    """[deg]"""
    max_focal_noise: float = Field(default=0.0, ge=0, le=0.5)
    """Largest relative change of the focal lengths (ours)."""
    size: tuple[Pixels, Pixels] | None = None
    """Width and height of the recorded image [px], cropped centrally from the camera's image (ours)."""
    lens: Literal["ideal", "real"] = "ideal"
    """real: another lens and sensor in every episode, with distortion, vignetting, drift of exposure and white balance,
    noise and JPEG (ours)."""
    body: bool = False
    """Whether the camera is an obstacle that arms plan around; for cameras in the world (ours)."""
    output_mode: Annotated[Literal["rgb", "diffuse_albedo"], UnusedKey("images are always lit here")] = "rgb"
    with_depth: Annotated[Any, UnusedKey("set depth in the camera file")] = None

    @field_validator("size", mode="before")
    @classmethod
    def _has_width_and_height(cls, given: Any) -> Any:
        if isinstance(given, int | float | str) or (isinstance(given, list | tuple) and len(given) != 2):
            raise ValueError("is width and height [px], e.g. [320, 240]")
        return given

    @property
    def watched(self) -> tuple[str, ...]:
        """Names of the objects and robots in ``look_at``."""
        names = (self.look_at,) if isinstance(self.look_at, str) else self.look_at or ()
        return tuple(name for name in names if isinstance(name, str))

    @model_validator(mode="after")
    def _looks_somewhere(self) -> "CameraConfig":
        if (self.orientation is None) == (self.look_at is None):
            raise ValueError("a camera needs either an orientation (wxyz) or a look_at (a point, or names of objects)")
        if self.look_at is not None and self.parent:
            raise ValueError("look_at is for cameras in the world; a camera on a body needs an orientation")
        if self.body and self.parent:
            raise ValueError("body is for cameras in the world; a camera on a robot is part of the robot's shape")
        if self.translation is None and not self.watched:
            raise ValueError("a camera needs a translation, unless look_at names objects")
        return self


CAMERAS: dict[str, CameraFile] = {
    name: CameraFile(camera_params=params, resolution_width=width, resolution_height=height)
    for name, params, width, height in (
        ("astra", (488.52, 488.52, 323.93, 219.15), 640, 480),
        ("realsense_d405", (433.89, 433.38, 322.79, 243.14), 640, 480),
        ("realsense_d405_v2", (433.89, 433.38, 431.90, 241.39), 848, 480),
        ("realsense_d435i", (605.451, 605.137, 320.778, 255.816), 640, 480),
        ("realsense_d455", (323.52, 323.17, 319.55, 182.18), 640, 360),
        ("realsense_d455_v2", (381.49, 381.16, 318.08, 244.28), 640, 480),
        ("realsense_d455_v3", (647.04, 646.34, 639.1, 364.36), 1280, 720),
    )
}
"""Intrinsics of the published camera files, by file stem."""
HOUSINGS = {
    "astra": (0.165, 0.030, 0.040),
    "realsense_d405": (0.042, 0.042, 0.023),
    "realsense_d455": (0.124, 0.026, 0.029),
}
"""Width, height and depth of cameras [m], from their data sheets, by the beginning of the camera file's name."""
OTHER_HOUSING = (0.090, 0.025, 0.025)
"""Size of a RealSense D435, for all other cameras."""
