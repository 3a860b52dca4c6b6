"""Write the description files of a robot: XRDF or Lula YAML with spheres, limits and default pose; and a URDF."""

from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.isaac.motion_generation.descriptions.description_files import description_text
from handloom.motion.collision import SphereModel
from handloom.robots import RobotDescription
from handloom.spatial import euler_deg_from_matrix, make_pose, matrix_from_quat, matrix_from_rotvec, translation

ACCELERATION = 10.0
"""Maximum acceleration written if that of the robot is unknown [rad/s^2]."""
JERK_PER_ACCELERATION = 500.0
"""Maximum jerk written, as a multiple of the acceleration [1/s]; the same as for the published arms."""
ALWAYS_TOUCH = 2
"""Bodies at most this many joints apart are not checked against each other."""


def write_description(robot: RobotDescription, output: Path, *, tolerance: float = 0.02) -> tuple[Path, Path]:
    """Write ``output`` (.xrdf, or .yaml for Lula's format) and a URDF of the same name; return both.

    Args:
        robot: Any robot with arms.
        output: File to write.
        tolerance: Distance by which spheres may protrude from the robot [m].

    Raises:
        InputError: The ending is neither .xrdf nor .yaml, or the robot has no arm.
    """
    if output.suffix not in {".xrdf", ".yaml"}:
        raise InputError(f"a description must be an .xrdf or a .yaml file, got {output.name!r}")
    if not robot.arms:
        raise InputError(f"robot {robot.name!r} has no arm to describe")
    values = xrdf_values(robot, tolerance) if output.suffix == ".xrdf" else lula_values(robot, tolerance)
    urdf = output.with_suffix(".urdf")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(f"# {robot.name}, for use with {urdf.name}\n{description_text(values)}", encoding="utf-8")
    urdf.write_text(urdf_text(robot), encoding="utf-8")
    return output, urdf


def xrdf_values(robot: RobotDescription, tolerance: float) -> dict[str, object]:
    """Return the content of an XRDF file, version 1.0."""
    model, arms = robot.model, robot.arms
    spheres = _spheres(model, tolerance)
    ignored = _neighbours(model, list(spheres))
    limits = np.concatenate([_acceleration(arm.acceleration_limit) for arm in arms])
    return {
        "format": "xrdf",
        "format_version": 1.0,
        "default_joint_positions": _home(robot),
        "cspace": {
            "joint_names": [name for arm in arms for name in arm.joint_names],
            "acceleration_limits": limits.tolist(),
            "jerk_limits": (JERK_PER_ACCELERATION * limits).tolist(),
        },
        "tool_frames": [arm.tool_body for arm in arms],
        "collision": {"geometry": "spheres", "buffer_distance": {}},
        "self_collision": {"geometry": "spheres", "buffer_distance": {}, "ignore": ignored},
        "geometry": {"spheres": {"spheres": spheres}},
    }


def lula_values(robot: RobotDescription, tolerance: float) -> dict[str, object]:
    """Return the content of a Lula robot description."""
    model, home = robot.model, _home(robot)
    joints = [name for arm in robot.arms for name in arm.joint_names]
    limits = np.concatenate([_acceleration(arm.acceleration_limit) for arm in robot.arms])
    held = [name for name in _movable(model) if name not in joints]
    return {
        "api_version": 1.0,
        "cspace": joints,
        "root_link": "world",
        "default_q": [home[name] for name in joints],
        "acceleration_limits": limits.tolist(),
        "jerk_limits": (JERK_PER_ACCELERATION * limits).tolist(),
        "cspace_to_urdf_rules": [{"name": name, "rule": "fixed", "value": home[name]} for name in held],
        "collision_spheres": [{link: found} for link, found in _spheres(model, tolerance).items()],
    }


def urdf_text(robot: RobotDescription) -> str:
    """Return the kinematics of a robot as URDF: links and joints with the names of its model, without shapes."""
    model = robot.model
    speeds = {
        name: float(speed) for arm in robot.arms for name, speed in zip(arm.joint_names, arm.speed_limit, strict=True)
    }
    top = ElementTree.Element("robot", name=robot.name)
    ElementTree.SubElement(top, "link", name="world")
    for body in range(1, model.nbody):
        parent, name = model.body(model.body_parentid[body]).name, model.body(body).name
        T = make_pose(matrix_from_quat(model.body_quat[body]), model.body_pos[body])
        count = int(model.body_jntnum[body])
        for k, joint in enumerate(range(model.body_jntadr[body], model.body_jntadr[body] + count)):
            anchor = model.jnt_pos[joint]
            last = k == count - 1 and not np.any(anchor)
            moved = name if last else f"{name}_joint{k}"
            ElementTree.SubElement(top, "link", name=moved)
            _add_joint(top, model, joint, parent, moved, T @ translation(anchor) @ _unmoved(model, joint), speeds)
            parent, T = moved, translation(-anchor)
        if parent != name:
            ElementTree.SubElement(top, "link", name=name)
            _add_fixed(top, f"{name}_fixed", parent, name, T)
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode") + "\n"


def _unmoved(model: mujoco.MjModel, joint: int) -> Array:
    """Return the motion by minus the reference: MuJoCo moves by ``qpos - qpos0``, URDF by the joint value."""
    amount = -float(model.qpos0[model.jnt_qposadr[joint]])
    if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
        return translation(model.jnt_axis[joint] * amount)
    return make_pose(matrix_from_rotvec(model.jnt_axis[joint] * amount), np.zeros(3))


def _add_joint(
    top: ElementTree.Element,
    model: mujoco.MjModel,
    joint: int,
    parent: str,
    child: str,
    T: Array,
    speeds: dict[str, float],
) -> None:
    name, slides = model.joint(joint).name, model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
    if not slides and model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_HINGE:
        raise InputError(f"joint {name!r} is neither a hinge nor a slide joint; URDF has no other type")
    limited = bool(model.jnt_limited[joint])
    kind = "prismatic" if slides else "revolute" if limited else "continuous"
    element = ElementTree.SubElement(top, "joint", name=name, type=kind)
    _add_ends(element, parent, child, T)
    ElementTree.SubElement(element, "axis", xyz=_words(model.jnt_axis[joint]))
    low, high = model.jnt_range[joint] if limited else (-1e6, 1e6)
    speed = speeds.get(name, 1.0)
    limits = {"velocity": repr(speed if np.isfinite(speed) else 3.0), "effort": "0"}
    if kind != "continuous":
        limits |= {"lower": repr(float(low)), "upper": repr(float(high))}
    ElementTree.SubElement(element, "limit", limits)


def _add_fixed(top: ElementTree.Element, name: str, parent: str, child: str, T: Array) -> None:
    _add_ends(ElementTree.SubElement(top, "joint", name=name, type="fixed"), parent, child, T)


def _add_ends(element: ElementTree.Element, parent: str, child: str, T: Array) -> None:
    angles = np.deg2rad(euler_deg_from_matrix(T[:3, :3]))
    ElementTree.SubElement(element, "origin", xyz=_words(T[:3, 3]), rpy=_words(angles))
    ElementTree.SubElement(element, "parent", link=parent)
    ElementTree.SubElement(element, "child", link=child)


def _words(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)


def _movable(model: mujoco.MjModel) -> list[str]:
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return [model.joint(j).name for j in range(model.njnt) if int(model.jnt_type[j]) in kinds]


def _home(robot: RobotDescription) -> dict[str, float]:
    """Return the home position of every joint of the model."""
    known = {robot.resolve_joint(name): float(value) for name, value in robot.home.items()}
    return {name: known.get(name, float(robot.model.joint(name).qpos0[0])) for name in _movable(robot.model)}


def _acceleration(limits: Array) -> Array:
    return np.where(np.isfinite(limits), limits, ACCELERATION)


def fewer_spheres(centres: Array, radii: Array, tolerance: float) -> tuple[Array, Array]:
    """Return fewer spheres that still contain the given ones: each grows by at most a tolerance to replace others."""
    kept: list[int] = []
    grown = np.array(radii, float)
    for k in np.argsort(-radii, kind="stable"):
        for other in kept:
            needed = float(np.linalg.norm(centres[k] - centres[other])) + radii[k]
            if needed <= radii[other] + tolerance:
                grown[other] = max(grown[other], needed)
                break
        else:
            kept.append(int(k))
    return centres[kept], grown[kept]


def _spheres(model: mujoco.MjModel, tolerance: float) -> dict[str, list[dict[str, object]]]:
    found = SphereModel.from_model(model, tolerance=tolerance)
    result: dict[str, list[dict[str, object]]] = {}
    for body in found.bodies:
        centres, radii = fewer_spheres(*found.spheres_of(body), tolerance)
        result[body] = [
            {"center": [float(x) for x in centre], "radius": float(radius)}
            for centre, radius in zip(centres, radii, strict=True)
        ]
    return result


def _neighbours(model: mujoco.MjModel, bodies: list[str]) -> dict[str, list[str]]:
    """Return the pairs of bodies that need no collision check: those only a few joints apart."""
    ups = {name: _above(model, model.body(name).id) for name in bodies}
    ignored: dict[str, list[str]] = {}
    for k, one in enumerate(bodies):
        near = [two for two in bodies[k + 1 :] if _joints_apart(model, ups[one], ups[two]) <= ALWAYS_TOUCH]
        if near:
            ignored[one] = near
    return ignored


def _above(model: mujoco.MjModel, body: int) -> list[int]:
    chain = [body]
    while chain[-1] != 0:
        chain.append(int(model.body_parentid[chain[-1]]))
    return chain


def _joints_apart(model: mujoco.MjModel, one: list[int], two: list[int]) -> int:
    between = set(one) ^ set(two)
    return sum(int(model.body_jntnum[body]) for body in between)
