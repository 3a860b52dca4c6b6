"""Keys of ``robot.yaml`` for wheels, legs and suction tools."""

from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, model_validator

from handloom.config import Config


class SuctionConfig(Config):
    """Suction cups of an arm; the drive joint of its gripper is the valve, and they draw when it is half closed."""

    points: Annotated[tuple[str, ...], Field(min_length=1)]
    """Bodies of the cups; the rays that look for objects start at their origins."""
    forward_axis: Literal["X", "Y", "Z"] = "Z"
    """Axis of these bodies that points to the object."""
    clearance_offset: float = 0.0
    """Offset along it at which the ray starts [m]."""
    max_grip_distance: PositiveFloat = 0.01
    """Largest distance from the origin at which an object is attached [m]."""
    coaxial_force_limit: float = -1.0
    """Pull per cup above which it releases [N]; 0 or less: no limit."""
    shear_force_limit: float = -1.0
    """Force across its axis above which a cup releases [N]; 0 or less: no limit."""
    retry_interval: Annotated[float, Field(ge=0)] = 0.0
    """Time for which free cups keep trying after the valve closes [s]; 0: once."""
    cup_radius: PositiveFloat = 0.02
    """Radius of the lip [m]: the patch that must be flat."""


Length = Annotated[float, Field(ge=0)]

# Wheels and steered wheels per kind, in the order the controllers use; None: any number of at least three.
WHEELS = {"differential": (2, 0), "ackermann": (4, 2), "holonomic": (None, 0), "planar": (3, 0), "legged": (0, 0)}


class DriveConfig(Config):
    """Drive of a base: its wheel joints and their dimensions. A limit of 0 means no limit."""

    kind: Literal["differential", "holonomic", "ackermann", "planar", "legged"]
    """``planar``: joints move the base directly, its wheels only roll along. ``legged``: a policy makes it walk."""
    base_path: str
    """Body that moves over the floor: x forward, z up."""
    wheel_names: tuple[str, ...] = ()
    """Wheel joints. Differential: left, right. Ackermann: front left, front right, rear left, rear right.
    Planar: x, y, yaw."""
    steering_names: tuple[str, ...] = ()
    """Joints that turn the steered wheels: left, right."""
    rolling_names: tuple[str, ...] = ()
    """Planar: wheel joints that roll along with a driving base; they carry no load."""
    swivel_names: tuple[str, ...] = ()
    """Planar: joints that steer these wheels, one per wheel; if empty, the wheels have rollers."""
    feet: tuple[str, ...] = ()
    """Touch sensors of a legged robot, and their sites; each is under a foot."""
    policy: str = "policy"
    """Folder of a legged robot's policy beside ``robot.yaml``: ``policy.onnx`` and ``env.yaml``."""
    wheel_radius: Length = 0.0
    """Wheel radius [m]; a holonomic base has it in its model instead, per wheel. For legged robots, the radius of ball
    feet."""
    rear_wheel_radius: Length = 0.0
    """Radius of the rear wheels of a car [m]; 0: that of the front wheels."""
    track_width: Length = 0.0
    """Distance between the contact points of left and right wheels or feet [m]."""
    wheel_base: Length = 0.0
    """Distance between the axles of a car, or between front and hind feet [m]."""
    axle_offset: float = 0.0
    """Position of the unsteered axle in the base [m], along x."""
    invert_steering: bool = False
    """Whether the rear axle steers."""
    max_linear_speed: Length = 0.0
    """[m/s]"""
    max_angular_speed: Length = 0.0
    """[rad/s]"""
    max_wheel_speed: Length = 0.0
    """[rad/s]"""
    max_acceleration: Length = 0.0
    """[m/s^2]"""
    max_steering_angle: Length = 0.0
    """[rad]"""
    max_steering_speed: Length = 0.0
    """[rad/s]"""

    @model_validator(mode="after")
    def _measures_fit_the_kind(self) -> Self:
        wheels, steered = WHEELS[self.kind]
        if wheels is not None and len(self.wheel_names) != wheels:
            raise ValueError(f"a {self.kind} drive has {wheels} wheel_names, not {len(self.wheel_names)}")
        if wheels is None and len(self.wheel_names) < 3:
            raise ValueError(f"a {self.kind} drive has at least 3 wheel_names, not {len(self.wheel_names)}")
        if len(self.steering_names) != steered:
            raise ValueError(f"a {self.kind} drive has {steered} steering_names, not {len(self.steering_names)}")
        self._rolling_wheels_fit()
        if (self.kind == "legged") != bool(self.feet):
            raise ValueError(f"a {self.kind} drive has {'no' if self.feet else 'at least one of'} feet")
        needed = {
            "differential": ("wheel_radius", "track_width"),
            "ackermann": ("wheel_radius", "track_width", "wheel_base"),
            "holonomic": (),
            "planar": (),
            "legged": ("max_linear_speed", "max_angular_speed"),
        }
        for key in needed[self.kind]:
            if getattr(self, key) <= 0.0:
                raise ValueError(f"a {self.kind} drive needs {key} > 0")
        return self

    def _rolling_wheels_fit(self) -> None:
        if self.rolling_names and self.kind != "planar":
            raise ValueError(f"rolling_names needs a planar drive, this one is {self.kind}")
        if self.rolling_names and self.wheel_radius <= 0.0:
            raise ValueError("rolling_names need wheel_radius > 0")
        if self.swivel_names and len(self.swivel_names) != len(self.rolling_names):
            raise ValueError(f"{len(self.rolling_names)} rolling_names need as many swivel_names or none")
