"""Objects and fixtures as task and arena files describe them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from handloom.config import Angles, Config, Metres, Position, Quaternion, UnusedKey
from handloom.objects.registry import CATEGORIES, category_ranges

Triple = tuple[float, float, float]
Channel = Annotated[float, Field(ge=0, le=1)]
TargetClass = Literal[
    "RigidObject", "GeometryObject", "ArticulatedObject", "PlaneObject", "ShapeObject", "XFormObject", "ConveyorObject"
]


class TextureConfig(Config):
    """A texture on a surface, picked from a library."""

    texture_lib: str
    """Folder of images, or the name of a procedural texture: wood, stone, plaster, cloth, metal, checker, noise;
    or of a material of the renderer, such as oiled_oak or metro_tile."""
    apply_randomization: bool = False
    """Pick another one in every episode."""
    texture_id: int = Field(default=0, ge=0, le=1_000_000)
    """Index of the texture if it is not picked at random."""
    texture_scale: tuple[Annotated[float, Field(gt=0, le=1000)], ...] = Field(default=(1.0, 1.0), min_length=1)
    """Repetitions per metre; per millimetre on an object from an asset file."""
    target_prim_path: Annotated[str, UnusedKey("a texture covers the whole object here")] = ""


MOST_TURN = 6.0
"""Maximum speed of a turntable [rad/s]."""


class StrictInit(Config):
    """Joint positions an articulated object starts with."""

    joint_positions: tuple[float, ...]
    """[m or rad]"""
    joint_indices: tuple[Annotated[int, Field(ge=0)], ...]
    """Indices of the joints, in the order of the asset."""

    @model_validator(mode="after")
    def _lengths_agree(self) -> "StrictInit":
        if len(self.joint_positions) != len(self.joint_indices):
            raise ValueError(
                f"{len(self.joint_positions)} joint_positions for {len(self.joint_indices)} joint_indices; give as many"
            )
        return self


class ObjectConfig(Config):
    """One object or fixture. Without a ``path`` it comes from Handloom's library, by its ``category``."""

    name: str = Field(min_length=1)
    """Unique name, used by regions, skills and the instruction."""
    target_class: TargetClass = "RigidObject"
    """RigidObject moves, ArticulatedObject has joints, PlaneObject is a thin sheet, the others are fixed."""
    path: str = ""
    """Asset file; empty builds the object from the library."""
    category: str = ""
    """Category, e.g. ``banana``; one of the library when there is no path."""
    translation: Position | None = None
    """Position of the origin in the world [m]; a region replaces it."""
    euler: Angles | None = None
    """Extrinsic xyz angles [deg]."""
    quaternion: Quaternion | None = None
    """wxyz; wins over euler."""
    scale: Triple = (1.0, 1.0, 1.0)
    """Size factor along each axis of the object's own frame; all three are equal for objects with joints."""
    visible: bool = True
    """Whether cameras see it; a region can override this."""
    texture: TextureConfig | None = None
    """Covers the whole object."""
    mass: float | None = Field(default=None, gt=0)
    """[kg]; absent: the mass of the asset."""
    apply_randomization: bool = False
    """Pick another asset, or another look of the category, in every episode."""
    randomization_scope: Literal["category", "full"] | tuple[str, ...] = "category"
    """Candidates: the same category, everything, or these categories."""
    orientation_mode: Literal["keep", "suggested", "random"] = "keep"
    """keep: as given; suggested: one of the object's stable poses; random: any."""
    scale_mode: Literal["keep", "suggested"] = "keep"
    """keep: ``scale`` applies; suggested: library objects and stand-ins have the usual size of their category."""
    gap: tuple[Metres, ...] | Literal[False] | None = None
    """Offsets along the world's x axis [m] of the places in a container; absent or false: ``gap.yaml`` beside the
    asset, else the slots of a library container, else its middle."""
    init_translation: Position | None = None
    """Start position of the object relative to ``init_parent`` [m], e.g. in a gripper."""
    init_orientation: Quaternion | None = None
    """wxyz in the world, together with ``init_parent``; absent: the object's own."""
    init_parent: str | None = None
    """Body the object starts at, e.g. ``franka/panda_hand``; a gripper that starts closed holds it."""
    optimize_2d_layout: bool = False
    """Keep the footprint of this object, seen from above, clear of those of other placed objects."""
    fix_base: bool = False
    """Weld the base of an articulated object to the world."""
    joint_position_range: tuple[float, float] | None = None
    """Start value of the main joint, uniform [m or rad]."""
    strict_init: StrictInit | None = None
    """Start values of chosen joints; wins over ``joint_position_range``."""
    art_cat: str | None = None
    """Category folder from which articulated assets are picked."""
    info_name: str | None = None
    """Name of the annotation used for an articulated asset."""
    obj_info_path: str | None = None
    """Annotation file of an articulated asset; its folder is the ``info_name`` when that is absent."""
    size: tuple[float, float] | Triple | None = None
    """Width and length of a plane, or the size of a library object [m]."""
    color: tuple[Channel, Channel, Channel] | str | None = None
    """RGB in 0..1 or a colour word."""
    parent_obj: Annotated[str | None, UnusedKey("visual objects stand in the world here")] = None
    linear_velocity: tuple[Annotated[float, Field(ge=-2, le=2)], ...] | None = None
    """Surface velocity of a conveyor along its x axis [m/s]; only the first number is used."""
    linear_track_list: Annotated[Any, UnusedKey("a conveyor has one track here")] = None
    angular_velocity: tuple[Annotated[float, Field(ge=-360, le=360)], ...] | None = None
    """Angular velocity of a turntable about its z axis [rad/s], at most 6; only the first number is used. Published
    conveyors give that of their bends here [deg/s]; conveyors here have no bends."""
    angular_track_list: Annotated[Any, UnusedKey("a turntable is one track here")] = None
    velocity_ranges: tuple[tuple[float, float], ...] = ()
    """Ranges of the velocity of a belt [m/s or rad/s]; one is drawn, then a value in it. Two ranges, as
    ``[[-0.1, -0.06], [0.06, 0.1]]``, also draw the direction (ours)."""
    running: tuple[tuple[float, float], ...] = ()
    """Times from the start of the episode, first and last [s], between which a belt runs; absent: always (ours)."""
    rolling_velocity: tuple[tuple[float, float], tuple[float, float]] | None = None
    """Range of the velocity of its centre along world x and y [m/s], each from low to high, at which it rolls when the
    episode begins (ours)."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of a library object, see ``handloom object show``; of an asset file: unit, up, substance."""
    colors: tuple[str, ...] = ()
    """Colour words to pick from in every episode (ours)."""
    points: dict[str, Position] = Field(default_factory=dict, max_length=100)
    """Named points in the object's own frame [m], ``{spout: [0.06, 0, 0.04]}``, which skills and goals refer to as
    ``kettle.spout``; in addition to those of a library object (ours)."""
    axes: dict[str, Triple] = Field(default_factory=dict, max_length=100)
    """Named directions in the object's own frame, ``{front: [0, -1, 0]}``; ``front`` is the direction that ``facing``
    turns left, right, away or toward (ours)."""
    prim_path_child: Annotated[str, UnusedKey("names a prim inside a USD file")] = "Aligned"
    dataset: Annotated[str, UnusedKey("informational")] = ""
    filter_collision: Annotated[Any, UnusedKey("the reference system ignores it as well")] = None

    @classmethod
    def place_of_key(cls, key: str, given: Mapping[Any, Any]) -> str:
        """Return that a parameter of the object's category, such as ``front_color``, belongs into ``parameters``."""
        category = given.get("category")
        if given.get("path") or not isinstance(category, str) or category not in CATEGORIES:
            return ""
        if key not in category_ranges(category).parameters:
            return ""
        return f"it is a parameter of {category}; put it into parameters: {{{key}: {given[key]}}}"

    @model_validator(mode="after")
    def _has_a_source(self) -> "ObjectConfig":
        if self.target_class != "PlaneObject" and not (self.path or self.category or self.art_cat):
            raise ValueError("give a path (asset file) or a category (of the library)")
        return self

    @model_validator(mode="after")
    def _names_can_be_said(self) -> "ObjectConfig":
        for name in (*self.points, *self.axes):
            if not name.isidentifier():
                raise ValueError(f"names of points and axes consist of letters, digits and _, got {name!r}")
        for name, way in self.axes.items():
            if not all(abs(part) < 1e6 for part in way) or not sum(part * part for part in way) > 1e-12:
                raise ValueError(f"axes: {name}: an axis needs a length above zero, got {list(way)}")
        return self

    @model_validator(mode="after")
    def _makes_sense(self) -> "ObjectConfig":
        spans = (*self.velocity_ranges, *self.running)
        if any(not first <= last for first, last in spans) or any(
            abs(v) > 6.0 for r in self.velocity_ranges for v in r
        ):
            raise ValueError(
                f"velocity_ranges and running go from low to high, at most 6 m/s, got {[*map(list, spans)]}"
            )
        if spans and self.target_class != "ConveyorObject":
            raise ValueError("velocity_ranges and running are keys of a ConveyorObject")
        rolling = self.rolling_velocity or ()
        if any(not -2.0 <= low <= high <= 2.0 for low, high in rolling):
            raise ValueError(f"rolling_velocity goes from low to high, at most 2 m/s, got {[*map(list, rolling)]}")
        if rolling and (self.target_class != "RigidObject" or self.fix_base):
            raise ValueError("rolling_velocity is a key of a RigidObject that is free to move")
        if self.category == "turntable" and any(abs(speed) > MOST_TURN for speed in (self.angular_velocity or ())[:1]):
            raise ValueError(f"angular_velocity of a turntable is at most {MOST_TURN:g} rad/s")
        low, high = self.joint_position_range or (0.0, 0.0)
        if low > high:
            raise ValueError(f"joint_position_range must go from low to high, got {[low, high]}")
        if (self.init_translation or self.init_orientation) and self.init_parent is None:
            raise ValueError("init_translation and init_orientation need an init_parent")
        if any(not 1e-5 <= factor <= 1e3 for factor in self.scale):
            raise ValueError(f"scale must be from 0.00001 to 1000, got {list(self.scale)}")
        if self.size is not None and any(not 1e-4 <= length <= 100.0 for length in self.size):
            raise ValueError(f"size must be from 0.0001 to 100 m, got {list(self.size)}")
        return self


class ArenaConfig(Config):
    """The surroundings: table, floor, walls."""

    name: str = ""
    """Name of the surroundings."""
    fixtures: tuple[ObjectConfig, ...] = Field(default=(), max_length=100)
    """Fixed furniture of the arena."""
    involved_scenes: Annotated[Any, UnusedKey("rooms are built from the fixtures here")] = None
    update_freq: Annotated[int, UnusedKey("every episode samples its own scene")] = 10
