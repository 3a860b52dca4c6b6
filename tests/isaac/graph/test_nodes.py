import math

import numpy as np
import pytest
from tests.isaac.graph.one_node import one

from handloom.errors import InputError
from handloom.isaac.articulation import ArticulationSubset, SingleArticulation
from handloom.isaac.graph import NODE_TYPES, Graph, GraphContext, GraphSession, Keys, Node, node_class
from handloom.isaac.wheeled import floor_world
from handloom.robots import load_robot
from handloom.sim import World

ARM = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0"><flag contact="disable"/></option>
  <default><joint armature="0.1"/><default class="finger"><joint type="slide" range="0 0.04"/></default></default>
  <worldbody>
    <body name="arm/base">
      <geom size="0.1"/>
      <body name="arm/link"><joint name="arm/a" axis="0 0 1"/><geom size="0.05"/>
        <body name="arm/hand"><joint name="arm/b" axis="0 0 1"/><geom size="0.02"/>
          <body name="arm/f1"><joint name="arm/left" class="finger"/><geom size="0.01"/></body>
          <body name="arm/f2"><joint name="arm/right" class="finger"/><geom size="0.01"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="arm/a" kp="100" kv="10"/><position joint="arm/b" kp="100" kv="10"/>
    <position joint="arm/left" kp="1000" kv="60"/><position joint="arm/right" kp="1000" kv="60"/>
  </actuator>
</mujoco>
"""


@pytest.fixture
def arm() -> SingleArticulation:
    made = SingleArticulation(World.from_xml_string(ARM), "arm/", "arm")
    made.initialize()
    return made


@pytest.mark.parametrize(("name", "version"), [(name, v) for name, versions in NODE_TYPES.items() for v in versions])
def test_every_registered_node_is_itself_and_refuses_or_computes_with_defaults(name: str, version: int) -> None:
    kind = node_class(name, version)
    assert issubclass(kind, Node)
    assert name == kind.TYPE
    assert version == kind.VERSION
    assert kind.__doc__
    names = [port.name for port in kind.INPUTS]
    assert len(set(names)) == len(names)
    graph = one(name, version)
    graph.evaluate()
    for port in kind.OUTPUTS:
        if port.type.family == "number":
            assert np.all(np.isfinite(graph.get(f"n.outputs:{port.name}")))
    graph.stop()


# -- articulation ------------------------------------------------------------------------------------------------------


def test_the_articulation_controller_writes_what_is_selected(arm: SingleArticulation) -> None:
    context = GraphContext(robots={"/arm": arm}, world=arm.world)
    graph = one("IsaacArticulationController", robotPath="/arm", jointNames=["b"], positionCommand=[0.4])
    assert not graph.evaluate(context).failures
    assert arm.get_applied_action().joint_positions.tolist() == [0, 0.4, 0, 0]
    graph.set("n.inputs:jointNames", [])
    graph.set("n.inputs:jointIndices", [0])
    graph.set("n.inputs:positionCommand", [0.7])
    graph.evaluate(context)
    assert arm.get_applied_action().joint_positions.tolist() == [0.7, 0.4, 0, 0]
    graph.set("n.inputs:jointIndices", [1, 2, 3])
    graph.set("n.inputs:positionCommand", [0.1, math.nan, 0.03])
    graph.evaluate(context)
    assert arm.get_applied_action().joint_positions.tolist() == [0.7, 0.1, 0, 0.03]


def test_the_articulation_controller_moves_the_joint_in_physics(arm: SingleArticulation) -> None:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [("tick", "OnPlaybackTick"), ("control", "IsaacArticulationController")],
            Keys.SET_VALUES: [
                ("control.inputs:targetPrim", "/arm"),
                ("control.inputs:jointNames", ["a"]),
                ("control.inputs:positionCommand", [0.5]),
            ],
            Keys.CONNECT: [("tick.outputs:tick", "control.inputs:execIn")],
        }
    )
    session = GraphSession(graph, arm.world, {"/arm": arm})
    session.play()
    for _ in range(100):
        assert not session.frame().failures
    assert arm.get_joint_positions()[0] == pytest.approx(0.5, abs=1e-3)
    session.stop()
    assert arm.get_joint_positions()[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"positionCommand": [1.0]}, "neither robotPath nor targetPrim"),
        ({"robotPath": "/leg", "positionCommand": [1.0]}, "no robot in this graph named '/leg'"),
        ({"robotPath": "/arm", "positionCommand": [1.0]}, "/arm: positionCommand has 1 values, but 4 joints"),
        (
            {"robotPath": "/arm", "jointNames": ["a"], "positionCommand": [0.2], "velocityCommand": [1.0, 2.0]},
            "/arm: velocityCommand has 2 values, but 1 joints are selected",
        ),
        ({"robotPath": "/arm", "jointNames": ["z"], "positionCommand": [1.0]}, "/arm: no joint of 'arm' named 'z'"),
        ({"robotPath": "/arm", "jointIndices": [9], "positionCommand": [1.0]}, "/arm: jointIndices"),
        ({"robotPath": "/arm", "jointIndices": [1, 1], "positionCommand": [1.0, 1.0]}, "selected twice"),
    ],
)
def test_a_bad_command_writes_nothing_and_says_why(arm: SingleArticulation, values: dict, message: str) -> None:
    graph = one("IsaacArticulationController", **values)
    evaluation = graph.evaluate(GraphContext(robots={"/arm": arm}))
    assert message in evaluation.failures["n"]
    applied = arm.get_applied_action()
    assert np.all(applied.joint_positions == 0)
    assert np.all(applied.joint_velocities == 0)


def test_the_articulation_state_is_that_of_the_robot(arm: SingleArticulation) -> None:
    arm.set_joint_positions([0.1, 0.2, 0.01, 0.02])
    graph = one("IsaacArticulationState", robotPath="/arm", jointNames=["right", "a"])
    assert not graph.evaluate(GraphContext(robots={"/arm": arm})).failures
    assert graph.get("n.outputs:jointNames") == ("right", "a")
    assert graph.get("n.outputs:jointPositions").tolist() == [0.02, 0.1]
    assert graph.get("n.outputs:measuredJointForces").shape == (2, 3)
    assert graph.get("n.outputs:measuredJointEfforts").shape == (2,)


# -- the rest ----------------------------------------------------------------------------------------------------------


def test_odometry_starts_where_play_starts_and_sees_the_motion() -> None:
    world = floor_world(load_robot("jetbot"))
    robot = SingleArticulation(
        world, "robot/", "jetbot", position=[1, 2, 0.03], orientation=[math.sqrt(0.5), 0, 0, math.sqrt(0.5)]
    )
    robot.initialize()
    graph = one("IsaacComputeOdometry", chassisPrim="/jetbot")

    def context(time: float) -> GraphContext:
        return GraphContext(robots={"/jetbot": robot}, world=world, time=time)

    graph.evaluate(context(0.0))
    assert graph.get("n.outputs:position") == pytest.approx([0, 0, 0], abs=1e-9)
    robot.set_world_pose([1, 2.5, 0.03])
    robot.set_world_velocity([0, 0.4, 0, 0, 0, 0.3])
    graph.evaluate(context(0.1))
    assert graph.get("n.outputs:position") == pytest.approx([0.5, 0, 0], abs=1e-9)
    assert graph.get("n.outputs:orientation") == pytest.approx([0, 0, 0, 1], abs=1e-9)
    assert graph.get("n.outputs:linearVelocity") == pytest.approx([0.4, 0, 0], abs=1e-9)
    assert graph.get("n.outputs:globalLinearVelocity") == pytest.approx([0, 0.4, 0], abs=1e-9)
    assert graph.get("n.outputs:linearAcceleration") == pytest.approx([4, 0, 0], abs=1e-9)
    assert graph.get("n.outputs:angularVelocity")[2] == pytest.approx(0.3)


def test_the_gripper_opens_at_its_speed_stops_and_closes(arm: SingleArticulation) -> None:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [("tick", "OnTick"), ("grip", "IsaacGripperController"), ("click", "OnPhysicsStep")],
            Keys.SET_VALUES: [("grip.inputs:articulationRootPrim", "/arm"), ("grip.inputs:gripperPrim", "f1")],
            Keys.CONNECT: [("tick.outputs:tick", "grip.inputs:execIn"), ("click.outputs:step", "grip.inputs:open")],
        }
    )
    context = GraphContext(robots={"/arm": arm})

    def command() -> list[float]:
        return graph.get("grip.outputs:positionCommands").tolist()

    graph.evaluate(context)
    assert graph.get("grip.outputs:jointNames") == ("left",)
    assert command() == [0.0]
    graph.set("grip.inputs:gripperSpeed", [0.01])
    graph.evaluate(context, "physics")
    graph.evaluate(context)
    graph.evaluate(context)
    assert command() == pytest.approx([0.02])
    graph.edit(
        {
            Keys.DISCONNECT: [("click.outputs:step", "grip.inputs:open")],
            Keys.CONNECT: [("click.outputs:step", "grip.inputs:stop")],
        }
    )
    arm.set_joint_positions([0, 0, 0.015, 0])
    graph.evaluate(context, "physics")
    graph.evaluate(context)
    assert command() == pytest.approx([0.015])
    graph.edit(
        {
            Keys.DISCONNECT: [("click.outputs:step", "grip.inputs:stop")],
            Keys.CONNECT: [("click.outputs:step", "grip.inputs:close")],
        }
    )
    graph.set("grip.inputs:gripperSpeed", [])
    graph.evaluate(context, "physics")
    graph.evaluate(context)
    assert command() == [0.0]


def test_gates_clocks_ticks_and_arrays() -> None:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("tick", "OnTick"),
                ("gate", "IsaacSimulationGate"),
                ("drive", "DifferentialController"),
                ("clock", "IsaacReadSimulationTime"),
                ("array", "ConstructArray"),
                ("names", "ConstructTokenArray"),
            ],
            Keys.SET_VALUES: [
                ("tick.inputs:framePeriod", 1),
                ("gate.inputs:step", 2),
                ("clock.inputs:resetOnStop", True),
                ("drive.inputs:wheelRadius", 1.0),
                ("drive.inputs:wheelDistance", 1.0),
                ("array.inputs:arraySize", 2),
                ("array.inputs:input1", 3.0),
                ("names.inputs:input0", "left"),
            ],
            Keys.CONNECT: [
                ("tick.outputs:tick", "gate.inputs:execIn"),
                ("gate.outputs:execOut", "drive.inputs:execIn"),
                ("clock.outputs:simulationTime", "drive.inputs:linearVelocity"),
            ],
        }
    )
    runs = [graph.evaluate(GraphContext(time=10.0 + i, delta_seconds=1.0)).computed for i in range(8)]
    assert ["drive" in run for run in runs] == [False, True, False, False, False, True, False, False]
    assert graph.get("tick.outputs:deltaSeconds") == 2.0
    assert graph.get("drive.outputs:velocityCommand").tolist() == [4.0, 4.0]
    push = Graph(evaluator="push")
    push.edit({Keys.CREATE_NODES: [("array", "ConstructArray")], Keys.SET_VALUES: [("array.inputs:arraySize", 99)]})
    assert "arraySize" in push.evaluate().failures["array"]


# -- anything at all ---------------------------------------------------------------------------------------------------

NASTY = (math.nan, math.inf, -math.inf, 0.0, 1e308, -1e308, 5e-324, -1.0, 1.0, 0.3)


def test_random_values_never_bring_a_nan_out_of_a_node() -> None:
    rng = np.random.default_rng(0)

    def value(family: str, shape: tuple) -> object:
        if shape:
            count = int(rng.integers(0, 5)) if shape[0] is None else shape[0]
            return [value(family, shape[1:]) for _ in range(count)]
        nasty = NASTY[rng.integers(len(NASTY))]
        choices = {"number": nasty, "integer": int(rng.integers(-2, 20)), "bool": bool(rng.integers(2)), "text": "a"}
        choices["any"] = choices["number"]
        return choices[family]

    kinds = [(name, version) for name, versions in NODE_TYPES.items() for version in versions]
    failures = 0
    for _ in range(60):
        for name, version in kinds:
            graph = one(name, version)
            for port in node_class(name, version).INPUTS:
                if port.type.family in {"execution", "target"} or rng.uniform() < 0.4:
                    continue
                try:
                    graph.set(f"n.inputs:{port.name}", value(port.type.family, port.type.shape))
                except InputError:
                    continue
            failures += len(graph.evaluate().failures)
            for port in node_class(name, version).OUTPUTS:
                if port.type.family == "number":
                    assert not np.any(np.isnan(graph.get(f"n.outputs:{port.name}"))), (name, port.name)
    assert failures > 100


def test_after_stop_a_robot_has_no_applied_action(arm: SingleArticulation) -> None:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [("tick", "OnPlaybackTick"), ("joints", "IsaacArticulationController")],
            Keys.SET_VALUES: [("joints.inputs:robotPath", "/arm"), ("joints.inputs:positionCommand", [0.1, 0, 0, 0])],
            Keys.CONNECT: [("tick.outputs:tick", "joints.inputs:execIn")],
        }
    )
    session = GraphSession(graph, arm.world, {"/arm": arm}, steps_per_frame=2)
    session.play()
    session.frame()
    assert arm.get_applied_action().joint_positions[0] == 0.1
    session.stop()
    assert arm.get_applied_action() is None
    assert ArticulationSubset(arm, ["b"]).get_applied_action() is None
    session.play()
    assert arm.get_applied_action().joint_positions[0] == 0.0


def test_a_connected_input_returns_what_feeds_it() -> None:
    graph = one("ConstructArray")
    graph.edit(
        {
            Keys.CREATE_NODES: [("five", "ConstantInt"), ("double", "ConstantDouble")],
            Keys.SET_VALUES: [("five.inputs:value", 5), ("double.inputs:value", 2.5)],
            Keys.CONNECT: [("five.inputs:value", "n.inputs:arraySize"), ("double.inputs:value", "n.inputs:input0")],
        }
    )
    size = graph.get("n.inputs:arraySize")
    assert size == 5
    assert isinstance(size, int)
    assert graph.get("n.inputs:input0") == 2.5


@pytest.mark.parametrize(
    ("array_type", "inputs", "expected"),
    [
        ("int[]", [3, 1], (3, 1)),
        ("double[]", [3, 1.5], [3.0, 1.5]),
        ("token[]", ["left", "right"], ("left", "right")),
        ("auto", [1, "two"], (1, "two")),
    ],
)
def test_an_array_has_the_type_asked_for(array_type, inputs, expected) -> None:
    graph = one("ConstructArray", arrayType=array_type, arraySize=2, input0=inputs[0], input1=inputs[1])
    assert graph.evaluate().failures == {}
    assert list(graph.get("n.outputs:array")) == list(expected)


def test_an_array_of_whole_numbers_chooses_joints(arm: SingleArticulation) -> None:
    graph = one("IsaacArticulationController", robotPath="/arm", positionCommand=[0.2, 0.3])
    graph.edit(
        {
            Keys.CREATE_NODES: [("joints", "ConstructArray")],
            Keys.SET_VALUES: [
                ("joints.inputs:arrayType", "int[]"),
                ("joints.inputs:arraySize", 2),
                ("joints.inputs:input0", 1),
                ("joints.inputs:input1", 0),
            ],
            Keys.CONNECT: [("joints.outputs:array", "n.inputs:jointIndices")],
        }
    )
    evaluation = graph.evaluate(GraphContext(robots={"/arm": arm}, world=arm.world))
    assert evaluation.failures == {}
    assert arm.get_applied_action().joint_positions.tolist()[:2] == [0.3, 0.2]


def test_an_array_refuses_what_is_not_of_its_type() -> None:
    wrong = one("ConstructArray", arrayType="int[]", arraySize=1, input0=1.5)
    assert "takes int[], got 1.5" in wrong.evaluate().failures["n"]
    unknown = one("ConstructArray", arrayType="ints", arraySize=1)
    assert "no arrayType 'ints'; did you mean 'int[]'" in unknown.evaluate().failures["n"]


def test_simulation_time_starts_at_play_unless_told_otherwise() -> None:
    graph = one("IsaacReadSimulationTime")
    graph.evaluate(GraphContext(time=4.0))
    graph.evaluate(GraphContext(time=4.5))
    assert graph.get("n.outputs:simulationTime") == 0.5
    graph.set("n.inputs:resetOnStop", False)
    graph.evaluate(GraphContext(time=5.0))
    assert graph.get("n.outputs:simulationTime") == 5.0
    graph.set("n.inputs:referenceTimeNumerator", 3)
    graph.set("n.inputs:referenceTimeDenominator", 4)
    graph.evaluate(GraphContext(time=6.0))
    assert graph.get("n.outputs:simulationTime") == 0.75
