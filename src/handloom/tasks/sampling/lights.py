"""The light of an episode, from the task's ``env_map``."""

import numpy as np

from handloom.render.appearance.surroundings import pane
from handloom.tasks.config.task_config import EnvMapConfig
from handloom.values import LightInstance
from handloom.values.instance import LitSurroundings

MIDDLE_INTENSITY = 5500.0
"""Strength of the published dome light that corresponds to our middle exposure: the middle of the published range."""
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
    """Return a weak lamp, from warm as a candle to cold as the sky, at any place around the table, without a shadow."""
    turn = float(rng.uniform(0.0, 2.0 * np.pi))
    place = float(rng.uniform(0.8, 2.0)) * np.array([np.cos(turn), np.sin(turn)])
    tint = _adapted(float(rng.uniform(2500.0, 9000.0)))
    return _lamp(name, place, float(rng.uniform(1.6, 2.8)), 0.18 * strength * tint, BULB, shadows=False)


def color_of_kelvin(kelvin: float) -> np.ndarray:
    """Return linear RGB (3,) of a black body of 1500 to 15000 K, the largest channel 1.

    Planck's law at the primaries of sRGB (610, 549, 468 nm), relative to 6504 K.
    """
    waves = np.array([610e-9, 549e-9, 468e-9])

    def radiance(temperature: float) -> np.ndarray:
        return waves**-5.0 / np.expm1(1.438777e-2 / (waves * temperature))

    rgb = radiance(kelvin) / radiance(6504.0)
    return rgb / rgb.max()


def _adapted(kelvin: float) -> np.ndarray:
    """Return the colour of a light shifted halfway to white, as seen by a camera with white balance."""
    return (1.0 + color_of_kelvin(kelvin)) / 2.0


def sample_surroundings(env_map: EnvMapConfig, rng: np.random.Generator) -> LitSurroundings | None:
    """Return a room by day or by night, a workshop under panels, or an overcast sky; None keeps the usual room."""
    if not env_map.vary_surroundings:
        return None
    kind = str(rng.choice(("day", "day", "evening", "panels", "overcast")))
    turn, cold = float(rng.uniform(0.0, 360.0)), _adapted(float(rng.uniform(6500.0, 11000.0)))
    warm, white = _adapted(float(rng.uniform(2700.0, 3600.0))), _adapted(float(rng.uniform(3800.0, 6000.0)))

    def lit(color: np.ndarray, strength: float) -> tuple[float, float, float]:
        red, green, blue = (round(float(value), 4) for value in strength * color)
        return (red, green, blue)

    def side(lowest: float, highest: float) -> float:
        return float(rng.uniform(lowest, highest))

    if kind == "day":
        panes = [
            pane(turn + side(-30, 30), side(28, 48), (side(0.2, 0.5), side(0.35, 0.6)), lit(cold, 9.5), bars=0.06),
            pane(turn + side(70, 150), side(25, 45), (side(0.15, 0.35), side(0.3, 0.6)), lit(cold, 6.5)),
            pane(turn, side(70, 85), (side(0.15, 0.5), side(0.1, 0.2)), lit(white, 7.0)),
        ]
        return LitSurroundings(above=lit(cold, 1.3), below=lit(warm, 0.66), panes=tuple(panes))
    if kind == "evening":
        panes = [
            pane(turn, side(60, 85), (side(0.08, 0.2), side(0.08, 0.2)), lit(warm, 16.0)),
            pane(turn + side(90, 200), side(20, 40), (side(0.1, 0.2), side(0.1, 0.25)), lit(warm, 10.0)),
        ]
        return LitSurroundings(above=lit(warm, 1.25), below=lit(warm, 0.55), panes=tuple(panes))
    if kind == "panels":
        panes = [
            pane(turn + 90 * k, side(50, 80), (0.55, 0.12), lit(white, 8.5)) for k in range(int(rng.integers(2, 5)))
        ]
        return LitSurroundings(above=lit(white, 1.35), below=lit(white, 0.6), panes=tuple(panes))
    return LitSurroundings(
        above=lit(cold, 1.5), below=lit(white, 0.5), panes=(pane(0.0, 90.0, (2.5, 2.5), lit(cold, 1.5)),)
    )


def _lamp(
    name: str, xy: np.ndarray, height: float, diffuse: np.ndarray, radius: float, *, shadows: bool
) -> LightInstance:
    """Return a lamp that shines at the middle of the table."""
    return lamp(name, np.array([*xy, 0.75 + height]), np.array([0.0, 0.0, 0.75]), diffuse, radius, shadows=shadows)


def lamp(
    name: str, position: np.ndarray, target: np.ndarray, diffuse: np.ndarray, radius: float, *, shadows: bool
) -> LightInstance:
    """Return a lamp at a position that shines at a target, both in the world (3,) [m].

    Args:
        name: Name of the light.
        position: Where it hangs.
        target: Where it shines.
        diffuse: Its colour times its strength (3,).
        radius: Of its disc [m].
        shadows: Whether it casts shadows.
    """
    direction = target - position
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
