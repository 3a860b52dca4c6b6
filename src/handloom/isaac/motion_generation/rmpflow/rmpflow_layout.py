"""Converts a robot, its obstacles and its parameters to the arrays that RMPflow's kernels read."""

import numpy as np

from handloom.arrays import Array
from handloom.config import Config
from handloom.errors import ConfigError, unknown_name
from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot
from handloom.isaac.motion_generation.rmpflow.rmpflow_config import BodyCapsule, RmpFlowFile
from handloom.isaac.motion_generation.rmpflow.rmpflow_kernels import Leaves
from handloom.isaac.motion_generation.rmpflow.rmpflow_space import BOX, CAPSULE, Bodies, Links, Points
from handloom.isaac.motion_generation.world_interface import KeptObstacle
from handloom.motion.kinematics.joint_tree import rotation_of_z_to


def bodies_of(obstacles: list[KeptObstacle]) -> Bodies:
    """Return obstacles in the kernels' layout."""
    kinds, sizes = [], []
    for kept in obstacles:
        kinds.append(BOX if kept.kind == "cuboid" else CAPSULE)
        a, b, c = kept.size
        sizes.append((a / 2, b / 2, c / 2) if kept.kind == "cuboid" else (a, b / 2, 0.0))
    T = np.array([kept.T_base for kept in obstacles]).reshape(-1, 4, 4)
    return Bodies(
        np.array(kinds, np.int64),
        np.ascontiguousarray(T[:, :3, :3]),
        np.ascontiguousarray(T[:, :3, 3]),
        np.array(sizes, float).reshape(-1, 3),
    )


def constant_parts(robot: MotionRobot, params: RmpFlowFile, file: str) -> tuple[Links, Points, Points, Bodies, Leaves]:
    """Return the constant part: links, spheres, controllers of bodies, capsules of the base, numbers of the leaves.

    Raises:
        ConfigError: The parameters do not fit the robot.
    """
    tree, n = robot.tree(), robot.dof
    buffers = np.array(params.joint_limit_buffers or [0.0] * n)
    if len(buffers) != n:
        raise ConfigError(f"{file}: joint_limit_buffers has {len(buffers)} values for {n} joints")
    if np.any(robot.lower + buffers >= robot.upper - buffers):
        raise ConfigError(f"{file}: joint_limit_buffers leaves no range for a joint")
    for controller in params.body_collision_controllers:
        if controller.name not in robot.frame_names:
            known = unknown_name("frame", controller.name, robot.frame_names)
            raise ConfigError(f"{file}: body_collision_controllers: {known}")
    T = tree.T_parent_joint
    links = Links(
        tree.parent,
        np.ascontiguousarray(T[:, :3, :3]),
        np.ascontiguousarray(T[:, :3, 3]),
        tree.prismatic,
        robot.lower + buffers,
        robot.upper - buffers,
    )
    spheres = [(link, row[:3], row[3]) for link, rows in robot.spheres.items() for row in rows]
    controllers = [(c.name, np.zeros(3), c.radius) for c in params.body_collision_controllers]
    capsules = [*params.body_cylinders, *params.body_capsules]
    rmp = params.rmp_params
    leaves = Leaves(
        _row(rmp.cspace_target_rmp),
        _row(rmp.joint_limit_rmp),
        _row(rmp.joint_velocity_cap_rmp),
        _row(rmp.target_rmp),
        _row(rmp.axis_target_rmp),
        _row(rmp.collision_rmp),
        _row(rmp.damping_rmp),
        params.canonical_resolve.max_acceleration_norm,
    )
    return links, _points(robot, spheres), _points(robot, controllers), _capsules(capsules), leaves


def _row(config: Config) -> Array:
    """Return the numbers of a leaf in the order of its keys; keys without effect are left out."""
    names = [
        name for name in type(config).model_fields if name not in {"xi_estimator_gate_std_dev", "accept_user_weights"}
    ]
    return np.array([float(getattr(config, name)) for name in names])


def _points(robot: MotionRobot, given: list[tuple[str, Array, float]]) -> Points:
    tree, model = robot.tree(), robot.model
    links, offsets, radii = [], [], []
    for frame, center, radius in given:
        body = model.body(frame).id
        T = tree.T_link_body[body]
        links.append(int(tree.body_link[body]))
        offsets.append(T[:3, :3] @ center + T[:3, 3])
        radii.append(float(radius))
    return Points(np.array(links, np.int64), np.array(offsets, float).reshape(-1, 3), np.array(radii, float))


def _capsules(given: list[BodyCapsule]) -> Bodies:
    R, p, sizes = [], [], []
    for capsule in given:
        a, b = np.array(capsule.pt1), np.array(capsule.pt2)
        length = float(np.linalg.norm(b - a))
        R.append(rotation_of_z_to((b - a) / length) if length > 1e-9 else np.eye(3))
        p.append((a + b) / 2)
        sizes.append((capsule.radius, length / 2, 0.0))
    return Bodies(
        np.full(len(given), CAPSULE, np.int64),
        np.array(R, float).reshape(-1, 3, 3),
        np.array(p, float).reshape(-1, 3),
        np.array(sizes, float).reshape(-1, 3),
    )
