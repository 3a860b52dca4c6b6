"""Objects and fixtures as task and arena files describe them."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from handloom.config import Config, UnusedKey

Triple = tuple[float, float, float]
Quad = tuple[float, float, float, float]
TargetClass = Literal[
    "RigidObject", "GeometryObject", "ArticulatedObject", "PlaneObject", "ShapeObject", "XFormObject", "ConveyorObject"
]


class TextureConfig(Config):
    """A picture on a surface, picked from a library."""

    texture_lib: str
    """Folder of pictures, or the name of a procedural texture: wood, stone, plaster, cloth, metal, checker, noise."""
    apply_randomization: bool = False
    """Pick another one in every episode."""
    texture_id: int = Field(default=0, ge=0)
    """Which one when it is not picked at random."""
    texture_scale: tuple[float, ...] = (1.0, 1.0)
    """Repetitions per metre."""
    target_prim_path: Annotated[str, UnusedKey("a texture covers the whole object here")] = ""


class StrictInit(Config):
    """Joint positions an articulated object starts with."""

    joint_positions: tuple[float, ...]
    """[m or rad]"""
    joint_indices: tuple[int, ...]
    """Which joints, counted in the order of the asset."""


class ObjectConfig(Config):
    """One object or fixture. Without a ``path`` it comes from our own library: ``category`` names what it is."""

    name: str = Field(min_length=1)
    """Unique name, used by regions, skills and the instruction."""
    target_class: TargetClass
    """RigidObject moves, ArticulatedObject has joints, PlaneObject is a thin sheet, the others are fixed."""
    path: str = ""
    """Asset file; empty builds the object from the library."""
    category: str = ""
    """What it is, e.g. ``banana``; a category of the library when there is no path."""
    translation: Triple | None = None
    """Position of the origin in the world [m]; a region replaces it."""
    euler: Triple | None = None
    """Extrinsic xyz angles [deg]."""
    quaternion: Quad | None = None
    """wxyz; wins over euler."""
    scale: Triple = (1.0, 1.0, 1.0)
    """Size factor per axis."""
    visible: bool = True
    texture: TextureConfig | None = None
    mass: float | None = Field(default=None, gt=0)
    """[kg]; absent keeps the asset's."""
    apply_randomization: bool = False
    """Pick another asset, or another look of the category, in every episode."""
    randomization_scope: Literal["category", "full"] | tuple[str, ...] = "category"
    """Where to pick from: the same category, everything, or these categories."""
    orientation_mode: Literal["keep", "suggested", "random"] = "keep"
    """keep: as given; suggested: one of the object's stable poses; random: any."""
    scale_mode: Literal["keep", "suggested"] = "keep"
    gap: tuple[float, ...] | None = None
    """Offsets in x [m] of the places in a container."""
    init_translation: Triple | None = None
    """Where the object starts relative to ``init_parent`` [m], e.g. in a gripper."""
    init_orientation: Quad | None = None
    init_parent: str | None = None
    """Body the object starts at."""
    optimize_2d_layout: bool = False
    """Keep footprints of such objects apart when their regions overlap."""
    fix_base: bool = False
    """Weld the base of an articulated object to the world."""
    joint_position_range: tuple[float, float] | None = None
    """Start value of the main joint, uniform [m or rad]."""
    strict_init: StrictInit | None = None
    art_cat: str | None = None
    """Category folder articulated assets are picked from."""
    info_name: str | None = None
    """Which annotation of an articulated asset is used."""
    obj_info_path: str | None = None
    """Annotation file of an articulated asset."""
    size: tuple[float, float] | Triple | None = None
    """Width and length of a plane, or the size of a library object [m]."""
    color: Triple | str | None = None
    """RGB in 0..1 or a colour word."""
    parent_obj: str | None = None
    """Object that carries an XFormObject."""
    linear_velocity: tuple[float, ...] | None = None
    """Surface velocity of conveyor tracks [m/s]."""
    linear_track_list: tuple[str, ...] | None = None
    angular_velocity: tuple[float, ...] | None = None
    """[rad/s]"""
    angular_track_list: tuple[str, ...] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters of a library object; see ``handloom object show``."""
    colors: tuple[str, ...] = ()
    """Colour words to pick from in every episode (ours)."""
    prim_path_child: Annotated[str, UnusedKey("names a prim inside a USD file")] = "Aligned"
    dataset: Annotated[str, UnusedKey("informational")] = ""
    filter_collision: Annotated[Any, UnusedKey("the reference system does not read it either")] = None

    @model_validator(mode="after")
    def _has_a_source(self) -> "ObjectConfig":
        if self.target_class != "PlaneObject" and not (self.path or self.category or self.art_cat):
            raise ValueError("give a path (asset file) or a category (our library)")
        return self


class ArenaConfig(Config):
    """The surroundings: table, floor, walls."""

    name: str = ""
    fixtures: tuple[ObjectConfig, ...] = ()
    involved_scenes: str | None = None
    """Names of scene lists, separated by commas."""
    update_freq: int = Field(default=10, ge=1)
    """After how many episodes the scene is picked anew."""
