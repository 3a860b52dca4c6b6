"""Compiles every kernel of this folder by using it once."""

from collections.abc import Callable

import mujoco
import numpy as np

from handloom.motion.kinematics import Chain, IkOptions, Orientation
from handloom.motion.planning import ArmPlanner, Hold, PlannerOptions
from handloom.motion.trajectory import MotionLimits, jerk_limited
from handloom.spatial import translation

# Only two links, so that almost all the time is compilation.
_ARM = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper"><joint name="a" axis="0 0 1" range="-3 3"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
  <body name="lower" pos=".3 0 0"><joint name="b" axis="0 0 1" range="-2 2"/>
    <geom type="capsule" size=".02" fromto=".05 0 0 .3 0 0"/><site name="tool" pos=".3 0 0"/></body></body>
</worldbody></mujoco>"""


def warmup(on_step: Callable[[str, int, int], None] = lambda *_: None) -> None:
    """Compile and cache the kernels of kinematics, collision, planning and timing.

    Args:
        on_step: Called with the item being compiled, the number of finished steps and the total number.
    """
    steps = (
        ("kinematics", _kinematics),
        ("collision and planning", _planning),
        ("timing", _timing),
    )
    for done, (name, step) in enumerate(steps):
        on_step(name, done, len(steps))
        step()
    on_step("done", len(steps), len(steps))


def _planner() -> ArmPlanner:
    model = mujoco.MjModel.from_xml_string(_ARM)
    options = PlannerOptions(ik=IkOptions(orientation=Orientation.FREE, max_seeds=4))
    planner = ArmPlanner(model, Chain.from_model(model, tool="tool"), options=options)
    planner.world.add_box("wall", (0.1, 0.02, 0.1), translation([0.5, 0.0, 0.0]))
    return planner


def _kinematics() -> None:
    chain = _planner().chains[0]
    chain.T_base_tool(chain.middle)
    chain.jacobian(chain.middle)


def _planning() -> None:
    planner = _planner()
    start, goal = np.array([0.8, 0.2]), np.array([-0.8, -0.2])
    planner.plan_to_joints(start, goal)
    planner.plan_to_poses(start, planner.chains[0].T_base_tool(goal))
    planner.plan_straight(start, planner.chains[0].T_base_tool(start + 0.1))
    planner.plan_to_joints(start, goal, hold=Hold())
    planner.plan_task_space(start, planner.chains[0].T_base_tool(goal))
    planner.scene.spheres(0.0).edges_free(start, goal)


def _timing() -> None:
    limits = MotionLimits.of(1.0, 2.0, 50.0, dof=2)
    jerk_limited([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], limits).sample([0.0, 0.5])
