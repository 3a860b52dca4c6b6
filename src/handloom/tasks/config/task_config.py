"""Keys of a task file: robots, objects, regions, cameras, skills and data options."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from handloom.config import Angles, Config, Degrees, Metres, Position, Quaternion, UnusedKey, mistake_at
from handloom.errors import suggest
from handloom.judging.goal_config import GoalTerm
from handloom.robots import RobotConfig
from handloom.scene.camera_config import CameraConfig
from handloom.scene.object_config import Channel, ObjectConfig
from handloom.scene.region_config import DistractorsConfig, RandomConfig, RegionConfig
from handloom.scene.rooms.room_config import RoomConfig
from handloom.skills.configs import AnySkillConfig
from handloom.tasks.config.arm_words import CHOSEN, SIDES

Range = tuple[float, float]
Intensity = Annotated[float, Field(ge=0, le=1e6)]
Height = Annotated[float, Field(ge=0.1, le=3.0)]
Block = dict[str, tuple[AnySkillConfig, ...]]
"""Arm name > skills of that arm in order; the arms of one block run at the same time."""


ROBOTS_CALLED = {"franka": "fr3", "frankarobotiq": "franka_robotiq85"}
"""Names of robots in published tasks > robots of the zoo with another name."""


def robot_called(name: str) -> str:
    """Return the robot of the zoo for a name in a task: ``lift2_1`` is a lift2."""
    plain = re.sub(r"_\d+$", "", name)
    return ROBOTS_CALLED.get(plain, plain)


class RobotEntry(Config):
    """One robot of a task."""

    name: str = Field(min_length=1)
    """Name in skills and cameras."""
    robot_config_file: str
    """A robot of the zoo (``fr3``), a robot folder, or a robot YAML file; absent: the robot of that name."""
    translation: Position = (0.0, 0.0, 0.0)
    """Position in the world [m]; a region replaces it."""
    euler: Angles | None = None
    """Extrinsic xyz angles [deg]."""
    quaternion: Quaternion | None = None
    """wxyz; wins over euler."""
    scale: Annotated[Any, UnusedKey("a robot has the size it has")] = None
    ignore_substring: tuple[str, ...] = ("material", "Plane", "conveyor", "scene", "table")
    """Planner obstacles whose name contains one of these are ignored."""
    use_batch: Annotated[bool, UnusedKey("candidates are always tested in batch")] = False
    collision_activation_distance: Annotated[float | None, UnusedKey("cuRobo's; ours is the planner's padding")] = None
    constrain_grasp_approach: Annotated[bool, UnusedKey("a grasp is always approached on a straight line")] = False
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Keys of ``robot.yaml`` that this task replaces; written beside the other keys in the task file."""

    @model_validator(mode="before")
    @classmethod
    def _collect_overrides(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        robot = {
            key: value for key, value in given.items() if key in RobotConfig.model_fields.keys() - cls.model_fields
        }
        own = {key: value for key, value in given.items() if key not in robot}
        if "robot_config_file" not in own and isinstance(own.get("name"), str):
            own["robot_config_file"] = robot_called(own["name"])
        overrides = own.get("overrides", {})
        return {**own, "overrides": {**overrides, **robot} if isinstance(overrides, dict) else overrides}

    @classmethod
    def more_keys(cls) -> set[str]:
        """Return the keys of ``robot.yaml``."""
        return set(RobotConfig.model_fields)


class EnvMapConfig(Config):
    """Light from all around."""

    envmap_lib: Annotated[str, UnusedKey("light is procedural here and needs no images")] = ""
    apply_randomization: bool = False
    """Vary strength, direction and colour of the light."""
    intensity_range: tuple[Intensity, Intensity] = (4000.0, 7000.0)
    """Lowest and highest strength; 5500 is our middle exposure."""
    rotation_range: tuple[Degrees, Degrees] = (0.0, 180.0)
    """Lowest and highest rotation [deg]."""
    lamps: tuple[Annotated[int, Field(ge=1, le=8)], Annotated[int, Field(ge=1, le=8)]] = (2, 2)
    """Minimum and maximum number of lamps; the first casts shadows, those after the second are tinted and hang anywhere
    (ours)."""
    vary_surroundings: bool = False
    """Draw another sky or room around the scene: windows, panels, warm and cold light (ours)."""
    light_type: Annotated[str, UnusedKey("light comes from a sky and lamps here")] = "DomeLight"

    @model_validator(mode="after")
    def _ranges_ascend(self) -> "EnvMapConfig":
        for key in ("intensity_range", "rotation_range", "lamps"):
            low, high = getattr(self, key)
            if low > high:
                raise ValueError(f"{key} must go from low to high, got {[low, high]}")
        return self


class DataConfig(Config):
    """Recording options: frame rate, length, instructions, dataset names."""

    task_dir: Annotated[str, UnusedKey("the output folder is chosen on the command line")] = ""
    language_instruction: str = ""
    """The instruction; ``{name}`` is replaced by the words for that object in this episode, e.g. ``red cube``."""
    detailed_language_instruction: str = ""
    """Longer instruction; one per robot, separated by semicolons."""
    collect_info: Annotated[str, UnusedKey("the output folder is chosen on the command line")] = ""
    version: Annotated[str, UnusedKey("runs record the versions of task and program")] = ""
    max_episode_length: int = Field(default=600, gt=0, le=100_000)
    """Step budget [frames]."""
    log_motion_vectors: Annotated[bool, UnusedKey("recorded states give any motion exactly")] = False
    update: Annotated[Any, UnusedKey("the reference system does not read it either")] = None
    fps: int = Field(default=30, gt=0, le=240)
    """Frame rate of the dataset and the control loop [1/s] (ours)."""
    paraphrases: tuple[str, ...] = ()
    """Other wordings of the instruction, picked at random (ours)."""
    variant: Literal["clean", "randomized", "extreme"] = "clean"
    """``randomized`` varies everything irrelevant to a policy: categories and sizes, clutter, masses, friction,
    materials of room and table, lamps, windows, cameras and their lenses, start pose and table height; ``extreme`` the
    same with noise on table, floor and walls (ours)."""


class FluidConfig(Config):
    """Grains that stand in for a fluid."""

    container_name: str
    """Object that holds them at the start."""
    particleContactOffset: float = Field(default=0.005, ge=0.001, le=0.05)  # noqa: N815 - published key
    """Grain radius [m]."""
    spacing_scale: float = Field(default=1.2, ge=1.0, le=10.0)
    """Distance of neighbours at the start, in grain diameters."""
    numParticlesX: int = Field(default=7, ge=1, le=10_000)  # noqa: N815 - published key
    """Grains along x."""
    numParticlesY: int = Field(default=7, ge=1, le=10_000)  # noqa: N815 - published key
    """Grains along y."""
    numParticlesZ: int = Field(default=450, ge=1, le=1_000_000)  # noqa: N815 - published key
    """Layers of grains; those inside the container are kept, from the bottom up, at most 500."""
    center_z: bool = False
    """Whether the grid is centred on the container instead of standing on its floor."""
    z_offset: Metres = 0.0
    """Upward shift of the grid [m]."""
    max_velocity: Annotated[float, UnusedKey("grains move at their physical speed")] = 0.8
    mass: float | None = Field(default=None, gt=0, le=1.0)
    """Mass of a grain [kg]."""
    density: float | None = Field(default=None, gt=0, le=30_000)
    """Density of a grain [kg/m^3]; 1000 if no mass is given either."""
    color: tuple[Channel, Channel, Channel] | None = None
    """sRGB."""
    emissiveColor: Annotated[Any, UnusedKey("grains do not glow")] = None  # noqa: N815 - published key
    opacity: float = Field(default=1.0, ge=0, le=1)
    """0 is invisible, 1 is opaque."""


class PhysicsNoise(Config):
    """Physics that varies from episode to episode (ours)."""

    mass_scale: Range = (1.0, 1.0)
    """Factor on the mass of every movable object."""
    friction: Range | None = None
    """Sliding friction of movable objects; absent: the library's values."""
    gain_scale: Range = (1.0, 1.0)
    """Factor on stiffness and damping of every robot's drives."""

    @model_validator(mode="after")
    def _ranges_make_sense(self) -> "PhysicsNoise":
        for key, lowest, highest in (("mass_scale", 0.01, 100.0), ("friction", 0.0, 10.0), ("gain_scale", 0.1, 10.0)):
            low, high = getattr(self, key) or (lowest, highest)
            if not lowest <= low <= high <= highest:
                raise ValueError(f"{key} must go from low to high within {lowest} and {highest}, got {[low, high]}")
        return self


class DisturbanceConfig(Config):
    """Deliberate disturbances; the recorded action stays the expert's command (ours)."""

    position: float = Field(default=0.0, ge=0.0, le=0.2)
    """Standard deviation of the hand's offset in each direction [m]; 0 with rotation 0 disturbs nothing."""
    rotation: float = Field(default=0.0, ge=0.0, le=1.0)
    """Standard deviation of the hand's rotation about each axis [rad]."""
    seconds: float = Field(default=0.4, gt=0.0, le=10.0)
    """Time in which an offset dies away to a third [s]."""
    pushes: float = Field(default=0.0, ge=0.0, le=1.0)
    """Fraction of the objects to be picked that are pushed away, 2 to 5 cm, while the hand comes near."""
    drops: float = Field(default=0.0, ge=0.0, le=1.0)
    """Fraction of the objects to be placed that the hand loses on the way."""

    @property
    def any(self) -> bool:
        """Whether anything goes wrong."""
        return any((self.position, self.rotation, self.pushes, self.drops))


class RetoldConfig(Config):
    """Scenes recorded with another robot, in a file beside the manifest; written by ``handloom retell``."""

    sha256: str
    """Hash over the scenes, in order."""
    same_view: bool = False
    """Whether cameras mounted in the room are kept, moved with the scene."""


class TaskConfig(Config):
    """One task."""

    name: str = "banana_base_task"
    """Name of the task; runs are named after the file."""
    task: Annotated[str, UnusedKey("every task runs in the same loop")] = "BananaBaseTask"
    task_id: Annotated[int, UnusedKey("informational")] = 0
    offset: Annotated[Any, UnusedKey("every scene has a world of its own")] = None
    render: Annotated[bool, UnusedKey("rendering of images is chosen on the command line")] = True
    asset_root: str = ""
    """Last place where relative paths are looked up."""
    arena_file: str = "arenas/table.yaml"
    """YAML with the fixtures around the robot."""
    room: RoomConfig | None = None
    """A generated room instead of an arena: ``kitchen``, or a choice of its layouts and styles (ours)."""
    env_map: EnvMapConfig = EnvMapConfig()
    """Light."""
    neglect_collision_names: tuple[str, ...] = ()
    """Bodies whose name contains one of these do not collide with robots."""
    robots: tuple[RobotEntry, ...] = Field(min_length=1, max_length=8)
    """Robots of the task."""
    objects: tuple[ObjectConfig, ...] = Field(default=(), max_length=200)
    """Objects of the task, manipulated or not."""
    regions: tuple[RegionConfig, ...] = Field(default=(), max_length=1000)
    """Start places of robots and objects; each region is drawn after those it refers to."""
    random_region_list: tuple[RandomConfig, ...] = Field(default=(), max_length=1000)
    """Ranges from which regions with a priority draw, each at most once."""
    cameras: tuple[CameraConfig, ...] = Field(default=(), max_length=32)
    """Cameras that are recorded."""
    distractors: DistractorsConfig | None = None
    """Clutter."""
    fluid: FluidConfig | None = None
    """Grains in a container."""
    data: DataConfig = DataConfig()
    """Wording, length and frame rate."""
    skills: tuple[dict[str, tuple[Block, ...]], ...] = Field(min_length=1)
    """Stages, one after another: robot > blocks, one after another: arm > skills."""
    goal: tuple[GoalTerm, ...] = Field(default=(), max_length=100)
    """Required state of the world at the end, for any policy; absent: the effects of the skills (ours)."""
    physics: PhysicsNoise = PhysicsNoise()
    """Variation of masses, friction and gains (ours)."""
    disturbance: DisturbanceConfig = DisturbanceConfig()
    """Noise, pushes and drops, so that demonstrations show corrections (ours)."""
    whole_body: bool | None = None
    """Whether the expert may drive a robot with a base to a place from which an unreachable skill is within reach;
    absent: only in files that name a robot file of the reference system, whose arms reach differently (ours)."""
    proxy_assets: bool = False
    """Replace missing assets and arenas with library objects of the same category (ours)."""
    allow_outside: bool = False
    """Whether files outside the folders of this one may be read; no file can set this, only ``--allow-outside``
    (ours)."""
    table_height: tuple[Height, Height] | None = None
    """Lowest and highest table top [m] (ours)."""

    retold: RetoldConfig | None = None
    """Recorded scenes to use instead of sampling new ones (ours)."""
    work_point: tuple[Metres, Metres] | None = None
    """Origin of the work frame, from the middle of ``work_surface`` [m]: the place where the robot works best
    (ours)."""
    work_surface: str = "table"
    """Surface on which short regions and spots lie (ours)."""
    work_area: tuple[tuple[Metres, Metres], tuple[Metres, Metres]] | None = None
    """Place of objects without a region in a deed file, in the work frame [m] (ours)."""

    @model_validator(mode="after")
    def _table_height_ascends(self) -> "TaskConfig":
        low, high = self.table_height or (0.0, 0.0)
        if low > high:
            raise ValueError(f"table_height must go from low to high, got {[low, high]}")
        return self

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "TaskConfig":
        places = [("robots", i) for i in range(len(self.robots))] + [("objects", i) for i in range(len(self.objects))]
        names = [entry.name for entry in (*self.robots, *self.objects)]
        for k, (key, i) in enumerate(places):
            if names[k] in names[:k]:
                first, j = places[names.index(names[k])]
                text = f"objects and robots need different names; used twice: {names[k]}, which is {first}.{j} already"
                raise mistake_at((key, i, "name"), text)
        return self

    @model_validator(mode="after")
    def _schedule_names_exist(self) -> "TaskConfig":
        robots = [entry.name for entry in self.robots]
        for stage in self.skills:
            for robot, blocks in stage.items():
                if robot not in robots:
                    raise ValueError(f"skills: no robot named {robot!r}; {suggest(robot, robots)}")
                for block in blocks:
                    wrong = [arm for arm in block if arm not in (*SIDES, *CHOSEN)]
                    if wrong:
                        raise ValueError(f"skills.{robot}: an arm is 'left', 'right' or 'nearest', got {wrong[0]!r}")
                    if len(block) > 1 and set(CHOSEN) & block.keys():
                        raise ValueError(f"skills.{robot}: arms that work at once are left and right, not nearest")
                    both = [skill.name for skills in block.values() for skill in skills if skill.both_arms]
                    if both and len(block) > 1:
                        raise ValueError(f"skills.{robot}: {both[0]} takes both arms; give it a block of one arm")
        return self


def placed_skills(config: TaskConfig) -> Iterator[tuple[tuple[str | int, ...], AnySkillConfig]]:
    """Yield every skill with the keys that lead to it: ``skills``, stage, robot, block, arm and place in its list."""
    for s, stage in enumerate(config.skills):
        for robot, blocks in stage.items():
            for b, block in enumerate(blocks):
                for arm, skills in block.items():
                    for k, skill in enumerate(skills):
                        yield ("skills", s, robot, b, arm, k), skill


class TaskFile(Config):
    """A task file: a list of tasks."""

    tasks: tuple[TaskConfig, ...] = Field(min_length=1)
