"""Light of a room: lamps under its ceiling and daylight from the side of a window."""

import numpy as np

from handloom.scene.rooms.furnish import Room
from handloom.tasks.config.task_config import EnvMapConfig
from handloom.tasks.sampling.lights import BULB, MIDDLE_INTENSITY, SOFT_BOX, lamp
from handloom.values import LightInstance

BOUNCE = 0.30
"""Light reflected by floor and furniture to the ceiling, as a fraction of the lamp's strength."""


def room_lights(room: Room, env_map: EnvMapConfig, rng: np.random.Generator) -> tuple[LightInstance, ...]:
    """Return a ceiling light with shadows near the work area, a soft fill light, and the bounce light of the floor.

    Strength, colour and size of the lamp vary like those of lamps over a table.
    """
    strength, warmth, radius, aside = 1.0, 0.4, 2.0 * BULB, -0.5
    if env_map.apply_randomization:
        strength = float(rng.uniform(*env_map.intensity_range)) / MIDDLE_INTENSITY
        warmth, aside = float(rng.uniform()), float(rng.uniform(-0.9, 0.9))
        radius = float(rng.uniform(BULB, 1.4 * SOFT_BOX))
    color = np.array([1.0, 0.96, 0.90]) * (1 - warmth) + np.array([0.94, 0.97, 1.0]) * warmth
    height = room.size[2] - 0.12
    key = np.array([aside, -0.75, height])
    middle = room.T_world_room[:2, 3]
    fill = np.array([0.5 * aside + middle[0], middle[1], height])
    below, above = np.array([middle[0], middle[1], 0.3]), np.array([middle[0], middle[1], height])
    return (
        lamp("key", key, np.array([0.0, 0.2, 0.9]), 0.72 * strength * color, radius, shadows=True),
        lamp("fill", fill, np.array([0.0, 0.3, 0.9]), 0.26 * strength * color[::-1], BULB, shadows=False),
        lamp("bounce", below, above, BOUNCE * strength * color, SOFT_BOX, shadows=False),
    )
