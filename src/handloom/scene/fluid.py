"""Grains that stand in for a fluid: small slippery balls."""

import mujoco

from handloom.values import FluidInstance


def add_fluid(spec: mujoco.MjSpec, fluid: FluidInstance) -> None:
    """Add every grain as a body ``fluid/<i>`` that slides along x, y and z.

    Balls without friction have no reason to turn, so three joints do; contacts have one dimension, whatever the other
    side has, because the grains' priority decides.
    """
    spec.add_material(name="fluid", rgba=[*fluid.color, fluid.opacity], specular=0.6, shininess=0.8)
    for i, position in enumerate(fluid.positions):
        body = spec.worldbody.add_body(name=f"fluid/{i}", pos=list(position))
        for k, axis in enumerate("xyz"):
            body.add_joint(
                name=f"fluid/{i}/{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[float(k == j) for j in range(3)]
            )
        body.add_geom(
            name=f"fluid/{i}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[fluid.radius, 0, 0],
            mass=fluid.mass,
            condim=1,
            priority=1,
            material="fluid",
            group=2,
        )
