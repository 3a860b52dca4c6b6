"""Each node type of wheels and paths computes the published numbers."""

import math

import numpy as np
import pytest
from tests.isaac.graph.one_node import one

from handloom.errors import NotFoundError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.graph import GraphContext
from handloom.isaac.wheeled import floor_world
from handloom.robots import load_robot

# -- wheels ------------------------------------------------------------------------------------------------------------


def test_the_differential_node_limits_acceleration_only_when_both_limits_are_set() -> None:
    graph = one("DifferentialController", wheelRadius=0.1, wheelDistance=0.5, linearVelocity=1.0, dt=0.1)
    graph.evaluate()
    assert graph.get("n.outputs:velocityCommand").tolist() == pytest.approx([10, 10])
    half = one(
        "DifferentialController", wheelRadius=0.1, wheelDistance=0.5, linearVelocity=1.0, dt=0.1, maxAcceleration=1.0
    )
    half.evaluate()
    assert half.get("n.outputs:velocityCommand").tolist() == pytest.approx([10, 10])


def test_the_differential_node_speeds_up_and_brakes_at_its_own_rates() -> None:
    graph = one(
        "DifferentialController",
        wheelRadius=1.0,
        wheelDistance=2.0,
        dt=0.1,
        maxAcceleration=-1.0,
        maxDeceleration=2.0,
        maxAngularAcceleration=3.0,
        linearVelocity=0.25,
        angularVelocity=-0.5,
    )

    def speeds(count: int) -> tuple[list[float], list[float]]:
        linear, angular = [], []
        for _ in range(count):
            assert not graph.evaluate().failures
            left, right = graph.get("n.outputs:velocityCommand")
            linear.append((left + right) / 2)
            angular.append((right - left) / 2)
        return linear, angular

    linear, angular = speeds(4)
    assert linear == pytest.approx([0.1, 0.2, 0.25, 0.25])
    assert angular == pytest.approx([-0.3, -0.5, -0.5, -0.5])
    graph.set("n.inputs:linearVelocity", -0.3)
    linear, _ = speeds(4)
    # Braking at 2 m/s^2 through zero, then speeding up backwards at 1 m/s^2.
    assert linear == pytest.approx([0.05, -0.15, -0.25, -0.3])
    graph.stop()
    assert graph.get("n.outputs:velocityCommand").size == 0


def test_the_differential_node_latches_its_geometry_and_refuses_bad_values() -> None:
    graph = one("DifferentialController", wheelRadius=0.0, wheelDistance=0.5)
    assert "must be > 0" in graph.evaluate().failures["n"]
    graph.set("n.inputs:wheelRadius", 0.1)
    graph.set("n.inputs:linearVelocity", 1.0)
    graph.evaluate()
    graph.set("n.inputs:wheelRadius", 0.5)
    graph.evaluate()
    assert graph.get("n.outputs:velocityCommand").tolist() == pytest.approx([10, 10])
    timeless = one("DifferentialController", wheelRadius=0.1, wheelDistance=0.5, maxAngularAcceleration=1.0)
    assert "needs dt > 0" in timeless.evaluate().failures["n"]


def test_the_holonomic_node_gives_the_published_numbers_and_latches() -> None:
    graph = one(
        "HolonomicController",
        wheelRadius=[0.04] * 3,
        wheelOrientations=[[0, 0, 0, 1], [0.866, 0, 0, -0.5], [0.866, 0, 0, 0.5]],
        wheelPositions=[
            [-0.0980432, 0.000636773, -0.050501],
            [0.0493475, -0.084525, -0.050501],
            [0.0495291, 0.0856937, -0.050501],
        ],
        mecanumAngles=[90, 90, 90],
        inputVelocity=[1, 1, 0.1],
    )
    graph.evaluate()
    assert graph.get("n.outputs:jointVelocityCommand") == pytest.approx([-25.1053, 14.3182, -14.5417], abs=0.01)
    graph.set("n.inputs:wheelRadius", [0.08] * 3)
    graph.evaluate()
    assert graph.get("n.outputs:jointVelocityCommand")[0] == pytest.approx(-25.111903, abs=1e-6)
    assert "wheelRadius is empty" in one("HolonomicController").evaluate().failures["n"]


def test_the_ackermann_node_gives_the_published_numbers_and_ramps() -> None:
    car = {"wheelBase": 1.65, "trackWidth": 1.25, "frontWheelRadius": 0.25, "steeringAngle": 0.1, "speed": 1.1}
    graph = one("AckermannController", **car)
    graph.evaluate()
    assert graph.get("n.outputs:wheelAngles") == pytest.approx([0.103923, 0.096362], abs=1e-6)
    assert graph.get("n.outputs:wheelRotationVelocity") == pytest.approx(
        [4.255736, 4.588511, 4.232776, 4.567224], abs=1e-6
    )
    slow = one("AckermannController", **car, acceleration=0.5, dt=0.1)
    slow.evaluate()
    assert slow.get("n.outputs:wheelRotationVelocity")[2] < 0.2 / 0.25
    slow.stop()
    assert slow.get("n.outputs:wheelRotationVelocity").tolist() == [0, 0, 0, 0]


def test_the_old_ackermann_node_has_its_old_ports() -> None:
    car = {"wheelBase": 1.65, "trackWidth": 1.25, "turningWheelRadius": 0.25, "steeringAngle": 0.1}
    graph = one("AckermannController", 1, **car, speed=1.1)
    graph.evaluate()
    assert graph.get("n.outputs:leftWheelAngle") == pytest.approx(0.103923, abs=1e-6)
    assert graph.get("n.outputs:rightWheelAngle") == pytest.approx(0.096362, abs=1e-6)
    assert graph.get("n.outputs:wheelRotationVelocity") == pytest.approx(4.4)
    faster = one(
        "AckermannController", 1, **car, useAcceleration=True, acceleration=2.0, currentLinearVelocity=[1, 0, 0], dt=0.1
    )
    faster.evaluate()
    assert faster.get("n.outputs:wheelRotationVelocity") == pytest.approx(1.2 / 0.25)
    capped = one("AckermannController", 1, **car, speed=9.0, maxWheelVelocity=5.0, invertSteeringAngle=True)
    capped.evaluate()
    assert capped.get("n.outputs:wheelRotationVelocity") == 5.0
    assert capped.get("n.outputs:leftWheelAngle") < 0


def test_the_setup_node_reads_the_wheels_of_kaya() -> None:
    world = floor_world(load_robot("kaya"))
    robot = SingleArticulation(world, "robot/", "kaya")
    robot.initialize()
    graph = one("HolonomicRobotUsdSetup", robotPrimPath="/kaya", comPrimPath="base_link")
    assert not graph.evaluate(GraphContext(robots={"/kaya": robot})).failures
    assert graph.get("n.outputs:wheelDofNames") == ("axle_0_joint", "axle_1_joint", "axle_2_joint")
    assert graph.get("n.outputs:wheelPositions").shape == (3, 3)


# -- paths -------------------------------------------------------------------------------------------------------------


def test_the_quintic_node_replans_only_when_the_target_moves_enough() -> None:
    graph = one("QuinticPathPlanner", targetPosition=[3, 1, 0])
    assert not graph.evaluate().failures
    assert graph.get("n.outputs:targetChanged") is True
    path = graph.get("n.outputs:pathArrays").reshape(4, -1)
    assert path[1:3, -1] == pytest.approx([3, 1], abs=0.1)
    for target, changed in (([3.09, 1.09, 0], False), ([3.1, 1.0, 0], True), ([3.1, 1.0, 0], False)):
        graph.set("n.inputs:targetPosition", target)
        graph.evaluate()
        assert graph.get("n.outputs:targetChanged") is changed
    graph.set("n.inputs:targetOrientation", [0, 0, math.sin(0.03), math.cos(0.03)])
    graph.evaluate()
    assert graph.get("n.outputs:targetChanged") is True
    assert graph.get("n.outputs:target") == pytest.approx([3.1, 1.0, 0.06])


def test_impossible_limits_of_a_path_are_a_failure_of_the_node() -> None:
    graph = one("QuinticPathPlanner", targetPosition=[3, 1, 0], maxAccel=0.0)
    assert "no path" in graph.evaluate().failures["n"]


@pytest.mark.parametrize(
    ("position", "yaw", "target", "expected"),
    [
        ([0, 0, 0], 0.0, [0.05, 0.05, 0.05], (True, True)),
        ([0, 0, 0], 0.0, [0.2, 0.0, 0.0], (False, True)),
        ([0, 0, 0], -1.0, [0, 0, 0.8], (True, False)),
        ([0, 0, 0], -math.pi + 0.01, [0, 0, math.pi - 0.01], (True, True)),
    ],
)
def test_a_goal_is_reached_within_its_thresholds(position: list, yaw: float, target: list, expected: tuple) -> None:
    quat = [0, 0, math.sin(yaw / 2), math.cos(yaw / 2)]
    graph = one("CheckGoal2D", currentPosition=position, currentOrientation=quat, target=target)
    graph.evaluate()
    assert graph.get("n.outputs:reachedGoal") == expected


def test_zero_quaternions_count_as_yaw_zero() -> None:
    for kind in ("CheckGoal2D", "StanleyControlPID"):
        assert not one(kind).evaluate().failures
    planner = one("QuinticPathPlanner", targetPosition=[1, 0, 0], maxAccel=1000.0, maxJerk=1000.0)
    assert not planner.evaluate().failures
    assert planner.get("n.outputs:target").tolist() == [1, 0, 0]


def test_the_stanley_node_stops_turns_and_drives() -> None:
    path = np.concatenate([np.full(50, 0.5), np.linspace(0, 5, 50), np.zeros(100)])
    base = {"pathArrays": path, "target": [5, 0, 1.0], "targetChanged": True}
    there = one("StanleyControlPID", **base, reachedGoal=[True, True])
    there.evaluate()
    assert (there.get("n.outputs:linearVelocity"), there.get("n.outputs:angularVelocity")) == (0, 0)
    turning = one("StanleyControlPID", **base, reachedGoal=[True, False])
    turning.evaluate()
    assert turning.get("n.outputs:linearVelocity") == 0
    assert turning.get("n.outputs:angularVelocity") == pytest.approx(0.6)
    for side, sign in ((0.3, -1), (-0.3, 1)):
        driving = one("StanleyControlPID", **base, currentPosition=[0, side, 0], currentSpeed=[0.4, 0, 0])
        driving.evaluate()
        assert 0.4 < driving.get("n.outputs:linearVelocity") < 0.5
        assert sign * driving.get("n.outputs:angularVelocity") > 0
    assert "four equal parts" in one("StanleyControlPID", pathArrays=[1.0]).evaluate().failures["n"]


def test_after_stop_the_holonomic_command_is_zero_for_every_wheel() -> None:
    graph = one(
        "HolonomicController",
        wheelRadius=[0.04] * 3,
        wheelPositions=[[-0.1, 0, 0], [0.05, -0.085, 0], [0.05, 0.085, 0]],
        wheelOrientations=[[0, 0, 0, 1], [0.866, 0, 0, -0.5], [0.866, 0, 0, 0.5]],
        mecanumAngles=[90.0] * 3,
        inputVelocity=[1.0, 0.0, 0.0],
    )
    graph.evaluate()
    assert np.any(graph.get("n.outputs:jointVelocityCommand"))
    graph.stop()
    assert graph.get("n.outputs:jointVelocityCommand").tolist() == [0.0, 0.0, 0.0]


def test_a_port_of_version_1_without_a_version_is_told_to_ask_for_it() -> None:
    with pytest.raises(NotFoundError, match=r"version 1 of the node has it: create \('n', .*AckermannController', 1\)"):
        one("AckermannController", turningWheelRadius=0.25)


def test_the_setup_node_takes_targets_or_paths() -> None:
    robot = SingleArticulation(floor_world(load_robot("kaya")), "robot/", "kaya")
    robot.initialize()
    context = GraphContext(robots={"/kaya": robot}, world=robot.world)
    for values in (
        {"robotPrim": "/kaya", "comPrim": "base_link"},
        {"usePath": True, "robotPrim": "/other", "robotPrimPath": "/kaya", "comPrimPath": "base_link"},
    ):
        graph = one("HolonomicRobotUsdSetup", **values)
        assert graph.evaluate(context).failures == {}
        assert len(graph.get("n.outputs:wheelDofNames")) == 3
