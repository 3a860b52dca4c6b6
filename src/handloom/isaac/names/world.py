"""The world and its scene, with the API used in Isaac Sim scripts: add robots, reset, step, read."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

from handloom.errors import InputError, StateError, unknown_name
from handloom.isaac.names.prims import StageArticulation
from handloom.isaac.names.stage import Prim, add_reference_to_stage, get_current_stage
from handloom.sim import World


class StageRobot(StageArticulation):
    """A robot at a prim path, under the name used in tasks and scenes; a ``SingleArticulation``."""


class StageScene:
    """Contents of a world, by name."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}

    def add(self, obj: Any) -> Any:
        """Add a robot, or a view of some, and return it.

        Raises:
            InputError: The name is already taken.
        """
        if obj.name in self._objects:
            raise InputError(f"the scene already has an object named {obj.name!r}; give this one another name")
        self._objects[obj.name] = obj
        return obj

    def add_default_ground_plane(self, *_: Any, **settings: Any) -> None:
        """Do nothing: every stage has a level floor."""
        del settings

    add_ground_plane = add_default_ground_plane

    def add_reference_to_stage(self, usd_path: str, prim_path: str) -> Prim:
        """Put a robot on the current stage."""
        return add_reference_to_stage(usd_path, prim_path)

    def object_exists(self, name: str) -> bool:
        """Return whether an object with this name exists."""
        return name in self._objects

    def get_object(self, name: str) -> Any:
        """Return an object by its name.

        Raises:
            NotFoundError: There is none.
        """
        if name not in self._objects:
            raise unknown_name("object of the scene", name, self._objects)
        return self._objects[name]

    def remove_object(self, name: str) -> None:
        """Remove an object; its robot stays on the stage."""
        del self._objects[self.get_object(name).name]

    def initialize_all(self) -> None:
        """Initialize every object."""
        for obj in self._objects.values():
            obj.initialize()

    def post_reset(self) -> None:
        """Return every object to its default state."""
        for obj in self._objects.values():
            obj.post_reset()

    def controllers(self) -> list[Any]:
        """Return the controllers of the robots."""
        robots = [obj for obj in self._objects.values() if hasattr(type(obj), "get_articulation_controller")]
        return [robot.get_articulation_controller() for robot in robots]


class StageWorld:
    """The current stage as a world that is reset and stepped; one at a time, see ``instance``.

    ``step`` advances by ``physics_dt``, in as many steps as the robots' models need. Nothing is rendered.

    Args:
        physics_dt: Duration of a step [s].
        rendering_dt: Accepted for ported code; the same as ``physics_dt``.
        stage_units_in_meters: Must be 1: everything is in metres.
        settings: Accepted for ported code: backend, device, physics_prim_path and so on.
    """

    _instance: ClassVar["StageWorld | None"] = None

    def __init__(
        self,
        physics_dt: float | None = None,
        rendering_dt: float | None = None,
        stage_units_in_meters: float = 1.0,
        **settings: Any,
    ) -> None:
        del settings, rendering_dt
        if stage_units_in_meters not in (None, 1.0):
            raise InputError(f"a stage must be in metres, got stage_units_in_meters={stage_units_in_meters}")
        self._dt = 1.0 / 60.0 if physics_dt is None else float(physics_dt)
        if not 0.0 < self._dt < 1.0:
            raise InputError(f"physics_dt must be between 0 and 1 s, got {physics_dt}")
        self.scene = StageScene()
        self._callbacks: dict[str, Callable[[float], Any]] = {}
        self._steps = 0
        self._substeps = 0
        self._playing = False
        StageWorld._instance = self

    @classmethod
    def instance(cls) -> "StageWorld | None":
        """Return the most recently created world; None if there is none."""
        return cls._instance

    @classmethod
    def clear_instance(cls) -> None:
        """Forget the most recently created world."""
        StageWorld._instance = None

    @property
    def stage(self) -> Any:
        """The current stage."""
        return get_current_stage()

    @property
    def current_time(self) -> float:
        """Time since the last reset [s]."""
        return self._steps * self._dt

    @property
    def current_time_step_index(self) -> int:
        """Steps since the last reset."""
        return self._steps

    def get_physics_dt(self) -> float:
        """Return the duration of a step [s]."""
        return self._dt

    get_rendering_dt = get_physics_dt

    def is_playing(self) -> bool:
        """Return whether the simulation is running."""
        return self._playing

    def is_stopped(self) -> bool:
        """Return whether the simulation was stopped or never started."""
        return not self._playing and self._substeps == 0

    def reset(self, soft: bool = False) -> None:
        """Start the stage, or return it to its initial state, and initialize the objects in the scene.

        Args:
            soft: Only return the objects to their default states.
        """
        if soft and self._substeps:
            self.scene.post_reset()
            return
        world = get_current_stage().world
        if not self._substeps:
            self._substeps = max(1, math.ceil(self._dt / world.timestep - 1e-9))
            world.model.opt.timestep = self._dt / self._substeps
            self.scene.initialize_all()
        world.reset()
        self.scene.post_reset()
        self._steps = 0
        self.play()

    def play(self) -> None:
        """Resume the simulation."""
        if not self._substeps:
            self.reset()
            return
        self._playing = True
        for controller in self.scene.controllers():
            controller.stopped = False

    def pause(self) -> None:
        """Let time stand still."""
        self._playing = False

    def stop(self) -> None:
        """Stop the simulation: there is no applied action until ``reset`` or ``play``."""
        self._playing = False
        self._substeps = 0
        for controller in self.scene.controllers():
            controller.stopped = True

    def step(self, render: bool = True) -> None:
        """Advance by ``physics_dt``, after the callbacks; does nothing while stopped or paused.

        Raises:
            StateError: The world was never reset.
        """
        del render
        if not self._playing:
            if not self._substeps and self._steps == 0:
                raise StateError("the world was not started; call reset() first")
            return
        for callback in list(self._callbacks.values()):
            callback(self._dt)
        world: World = get_current_stage().world
        world.step(self._substeps)
        self._steps += 1

    def add_physics_callback(self, callback_name: str, callback_fn: Callable[[float], Any]) -> None:
        """Call a function with the time step [s] before every step."""
        self._callbacks[callback_name] = callback_fn

    def remove_physics_callback(self, callback_name: str) -> None:
        """Remove a callback.

        Raises:
            NotFoundError: There is no callback with this name.
        """
        if callback_name not in self._callbacks:
            raise unknown_name("physics callback", callback_name, self._callbacks)
        del self._callbacks[callback_name]

    def physics_callback_exists(self, callback_name: str) -> bool:
        """Return whether a callback with this name exists."""
        return callback_name in self._callbacks

    def clear(self) -> None:
        """Empty the scene and forget the callbacks."""
        self.scene, self._callbacks = StageScene(), {}
        self._playing, self._substeps, self._steps = False, 0, 0
