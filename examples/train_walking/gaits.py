"""The definition of a good walk for each robot: feet, timing, commands, and the weights of the rewards."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Gait:
    """A gait to be learned. Joint lists hold parts of joint names."""

    robot: str
    base: str
    """Body whose motion is commanded."""
    feet: tuple[tuple[str, ...], ...]
    """Sites under each foot; a foot is on the floor if its lowest site is."""
    stand: tuple[tuple[float, float], ...]
    """Stance position of each foot in the base frame: x, y [m]."""
    sole: float
    """Height of a foot site when the foot stands on the floor [m]."""
    offsets: tuple[float, ...]
    """Landing time of each foot, as a fraction of the gait cycle."""
    stance: float
    """Fraction of the cycle that a foot is on the floor."""
    narrowest: float
    """Minimum lateral distance between the first two feet [m]."""
    swing_height: float
    """Height of a foot in the middle of its swing [m]."""
    base_height: float
    """Height of the base when walking [m]."""
    fall_height: float
    """Base height below which the robot has fallen [m]."""
    mirrored: Mapping[str, float]
    """Part of a joint's name > sign of its angle in the mirror image of the robot."""
    pairs: tuple[tuple[str, str], ...]
    """Parts of names that mirroring swaps."""
    likeness: float
    """Sum of squared distances from the reference [rad^2] at which the similarity reward falls to 1/e."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Reward term > weight, overriding those of :data:`WEIGHTS`."""
    steps: float
    """Control periods to learn from, over all robots."""
    ramp: float
    """Minimum number of steps over which the level rises by one."""
    std: float
    """Initial standard deviation of the actions."""
    push: float = 0.8
    """Maximum change of speed caused by a push [m/s]."""
    payload: float = 1.5
    """Maximum mass added to or removed from the base [kg]."""
    first_level: float = 0.0
    """Initial level: -1 with a harness, 0 without."""
    harness: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Stiffness of the harness: righting [N m/rad], carrying [N/m], pulling at the commanded speed [N s/m]."""


# Rewards per second. The first five are rewards, the others penalties.
WEIGHTS = {
    "alive": 0.5,
    "velocity": 2.5,
    "turning": 1.0,
    "rhythm": 0.7,
    "likeness": 1.0,
    "lift": -40.0,
    "height": -40.0,
    "upright": -15.0,
    "bounce": -1.0,
    "rolling": -0.05,
    "slip": -0.2,
    "crossing": -20.0,
    "standing": -0.6,
    "torque": -1e-4,
    "power": -5e-4,
    "acceleration": -1.5e-7,
    "action_rate": -0.015,
    "action_jerk": -0.01,
    "limits": -5.0,
}

GAITS = {
    "go2": Gait(
        robot="go2",
        base="base",
        feet=(("FL_foot",), ("FR_foot",), ("RL_foot",), ("RR_foot",)),
        stand=((0.193, 0.142), (0.193, -0.142), (-0.193, 0.142), (-0.193, -0.142)),
        sole=0.022,
        offsets=(0.0, 0.5, 0.5, 0.0),
        stance=0.55,
        narrowest=0.15,
        swing_height=0.07,
        base_height=0.315,
        fall_height=0.16,
        mirrored={"hip": -1.0, "thigh": 1.0, "calf": 1.0},
        pairs=(("FL_", "FR_"), ("RL_", "RR_")),
        likeness=0.5,
        steps=10e6,
        ramp=2.5e6,
        std=0.35,
    ),
    "h1": Gait(
        robot="h1",
        base="pelvis",
        feet=(("left_toe", "left_heel"), ("right_toe", "right_heel")),
        stand=((0.0, 0.19), (0.0, -0.19)),
        sole=0.0,
        offsets=(0.0, 0.5),
        stance=0.58,
        narrowest=0.24,
        swing_height=0.09,
        base_height=0.99,
        fall_height=0.7,
        mirrored={"pitch": 1.0, "knee": 1.0, "ankle": 1.0, "elbow": 1.0, "yaw": -1.0, "roll": -1.0, "torso": -1.0},
        pairs=(("left_", "right_"),),
        likeness=0.6,
        steps=30e6,
        ramp=3.6e6,
        std=0.25,
        weights={
            "alive": 1.0,
            "lift": -10.0,
            "height": -10.0,
            "upright": -5.0,
            "torque": -4e-6,
            "power": -1e-4,
            "action_rate": -0.03,
            "action_jerk": -0.015,
            "standing": -0.3,
        },
        push=0.5,
        payload=5.0,
        first_level=-1.0,
        harness=(800.0, 3000.0, 200.0),
    ),
}
