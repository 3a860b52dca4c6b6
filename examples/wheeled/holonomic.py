"""Kaya slides sideways along a square without turning; its wheels are read from the model."""

import numpy as np

from handloom.isaac.wheeled import HolonomicController, HolonomicRobotSetup, WheeledRobot, floor_world
from handloom.robots import load_robot

world = floor_world(load_robot("kaya"))
setup = HolonomicRobotSetup(world, "robot/", "base_link")
controller = HolonomicController("drive", *setup.get_holonomic_controller_params(), kinematics="rigid_body")
robot = WheeledRobot(world, "robot/", "kaya", wheel_dof_names=setup.get_articulation_controller_params())
robot.initialize()

corners = []
for vx, vy in [(0.2, 0.0), (0.0, 0.2), (-0.2, 0.0), (0.0, -0.2), (0.0, 0.0)]:
    for _ in range(200):
        robot.apply_wheel_actions(controller.forward([vx, vy, 0.0]))
        world.step(5)
    corners.append(robot.get_world_pose()[0][:2])

print("corners:", np.round(corners, 3).tolist())
side = 0.2 * 1000 * world.timestep
assert np.allclose(corners, side * np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0]]), atol=0.01)
