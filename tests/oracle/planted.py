"""Planted wrongs: a deed that was done is undone by hand, physics settles, the oracle confirms, the judge is asked.

``python tests/oracle/planted.py COUNT SEED [PER_SCENE] [FIRST]`` plants COUNT wrongs and prints those that the judge
takes for right.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.bench import Bench
from tests.oracle.grammar import Written, write_task
from tests.oracle.run_oracle import attempt, load_written, say
from tests.oracle.wrongs import PLANTS, plants_for

from handloom.errors import HandloomError, StateError

UNREAL = 0.002
"""How deep things may be in each other for a state to count as real [m]."""


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
        if verdict.done is not False or bench.depth() > UNREAL:
            continue
        made += 1
        yield Wrong(bench.written.name, deed.kind, plant.__name__, verdict.why, bench.judge())


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
    count, seed, per_scene, index = (numbers + [50, 0, 14, 0][len(numbers) :])[:4]
    tally: Counter[tuple[str, str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        while sum(tally.values()) < count and index < 100 * count:
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
