"""Compare the judge with the oracle: ``python tests/oracle/run_oracle.py COUNT SEED [ATTEMPTS] [FIRST]``.

Writes COUNT random tasks (``grammar``), lets the expert try each ATTEMPTS times, and asks both. Every disagreement is
printed with what it takes to see it again.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.answers.containers import dragged
from tests.oracle.grammar import Written, write_task
from tests.oracle.oracle import Deed, Oracle, Verdict

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import HandloomError
from handloom.judging import holds
from handloom.scene import Scene
from handloom.tasks import SamplingError, Task, load_task
from handloom.values import Check, EpisodeRecord

JUDGED = ("not_", "no_")
"""How reasons of failures begin that come from a judging term."""
OWN = ("fingers_only", "joints_at", "hand_at")
"""How those of them end that ask for more than the deed: published terms of the expert's way to do it."""


@dataclass(frozen=True)
class Attempt:
    """What became of one attempt."""

    seed: int
    episode: int
    success: bool
    """The expert's record says success."""
    goal: bool
    """The judge's goal holds in the last state."""
    reason: str
    verdict: Verdict
    said: str = ""
    """The failure in full: stage, reason, skill and detail."""
    layout: int = 0
    """Which layout of the attempt this was."""

    @property
    def false_success(self) -> bool:
        """The judge is content, the oracle is not."""
        return (self.success or self.goal) and self.verdict.done is False

    @property
    def false_failure(self) -> bool:
        """Only a judging term failed it, and the oracle is content."""
        return self._only_judged and not self.own_term

    @property
    def own_term(self) -> bool:
        """Oracle and goal are content, and a published term of the expert's own skill is not: fingers on a base."""
        return self._only_judged and self.goal and self.reason.endswith(OWN)

    @property
    def _only_judged(self) -> bool:
        return not self.success and self.reason.startswith(JUDGED) and self.verdict.done is True


def oracle_of(scene: Scene, state: np.ndarray, first: np.ndarray | None = None) -> Oracle:
    """Return the oracle of a state of a scene; ``first`` is the state at the start."""
    world = scene.world
    start: dict[str, float] = {}
    if first is not None:
        model = world.model
        # The integration state begins with the time, then qpos.
        start = {name: float(first[1 + model.jnt_qposadr[j]]) for name, j in world.joints.items()}
    return Oracle(
        world.model,
        state,
        categories={obj.name: obj.category for obj in scene.instance.objects},
        robots=scene.robots,
        grains=scene.grains is not None,
        start=start,
    )


def goal_holds(scene: Scene, goal: tuple[Check, ...]) -> bool:
    """Ask the judge: do all terms of the goal that are about a state hold in the present one?"""
    asked = [term for term in goal if not term.seconds and not term.share]
    return bool(asked) and all(holds(scene, term) for term in asked)


def set_state(scene: Scene, state: np.ndarray) -> None:
    """Put the scene into a state."""
    scene.world.restore_state(state)


def load_written(written: Written, folder: Path) -> Task:
    """Save a task and load it."""
    file = folder / f"{written.name}.yaml"
    file.write_text(written.text)
    return load_task(file)


def attempt(task: Task, deeds: tuple[Deed, ...], seed: int, episode: int) -> tuple[Attempt, Scene, EpisodeRecord]:
    """Let the expert try once and ask judge and oracle about the last state."""
    scene, record = simulate(task, seed, episode, Stopwatch())
    last = record.states[-1]
    set_state(scene, last)
    content = goal_holds(scene, record.goal)
    return recorded(record, goal=content, verdict=verdict_of(scene, record, deeds)), scene, record


def verdict_of(scene: Scene, record: EpisodeRecord, deeds: Iterable[Deed]) -> Verdict:
    """Return what the oracle says about an episode: its last state, and what became of containers on the way."""
    verdict = oracle_of(scene, record.states[-1], record.states[0]).judge(deeds)
    if verdict.done is False:
        return verdict
    stayed = dragged(scene.world.model, record.states, deeds)
    return verdict if stayed.done else stayed


def recorded(record: EpisodeRecord, *, goal: bool, verdict: Verdict) -> Attempt:
    """Return what became of an attempt that was recorded."""
    failure, instance = record.failure, record.instance
    return Attempt(
        instance.seed,
        instance.episode,
        record.success,
        goal,
        "" if failure is None else failure.reason,
        verdict,
        said="" if failure is None else str(failure),
        layout=instance.layout,
    )


def without_scene(seed: int, episode: int, error: SamplingError) -> Attempt:
    """Return an attempt that found no scene: nothing was done."""
    return Attempt(seed, episode, False, False, error.failure.reason, Verdict(False, "no scene"), str(error.failure))


class Tally:
    """Counts per kind of task."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.reasons: dict[str, Counter[str]] = {}

    def add(self, key: str, tried: Attempt) -> None:
        """Count an attempt."""
        count = self.counts.setdefault(key, Counter())
        count["attempts"] += 1
        count["judge"] += tried.success
        count["oracle"] += tried.verdict.done is True
        count["honest"] += tried.success and tried.verdict.done is True
        count["unclear"] += tried.verdict.done is None
        count["false_success"] += tried.false_success
        count["false_failure"] += tried.false_failure
        if tried.reason:
            self.reasons.setdefault(key, Counter())[tried.reason] += 1

    def lines(self) -> list[str]:
        """Return the table."""
        total: Counter[str] = Counter()
        rows: list[str] = []
        for key, count in sorted(self.counts.items()):
            total += count
            rows.append(f"{key:32s} {self._row(count)}  {dict(self.reasons.get(key, {}))}")
        return [*rows, f"{'total':32s} {self._row(total)}"]

    def _row(self, count: Counter[str]) -> str:
        names = ("attempts", "judge", "oracle", "honest", "unclear", "false_success", "false_failure")
        return "  ".join(f"{name} {count[name]}" for name in names)


def main() -> int:
    """Run and print; the exit status is 1 where there is a false success."""
    numbers = [int(word) for word in sys.argv[1:]]
    count, seed, attempts, first = (numbers + [10, 0, 5, 0][len(numbers) :])[:4]
    kinds, robots = Tally(), Tally()
    refused: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(first, first + count):
            written = write_task(index, seed)
            try:
                task = load_written(written, Path(folder))
            except HandloomError as error:
                refused[written.kind] += 1
                say(f"{written.name} {written.kind} {written.robot}: refused: {error}")
                continue
            tried: list[Attempt] = []
            for episode in range(attempts):
                try:
                    one, _, _ = attempt(task, written.deeds, seed, episode)
                except Exception as error:  # A fault of the code is a finding, too, and no end of the run.
                    refused[type(error).__name__] += 1
                    say(f"  {written.name} episode {episode}: {str(error)[:200]}")
                    break
                tried.append(one)
                kinds.add(written.kind, one)
                robots.add(written.robot, one)
                if one.false_success or one.false_failure or one.verdict.done is None:
                    word = (
                        "UNCLEAR"
                        if one.verdict.done is None
                        else "FALSE SUCCESS"
                        if one.false_success
                        else "FALSE FAILURE"
                    )
                    say(f"  {word}: {written.name} seed {seed} episode {episode}: judge {one.success}/{one.goal}"
                        f" {one.reason}; oracle: {one.verdict.why}")  # fmt: skip
            good, right = sum(t.success for t in tried), sum(t.verdict.done is True for t in tried)
            what = ", ".join(f"{d.kind} {d.obj} {d.target}" for d in written.deeds)
            say(f"{written.name} {written.kind} {written.robot} ({what}): {len(tried)} attempts, judge {good}, "
                f"oracle {right}, {dict(Counter(t.reason for t in tried if t.reason))}")  # fmt: skip
            if index % 10 == 9:
                say("\n".join(kinds.lines()))
    say("\n".join([*kinds.lines(), "", *robots.lines(), f"refused: {dict(refused)}"]))
    return int(any(count["false_success"] for count in kinds.counts.values()))


def say(text: str) -> None:
    """Print at once, so that a long run can be watched."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
