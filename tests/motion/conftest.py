"""Robots to plan for, built here from published figures so that the tests need no other folder."""

import mujoco
import numpy as np
import pytest

# Franka FR3, published kinematics: parent-to-joint position, x rotation [rad], limits [rad].
FR3_JOINTS = (
    ((0, 0, 0.333), 0.0, (-2.7437, 2.7437)),
    ((0, 0, 0), -np.pi / 2, (-1.7837, 1.7837)),
    ((0, -0.316, 0), np.pi / 2, (-2.9007, 2.9007)),
    ((0.0825, 0, 0), np.pi / 2, (-3.0421, -0.1518)),
    ((-0.0825, 0.384, 0), -np.pi / 2, (-2.8065, 2.8065)),
    ((0, 0, 0), np.pi / 2, (0.5445, 4.5169)),
    ((0.088, 0, 0), np.pi / 2, (-3.0159, 3.0159)),
)

# Simple shapes around each link: type, size, position, quaternion.
FR3_SHAPES = (
    ("capsule", (0.07, 0.06), (0, 0, -0.09), (1, 0, 0, 0)),
    ("capsule", (0.065, 0.05), (0, -0.06, 0.0), (0.7071, 0.7071, 0, 0)),
    ("capsule", (0.065, 0.05), (0.02, 0.0, -0.07), (1, 0, 0, 0)),
    ("capsule", (0.065, 0.05), (-0.04, 0.05, 0.0), (0.7071, 0.7071, 0, 0)),
    ("capsule", (0.06, 0.1), (0, 0.02, -0.14), (1, 0, 0, 0)),
    ("box", (0.07, 0.05, 0.05), (0.04, 0.0, 0.0), (1, 0, 0, 0)),
    ("cylinder", (0.05, 0.03), (0, 0, 0.075), (1, 0, 0, 0)),
)


def fr3_spec(
    prefix: str = "", base: tuple[float, float, float] = (0.0, 0.0, 0.0), into: mujoco.MjSpec | None = None
) -> mujoco.MjSpec:
    """Return an arm with FR3 kinematics, simple shapes, a hand with two fingers and the site ``tcp``."""
    spec = into or mujoco.MjSpec()
    spec.compiler.degree = False
    types = {name: getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}") for name in ("capsule", "box", "cylinder")}
    body = spec.worldbody.add_body(name=f"{prefix}link0", pos=base)
    body.add_geom(
        name=f"{prefix}link0_geom",
        type=types["capsule"],
        size=(0.07, 0.06, 0),
        pos=(-0.04, 0, 0.07),
        quat=(0.7, 0, 0.7, 0),
    )
    for k, ((position, turn, limits), (kind, size, at, quat)) in enumerate(zip(FR3_JOINTS, FR3_SHAPES, strict=True), 1):
        body = body.add_body(name=f"{prefix}link{k}", pos=position, quat=(np.cos(turn / 2), np.sin(turn / 2), 0, 0))
        body.add_joint(name=f"{prefix}joint{k}", axis=(0, 0, 1), range=limits, limited=1)
        body.add_geom(name=f"{prefix}link{k}_geom", type=types[kind], size=(*size, 0)[:3], pos=at, quat=quat)
    hand = body.add_body(name=f"{prefix}hand", pos=(0, 0, 0.107), quat=(0.9238795, 0, 0, -0.3826834))
    hand.add_geom(name=f"{prefix}hand_geom", type=types["box"], size=(0.03, 0.1, 0.035), pos=(0, 0, 0.03))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = hand.add_body(name=f"{prefix}{side}finger", pos=(0, 0, 0.0584))
        finger.add_joint(
            name=f"{prefix}{side}finger_joint",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=(0, sign, 0),
            range=(0, 0.04),
            limited=1,
        )
        finger.add_geom(
            name=f"{prefix}{side}finger_geom", type=types["box"], size=(0.01, 0.008, 0.025), pos=(0, sign * 0.01, 0.025)
        )
    hand.add_site(name=f"{prefix}tcp", pos=(0, 0, 0.1034))
    return spec


@pytest.fixture(scope="session")
def fr3() -> mujoco.MjModel:
    """One arm with FR3 kinematics on the origin."""
    return fr3_spec().compile()


@pytest.fixture(scope="session")
def odd_arm() -> mujoco.MjModel:
    """An arm with everything a model may do: anchors, references, slides, skew axes, fixed bodies, a held joint."""
    return mujoco.MjModel.from_xml_string("""
    <mujoco><compiler angle="radian" autolimits="true"/><worldbody>
      <body name="cart" pos="0.3 -0.2 0.1" euler="0.1 0.2 0.3">
        <joint name="lift" type="slide" axis="0.1 0 1" range="0 0.5" ref="0.1"/><geom size="0.05"/>
        <body name="mount" pos="0 0 0.2" euler="0 0.4 0">
          <body name="a" pos="0 0 0.1" euler="0.3 0 0">
            <joint name="a1" axis="1 2 3" pos="0.02 0 0.01" range="-2 2" ref="0.3"/>
            <joint name="a2" axis="0 -1 0" pos="0 0.03 0" range="-2 1.5"/><geom size="0.03" pos="0 0 0.1"/>
            <body name="fixed" pos="0 0.05 0.2" quat="0.9 0.1 0 0.3">
              <body name="b" pos="0.01 0 0.15">
                <joint name="b1" type="slide" axis="0 0 -1" range="-0.1 0.2"/><geom size="0.03"/>
                <body name="c" pos="0 0 0.1"><joint name="c1" axis="1 0 0"/><geom size="0.02"/>
                  <body name="d" pos="0 0.1 0.1"><joint name="d1" axis="0 0 -1" range="-3 3"/><geom size="0.02"/>
                    <body name="e" pos="0.1 0 0.05"><joint name="e1" axis="0 1 0" range="-2 2"/><geom size="0.02"/>
                      <site name="tool" pos="0.02 0.03 0.1" euler="0.5 0.6 0.7"/></body></body></body></body></body>
          </body></body></body>
    </worldbody></mujoco>""")


@pytest.fixture(scope="session")
def tabletop() -> mujoco.MjModel:
    """The arm at a table with a wall across it, a cube on it, and open fingers."""
    spec = fr3_spec()
    box, free = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtJoint.mjJNT_FREE
    table = spec.worldbody.add_body(name="table", pos=(0.5, 0, 0.1))
    table.add_geom(name="top", type=box, size=(0.4, 0.6, 0.02))
    wall = spec.worldbody.add_body(name="wall", pos=(0.5, 0.0, 0.27))
    wall.add_geom(name="panel", type=box, size=(0.25, 0.02, 0.15))
    cube = spec.worldbody.add_body(name="cube", pos=(0.45, -0.25, 0.145))
    cube.add_joint(type=free)
    cube.add_geom(name="cube_geom", type=box, size=(0.02, 0.02, 0.025))
    return spec.compile()


@pytest.fixture(scope="session")
def two_arms() -> mujoco.MjModel:
    """Two arms half a metre apart."""
    spec = fr3_spec("left_", (0.0, 0.25, 0.0))
    fr3_spec("right_", (0.0, -0.25, 0.0), into=spec)
    return spec.compile()
