"""The light of an episode, from the task's ``env_map``."""

import numpy as np

from handloom.tasks.config.task_config import EnvMapConfig
from handloom.values import LightInstance

MIDDLE_INTENSITY = 5500.0
"""Strength of the published dome light that our middle exposure stands for: the middle of the published range."""
BULB, SOFT_BOX = 0.08, 0.22
"""Radius of a lamp with a shade and of a photographer's soft box [m]: larger lamps cast softer shadows."""


def sample_lights(env_map: EnvMapConfig, rng: np.random.Generator) -> tuple[LightInstance, ...]:
    """Return a key lamp that casts shadows and a soft fill from the other side.

    The rotation of the published environment map turns the lamps about the vertical; its intensity scales them; the
    colour of the key lamp varies between warm and cool white, its size between a bulb's and a soft box's.
    """
    strength, turn, warmth, height, radius = 1.0, np.deg2rad(-45.0), 0.5, 2.4, BULB
    if env_map.apply_randomization:
        strength = float(rng.uniform(*env_map.intensity_range)) / MIDDLE_INTENSITY
        turn += np.deg2rad(float(rng.uniform(*env_map.rotation_range)) - sum(env_map.rotation_range) / 2)
        warmth = float(rng.uniform())
        height = float(rng.uniform(2.1, 2.8))
        radius = float(rng.uniform(BULB / 2, SOFT_BOX))
    color = np.array([1.0, 0.97, 0.92]) * (1 - warmth) + np.array([0.93, 0.97, 1.0]) * warmth
    direction = np.array([np.cos(turn), np.sin(turn)])
    count = (
        int(rng.integers(env_map.lamps[0], env_map.lamps[1] + 1))
        if env_map.lamps[0] < env_map.lamps[1]
        else env_map.lamps[0]
    )
    lamps = [
        _lamp("key", 1.5 * direction, height, 0.78 * strength * color, radius, shadows=True),
        _lamp("fill", -1.8 * direction, height, 0.22 * strength * color[::-1], BULB, shadows=False),
    ]
    return (*lamps[:count], *(_tinted(f"lamp_{k}", strength, rng) for k in range(2, count)))


def _tinted(name: str, strength: float, rng: np.random.Generator) -> LightInstance:
    """Return a weak lamp of any light colour that hangs anywhere around the table and casts no shadow."""
    turn = float(rng.uniform(0.0, 2.0 * np.pi))
    place = float(rng.uniform(0.8, 2.0)) * np.array([np.cos(turn), np.sin(turn)])
    tint = rng.uniform(0.55, 1.0, 3)
    return _lamp(name, place, float(rng.uniform(1.6, 2.8)), 0.18 * strength * tint, BULB, shadows=False)


def _lamp(
    name: str, xy: np.ndarray, height: float, diffuse: np.ndarray, radius: float, *, shadows: bool
) -> LightInstance:
    """Return a lamp that shines at the middle of the table."""
    position = np.array([*xy, 0.75 + height])
    direction = np.array([0.0, 0.0, 0.75]) - position
    direction = direction / np.linalg.norm(direction)
    return LightInstance(
        name=name,
        directional=False,
        position=(float(position[0]), float(position[1]), float(position[2])),
        direction=(float(direction[0]), float(direction[1]), float(direction[2])),
        diffuse=(float(diffuse[0]), float(diffuse[1]), float(diffuse[2])),
        shadows=shadows,
        radius=radius,
    )
