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
    """Tangent of half the angle that it fills, level."""
    half_height: Tangent
    """The same, upright."""
    light: tuple[Light, Light, Light]
    """Linear RGB, in units of the ambient light."""
    bars: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0
    """Half the width of the bars that cross in its middle, as a fraction of its half width."""


@dataclass(frozen=True, kw_only=True)
class LitSurroundings:
    """Light from all around."""

    above: tuple[Light, Light, Light] = (1.22, 1.28, 1.36)
    """Light from above, linear RGB, in units of the ambient light of the lamps."""
    below: tuple[Light, Light, Light] = (0.66, 0.60, 0.54)
    """Light from below."""
    panes: Annotated[tuple[Pane, ...], Field(max_length=4)] = ()


# Bounds hold when an instance is read: an archive of someone else must not ask for work or memory without end.
Number = Annotated[float, Field(ge=-1e6, le=1e6)]
Vector = tuple[Number, Number, Number]
Quat = tuple[Number, Number, Number, Number]


@dataclass(frozen=True, kw_only=True)
class RobotInstance:
    """A robot as it stands at the start of an episode."""

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
    """Obstacles whose name contains one of these are left out when its arms plan."""
    gain_scale: float = 1.0
    """Factor on stiffness and damping of its drives."""


@dataclass(frozen=True, kw_only=True)
class ObjectInstance:
    """An object or fixture as it lies at the start of an episode."""

    name: str
    """Name in the task; prefix of its bodies in the model."""
    category: str
    """What it is: a category of the object library, or ``file``."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """What the object library needs to build it again, identically."""
    position: Vector = (0.0, 0.0, 0.0)
    """Origin of the object in the world [m]."""
    quat: Quat = (1.0, 0.0, 0.0, 0.0)
    """Orientation of the object in the world, wxyz."""
    fixed: bool = False
    """Whether it is part of the world, or moves freely."""
    words: str = ""
    """How the instruction calls it, e.g. ``red cube``."""
    joints: dict[str, float] = field(default_factory=dict)
    """Start position of its own joints, without prefix [m or rad]."""
    mass_scale: float = 1.0
    """Factor on its mass and inertia."""
    friction: float | None = None
    """Sliding friction of its surface; None keeps the library's."""
    look: dict[str, Any] = field(default_factory=dict)
    """``color`` (3,), or ``texture``, ``texture_seed`` and ``repeat``, over the whole object; empty keeps its own."""
    visible: bool = True
    """Whether cameras see it."""
    solid: bool = True
    """Whether it touches anything, or is only there to be seen."""
    running: Annotated[tuple[tuple[float, float], ...], Field(exclude_if=lambda spans: not spans)] = ()
    """Times [s], first and last, between which its belts run; empty: always."""
    rolling: Annotated[Vector, Field(exclude_if=lambda velocity: not any(velocity))] = (0.0, 0.0, 0.0)
    """Velocity of its middle in the world at the start [m/s]; what touches the ground is at rest then."""
    points: Annotated[dict[str, Vector], Field(exclude_if=lambda points: not points)] = field(default_factory=dict)
    """Points that the task names on it, in its own frame [m], beside those of its asset."""
    axes: Annotated[dict[str, Vector], Field(exclude_if=lambda axes: not axes)] = field(default_factory=dict)
    """Unit directions that the task names on it, in its own frame."""
    calm: Annotated[bool, Field(exclude_if=lambda calm: not calm)] = False
    """Furniture out of reach: its joints move without dry friction and catches, which costs physics less."""


@dataclass(frozen=True, kw_only=True)
class FluidInstance:
    """Grains that represent a fluid, at rest in their container; bodies ``fluid/0``, ``fluid/1`` and so on."""

    container: str
    """Object they lie in."""
    radius: float
    """Radius of a grain [m]."""
    mass: float
    """Mass of a grain [kg]."""
    color: Vector = (0.35, 0.55, 0.85)
    """sRGB."""
    opacity: float = 1.0
    """0 is invisible, 1 hides what is behind."""
    positions: Annotated[tuple[Vector, ...], Field(max_length=1000)] = ()
    """Centre of every grain in the world [m]."""


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
    """Of the luminous disc [m]: a bulb is small and throws hard shadows, a soft box is wide."""


def pair_id(task: str, seed: int, episode: int) -> str:
    """Return the name that a scene has with every robot that acts in it, e.g. ``fr3_pick_place:0:12``.

    Args:
        task: Name of the task in which the scene was sampled.
        seed: Seed of that run.
        episode: Attempt index there.
    """
    return f"{task}:{seed}:{episode}"


@dataclass(frozen=True, kw_only=True)
class EndPose:
    """Where an object lay at the end of the demonstration that is retold."""

    body: str
    """Body of the scene that carried it, e.g. ``cabinet/drawer_1``."""
    point: Vector
    """Origin of the object in the frame of that body [m]."""


@dataclass(frozen=True, kw_only=True)
class RetoldFrom:
    """The demonstration of another robot whose scene an instance has."""

    pair_id: str
    """Same for all tellings of the scene."""
    robot: str
    """Who acted in it."""
    scene_hash: str
    """SHA-256 of its instance."""
    ends: Annotated[dict[str, EndPose], Field(max_length=500)] = field(default_factory=dict)
    """Object that was put somewhere > where it lay in the end."""
    placement: Annotated[int, Field(ge=0, le=100)] = 0
    """Which of the places on the table that suit the robot this is, 0 the first that is tried."""


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
    """What the robot is asked to do, in words."""
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
    """The author's goal, as in the task file; if empty, it follows from the skills."""
    neglect_collisions: tuple[str, ...] = ()
    """Bodies whose name contains one of these do not collide with robots."""
    detailed_instruction: str = ""
    """The longer wording; one per robot, separated by semicolons."""
    fluid: FluidInstance | None = None
    """Grains, if the task has any."""
    surroundings: Annotated[LitSurroundings | None, Field(exclude_if=lambda given: given is None)] = None
    """Light from all around; None: a room by day."""
    room: Annotated[dict[str, str], Field(max_length=9, exclude_if=lambda room: not room)] = field(default_factory=dict)
    """Kind, layout and style of a generated room, and the fixture at the origin; empty: an arena."""

    work_point: Annotated[tuple[Number, Number], Field(exclude_if=lambda point: not any(point))] = (0.0, 0.0)
    """Origin of the work frame, from the middle of the table, to the right of the robot and away from it [m]."""
    arms: Annotated[tuple[str, ...], Field(max_length=1000, exclude_if=lambda arms: not arms)] = ()
    """The arm of each block of skills that the task leaves to the nearest one, in order; empty: it leaves none."""
    layout: Annotated[int, Field(ge=0, le=100, exclude_if=lambda layout: not layout)] = 0
    """Which layout of the attempt this is: the expert found no way in those before it."""
    retold: Annotated[RetoldFrom | None, Field(exclude_if=lambda source: source is None)] = None
    """The demonstration whose scene this is; None: the scene was sampled."""
    stand_ins: Annotated[dict[str, str], Field(max_length=500, exclude_if=lambda given: not given)] = field(
        default_factory=dict
    )
    """What of the library stands in for missing files, by the object's name, ``fluid`` or ``skills``, and how it
    differs: it may make the episode easier or harder than the task meant."""

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
