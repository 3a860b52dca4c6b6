"""An FR3 follows a moving target in physics: with RMPflow, which avoids a ball, then with inverse kinematics."""

import mujoco
import numpy as np

from handloom.isaac.articulation import SingleArticulation, add_drive_inputs
from handloom.isaac.motion_generation import (
    ArticulationKinematicsSolver,
    ArticulationMotionPolicy,
    LulaKinematicsSolver,
    RmpFlow,
    Sphere,
    load_supported_lula_kinematics_solver_config,
    load_supported_motion_policy_config,
)
from handloom.render import Renderer, contact_sheet, spec_of_mjcf_camera, write_png
from handloom.robots import load_robot
from handloom.sim import World

FRAME, SECONDS = 1 / 60, 12.0
BALL, RADIUS = np.array([0.66, 0.0, 0.42]), 0.06
DOWN = np.array([0.0, 1.0, 0.0, 0.0])

fr3 = load_robot("fr3")
spec = fr3.spec()
add_drive_inputs(spec)
spec.worldbody.add_light(pos=(0.5, -1, 2.5))
spec.worldbody.add_camera(name="view", pos=(1.5, -1.2, 1.0), quat=(0.735, 0.467, 0.264, 0.415))
ball = {"size": (RADIUS, 0, 0), "pos": BALL, "rgba": (0.9, 0.3, 0.2, 1), "contype": 0, "conaffinity": 0}
spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, **ball)
world = World(spec.compile())
policy = RmpFlow(**load_supported_motion_policy_config("fr3"))
policy.add_obstacle(Sphere("ball", radius=RADIUS, position=BALL))
solver = LulaKinematicsSolver(**load_supported_lula_kinematics_solver_config("fr3"))


def target(t: float) -> np.ndarray:
    """Return the target position: on an arc in front of the robot, beside the ball."""
    angle = 0.6 * np.sin(2 * np.pi * t / SECONDS)
    return np.array([0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.35])


def follow(kind: str) -> tuple[float, float, list]:
    """Return the mean distance from the target in the second half, the smallest gap to the ball, and images."""
    mujoco.mj_resetData(world.model, world.data)
    for name, value in fr3.home.items():
        world.data.joint(fr3.resolve_joint(name)).qpos[0] = value
    mujoco.mj_forward(world.model, world.data)
    robot = SingleArticulation(world)
    robot.initialize()
    driver = ArticulationMotionPolicy(robot, policy, FRAME)
    pair = ArticulationKinematicsSolver(robot, solver, policy.end_effector_frame)
    view, gaps, errors, pictures = spec_of_mjcf_camera(world.model, "view", width=320, height=240), [], [], []
    renderer = Renderer(world.model)
    for frame in range(round(SECONDS / FRAME)):
        goal = target(frame * FRAME)
        if kind == "rmpflow":
            policy.set_end_effector_target(goal, DOWN)
            robot.apply_action(driver.get_next_articulation_action())
        else:
            action, success = pair.compute_inverse_kinematics(goal, DOWN)
            assert success
            robot.apply_action(action)
        world.step(round(FRAME / world.timestep))
        q = robot.get_joint_positions()[:7]
        centers, radii = policy.collision_spheres(q)
        gaps.append((np.linalg.norm(centers - BALL, axis=1) - radii - RADIUS).min())
        errors.append(np.linalg.norm(policy.get_end_effector_pose(q)[0] - goal))
        if frame % 120 == 0:
            pictures.append(renderer.render(world.data, [view], ("rgb",))["view"]["rgb"])
    return float(np.mean(errors[len(errors) // 2 :])), float(min(gaps)), pictures


sheets = []
for kind, most in (("rmpflow", 0.08), ("ik", 0.08)):
    error, gap, pictures = follow(kind)
    sheets += pictures
    print(f"{kind}: {100 * error:.1f} cm behind the target on average, smallest gap to the ball {100 * gap:.1f} cm")
    assert error < most
    assert kind == "ik" or gap > 0
write_png("follow_target.png", contact_sheet(sheets, columns=6))
