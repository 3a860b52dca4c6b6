"""Compiles the kernels of motion policies by using each once."""

import numpy as np

from handloom.isaac.motion_generation.descriptions.supported_robots import load_supported_motion_policy_config
from handloom.isaac.motion_generation.rmpflow.rmpflow import RmpFlow, RmpFlowSmoothed


def follow() -> None:
    """Compute one step of RMPflow, plain and smoothed."""
    policy = RmpFlow(**(load_supported_motion_policy_config("fr3") or {}))
    q, none = policy.robot.default_q, np.zeros(0)
    for smoothed in (policy, RmpFlowSmoothed(**(load_supported_motion_policy_config("fr3") or {}))):
        smoothed.set_end_effector_target((0.4, 0.0, 0.4))
        smoothed.compute_joint_targets(q, np.zeros_like(q), none, none, smoothed.maximum_substep_size)
