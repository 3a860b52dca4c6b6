"""A hand-designed gait: the joint angles of an ideal robot that does not slip, bend or fall.

It only initialises the training (the network first learns to imitate it) and keeps the gait natural (a reward for
similarity); balance is learned.
"""

import numpy as np
from gaits import Gait
from numpy.typing import NDArray

from handloom.isaac.policy.observations import is_moving
from handloom.isaac.policy.policy_env import PolicyEnv
from handloom.robots import load_robot

Array = NDArray[np.float64]


def foot_paths(gait: Gait, env: PolicyEnv, phase: Array, command: Array) -> tuple[Array, Array]:
    """Return the displacement of each foot from its stance position (n, feet, 3) [m], and its rotation (n, feet) [rad].

    On the floor, a foot moves straight back under the base; in the air, it moves forward in a smooth arc.

    Args:
        gait: The gait.
        env: Defines the step frequency.
        phase: Part of the cycle (n,).
        command: (n, 3).
    """
    cycle = np.mod(phase[:, None] + np.array(gait.offsets), 1.0)
    swinging = cycle >= gait.stance
    stance = cycle / gait.stance
    swing = np.clip((cycle - gait.stance) / (1.0 - gait.stance), 0.0, 1.0)
    # From +1/2 (in front) to -1/2 (behind) on the floor, and back.
    along = np.where(swinging, -0.5 + (3.0 - 2.0 * swing) * swing**2, 0.5 - stance)
    time_down = gait.stance / env.gait()["frequency"]
    stand = np.array(gait.stand)
    vx = command[:, :1] - command[:, 2:] * stand[:, 1]
    vy = command[:, 1:2] + command[:, 2:] * stand[:, 0]
    lift = np.where(swinging, gait.swing_height * np.sin(np.pi * swing) ** 2, 0.0)
    moving = is_moving(command)[:, None]
    path = np.stack([along * time_down * vx, along * time_down * vy, lift], axis=2) * moving[:, :, None]
    return path, along * time_down * command[:, 2:] * moving


def go2_joints(gait: Gait, env: PolicyEnv, phase: Array, command: Array) -> Array:
    """Return joint positions (n, 12) of a trot, in the order hips, thighs, calves of FL, FR, RL, RR."""
    path, _ = foot_paths(gait, env, phase, command)
    length, offset = 0.213, 0.0955
    left = np.array([1.0, -1.0, 1.0, -1.0])
    x = path[:, :, 0]
    y = path[:, :, 1] + left * offset
    z = path[:, :, 2] - (gait.base_height - gait.sole)
    reach = np.sqrt(np.maximum(y**2 + z**2 - offset**2, 1e-6))
    hip = np.arctan2(z, y) - np.arctan2(-reach, left * offset)
    hip = np.mod(hip + np.pi, 2 * np.pi) - np.pi
    far = np.minimum(x**2 + reach**2, (1.99 * length) ** 2)
    calf = -np.arccos(np.clip(far / (2 * length**2) - 1.0, -1.0, 1.0))
    thigh = np.arctan2(-x, reach) - calf / 2.0
    return np.concatenate([hip, thigh, calf], axis=1)


def h1_joints(gait: Gait, env: PolicyEnv, phase: Array, command: Array) -> Array:
    """Return joint positions (n, 19) of a walk with swinging arms, in the order of the robot's ``dof_names``."""
    path, turned = foot_paths(gait, env, phase, command)
    moving = is_moving(command)[:, None]
    length = 0.4
    left = np.array([1.0, -1.0])
    # The pelvis moves over the stance foot: to the left in the middle of the left stance.
    sway = 0.03 * np.sin(2.0 * np.pi * (phase[:, None] + 0.25 - gait.stance / 2.0)) * moving
    depth = gait.base_height - 0.1742 - 0.07 - path[:, :, 2]
    # Ankles are a little behind the hips, under the centre of mass.
    x, y = path[:, :, 0] - 0.038, path[:, :, 1] - sway + left * (gait.stand[0][1] - 0.2029)
    roll = np.arctan2(y, depth)
    far = np.minimum(x**2 + y**2 + depth**2, (1.995 * length) ** 2)
    knee = np.arccos(far / (2.0 * length**2) - 1.0)
    hip = np.arctan2(-x, np.hypot(y, depth)) - knee / 2.0
    swing = np.clip(
        (np.mod(phase[:, None] + np.array(gait.offsets), 1.0) - gait.stance) / (1.0 - gait.stance), 0.0, 1.0
    )
    # Toes point down after lift-off, up before landing.
    toes = 0.2 * np.sin(2.0 * np.pi * swing) * np.clip(command[:, :1], -0.5, 1.0) * moving
    ankle = toes - hip - knee
    arm = 0.1 + 1.2 * path[:, :, 0]
    still = np.zeros(len(phase))
    columns = {
        "hip_yaw": turned,
        "hip_roll": roll,
        "hip_pitch": hip,
        "knee": knee,
        "ankle": ankle,
        "shoulder_pitch": arm,
        "shoulder_roll": np.tile(0.12 * left, (len(phase), 1)),
        "shoulder_yaw": np.zeros_like(x),
        "elbow": 1.0 - 0.5 * np.maximum(-path[:, :, 0], 0.0),
    }
    sides = {f"{side}_{name}": values[:, i] for name, values in columns.items() for i, side in enumerate(SIDES)}
    sides["torso"] = still
    return np.stack([sides[name] for name in load_robot("h1").config.dof_names], axis=1)


SIDES = ("left", "right")
REFERENCES = {"go2": go2_joints, "h1": h1_joints}
