"""Registry of node types."""

from handloom.config import import_named
from handloom.errors import InputError, unknown_name
from handloom.isaac.graph.node import Node

_NODES = "handloom.isaac.graph.nodes"

# Published type > version > our class. A graph that requests no version gets the highest one.
NODE_TYPES: dict[str, dict[int, str]] = {
    "isaacsim.core.nodes.IsaacArticulationController": {1: f"{_NODES}.articulation_nodes:ArticulationControllerNode"},
    "isaacsim.core.nodes.IsaacArticulationState": {1: f"{_NODES}.articulation_nodes:ArticulationStateNode"},
    "isaacsim.core.nodes.IsaacComputeOdometry": {1: f"{_NODES}.navigation_nodes:ComputeOdometryNode"},
    "isaacsim.core.nodes.IsaacReadSimulationTime": {1: f"{_NODES}.event_nodes:ReadSimulationTimeNode"},
    "isaacsim.core.nodes.IsaacSimulationGate": {1: f"{_NODES}.event_nodes:SimulationGateNode"},
    "isaacsim.core.nodes.OnPhysicsStep": {1: f"{_NODES}.event_nodes:OnPhysicsStepNode"},
    "isaacsim.robot.manipulators.IsaacGripperController": {1: f"{_NODES}.articulation_nodes:GripperControllerNode"},
    "isaacsim.robot.surface_gripper.SurfaceGripper": {1: f"{_NODES}.surface_gripper_node:SurfaceGripperNode"},
    "isaacsim.robot.wheeled_robots.AckermannController": {
        1: f"{_NODES}.ackermann_nodes:AckermannV1Node",
        2: f"{_NODES}.ackermann_nodes:AckermannNode",
    },
    "isaacsim.robot.wheeled_robots.CheckGoal2D": {1: f"{_NODES}.navigation_nodes:CheckGoalNode"},
    "isaacsim.robot.wheeled_robots.DifferentialController": {1: f"{_NODES}.drive_nodes:DifferentialNode"},
    "isaacsim.robot.wheeled_robots.HolonomicController": {1: f"{_NODES}.drive_nodes:HolonomicNode"},
    "isaacsim.robot.wheeled_robots.HolonomicRobotUsdSetup": {1: f"{_NODES}.drive_nodes:HolonomicSetupNode"},
    "isaacsim.robot.wheeled_robots.QuinticPathPlanner": {1: f"{_NODES}.navigation_nodes:QuinticPathNode"},
    "isaacsim.robot.wheeled_robots.StanleyControlPID": {1: f"{_NODES}.navigation_nodes:StanleyNode"},
    "omni.graph.action.OnPlaybackTick": {1: f"{_NODES}.event_nodes:OnPlaybackTickNode"},
    "omni.graph.action.OnTick": {1: f"{_NODES}.event_nodes:OnTickNode"},
    "omni.graph.nodes.ConstantBool": {1: f"{_NODES}.value_nodes:ConstantBoolNode"},
    "omni.graph.nodes.ConstantDouble": {1: f"{_NODES}.value_nodes:ConstantDoubleNode"},
    "omni.graph.nodes.ConstantDouble3": {1: f"{_NODES}.value_nodes:ConstantDouble3Node"},
    "omni.graph.nodes.ConstantInt": {1: f"{_NODES}.value_nodes:ConstantIntNode"},
    "omni.graph.nodes.ConstantString": {1: f"{_NODES}.value_nodes:ConstantStringNode"},
    "omni.graph.nodes.ConstantToken": {1: f"{_NODES}.value_nodes:ConstantTokenNode"},
    "omni.graph.nodes.ConstructArray": {1: f"{_NODES}.value_nodes:ConstructAnyArrayNode"},
    "omni.graph.nodes.ConstructTokenArray": {1: f"{_NODES}.value_nodes:ConstructTokenArrayNode"},
    "omni.graph.nodes.MakeVector2": {1: f"{_NODES}.value_nodes:MakeVector2Node"},
    "omni.graph.nodes.MakeVector3": {1: f"{_NODES}.value_nodes:MakeVector3Node"},
    "omni.graph.nodes.MakeVector4": {1: f"{_NODES}.value_nodes:MakeVector4Node"},
}


def node_class(type_name: str, version: int | None = None) -> type[Node]:
    """Return the class of a node type.

    Args:
        type_name: Published type, its last part alone, or ``my_module:MyNode`` for a custom node.
        version: None takes the newest.

    Raises:
        NotFoundError: No such type or version.
        NotAllowedError: ``my_module:MyNode`` was not allowed.
        InputError: ``my_module:MyNode`` is not a subclass of Node.
    """
    if ":" in type_name:
        return _load(type_name, {})
    full = type_name if type_name in NODE_TYPES else _by_last_part(type_name)
    versions = NODE_TYPES[full]
    chosen = max(versions) if version is None else version
    if chosen not in versions:
        raise unknown_name(f"version of {full}", str(version), map(str, versions))
    return _load(full, {full: versions[chosen]})


def node_versions(kind: type[Node]) -> dict[int, type[Node]]:
    """Return the versions of a node type; empty for a custom node."""
    return {v: _load(kind.TYPE, {kind.TYPE: row}) for v, row in NODE_TYPES.get(kind.TYPE, {}).items()}


def _by_last_part(name: str) -> str:
    last = name.rsplit(".", 1)[-1]
    found = [full for full in NODE_TYPES if full.rsplit(".", 1)[-1] == last]
    if not found:
        raise unknown_name("node type", name, NODE_TYPES)
    return found[0]


def _load(name: str, table: dict[str, str]) -> type[Node]:
    found = import_named("node type", name, table, own="my_module:MyNode")
    if not (isinstance(found, type) and issubclass(found, Node)):
        raise InputError(f"node type {name!r} is not a subclass of handloom.isaac.graph.Node")
    return found
