"""A hand on a rail above boxes, with suction points, for the tests of surface grippers."""

import mujoco

from handloom.scene.surface_gripper import (
    AttachmentPoint,
    SurfaceGripper,
    SurfaceGripperProperties,
    add_surface_gripper,
)
from handloom.sim import World

PUBLISHED = SurfaceGripperProperties(
    max_grip_distance=0.02, coaxial_force_limit=0.005, shear_force_limit=5.0, retry_interval=1.0
)
"""Settings of the published tests."""
HAND_HALF, BOX_HALF = 0.05, 0.05


def hand_over_boxes(
    *,
    points: tuple[tuple[float, float], ...] = ((0.0, 0.0),),
    boxes: tuple[tuple[float, float], ...] = ((0.0, 0.0),),
    gap: float = 0.01,
    mass: float = 0.2,
    gravity: bool = True,
    free_hand: bool = False,
    properties: SurfaceGripperProperties = PUBLISHED,
) -> tuple[World, SurfaceGripper]:
    """Return boxes on a floor and a hand above them, ``gap`` from their tops; its joint ``rail`` goes up.

    Args:
        points: Where the suction points are on the underside of the hand, x and y [m].
        boxes: Where the boxes stand, x and y [m].
        gap: Distance between hand and boxes [m].
        mass: Of a box [kg].
        gravity: Whether things fall; without, there is no floor either.
        free_hand: The hand floats, 1 kg, instead of being on a rail.
        properties: Of the gripper.
    """
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    if gravity:
        spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    else:
        spec.option.gravity = [0, 0, 0]
    for index, (x, y) in enumerate(boxes):
        body = spec.worldbody.add_body(name=f"box{index}", pos=[x, y, BOX_HALF])
        body.add_freejoint(name=f"box{index}")
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[BOX_HALF] * 3, mass=mass)
    hand = spec.worldbody.add_body(name="hand", pos=[0, 0, 2 * BOX_HALF + gap + HAND_HALF])
    half = max(HAND_HALF, *(abs(v) + 0.02 for point in points for v in point))
    hand.add_geom(name="palm", type=mujoco.mjtGeom.mjGEOM_BOX, size=[half, half, HAND_HALF], mass=1.0)
    if free_hand:
        hand.add_freejoint(name="hand")
    else:
        hand.add_joint(name="rail", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1], damping=50)
        servo = spec.add_actuator(name="rail", target="rail", trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=5000.0, kv=500.0)
    named = []
    for index, (x, y) in enumerate(points):
        # The body looks down: half a turn about x.
        hand.add_body(name=f"cup{index}", pos=[x, y, -HAND_HALF], quat=[0, 1, 0, 0])
        named.append(AttachmentPoint(body=f"cup{index}"))
    add_surface_gripper(spec, "suction", named, [f"box{index}" for index in range(len(boxes))])
    world = World.from_spec(spec)
    return world, SurfaceGripper(world, "suction", named, properties=properties)
