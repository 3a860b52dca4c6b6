"""One sampled scene: every random choice of an episode, as plain numbers."""

import hashlib
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from handloom.errors import FileError
from handloom.values.camera import CameraSpec

Light = Annotated[float, Field(ge=0.0, le=1000.0)]
Unit = Annotated[float, Field(ge=-1.0, le=1.0)]
Tangent = Annotated[float, Field(gt=0.001, le=10.0)]


@dataclass(frozen=True, kw_only=True)
class Pane:
    """A bright rectangle far away: a window, a soft box, a ceiling panel."""

    direction: tuple[Unit, Unit, Unit]
    """Unit vector to its middle, in the world."""
    half_width: Tangent
    """Tangent of half of its horizontal angle."""
    half_height: Tangent
    """Tangent of half of its vertical angle."""
    light: tuple[Light, Light, Light]
    """Linear RGB, in units of the ambient light."""
    bars: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0
    """Half width of the bars that cross in its middle, as a fraction of its half width."""


@dataclass(frozen=True, kw_only=True)
class LitSurroundings:
    """Surrounding light."""

    above: tuple[Light, Light, Light] = (1.22, 1.28, 1.36)
    """Light from above, linear RGB, in units of the ambient light of the lamps."""
    below: tuple[Light, Light, Light] = (0.66, 0.60, 0.54)
    """Light from below."""
    panes: Annotated[tuple[Pane, ...], Field(max_length=4)] = ()


# Limits are checked when an instance is read: an untrusted archive must not cause unbounded work or memory use.
Number = Annotated[float, Field(ge=-1e6, le=1e6)]
Vector = tuple[Number, Number, Number]
Quat = tuple[Number, Number, Number, Number]


@dataclass(frozen=True, kw_only=True)
class RobotInstance:
    """A robot at the start of an episode."""

    name: str
    """Name in the task; prefix of its bodies and joints in the model."""
    robot: str
    """Robot of the zoo, or the path of a robot folder."""
    position: Vector
    """Origin of the robot in the world [m]."""
    quat: Quat
    """Orientation of the robot in the world, wxyz."""
    joints: dict[str, float] = field(default_factory=dict)
    """Start position of each driven joint, without prefix [m or rad]."""
    overrides: dict[str, Any] = field(default_factory=dict)
    """Keys of ``robot.yaml`` that the task replaces."""
    ignore_obstacles: tuple[str, ...] = ()
    """Obstacles whose name contains one of these are ignored when its arms plan."""
    gain_scale: float = 1.0
    """Factor on stiffness and damping of its drives."""


ROLLING_RESISTANCE = 0.0015
"""Lever [m] of the rolling resistance of loose objects: that of an orange on wood. The contact model damps rolling
instead of stopping it: at a third of this lever, a fruit creeps on at 2.5 mm/s; at this one, at 0.3 mm/s."""


@dataclass(frozen=True, kw_only=True)
class ObjectInstance:
    """An object or fixture at the start of an episode."""

    name: str
    """Name in the task; prefix of its bodies in the model."""
    category: str
    """A category of the object library, or ``file``."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Parameters with which the object library builds the identical object again."""
    position: Vector = (0.0, 0.0, 0.0)
    """Origin of the object in the world [m]."""
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the object in the world, wxyz."""
    fixed: bool = False
    """Whether it is part of the world, or moves freely."""
    words: str = ""
    """Its name in the instruction, e.g. ``red cube``."""
    joints: dict[str, float] = field(default_factory=dict)
    """Start position of its own joints, without prefix [m or rad]."""
    mass_scale: float = 1.0
    """Factor on its mass and inertia."""
    friction: float | None = None
    """Sliding friction of its surface; None keeps the library's."""
    rolling_resistance: Annotated[float | None, Field(exclude_if=lambda lever: lever is None)] = None
    """Lever [m] of the resistance of its round parts to rolling; None, as in older recordings, keeps the library's,
    with which a fruit creeps on for minutes."""
    look: dict[str, Any] = field(default_factory=dict)
    """``color`` (3,), or ``texture``, ``texture_seed`` and ``repeat``, over the whole object; empty keeps its own."""
    visible: bool = True
    """Whether cameras see it."""
    solid: bool = True
    """Whether it takes part in contacts, or is only visible."""
    running: Annotated[tuple[tuple[float, float], ...], Field(exclude_if=lambda spans: not spans)] = ()
    """Start and end times [s] of its belts; empty: they always run."""
    rolling: Annotated[Vector, Field(exclude_if=lambda velocity: not any(velocity))] = (0.0, 0.0, 0.0)
    """Velocity of its centre in the world at the start [m/s]; its point of contact with the ground is at rest then."""
    points: Annotated[dict[str, Vector], Field(exclude_if=lambda points: not points)] = field(default_factory=dict)
    """Points that the task names on it, in its own frame [m], in addition to those of its asset."""
    axes: Annotated[dict[str, Vector], Field(exclude_if=lambda axes: not axes)] = field(default_factory=dict)
    """Unit directions that the task names on it, in its own frame."""
    calm: Annotated[bool, Field(exclude_if=lambda calm: not calm)] = False
    """Furniture out of reach: its joints have no dry friction and no catches, which makes physics faster."""


@dataclass(frozen=True, kw_only=True)
class FluidInstance:
    """Grains that represent a fluid, at rest in their container; bodies ``fluid/0``, ``fluid/1`` and so on."""

    container: str
    """Object that contains them."""
    radius: float
    """Radius of a grain [m]."""
    mass: float
    """Mass of a grain [kg]."""
    color: Vector = (0.35, 0.55, 0.85)
    """sRGB."""
    opacity: float = 1.0
    """0 is invisible, 1 hides what is behind."""
    positions: Annotated[tuple[Vector, ...], Field(max_length=1000)] = ()
    """Centres of all grains in the world [m]."""


@dataclass(frozen=True, kw_only=True)
class LightInstance:
    """A light. Directional lights shine uniformly everywhere; spot lights have a position and a cone."""

    name: str
    directional: bool
    position: Vector
    """Place in the world [m]."""
    direction: Vector
    """Direction in which it shines."""
    diffuse: Vector
    """Colour times strength, linear RGB."""
    ambient: Vector = (0.0, 0.0, 0.0)
    """Part that reaches every surface, linear RGB."""
    shadows: bool = True
    """Whether it casts shadows."""
    radius: float = 0.08
    """Radius of the luminous disc [m]: a bulb is small and throws hard shadows, a soft box is wide."""


def pair_id(task: str, seed: int, episode: int) -> str:
    """Return the name of a scene, the same for every robot that acts in it, e.g. ``fr3_pick_place:0:12``.

    Args:
        task: Name of the task in which the scene was sampled.
        seed: Seed of that run.
        episode: Attempt index there.
    """
    return f"{task}:{seed}:{episode}"


@dataclass(frozen=True, kw_only=True)
class EndPose:
    """Final place of an object in the demonstration that is retold."""

    body: str
    """Body of the scene that the object lay on or in, e.g. ``cabinet/drawer_1``."""
    point: Vector
    """Origin of the object in the frame of that body [m]."""


@dataclass(frozen=True, kw_only=True)
class RetoldFrom:
    """The demonstration of another robot from which an instance took its scene."""

    pair_id: str
    """Same for all demonstrations of the scene."""
    robot: str
    """Robot of that demonstration."""
    scene_hash: str
    """SHA-256 of its instance."""
    ends: Annotated[dict[str, EndPose], Field(max_length=500)] = field(default_factory=dict)
    """Name of an object that was placed > its final place."""
    placement: Annotated[int, Field(ge=0, le=100)] = 0
    """Index of this placement among those on the table that suit the robot; 0 is tried first."""


@dataclass(frozen=True, kw_only=True)
class TaskInstance:
    """Everything needed to build the scene of one episode; plain numbers with an exact JSON form."""

    task: str
    """Name of the task."""
    seed: int
    """Seed of the run."""
    episode: int
    """Attempt index within the run."""
    instruction: str
    """The instruction."""
    robots: Annotated[tuple[RobotInstance, ...], Field(max_length=20)]
    objects: Annotated[tuple[ObjectInstance, ...], Field(max_length=500)]
    cameras: Annotated[tuple[CameraSpec, ...], Field(max_length=100)]
    lights: Annotated[tuple[LightInstance, ...], Field(max_length=100)] = ()
    fps: Annotated[int, Field(ge=1, le=1000)] = 30
    """Control and camera rate [1/s]."""
    substeps: Annotated[int, Field(ge=1, le=1000)] = 17
    """Physics steps per frame."""
    max_frames: int = 600
    """Step budget of the episode [frames]."""
    goal: Annotated[tuple[dict[str, Any], ...], Field(max_length=100, exclude_if=lambda goal: not goal)] = ()
    """The author's goal, as in the task file; if empty, the skills imply it."""
    neglect_collisions: tuple[str, ...] = ()
    """Bodies whose name contains one of these do not collide with robots."""
    detailed_instruction: str = ""
    """The longer wording; one per robot, separated by semicolons."""
    fluid: FluidInstance | None = None
    """Grains, if the task has any."""
    surroundings: Annotated[LitSurroundings | None, Field(exclude_if=lambda given: given is None)] = None
    """Surrounding light; None: a room by day."""
    room: Annotated[dict[str, str], Field(max_length=9, exclude_if=lambda room: not room)] = field(default_factory=dict)
    """Kind, layout and style of a generated room, and the fixture at the origin; empty: an arena."""

    work_point: Annotated[tuple[Number, Number], Field(exclude_if=lambda point: not any(point))] = (0.0, 0.0)
    """Origin of the work frame, from the middle of the table, to the right of the robot and away from it [m]."""
    arms: Annotated[tuple[str, ...], Field(max_length=1000, exclude_if=lambda arms: not arms)] = ()
    """The arm chosen for each block of skills that the task leaves to the nearest arm, in order; empty if there are
    none."""
    layout: Annotated[int, Field(ge=0, le=100, exclude_if=lambda layout: not layout)] = 0
    """Index of this layout of the attempt: the expert found no solution in the earlier ones."""
    retold: Annotated[RetoldFrom | None, Field(exclude_if=lambda source: source is None)] = None
    """The demonstration whose scene this is; None: the scene was sampled."""
    stand_ins: Annotated[dict[str, str], Field(max_length=500, exclude_if=lambda given: not given)] = field(
        default_factory=dict
    )
    """Replacements from the library for missing files, by the object's name, ``fluid`` or ``skills``, and how each
    differs: it may make the episode easier or harder than the author intended."""

    @property
    def pair_id(self) -> str:
        """Name of the scene, the same for every robot that acts in it."""
        return pair_id(self.task, self.seed, self.episode) if self.retold is None else self.retold.pair_id

    @property
    def timestep(self) -> float:
        """Physics step [s]."""
        return 1.0 / (self.fps * self.substeps)

    def to_json(self) -> str:
        """Return the exact JSON form, one line, keys in a fixed order."""
        return _adapter().dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> "TaskInstance":
        """Read the JSON form back; the result equals the instance that was written."""
        try:
            return _adapter().validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise FileError(f"this is not a task instance: {where}: {first['msg']}") from error

    def content_hash(self) -> str:
        """Return the SHA-256 of the JSON form."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


@cache
def _adapter() -> TypeAdapter[TaskInstance]:
    return TypeAdapter(TaskInstance)
