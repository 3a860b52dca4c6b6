"""A Leatherback accelerates and steers, then drives a circle whose radius follows from its steering angle."""

import math

import numpy as np

from handloom.isaac.wheeled import AckermannController, WheeledRobot, floor_world
from handloom.robots import load_robot

car = load_robot("leatherback")
world = floor_world(car)
drive = car.config.drive
robot = WheeledRobot(world, "robot/", "car", wheel_dof_names=drive.wheel_names, steering_dof_names=drive.steering_names)
robot.initialize()
controller = AckermannController(
    "drive", wheel_base=0.32, track_width=0.24, front_wheel_radius=0.052, kinematics="rigid_body"
)

steer, speed, dt = 0.3, 0.6, 5 * world.timestep
track = []
for step in range(900):
    robot.apply_wheel_actions(controller.forward([steer, 1.0, speed, 1.0, dt]))  # 1 rad/s and 1 m/s^2 at most
    world.step(5)
    if step > 150:
        T_world_car = robot.root.pose()
        track.append((T_world_car @ [-0.16, 0.0, 0.0, 1.0])[:2])  # middle of the rear axle

# A circle through the points: x^2 + y^2 = 2 a x + 2 b y + c.
x, y = np.array(track).T
a, b, c = np.linalg.lstsq(np.stack([2 * x, 2 * y, np.ones_like(x)], axis=1), x * x + y * y, rcond=None)[0]
radius = math.sqrt(c + a * a + b * b)
expected = 0.32 / math.tan(steer)
print(f"radius {radius:.4f} m, expected {expected:.4f} m")
assert abs(radius - expected) < 0.01
