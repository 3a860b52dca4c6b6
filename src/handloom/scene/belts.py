"""Moving belts: marks that move with their surface, and times at which they start and stop.

A belt is a geom whose contacts see a velocity of its surface (``surfacevel``), so objects are carried by friction. The
geom itself stands still. Its marks are visual bodies that move at that velocity, so that cameras see the belt run; they
jump back by one mark spacing whenever they have moved that far, which is invisible.
"""

import mujoco
import numpy as np

from handloom.sim import World
from handloom.values import TaskInstance

SPACING = 0.08
"""Spacing of the marks of a straight belt [m]."""
SPOKES = 3
"""Number of marks of a turntable."""
THICK, WIDE = 0.0003, 0.006
"""Half height above the belt and half width of a mark [m]."""
RAMP = 0.3
"""Ramp time of a belt when it starts or stops [s], long enough that objects on it do not fall over."""
NAME = "marks"


def add_belt_marks(spec: mujoco.MjSpec) -> None:
    """Give every belt of a model marks that can move along its surface."""
    belts = [geom for geom in spec.geoms if np.any(geom.surfacevel) and geom.type in _MARKED]
    if not belts:
        return
    spec.add_material(name="belt_marks", rgba=[0.42, 0.42, 0.43, 1.0])
    for number, belt in enumerate(belts):
        body = belt.parent.add_body(name=f"{belt.name}/{NAME}", pos=belt.pos, quat=belt.quat)
        body.explicitinertial, body.mass, body.inertia = True, 1e-3, [1e-6, 1e-6, 1e-6]
        body.gravcomp = 1.0
        straight = belt.type == mujoco.mjtGeom.mjGEOM_BOX
        kind = mujoco.mjtJoint.mjJNT_SLIDE if straight else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=f"{belt.name}/{NAME}", type=kind, axis=[1, 0, 0] if straight else [0, 0, 1])
        for k, (size, place, angle) in enumerate(_straight(belt) if straight else _round(belt)):
            body.add_geom(
                name=f"{belt.name}/{NAME}_{number}_{k}",
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=size,
                pos=place,
                quat=[np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)],
                material="belt_marks",
                contype=0,
                conaffinity=0,
                group=2,
                mass=0.0,
            )


_MARKED = (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER)
Mark = tuple[list[float], list[float], float]


def _straight(belt: "mujoco.MjsGeom") -> list[Mark]:
    """Return half sizes, positions and yaw of the marks of a straight belt at the start."""
    x, y, z = (float(length) for length in belt.size)
    count = max(1, int((2.0 * x - 2.0 * WIDE) / SPACING))
    starts = -x + WIDE + SPACING * np.arange(count)
    return [([WIDE, 0.96 * y, THICK], [float(start), 0.0, z], 0.0) for start in starts]


def _round(belt: "mujoco.MjsGeom") -> list[Mark]:
    radius, z = float(belt.size[0]), float(belt.size[1])
    angles = 2.0 * np.pi * np.arange(SPOKES) / SPOKES
    half, middle = 0.42 * radius, 0.52 * radius
    return [([half, WIDE, THICK], [middle * float(np.cos(a)), middle * float(np.sin(a)), z], float(a)) for a in angles]


def run_belts(world: World, instance: TaskInstance) -> None:
    """Set the marks of all belts in motion, and start and stop belts at their times."""
    model, data = world.model, world.data
    belts = [name.removesuffix(f"/{NAME}") for name in world.joints if name.endswith(f"/{NAME}")]
    if not belts:
        return
    geoms = np.array([world.geom_index(name) for name in belts])
    dofs = np.array([world.dof_index(f"{name}/{NAME}") for name in belts])
    qpos = np.array([world.qpos_index(f"{name}/{NAME}") for name in belts])
    turning = model.jnt_type[[world.joint_index(f"{name}/{NAME}") for name in belts]] == mujoco.mjtJoint.mjJNT_HINGE
    period = np.where(turning, 2.0 * np.pi, SPACING)
    full = model.geom_surfacevel[geoms].copy()
    speed = np.where(turning, full[:, 5], full[:, 0])
    spans = {obj.name: obj.running for obj in instance.objects}
    running = [spans[name.partition("/")[0]] for name in belts]

    def set_speed() -> None:
        share = np.array([_share(data.time, span) for span in running])
        model.geom_surfacevel[geoms] = full * share[:, None]
        data.qvel[dofs] = speed * share

    def wrap() -> None:
        data.qpos[qpos] %= period

    set_speed()
    if any(running):
        world.before_step(set_speed)
    world.after_step(wrap)


def _share(time: float, running: tuple[tuple[float, float], ...]) -> float:
    """Return the fraction of its full speed at which a belt runs at a time [s]."""
    if not running:
        return 1.0
    return max(min(1.0, max(0.0, (time - first) / RAMP), max(0.0, (last - time) / RAMP)) for first, last in running)
