"""A Jetbot drives a circle: body velocity to wheel speeds, and wheel speeds to dead reckoning."""

import math

from handloom.isaac.wheeled import DifferentialController, PlanarOdometry, WheeledRobot, floor_world
from handloom.robots import load_robot

world = floor_world(load_robot("jetbot"))
robot = WheeledRobot(world, "robot/", "jetbot", wheel_dof_names=["left_wheel_joint", "right_wheel_joint"])
robot.initialize()
controller = DifferentialController("drive", wheel_radius=0.03, wheel_base=0.1125, max_wheel_speed=20.0)

# A circle of radius 0.3 m at 0.15 m/s takes 4 pi seconds.
odometry = PlanarOdometry()
for _ in range(round(4.0 * math.pi / (5 * world.timestep))):
    robot.apply_wheel_actions(controller.forward([0.15, 0.5]))
    before = robot.get_wheel_positions()
    world.step(5)
    turned = robot.get_wheel_positions() - before
    odometry.update(controller.body_twist(turned), 1.0)

position, _ = robot.get_world_pose()
print(
    f"back at ({position[0]:.4f}, {position[1]:.4f}) m, dead reckoning ({odometry.pose.x:.4f}, {odometry.pose.y:.4f}) m"
)
assert math.hypot(position[0], position[1]) < 0.01
assert math.hypot(position[0] - odometry.pose.x, position[1] - odometry.pose.y) < 0.005
