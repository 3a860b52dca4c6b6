"""Planted wrongs: a deed that was done is undone by hand, physics settles, the oracle confirms, the judge is asked.

``python tests/oracle/planted.py COUNT SEED`` plants COUNT wrongs and prints those that the judge takes for right.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.grammar import Written, write_task
from tests.oracle.oracle import STANDING, Deed, Oracle, Verdict
from tests.oracle.run_oracle import attempt, goal_holds, load_written, oracle_of, say
from tests.oracle.solids import Solids

from handloom.errors import HandloomError, StateError
from handloom.scene import Scene
from handloom.values import EpisodeRecord

Array = np.ndarray
SETTLE = 1.5
"""How long physics gets to make a planted state real [s]."""
LEVEL = (1.0, 0.0, 0.0, 0.0)


@dataclass
class Bench:
    """A scene in which a task was done, the hand back home."""

    written: Written
    scene: Scene
    record: EpisodeRecord
    rng: np.random.Generator
    good: Array = field(init=False)

    def __post_init__(self) -> None:
        world, data = self.scene.world, self.scene.world.data
        world.restore_state(self.record.states[0])
        qpos, ctrl = np.array(data.qpos), np.array(data.ctrl)
        world.restore_state(self.record.states[-1])
        robots = tuple(f"{name}/" for name in self.scene.robots)
        for name, j in world.joints.items():
            if name.startswith(robots):
                data.qpos[world.model.jnt_qposadr[j]] = qpos[world.model.jnt_qposadr[j]]
        data.qvel[:] = 0.0
        data.ctrl[:] = ctrl
        world.forward()
        self.settle(0.5)
        self.good = world.save_state()

    def settle(self, seconds: float = SETTLE) -> None:
        """Let time pass."""
        world = self.scene.world
        world.invalidate()
        world.step(max(1, round(seconds / world.timestep)))

    def oracle(self) -> Oracle:
        """Return the oracle of the present state."""
        return oracle_of(self.scene, self.scene.world.save_state(), self.record.states[0])

    def verdict(self) -> Verdict:
        """Ask the oracle about the present state."""
        return self.oracle().judge(self.written.deeds)

    def judge(self) -> bool:
        """Ask the judge about the present state."""
        return goal_holds(self.scene, self.record.goal)

    def solids(self, name: str, part: str = "") -> Solids:
        """Return the solids of an object in the present state."""
        world = self.scene.world
        start = f"{name}/{part}" if part else f"{name}/"
        bodies = [b for b in range(world.model.nbody) if world.model.body(b).name.startswith(start)]
        return Solids(world.model, world.data, bodies)

    def box(self, name: str, part: str = "") -> tuple[Array, Array]:
        """Return the lowest and highest corner of an object."""
        surface = self.solids(name, part).surface
        return surface.min(axis=0), surface.max(axis=0)

    def is_free(self, name: str) -> bool:
        """Return whether an object moves freely."""
        return f"{name}/free" in dict(self.scene.world.joints.items())

    def put(self, name: str, low_middle: Array, quat: tuple[float, ...] = LEVEL, yaw: float | None = None) -> None:
        """Put an object so that the middle of its lowest side is at a point."""
        world = self.scene.world
        at, dof = world.qpos_index(f"{name}/free"), world.dof_index(f"{name}/free")
        angle = self.rng.uniform(-np.pi, np.pi) if yaw is None else yaw
        q = np.zeros(4)
        turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        w, v = turn[0], turn[1:]
        q[0] = w * quat[0] - v @ np.array(quat[1:])
        q[1:] = w * np.array(quat[1:]) + quat[0] * v + np.cross(v, quat[1:])
        world.data.qpos[at + 3 : at + 7] = q
        world.data.qvel[dof : dof + 6] = 0.0
        world.forward()
        low, high = self.box(name)
        middle = np.array([*(0.5 * (low + high))[:2], low[2]])
        world.data.qpos[at : at + 3] += np.asarray(low_middle) - middle
        world.forward()

    def set_joint(self, name: str, value: float) -> None:
        """Put a joint of an object to a share of its range."""
        world = self.scene.world
        j = world.joint_index(name)
        low, high = world.model.jnt_range[j]
        world.data.qpos[world.model.jnt_qposadr[j]] = low + value * (high - low)
        world.data.qvel[:] = 0.0
        world.forward()

    def table(self) -> float:
        """Return the height of the table [m]."""
        return float(self.box("table")[1][2])


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
    bench.put(deed.obj, place + [0, 0, 0.02], quat, yaw=angle + np.pi)


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
    low, high = bench.box(deed.target, "object")
    a, b = bench.box(deed.obj)
    depth = (b - a)[1]
    bench.put(deed.obj, np.array([0.5 * (a + b)[0], low[1] - depth * bench.rng.uniform(0.0, 0.15), a[2] + 0.004]), yaw=0.0)


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
    a, b = bench.box(deed.obj)
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
    names = [name for name, _ in world.joints.items() if name.startswith("fluid/")]
    low, high = bench.box(deed.target)
    lost = bench.rng.choice(len(names), round(len(names) * bench.rng.uniform(0.4, 1.0)), replace=False)
    for k in lost:
        at = world.qpos_index(names[k])
        angle = bench.rng.uniform(-np.pi, np.pi)
        spot = 0.5 * (low + high)[:2] + (0.5 * (high - low)[:2] + bench.rng.uniform(0.02, 0.06)) * [
            np.cos(angle), np.sin(angle)]  # fmt: skip
        world.data.qpos[at : at + 3] = [*spot, bench.table() + bench.rng.uniform(0.006, 0.02)]
    world.data.qvel[:] = 0.0
    world.forward()


ROUND_ABOUT: tuple[Plant, ...] = (next_to, touching, behind, on_floor, leaning, as_at_first)
PLANTS: dict[str, tuple[Plant, ...]] = {
    "in": (*ROUND_ABOUT, roof, under, covered, on_turned_over, rim, hanging),
    "on": (*ROUND_ABOUT, far, under, rim, hanging, covered),
    "stack_on": (*ROUND_ABOUT, reversed_order, rim, hanging),
    "beside": (roof, other_side, in_front_or_behind, far, on_floor, as_at_first, under),
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


@dataclass(frozen=True)
class Wrong:
    """A planted wrong that the oracle confirmed."""

    task: str
    kind: str
    plant: str
    truth: str
    judge: bool
    """What the judge said of it; True is a false success."""


def plant_wrongs(bench: Bench, count: int) -> Iterator[Wrong]:
    """Yield up to ``count`` wrongs in one scene."""
    deeds = [d for d in bench.written.deeds if d.kind in PLANTS]
    made = 0
    for turn in range(3 * count):
        if made == count:
            return
        deed = deeds[turn % len(deeds)]
        choice = plants_for(bench, deed)
        plant = choice[(turn // len(deeds)) % len(choice)]
        bench.scene.world.restore_state(bench.good)
        try:
            plant(bench, deed)
            bench.settle()
        except StateError:
            continue
        verdict = bench.verdict()
        if verdict.done is not False:
            continue
        made += 1
        yield Wrong(bench.written.name, deed.kind, plant.__name__, verdict.why, bench.judge())
    return


def held_wrongs(bench: Bench, count: int) -> Iterator[Wrong]:
    """Yield moments of the episode in which the hand still had the object."""
    deeds = [d for d in bench.written.deeds if d.kind in ("in", "on", "stack_on", "beside")]
    states, made = bench.record.states, 0
    for back in (*range(2, 40, 3), *range(40, 120, 9)):
        if not deeds or made == count or back >= len(states):
            return
        bench.scene.world.restore_state(states[-back])
        oracle = bench.oracle()
        if not any("robot" in oracle.let_go(deed.obj) for deed in deeds):
            continue
        verdict = oracle.judge(bench.written.deeds)
        if verdict.done is False:
            made += 1
            yield Wrong(bench.written.name, deeds[0].kind, "held", verdict.why, bench.judge())


def make_bench(written: Written, folder: Path, seed: int) -> tuple[Bench | None, str]:
    """Let the expert do a task; a bench where judge and oracle agree that it is done, or why there is none."""
    try:
        tried, scene, record = attempt(load_written(written, folder), written.deeds, seed, 0)
    except HandloomError as error:
        return None, str(error)[:120]
    if not tried.success or tried.verdict.done is not True:
        return None, f"{tried.reason} {tried.verdict.why}"
    bench = Bench(written, scene, record, np.random.default_rng(seed))
    verdict = bench.verdict()
    if verdict.done is not True or not bench.judge():
        return None, f"after a while: oracle {verdict}, judge {bench.judge()}"
    return bench, ""


def main() -> int:
    """Plant and print; the exit status is 1 where the judge took a wrong for right."""
    numbers = [int(word) for word in sys.argv[1:]]
    count, seed, per_scene = (numbers + [50, 0, 14][len(numbers) :])[:3]
    tally: Counter[tuple[str, str, bool]] = Counter()
    index = 0
    with tempfile.TemporaryDirectory() as folder:
        while sum(tally.values()) < count and index < 10 * count:
            written = write_task(index, seed)
            index += 1
            bench, why = make_bench(written, Path(folder), seed)
            if bench is None:
                say(f"{written.name} {written.kind} {written.robot}: no bench: {why}")
                continue
            for wrong in (*plant_wrongs(bench, per_scene), *held_wrongs(bench, 2)):
                tally[wrong.kind, wrong.plant, wrong.judge] += 1
                if wrong.judge:
                    say(f"  JUDGED RIGHT: {written.name} seed {seed}: {wrong.kind} {wrong.plant}: {wrong.truth}")
            say(f"{written.name} {written.kind} {written.robot}: {sum(tally.values())} planted so far")
    for (kind, plant, taken), number in sorted(tally.items()):
        say(f"{kind:10s} {plant:20s} {'TAKEN FOR RIGHT' if taken else 'judged wrong':16s} {number}")
    wrong = sum(number for (_, _, taken), number in tally.items() if taken)
    say(f"{sum(tally.values())} planted, {wrong} taken for right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
