"""A Nova Carter plans and follows a path in an execution graph read from YAML."""

import math
from pathlib import Path

from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.graph import GraphSession, load_graph
from handloom.isaac.wheeled import floor_world, yaw_from_quat
from handloom.robots import load_robot

world = floor_world(load_robot("nova_carter"))
robot = SingleArticulation(world, "robot/", "nova_carter")
robot.initialize()
graph = load_graph(Path(__file__).with_suffix(".yaml"))

session = GraphSession(graph, world, {"/nova_carter": robot}, steps_per_frame=8)
session.play()
for frame in range(3000):
    evaluation = session.frame()
    assert not evaluation.failures, evaluation.failures
    if all(graph.get("check.outputs:reachedGoal")):
        break

position, quat = robot.get_world_pose()
print(f"after {frame} frames at ({position[0]:.3f}, {position[1]:.3f}), yaw {yaw_from_quat(quat):.3f}")
assert math.dist(position[:2], (3.0, 1.5)) < 0.1
assert abs(yaw_from_quat(quat) - math.pi / 4) < 0.05
