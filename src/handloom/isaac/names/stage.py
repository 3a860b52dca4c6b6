"""The stage of ported Isaac Sim code: references to robots at prim paths, compiled to one World when it starts.

As in Isaac Sim, there is one current stage per process, and functions act on it implicitly.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco

from handloom.errors import FileError, InputError, NotFoundError, StateError, suggest
from handloom.robots import load_robot
from handloom.sim import World

ZOO = {
    "franka": "fr3",
    "panda": "fr3",
    "fr3": "fr3",
    "jetbot": "jetbot",
    "kaya": "kaya",
    "leatherback": "leatherback",
    "nova_carter": "nova_carter",
    "novacarter": "nova_carter",
    "carter": "nova_carter",
    "so101": "so101",
}
"""Word in the path of a published asset > the robot of the zoo used for it."""


@dataclass(kw_only=True)
class Reference:
    """A robot on the stage."""

    spec: mujoco.MjSpec
    dof_names: tuple[str, ...] | None
    """The joints in the robot's order; None takes those of the model."""
    position: Sequence[float] = (0.0, 0.0, 0.0)
    """Position of its base (3,) [m]."""
    quat: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of its base, wxyz (4,)."""
    attributes: dict[tuple[str, str], Any] = field(default_factory=dict)
    """(joint, attribute name) > value."""


class Stage:
    """Robots by prim path. ``world`` compiles them once; after that the stage cannot be changed."""

    def __init__(self) -> None:
        self._references: dict[str, Reference] = {}
        self._world: World | None = None

    @property
    def prim_paths(self) -> tuple[str, ...]:
        """Prim paths of the robots."""
        return tuple(self._references)

    def add(self, asset: str | Path, prim_path: str) -> "Prim":
        """Put a robot at a prim path.

        Args:
            asset: An MJCF or URDF file, a robot folder, or the path of a published asset, for which a robot of the zoo
                is used.
            prim_path: Absolute path, e.g. ``/World/panda``.

        Raises:
            InputError: The path is taken or not absolute.
            FileError: The file cannot be read, or is a USD file.
            NotFoundError: There is no such file, and no robot of the zoo replaces it.
            StateError: The stage was already started.
        """
        self._refuse_when_started("a reference cannot be added")
        if not re.fullmatch(r"(/\w+)+", prim_path):
            raise InputError(f"a prim path has the form /Name/Name/..., got {prim_path!r}")
        if prim_path in self._references:
            raise InputError(f"there is already a robot at {prim_path}")
        self._references[prim_path] = _reference(Path(asset))
        return Prim(self, prim_path)

    def reference(self, prim_path: str) -> Reference:
        """Return the robot at a prim path.

        Raises:
            NotFoundError: There is none; the message lists the existing ones.
        """
        if prim_path not in self._references:
            known = suggest(prim_path, self._references) or "the stage is empty"
            raise NotFoundError(f"no robot at {prim_path}; {known}")
        return self._references[prim_path]

    def place(self, prim_path: str, position: Sequence[float] | None, quat: Sequence[float] | None) -> None:
        """Set the base pose of a robot before the stage is started; None leaves either part unchanged."""
        if position is not None or quat is not None:
            self._refuse_when_started(f"{prim_path} cannot be placed")
        robot = self.reference(prim_path)
        robot.position = robot.position if position is None else position
        robot.quat = robot.quat if quat is None else quat

    @property
    def world(self) -> World:
        """The world of all robots on a level floor, compiled on first access."""
        if self._world is None:
            if not self._references:
                raise StateError("the stage is empty; call add_reference_to_stage(file, prim_path) first")
            spec = mujoco.MjSpec()
            options = [robot.spec.option for robot in self._references.values()]
            # A world has one set of options: those of the first robot, with the shortest time step.
            options[0].timestep = min(option.timestep for option in options)
            for option in (spec.option, *options[1:]):
                for name in ("timestep", "integrator", "cone", "impratio"):
                    setattr(option, name, getattr(options[0], name))
            spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20.0, 20.0, 0.1])
            for path, robot in self._references.items():
                for (joint, name), value in robot.attributes.items():
                    robot.spec.add_numeric(name=f"{name}:{joint}", data=[float(value)])
                frame = spec.worldbody.add_frame(pos=list(robot.position), quat=list(robot.quat))
                spec.attach(robot.spec, prefix=prefix_of(path), frame=frame)
            self._world = World.from_spec(spec)
        return self._world

    def GetPrimAtPath(self, path: str) -> "Prim":  # noqa: N802 - published name
        """Return the prim at a path: a robot, or one of its parts."""
        return Prim(self, path)

    def set_attribute(self, path: str, name: str, value: Any) -> None:
        """Set an attribute of a joint.

        Raises:
            NotFoundError: No robot has a joint at that path.
            StateError: The stage was already started.
        """
        self._refuse_when_started(f"{name} of {path} cannot be set")
        root, joint = self._owner(path)
        self._references[root].attributes[joint, name] = value

    def get_attribute(self, path: str, name: str) -> Any:
        """Return an attribute of a joint; None if it was not set."""
        root, joint = self._owner(path)
        return self._references[root].attributes.get((joint, name))

    def _owner(self, path: str) -> tuple[str, str]:
        for root, robot in self._references.items():
            joints = [joint.name for joint in robot.spec.joints]
            if path.startswith(f"{root}/"):
                joint = path.rsplit("/", 1)[-1]
                if joint not in joints:
                    raise NotFoundError(f"the robot at {root} has no joint {joint!r}; {suggest(joint, joints)}")
                return root, joint
        raise NotFoundError(f"no robot at {path}; {suggest(path, self._references) or 'the stage is empty'}")

    def _refuse_when_started(self, what: str) -> None:
        if self._world is not None:
            raise StateError(f"{what}: the stage was already started; call create_new_stage() first")


class Prim:
    """A prim on the stage: a robot, or a joint of one.

    Args:
        stage: The stage.
        path: Prim path.
    """

    def __init__(self, stage: Stage, path: str) -> None:
        self._stage = stage
        self.path = path

    def GetPath(self) -> str:  # noqa: N802 - published name
        """Return the prim path."""
        return self.path

    def GetName(self) -> str:  # noqa: N802 - published name
        """Return the last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def CreateAttribute(self, name: str, value_type: object = None) -> "Attribute":  # noqa: N802 - published name
        """Return an attribute of this joint, to be set; the value determines its type."""
        del value_type
        return Attribute(self._stage, self.path, name)

    def GetAttribute(self, name: str) -> "Attribute":  # noqa: N802 - published name
        """Return an attribute of this joint."""
        return Attribute(self._stage, self.path, name)


@dataclass(frozen=True)
class Attribute:
    """An attribute of a joint, e.g. ``isaacmecanumwheel:radius``."""

    stage: Stage
    path: str
    name: str

    def Set(self, value: Any) -> bool:  # noqa: N802 - published name
        """Set the value and return True."""
        self.stage.set_attribute(self.path, self.name, value)
        return True

    def Get(self) -> Any:  # noqa: N802 - published name
        """Return the value; None if it was not set."""
        return self.stage.get_attribute(self.path, self.name)


class _Context:
    """The single context of the process; it holds the current stage."""

    def __init__(self) -> None:
        self.stage = Stage()

    def get_stage(self) -> Stage:
        """Return the current stage."""
        return self.stage


_CONTEXT = _Context()


def get_context() -> _Context:
    """Return the context that holds the current stage."""
    return _CONTEXT


def get_current_stage() -> Stage:
    """Return the current stage."""
    return _CONTEXT.stage


def create_new_stage() -> Stage:
    """Replace the current stage with an empty one."""
    _CONTEXT.stage = Stage()
    return _CONTEXT.stage


def add_reference_to_stage(usd_path: str | Path, prim_path: str, prim_type: str = "Xform") -> Prim:
    """Put a robot on the current stage; see ``Stage.add``."""
    del prim_type
    return get_current_stage().add(usd_path, prim_path)


def prefix_of(prim_path: str) -> str:
    """Return the name prefix of a robot's parts in the world."""
    return f"{prim_path.strip('/')}/"


def _reference(asset: Path) -> Reference:
    if asset.suffix in {".xml", ".urdf"} and asset.is_file():
        try:
            return Reference(spec=mujoco.MjSpec.from_file(str(asset)), dof_names=None)
        except ValueError as error:
            raise FileError(f"{asset}: {error}") from error
    if asset.is_file():
        raise FileError(f"{asset}: give the robot as MJCF or URDF; USD files of robots are not read")
    name = str(asset) if asset.is_dir() else _zoo_robot(asset)
    robot = load_robot(name)
    return Reference(spec=robot.spec(), dof_names=tuple(robot.config.dof_names))


def _zoo_robot(asset: Path) -> str:
    words = re.split(r"[^a-z0-9_]+", str(asset).lower())
    found = [robot for word, robot in ZOO.items() if any(word in part for part in words)]
    if not found:
        raise NotFoundError(f"{asset} does not exist, and no robot of the zoo replaces it; known: {', '.join(ZOO)}")
    return found[0]
