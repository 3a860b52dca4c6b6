"""The space a robot takes at its start, and who is in it."""

from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.scene.assets import asset_of
from handloom.scene.build import add_object, add_robot, empty_spec, set_joints
from handloom.scene.descriptions import robot_description
from handloom.scene.regions import Placed
from handloom.sim import World
from handloom.spatial import matrix_from_quat
from handloom.tasks.robots import posed_robot
from handloom.tasks.sampling_error import NoPlaceError
from handloom.tasks.scratch import STEP
from handloom.values import ObjectInstance, RobotInstance

MAX_PENETRATION = 0.0005
"""Deepest overlap of an object and a robot [m]."""


def robot_boxes(robot: RobotInstance) -> list[Array]:
    """Return the world box (2, 3) [m] around every solid part of a robot as it starts."""
    model, data = posed_robot(robot)
    rotation = matrix_from_quat(np.array(robot.quat))
    boxes: list[Array] = []
    for g in range(model.ngeom):
        if not (model.geom_contype[g] or model.geom_conaffinity[g]):
            continue
        turn = rotation @ data.geom_xmat[g].reshape(3, 3)
        centre = rotation @ data.geom_xpos[g] + robot.position + turn @ model.geom_aabb[g, :3]
        reach = np.abs(turn) @ model.geom_aabb[g, 3:]
        boxes.append(np.stack([centre - reach, centre + reach]))
    return boxes


def in_boxes(place: Placed, boxes: Sequence[Array], room: float = 0.0) -> bool:
    """Return whether something comes closer than ``room`` [m] to one of the boxes."""
    low, high = place.box
    return any(bool(np.all(low - room < box[1]) and np.all(high + room > box[0])) for box in boxes)


def refuse_robot_overlaps(
    robots: Sequence[RobotInstance], suspects: Sequence[ObjectInstance], neglected: Sequence[str]
) -> None:
    """Refuse a layout in which an object is inside a robot.

    Args:
        robots: The robots at their start.
        suspects: Objects whose boxes come close to a robot's; the exact test takes some milliseconds.
        neglected: Objects whose name contains one of these pass through robots.

    Raises:
        NoPlaceError: Names the object.
    """
    solid = [o for o in suspects if o.solid and not any(part in o.name for part in neglected)]
    if not solid:
        return
    descriptions = {robot.name: robot_description(robot.robot, robot.overrides) for robot in robots}
    spec = empty_spec(STEP, descriptions.values())
    for obj in solid:
        add_object(spec, obj, asset_of(obj), free=True)
    for robot in robots:
        add_robot(spec, robot, descriptions[robot.name])
    world = World.from_spec(spec)
    for robot in robots:
        set_joints(world, robot.name, robot.joints)
    world.forward()
    names, bodies = {o.name for o in solid}, {robot.name for robot in robots}
    for contact in world.contacts():
        pair = {contact.body_a.partition("/")[0], contact.body_b.partition("/")[0]}
        if contact.distance < -MAX_PENETRATION and pair & names and pair & bodies:
            raise NoPlaceError(next(iter(pair & names)), f"was inside the robot {next(iter(pair & bodies))}")
