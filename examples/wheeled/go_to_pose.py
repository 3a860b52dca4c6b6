"""A Jetbot goes to three points in turn: it faces each one, then drives straight."""

import math

from handloom.isaac.wheeled import DifferentialController, WheelBasePoseController, WheeledRobot, floor_world
from handloom.robots import load_robot

world = floor_world(load_robot("jetbot"))
robot = WheeledRobot(world, "robot/", "jetbot", wheel_dof_names=["left_wheel_joint", "right_wheel_joint"])
robot.initialize()
controller = WheelBasePoseController("go", DifferentialController("drive", 0.03, 0.1125))

for goal in [(0.4, 0.0), (0.4, 0.4), (0.0, 0.1)]:
    for _ in range(1500):
        position, orientation = robot.get_world_pose()
        robot.apply_wheel_actions(controller.forward(position, orientation, [*goal, 0.0], yaw_velocity=1.5))
        if math.dist(position[:2], goal) < 0.04:
            break
        world.step(5)
    print(f"at ({position[0]:.3f}, {position[1]:.3f}), goal {goal}")
    assert math.dist(position[:2], goal) < 0.04
