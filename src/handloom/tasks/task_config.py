"""The task file: the published schema, plus the keys marked "ours"."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from handloom.config import Config, UnusedKey
from handloom.errors import suggest
from handloom.scene.camera_config import CameraConfig
from handloom.scene.object_config import ObjectConfig
from handloom.scene.region_config import DistractorsConfig, RandomConfig, RegionConfig
from handloom.skills.configs import SkillConfig
from handloom.tasks.robot_entry import RobotEntry

Range = tuple[float, float]
Triple = tuple[float, float, float]
Block = dict[str, tuple[SkillConfig, ...]]
"""Arm name > skills of that arm in order; the arms of one block run at the same time."""


class EnvMapConfig(Config):
    """Light from all around."""

    envmap_lib: str = ""
    """Folder of pictures; our light is procedural and needs none."""
    apply_randomization: bool = False
    intensity_range: Range = (4000.0, 7000.0)
    """Lowest and highest strength; 5500 is our middle exposure."""
    rotation_range: Range = (0.0, 180.0)
    """Lowest and highest turn [deg]."""
    light_type: Annotated[str, UnusedKey("light comes from a sky and lamps here")] = "DomeLight"


class DataConfig(Config):
    """What is recorded and how it is described."""

    task_dir: str = ""
    """Published output folder; ours is chosen on the command line."""
    language_instruction: str = ""
    """The instruction; names of randomized objects are replaced by what they are."""
    detailed_language_instruction: str = ""
    """Longer instruction; one per robot, separated by semicolons."""
    collect_info: str = ""
    version: str = ""
    max_episode_length: int = Field(default=600, gt=0, le=100_000)
    """Step budget [frames]."""
    log_motion_vectors: bool = False
    update: Annotated[Any, UnusedKey("the reference system does not read it either")] = None
    fps: int = Field(default=30, gt=0, le=240)
    """Frame rate of the dataset and the control loop [1/s] (ours)."""
    paraphrases: tuple[str, ...] = ()
    """Other wordings of the instruction, picked at random (ours)."""


class FluidConfig(Config):
    """Grains that stand in for a fluid."""

    container_name: str
    """Object that holds them at the start."""
    particleContactOffset: float = Field(default=0.005, gt=0)  # noqa: N815 - published key
    """Grain radius [m]."""
    spacing_scale: float = Field(default=1.2, gt=0)
    numParticlesX: int = Field(default=7, ge=1)  # noqa: N815 - published key
    numParticlesY: int = Field(default=7, ge=1)  # noqa: N815 - published key
    numParticlesZ: int = Field(default=450, ge=1)  # noqa: N815 - published key
    center_z: bool = False
    z_offset: float = 0.0
    max_velocity: float = Field(default=0.8, gt=0)
    mass: float | None = Field(default=None, gt=0)
    density: float | None = Field(default=None, gt=0)
    color: Triple | None = None
    emissiveColor: Annotated[Any, UnusedKey("grains do not glow")] = None  # noqa: N815 - published key
    opacity: float = Field(default=1.0, ge=0, le=1)


class PhysicsNoise(Config):
    """Physics that varies from episode to episode (ours)."""

    mass_scale: Range = (1.0, 1.0)
    """Factor on the mass of every movable object."""
    friction: Range | None = None
    """Sliding friction of movable objects; absent keeps the library's."""


class TaskConfig(Config):
    """One task."""

    name: str = "banana_base_task"
    task: Annotated[str, UnusedKey("every task runs in the same loop")] = "BananaBaseTask"
    task_id: Annotated[int, UnusedKey("informational")] = 0
    offset: Annotated[Any, UnusedKey("every scene has a world of its own")] = None
    render: bool = True
    asset_root: str = ""
    """Last place where relative paths are looked up."""
    arena_file: str = "arenas/table.yaml"
    """YAML with the fixtures around the robot."""
    env_map: EnvMapConfig = EnvMapConfig()
    neglect_collision_names: tuple[str, ...] = ()
    """Bodies whose name contains one of these do not collide with robots."""
    robots: tuple[RobotEntry, ...] = Field(min_length=1)
    objects: tuple[ObjectConfig, ...] = ()
    regions: tuple[RegionConfig, ...] = ()
    random_region_list: tuple[RandomConfig, ...] = ()
    """Ranges that regions with a priority draw from, each at most once."""
    cameras: tuple[CameraConfig, ...] = ()
    distractors: DistractorsConfig | None = None
    fluid: FluidConfig | None = None
    data: DataConfig = DataConfig()
    skills: tuple[dict[str, tuple[Block, ...]], ...] = Field(min_length=1)
    """Stages, one after the other: robot > blocks, one after the other: arm > skills."""
    physics: PhysicsNoise = PhysicsNoise()
    proxy_assets: bool = False
    """Replace assets and arenas that are not there by library objects of the same category (ours)."""
    table_height: Range | None = None
    """Lowest and highest table top [m] (ours)."""

    @model_validator(mode="after")
    def _names_are_distinct(self) -> "TaskConfig":
        names = [entry.name for entry in (*self.robots, *self.objects)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"objects and robots need different names; used twice: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _schedule_names_exist(self) -> "TaskConfig":
        robots = [entry.name for entry in self.robots]
        for stage in self.skills:
            for robot, blocks in stage.items():
                if robot not in robots:
                    raise ValueError(f"skills: no robot named {robot!r}; {suggest(robot, robots)}")
                for block in blocks:
                    wrong = [arm for arm in block if arm not in ("left", "right")]
                    if wrong:
                        raise ValueError(f"skills.{robot}: an arm is 'left' or 'right', got {wrong[0]!r}")
        return self


class TaskFile(Config):
    """A task file: a list of tasks."""

    tasks: tuple[TaskConfig, ...] = Field(min_length=1)
