"""Robots by prim path: classes that take a path on the current stage, instead of a World and a prefix."""

import re
from typing import Any

from handloom.errors import InputError, NotFoundError, StateError, suggest
from handloom.isaac.articulation import ArticulationController, ArticulationView, SingleArticulation
from handloom.isaac.names.stage import Stage, get_current_stage, prefix_of
from handloom.isaac.wheeled import HolonomicRobotSetup, WheeledRobot


class _OnStage:
    """Attributes that raise an error before ``initialize``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        where = self.__dict__.get("prim_path")
        raise StateError(f"the robot at {where} has no {name!r} yet. Call initialize() first.")

    def _wait(self, settings: dict[str, Any]) -> None:
        """Store the constructor arguments until ``initialize``; the controller is created at once."""
        controller = settings.pop("articulation_controller", None) or ArticulationController()
        self._settings = {**settings, "articulation_controller": controller}
        self._controller = controller
        self._drives = self._default_state = self._paused = None


class StageArticulation(_OnStage, SingleArticulation):
    """A robot at a prim path; ``initialize`` starts the stage and looks up the robot in it.

    Args:
        prim_path: Path given to ``add_reference_to_stage``.
        name: Name of the robot.
        position: Position of the base (3,) [m]; only before the stage is started.
        translation: The same as ``position``, under its other published name.
        orientation: Orientation of the base, wxyz (4,); only before the stage is started.
        settings: What ``SingleArticulation`` takes besides.
    """

    def __init__(
        self,
        prim_path: str,
        name: str = "articulation",
        position: Any = None,
        translation: Any = None,
        orientation: Any = None,
        **settings: Any,
    ) -> None:
        self._stage, self.prim_path, self.name = get_current_stage(), prim_path, name
        self._stage.place(prim_path, position if translation is None else translation, orientation)
        self._wait(settings)

    def initialize(self, physics_sim_view: object = None) -> None:
        """Look up the robot in the world of the stage and bind its names; see ``SingleArticulation``.

        Args:
            physics_sim_view: No effect; accepted for ported code.
        """
        del physics_sim_view
        SingleArticulation.__init__(self, *_place(self), **self._settings)
        SingleArticulation.initialize(self)


class StageWheeledRobot(_OnStage, WheeledRobot):
    """A wheeled robot at a prim path.

    Args:
        prim_path: Path of the robot, existing or new.
        name: Name of the robot.
        robot_path: No effect; accepted for ported code.
        wheel_dof_names: Wheel joints.
        wheel_dof_indices: The same joints as indices.
        usd_path: File or published asset of a robot that is not on the stage yet.
        create_robot: Put ``usd_path`` on the stage.
        position: Position of the base (3,) [m].
        orientation: Orientation of the base, wxyz (4,).
        settings: What ``WheeledRobot`` takes besides.
    """

    def __init__(
        self,
        prim_path: str,
        name: str = "wheeled_robot",
        robot_path: str | None = None,
        wheel_dof_names: Any = None,
        wheel_dof_indices: Any = None,
        usd_path: str | None = None,
        create_robot: bool = False,
        position: Any = None,
        orientation: Any = None,
        **settings: Any,
    ) -> None:
        del robot_path
        if wheel_dof_names is None and wheel_dof_indices is None:
            raise InputError(f"robot {name!r}: give either wheel_dof_names or wheel_dof_indices")
        self._stage, self.prim_path, self.name = get_current_stage(), prim_path, name
        if create_robot and usd_path is not None:
            self._stage.add(usd_path, prim_path)
        self._stage.place(prim_path, position, orientation)
        self._wait({"wheel_dof_names": wheel_dof_names, "wheel_dof_indices": wheel_dof_indices, **settings})

    def initialize(self, physics_sim_view: object = None) -> None:
        """Look up the robot in the world of the stage and bind its names; see ``WheeledRobot``.

        Args:
            physics_sim_view: No effect; accepted for ported code.
        """
        del physics_sim_view
        WheeledRobot.__init__(self, *_place(self), **self._settings)
        WheeledRobot.initialize(self)


def _place(robot: "StageArticulation | StageWheeledRobot") -> tuple[Any, str, str]:
    robot._settings.setdefault("dof_names", robot._stage.reference(robot.prim_path).dof_names)
    return robot._stage.world, prefix_of(robot.prim_path), robot.name


class StageArticulationView(ArticulationView):
    """Several robots of the same kind on the current stage.

    Args:
        prim_paths_expr: Regular expression that matches their full prim paths, e.g. ``/World/envs/env_.*/panda``.
        name: Name of the view.
    """

    def __init__(self, prim_paths_expr: str | list[str], name: str = "articulation_prim_view") -> None:
        stage: Stage = get_current_stage()
        expressions = [prim_paths_expr] if isinstance(prim_paths_expr, str) else prim_paths_expr
        paths = [path for path in stage.prim_paths if any(re.fullmatch(wanted, path) for wanted in expressions)]
        if not paths:
            known = suggest(str(prim_paths_expr), stage.prim_paths) or "the stage is empty"
            raise NotFoundError(f"no robot at {prim_paths_expr}; {known}")
        self.prim_paths = tuple(paths)
        super().__init__([StageArticulation(path, f"{name}_{index}") for index, path in enumerate(paths)], name)


class StageHolonomicSetup(HolonomicRobotSetup):
    """The wheels of a holonomic base at a prim path.

    Args:
        robot_prim_path: The robot.
        com_prim_path: Reference body for the wheel poses, or its prim path; "" takes the robot's root.
    """

    def __init__(self, robot_prim_path: str, com_prim_path: str = "") -> None:
        self.from_usd(robot_prim_path, com_prim_path)

    def from_usd(self, robot_prim_path: str, com_prim_path: str = "") -> None:
        """Read the marked wheel joints of a robot."""
        stage = get_current_stage()
        stage.reference(robot_prim_path)
        body = com_prim_path.rsplit("/", 1)[-1] if com_prim_path != robot_prim_path else ""
        HolonomicRobotSetup.__init__(self, stage.world, prefix_of(robot_prim_path), body)
