"""Nodes: the base class with ports and compute, the context of an evaluation, and a node placed in a graph."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from handloom.arrays import Array
from handloom.errors import InputError, NotFoundError, suggest, unknown_name
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.graph.port import Port
from handloom.scene.surface_gripper import SurfaceGripper
from handloom.sim import World


@dataclass(frozen=True, kw_only=True)
class GraphContext:
    """Time and robots during one evaluation."""

    robots: Mapping[str, SingleArticulation] = field(default_factory=dict)
    """Path or name used in a graph > initialised robot."""
    surface_grippers: Mapping[str, SurfaceGripper] = field(default_factory=dict)
    """Path or name used in a graph > surface gripper."""
    world: World | None = None
    """The world, to look up bodies that ports name."""
    time: float = 0.0
    """Simulated time [s]."""
    delta_seconds: float = 0.0
    """Time since the last evaluation of this kind [s]."""
    frame: int = 0
    """Number of ticks since play."""
    playing: bool = True
    """Whether the timeline runs."""

    def robot(self, path: str, prim: str | None) -> SingleArticulation:
        """Return the robot of a node; its path takes precedence over its target.

        Raises:
            InputError: Neither is given.
            NotFoundError: No robot of that name.
        """
        name = path or prim
        if not name:
            raise InputError("neither robotPath nor targetPrim names a robot")
        if name not in self.robots:
            raise unknown_name("robot in this graph", name, self.robots)
        return self.robots[name]

    def surface_gripper(self, prim: str | None) -> SurfaceGripper:
        """Return a surface gripper by its path or name."""
        if not prim:
            raise InputError("the target SurfaceGripper names no surface gripper")
        if prim not in self.surface_grippers:
            raise unknown_name("surface gripper in this graph", prim, self.surface_grippers)
        return self.surface_grippers[prim]

    def pose(self, prim: str) -> Array:
        """Return T_world_prim (4, 4) of a robot's base or of a body."""
        if prim in self.robots:
            return self.robots[prim].root.pose()
        if self.world is None or prim not in self.world.bodies:
            raise unknown_name("robot or body", prim, [*self.robots, *(self.world.bodies if self.world else ())])
        return self.world.body_pose(prim)

    def velocity(self, prim: str) -> Array:
        """Return linear [m/s], then angular [rad/s] velocity in world (6,) of a robot's base or of a body."""
        if prim in self.robots:
            return self.robots[prim].get_world_velocity()
        if self.world is None:
            raise unknown_name("robot or body", prim, self.robots)
        return self.world.body_velocity(prim)


@dataclass(frozen=True, kw_only=True)
class NodeResult:
    """The result of a compute; made by ``done`` and ``failed``."""

    outputs: Mapping[str, Any] = field(default_factory=dict)
    """New values of outputs; other outputs keep their values."""
    follow: tuple[str, ...] = ()
    """Execution outputs to follow now."""
    failure: str = ""
    """Reason why nothing was computed; empty on success."""


def done(*follow: str, **outputs: Any) -> NodeResult:
    """Return a success: execution outputs to follow, and new output values."""
    return NodeResult(outputs=outputs, follow=follow)


def failed(why: str) -> NodeResult:
    """Return a failure; outputs keep their values and nothing follows."""
    return NodeResult(failure=why)


class Node(ABC):
    """A node type. Subclasses declare their ports and ``compute``; memory is kept in attributes that ``reset`` clears.

    A node without execution ports is pure data: it is computed when a consumer needs it.
    """

    TYPE: ClassVar[str]
    """Published type name."""
    VERSION: ClassVar[int] = 1
    INPUTS: ClassVar[tuple[Port, ...]] = ()
    OUTPUTS: ClassVar[tuple[Port, ...]] = ()

    @abstractmethod
    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Compute once.

        Args:
            given: Value of every data input; latched inputs keep their value from the first compute.
            context: Time and robots.
            pulse: The execution input that was reached, or the event; "" for pure data.
        """

    def reset(self) -> None:  # noqa: B027 - most nodes are stateless
        """Clear all memory, as on stop."""

    def stopped_outputs(self, latched: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return outputs that do not go back to their defaults on stop.

        Args:
            latched: Inputs of the first compute; empty if there was none.
        """
        return {}

    @classmethod
    def is_pure(cls) -> bool:
        """Return whether the node has no execution ports."""
        return all(port.type.family != "execution" for port in (*cls.INPUTS, *cls.OUTPUTS))


class EventNode(Node):
    """A node that starts execution when something happens."""

    EVENT: ClassVar[str]
    """``tick`` (once per rendered frame) or ``physics`` (once per physics step)."""


@dataclass(kw_only=True)
class PlacedNode:
    """The mutable record a graph keeps of one node."""

    name: str
    node: Node
    values: dict[str, Any] = field(default_factory=dict)
    """Inputs that were set; all others have their default values."""
    outputs: dict[str, Any] = field(default_factory=dict)
    """Last computed outputs."""
    latched: dict[str, Any] | None = None
    """Latched inputs; None before the first compute after play."""
    versions: Mapping[int, type[Node]] = field(default_factory=dict)
    """Versions of this node type, for error messages."""

    def __post_init__(self) -> None:
        """Start with the default outputs."""
        if not self.outputs:
            self.outputs = {port.name: port.default for port in self.node.OUTPUTS}

    @property
    def event(self) -> str:
        """The event that starts this node, or ""."""
        return self.node.EVENT if isinstance(self.node, EventNode) else ""

    def input(self, name: str) -> Port:
        """Return an input port; NotFoundError lists the existing ones."""
        return self._find(name, self.node.INPUTS, "input")

    def output(self, name: str) -> Port:
        """Return an output port, or an input that may be a source."""
        sources = tuple(port for port in self.node.INPUTS if port.source)
        return self._find(name, (*self.node.OUTPUTS, *sources), "output")

    def set_value(self, name: str, value: Any) -> None:
        """Set an input.

        Raises:
            InputError: The value is not of the port's type.
        """
        self.values[name] = self.input(name).read(value, f"{self.name}.inputs:{name}")

    def value(self, name: str) -> Any:
        """Return the value of an input when nothing is connected to it."""
        return self.values.get(name, self.input(name).default)

    def stop(self, *, clear_commands: bool) -> None:
        """Clear latched inputs, memory and outputs; on request also commands, as the published nodes do."""
        self.outputs = {port.name: port.default for port in self.node.OUTPUTS}
        for name, value in self.node.stopped_outputs(self.latched or {}).items():
            self.outputs[name] = self.output(name).read(value, f"{self.name}.outputs:{name}")
        self.latched = None
        self.node.reset()
        if clear_commands:
            self.values.update({port.name: port.type.default for port in self.node.INPUTS if port.command})

    def other_version(self, name: str) -> str:
        """Return a hint if another version of this node type has a port of that name; otherwise an empty string."""
        for version, kind in self.versions.items():
            if version != self.node.VERSION and any(port.name == name for port in (*kind.INPUTS, *kind.OUTPUTS)):
                return f"version {version} of the node has it: create ({self.name!r}, {self.node.TYPE!r}, {version})"
        return ""

    def _find(self, name: str, ports: tuple[Port, ...], kind: str) -> Port:
        for port in ports:
            if port.name == name:
                return port
        known = [port.name for port in ports]
        raise NotFoundError(
            f"node {self.name!r} ({self.node.TYPE}, version {self.node.VERSION}) has no {kind} {name!r}; "
            f"{self.other_version(name) or suggest(name, known) or 'it has none'}"
        )


def split_attribute(text: str) -> tuple[str, str, str]:
    """Split ``node.inputs:port`` into node, side and port; a leading graph path ``/Graph/`` is dropped.

    Raises:
        InputError: The text does not have this form.
    """
    node, dot, rest = text.rpartition(".")
    side, colon, port = rest.partition(":")
    if not (dot and colon and node and port) or side not in {"inputs", "outputs"}:
        raise InputError(f"an attribute has the form node.inputs:port or node.outputs:port, got {text!r}")
    return node.rsplit("/", 1)[-1], side, port
