"""A model of a robot of which only one gripper is left, fixed in space."""

import mujoco

from handloom.robots import Arm, RobotDescription


def hand_spec(robot: RobotDescription, arm: Arm) -> mujoco.MjSpec:
    """Return the robot's model with every joint but the gripper's removed, and every geom but the hand's.

    The end effector stays where the arm's zero position puts it. Sizes, inertias, linkages, drives and friction of the
    gripper are the robot's own.

    Args:
        robot: The robot.
        arm: The arm whose gripper is kept.
    """
    spec = robot.spec()
    kept = _bodies_behind(spec, arm.joint_names[-1])
    gone = {joint.name for joint in spec.joints if joint.name == arm.joint_names[-1] or joint.parent.name not in kept}
    for actuator in list(spec.actuators):
        if actuator.target in gone:
            spec.delete(actuator)
    for equality in list(spec.equalities):
        if {equality.name1, equality.name2} & gone:
            spec.delete(equality)
    for joint in list(spec.joints):
        if joint.name in gone:
            spec.delete(joint)
    for geom in list(spec.geoms):
        if geom.parent.name not in kept:
            spec.delete(geom)
    for key in list(spec.keys):
        spec.delete(key)
    _keep_neighbours_apart(spec, kept)
    return spec


def take_options(spec: mujoco.MjSpec, robot: RobotDescription, *, timestep: float) -> None:
    """Give a scene the solver options that the robot's gripper was tuned with; attaching a model drops its own."""
    physics = robot.config.physics
    spec.option.timestep = timestep
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{physics.integrator.upper()}")
    spec.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{physics.cone.upper()}")
    spec.option.impratio = physics.impratio
    spec.option.gravity = [0.0, 0.0, 0.0]


def _keep_neighbours_apart(spec: mujoco.MjSpec, kept: set[str]) -> None:
    """Exclude contact between a finger and the palm that carries it.

    MuJoCo does so by itself for a palm that moves, but not for one that is fixed in the world.
    """
    known = {frozenset((pair.bodyname1, pair.bodyname2)) for pair in spec.excludes}
    fixed = {name for name in kept if not spec.body(name).joints and _carrier(spec, name) not in kept}
    for name in sorted(kept - fixed):
        if spec.body(name).parent.name not in fixed:
            continue
        for palm in sorted(fixed):
            if frozenset((name, palm)) not in known:
                spec.add_exclude(bodyname1=name, bodyname2=palm)


def _carrier(spec: mujoco.MjSpec, name: str) -> str:
    """Return the nearest body above ``name`` that has a joint, or the world."""
    body = spec.body(name).parent
    while body.name != "world" and not body.joints:
        body = body.parent
    return body.name


def _bodies_behind(spec: mujoco.MjSpec, joint: str) -> set[str]:
    """Return the names of the body that a joint moves and of all bodies it carries."""
    root = spec.joint(joint).parent
    return {root.name, *(body.name for body in root.find_all(mujoco.mjtObj.mjOBJ_BODY))}
