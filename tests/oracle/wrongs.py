"""Ways to undo a deed by hand: on the roof, tipped, half out, under, behind, next to it, in the wrong drawer."""

from collections.abc import Callable

import numpy as np
from tests.oracle.bench import Array, Bench
from tests.oracle.oracle import STANDING, Deed

SIDED = ("left_of", "right_of", "in_front_of", "behind")
Plant = Callable[[Bench, Deed], None]


def _ring(bench: Bench, deed: Deed, angle: float, gap: float) -> Array:
    """Return a place on the table around the target."""
    low, high = bench.box(deed.target)
    a, b = bench.box(deed.obj)
    way = np.array([np.cos(angle), np.sin(angle)])
    half = 0.5 * (high - low)[:2] + 0.5 * (b - a)[:2] + gap
    reach = float(np.min(half / np.maximum(np.abs(way), 1e-6)))
    return np.array([*(0.5 * (low + high)[:2] + way * reach), bench.table() + 0.002])


def next_to(bench: Bench, deed: Deed) -> None:
    """On the table beside the target."""
    bench.put(deed.obj, _ring(bench, deed, bench.rng.uniform(-np.pi, np.pi), bench.rng.uniform(0.0, 0.04)))


def touching(bench: Bench, deed: Deed) -> None:
    """On the table, against the target."""
    bench.put(deed.obj, _ring(bench, deed, bench.rng.choice([0, np.pi / 2, np.pi, -np.pi / 2]), 0.0005))


def behind(bench: Bench, deed: Deed) -> None:
    """On the table behind the target."""
    bench.put(deed.obj, _ring(bench, deed, np.pi / 2, bench.rng.uniform(0.0, 0.03)))


def far(bench: Bench, deed: Deed) -> None:
    """Further away than beside."""
    bench.put(deed.obj, _ring(bench, deed, bench.rng.uniform(-np.pi, np.pi), bench.rng.uniform(0.2, 0.3)))


def roof(bench: Bench, deed: Deed) -> None:
    """On top of the target."""
    low, high = bench.box(deed.target, "object" if not bench.is_free(deed.target) else "")
    spot = 0.5 * (low + high)[:2] + bench.rng.uniform(-0.25, 0.25, 2) * (high - low)[:2]
    bench.put(deed.obj, np.array([*spot, high[2] + 0.003]))


def under(bench: Bench, deed: Deed) -> None:
    """Under the target, which lies on it."""
    low, high = bench.box(deed.target)
    a, b = bench.box(deed.obj)
    spot = 0.5 * (low + high)[:2]
    bench.put(deed.target, np.array([*spot, bench.table() + (b - a)[2] + 0.003]), yaw=0.0)
    bench.put(deed.obj, np.array([*spot, bench.table() + 0.001]))


def covered(bench: Bench, deed: Deed) -> None:
    """Under the target, which is turned over."""
    low, high = bench.box(deed.target)
    spot = 0.5 * (low + high)[:2]
    a, b = bench.box(deed.obj)
    lift = max(0.003, (b - a)[2] - (high - low)[2] + 0.02)
    bench.put(deed.target, np.array([*spot, bench.table() + lift]), (0.0, 1.0, 0.0, 0.0), yaw=0.0)
    bench.put(deed.obj, np.array([*spot, bench.table() + 0.001]))


def on_turned_over(bench: Bench, deed: Deed) -> None:
    """On the bottom of the target, which is turned over."""
    low, high = bench.box(deed.target)
    spot = 0.5 * (low + high)[:2]
    bench.put(deed.target, np.array([*spot, bench.table() + 0.002]), (0.0, 1.0, 0.0, 0.0), yaw=0.0)
    bench.put(deed.obj, np.array([*spot, bench.box(deed.target)[1][2] + 0.003]))


def rim(bench: Bench, deed: Deed) -> None:
    """On the rim of the target: it stays there, or it falls off."""
    low, high = bench.box(deed.target, deed.part)
    angle = bench.rng.uniform(-np.pi, np.pi)
    half = 0.5 * (high - low)[:2] * bench.rng.uniform(0.95, 1.15)
    spot = 0.5 * (low + high)[:2] + half * np.array([np.cos(angle), np.sin(angle)])
    bench.put(deed.obj, np.array([*spot, high[2] + 0.002]))


def leaning(bench: Bench, deed: Deed) -> None:
    """Against the target from outside, one end on the table."""
    angle = bench.rng.uniform(-np.pi, np.pi)
    place = _ring(bench, deed, angle, -0.01)
    tilt = bench.rng.uniform(0.5, 1.0)
    quat = (np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0)
    bench.put(deed.obj, place + np.array([0.0, 0.0, 0.02]), quat, yaw=angle + np.pi)


def hanging(bench: Bench, deed: Deed) -> None:
    """Half over the edge of the target."""
    low, high = bench.box(deed.target, deed.part)
    a, b = bench.box(deed.obj)
    angle = bench.rng.choice([0.0, np.pi / 2, np.pi, -np.pi / 2])
    way = np.array([np.cos(angle), np.sin(angle)])
    spot = 0.5 * (low + high)[:2] + way * (0.5 * (high - low)[:2] + bench.rng.uniform(-0.1, 0.3) * 0.5 * (b - a)[:2])
    bench.put(deed.obj, np.array([*spot, max(a[2], low[2]) + 0.015]))


def half_out(bench: Bench, deed: Deed) -> None:
    """At the front edge of something that opens to the front, more than half of it outside."""
    low, _ = bench.box(deed.target, "object")
    a, b = bench.box(deed.obj)
    depth = (b - a)[1]
    bench.put(
        deed.obj, np.array([0.5 * (a + b)[0], low[1] - depth * bench.rng.uniform(0.0, 0.15), a[2] + 0.004]), yaw=0.0
    )


def on_floor(bench: Bench, deed: Deed) -> None:
    """On the floor beside the table."""
    low, high = bench.box("table")
    bench.put(deed.obj, np.array([high[0] + 0.25, bench.rng.uniform(low[1], high[1]) * 0.5, 0.003]))


def tipped(bench: Bench, deed: Deed) -> None:
    """Where it was, lying on its side."""
    a, b = bench.box(deed.obj)
    lift = 0.004 + (0.03 if deed.kind == "in" else 0.0)
    bench.put(deed.obj, np.array([*(0.5 * (a + b))[:2], a[2] + lift]), (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0))


def upside_down(bench: Bench, deed: Deed) -> None:
    """Where it was, turned over."""
    a, b = bench.box(deed.obj)
    bench.put(deed.obj, np.array([*(0.5 * (a + b))[:2], a[2] + 0.003]), (0.0, 1.0, 0.0, 0.0))


def reversed_order(bench: Bench, deed: Deed) -> None:
    """The target on the object."""
    low, high = bench.box(deed.target)
    a, b = bench.box(deed.obj)
    spot = 0.5 * (low + high)[:2]
    bench.put(deed.obj, np.array([*spot, bench.table() + 0.001]), yaw=0.0)
    bench.put(deed.target, np.array([*spot, bench.table() + (b - a)[2] + 0.003]), yaw=0.0)


def other_side(bench: Bench, deed: Deed) -> None:
    """Beside the target, on the other side."""
    angle = (np.pi if deed.side == "right" else 0.0) + bench.rng.uniform(-0.6, 0.6)
    bench.put(deed.obj, _ring(bench, deed, angle, bench.rng.uniform(0.01, 0.06)))


def in_front_or_behind(bench: Bench, deed: Deed) -> None:
    """Near the target, straight before or behind it."""
    angle = bench.rng.choice([-1, 1]) * np.pi / 2 + bench.rng.uniform(-0.2, 0.2)
    bench.put(deed.obj, _ring(bench, deed, angle, bench.rng.uniform(0.01, 0.06)))


def wrong_drawer(bench: Bench, deed: Deed) -> None:
    """In the other drawer; the one that was asked for stands as it did."""
    other = "drawer_0" if deed.part == "drawer_1" else "drawer_1"
    bench.set_joint(f"{deed.target}/{deed.part}_joint", 0.0)
    bench.set_joint(f"{deed.target}/{other}_joint", 0.8)
    low, high = bench.box(deed.target, other)
    spot = np.array([0.5 * (low + high)[0], low[1] + 0.4 * (high - low)[1]])
    bench.put(deed.obj, np.array([*spot, high[2] - 0.3 * (high - low)[2]]))


def part_way(bench: Bench, deed: Deed) -> None:
    """A joint not far enough."""
    share = bench.rng.uniform(0.12, 0.6) if deed.kind == "close" else bench.rng.uniform(0.0, 0.45) * deed.amount
    bench.set_joint(f"{deed.obj}/{deed.part}_joint", share)


def as_at_first(bench: Bench, deed: Deed) -> None:
    """As it was before anything was done."""
    del deed
    bench.scene.world.restore_state(bench.record.states[0])


def spilled(bench: Bench, deed: Deed) -> None:
    """Some of the grains on the table around the target, the rest where they are."""
    world = bench.scene.world
    grains = [name for name, _ in world.bodies.items() if name.startswith("fluid/")]
    low, high = bench.box(deed.target)
    lost = bench.rng.choice(len(grains), round(len(grains) * bench.rng.uniform(0.4, 1.0)), replace=False)
    for k in lost:
        body = world.body_index(grains[k])
        angle, gap = bench.rng.uniform(-np.pi, np.pi), bench.rng.uniform(0.02, 0.06)
        ring = (0.5 * (high - low)[:2] + gap) * [np.cos(angle), np.sin(angle)]
        spot = np.array([*(0.5 * (low + high)[:2] + ring), bench.table() + bench.rng.uniform(0.006, 0.02)])
        at = world.model.jnt_qposadr[world.model.body_jntadr[body]]  # A grain slides along x, y and z.
        world.data.qpos[at : at + 3] = spot - world.model.body_pos[body]
    world.data.qvel[:] = 0.0
    world.forward()


def around(bench: Bench, deed: Deed) -> None:
    """Beside the target as far as it was, on another side."""
    right = {"right_of": 0.0, "behind": 0.5, "left_of": 1.0, "in_front_of": 1.5}[deed.kind] * np.pi
    turn = bench.rng.choice([0.5, 1.0, 1.5]) * np.pi + bench.rng.uniform(-0.3, 0.3)
    bench.put(deed.obj, _ring(bench, deed, right + turn, float(np.mean(deed.gap))), yaw=0.0)


def wrong_gap(bench: Bench, deed: Deed) -> None:
    """On the right side, too near or too far."""
    angle = {"right_of": 0.0, "behind": 0.5, "left_of": 1.0, "in_front_of": 1.5}[deed.kind] * np.pi
    low, high = deed.gap
    gap = high + bench.rng.uniform(0.03, 0.1)
    if low > 0.03 and bench.rng.random() < 0.5:
        gap = bench.rng.uniform(0.0, low - 0.02)
    bench.put(deed.obj, _ring(bench, deed, angle, gap), yaw=0.0)


def aside(bench: Bench, deed: Deed) -> None:
    """Diagonally off the right side."""
    low, high = bench.box(deed.target)
    a, b = bench.box(deed.obj)
    middle, half = 0.5 * (low + high)[:2], 0.5 * (high - low)[:2]
    way = np.array({"right_of": (1, 0), "behind": (0, 1), "left_of": (-1, 0), "in_front_of": (0, -1)}[deed.kind], float)
    across = np.array([-way[1], way[0]]) * bench.rng.choice([-1.0, 1.0])
    off = way * (half + 0.5 * (b - a)[:2] + np.mean(deed.gap)) + across * (half + 0.06)
    bench.put(deed.obj, np.array([*(middle + off), bench.table() + 0.002]), yaw=0.0)


def off_spot(bench: Bench, deed: Deed) -> None:
    """Near its spot, but not there."""
    angle, away = bench.rng.uniform(-np.pi, np.pi), bench.rng.uniform(0.08, 0.15)
    spot = np.array(deed.spot) + away * np.array([np.cos(angle), np.sin(angle)])
    bench.put(deed.obj, np.array([*spot, bench.table() + 0.002]))


def turned_away(bench: Bench, deed: Deed) -> None:
    """Where it was, turned about the vertical."""
    a, b = bench.box(deed.obj)
    turn = np.deg2rad(deed.heading) - np.arctan2(deed.axis[1], deed.axis[0])
    turn += bench.rng.choice([-1.0, 1.0]) * np.deg2rad(bench.rng.uniform(35.0, 180.0))
    bench.put(deed.obj, np.array([*(0.5 * (a + b))[:2], a[2] + 0.002]), yaw=float(turn))


ROUND_ABOUT: tuple[Plant, ...] = (next_to, touching, behind, on_floor, leaning, as_at_first)
PLANTS: dict[str, tuple[Plant, ...]] = {
    "in": (*ROUND_ABOUT, roof, under, covered, on_turned_over, rim, hanging),
    "on": (*ROUND_ABOUT, far, under, rim, hanging, covered),
    "stack_on": (*ROUND_ABOUT, reversed_order, rim, hanging),
    "beside": (roof, other_side, in_front_or_behind, far, on_floor, as_at_first, under),
    **dict.fromkeys(SIDED, (around, wrong_gap, aside, roof, on_floor, as_at_first)),
    "at": (off_spot, on_floor, as_at_first, off_spot),
    "facing": (turned_away, turned_away, tipped),
    "open": (part_way, as_at_first),
    "close": (part_way, as_at_first),
    "turn": (part_way, as_at_first),
    "pour": (spilled, as_at_first),
}
NEEDS_FREE_TARGET = {under, covered, on_turned_over, reversed_order}


def plants_for(bench: Bench, deed: Deed) -> list[Plant]:
    """Return the wrongs that can be planted against a deed."""
    found = [p for p in PLANTS[deed.kind] if p not in NEEDS_FREE_TARGET or bench.is_free(deed.target)]
    categories = {obj.name: obj.category for obj in bench.scene.instance.objects}
    if categories.get(deed.obj) in STANDING and deed.kind in ("in", "on", "stack_on", "beside"):
        found += [tipped, upside_down, tipped]
    if deed.part.startswith("drawer") and deed.kind == "in":
        found += [wrong_drawer, wrong_drawer]
    if categories.get(deed.target) in ("microwave", "oven", "fridge"):
        found += [half_out, half_out]
    return found
