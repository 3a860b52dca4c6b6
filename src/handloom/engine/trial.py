"""Tries of a task before a run: the expert performs it in physics; failures are reported by file and line."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from handloom.engine.attempt import LAYOUTS, Stopwatch, simulate
from handloom.engine.policy.evaluation import wilson
from handloom.tasks import SamplingError, Task
from handloom.tasks.config.arm_words import CHOSEN
from handloom.tasks.config.task_config import placed_skills
from handloom.values import EpisodeRecord, Failure, FunnelStage, SkillSpan, TaskInstance

TRIES = 8
"""Usual maximum number of tries."""
ALL_DONE = 5
"""Number of tries after which a task is called ok if all of them succeeded; 97 in 100 tasks with 50 % success fail
one of them."""
NONE_DONE = 3
"""Number of tries after which a task is called wrong if none of them succeeded; 99 in 100 tasks with 80 % success
succeed in one of them."""
OK, BAD = 80, 50
"""A task with at least this expected success rate is called ok, one with less than that wrong [%]."""

Verdict = Literal["ok", "unsure", "wrong"]


class Try(NamedTuple):
    """The outcome of one try."""

    episode: int
    failure: Failure | None
    """Reason of the failure; None on success."""
    keys: tuple[str | int, ...] = ()
    """Location of the failed skill in the task."""
    layout: int = 0
    """Number of times that the objects were moved elsewhere in their regions before the expert had a plan."""
    instance: TaskInstance | None = None
    """The scene; None if none could be sampled."""


def verdict(successes: int, tries: int) -> Verdict:
    """Return what to call a task by the success rate to be expected of it: (successes + 1) / (tries + 2).

    This is the mean over all rates that could have led to these tries, if all were equally likely before.
    """
    expected = 100 * (successes + 1)
    if expected >= OK * (tries + 2):
        return "ok"
    return "wrong" if expected < BAD * (tries + 2) else "unsure"


def tries_of(
    task: Task, count: int = TRIES, *, seed: int = 0, on_try: Callable[[Try, int], None] | None = None
) -> tuple[Try, ...]:
    """Let the expert perform a task in its first scenes, without images, until the verdict is clear.

    The tries end early if the first ``ALL_DONE`` succeeded, if the first ``NONE_DONE`` failed, or if the rest could not
    change the verdict.

    Args:
        task: The task.
        count: Maximum number of tries.
        seed: Seed of the scenes.
        on_try: Called with each try and the maximum number of tries.
    """
    tries: list[Try] = []
    while len(tries) < count:
        good, rest = _good(tries), count - len(tries)
        if (good == len(tries) >= ALL_DONE) or (good == 0 and len(tries) >= NONE_DONE):
            break
        if verdict(good, count) == verdict(good + rest, count):
            break
        tries.append(_try(task, seed, len(tries)))
        if on_try is not None:
            on_try(tries[-1], count)
    return tuple(tries)


def better_than(task: Task, count: int, best: int, *, on_try: Callable[[Try, int], None] | None = None) -> int:
    """Return the number of first scenes in which the expert succeeds; stop early if it cannot exceed ``best``.

    Objects are not moved elsewhere in their regions: better regions are those in which that is not needed.

    Args:
        task: The task.
        count: Number of scenes.
        best: Number of successes of an alternative task.
        on_try: Called with each try and the maximum number of tries.
    """
    good = 0
    for episode in range(count):
        if good + count - episode <= best:
            break
        tried = _try(task, 0, episode, layouts=1)
        good += tried.failure is None
        if on_try is not None:
            on_try(tried, count)
    return good


def of_places(tries: Sequence[Try]) -> bool:
    """Return whether most failed tries had no plan: placing the objects elsewhere could fix that."""
    stages = (FunnelStage.SAMPLE, FunnelStage.GRASP, FunnelStage.REACH, FunnelStage.PLAN)
    failed = [one.failure for one in tries if one.failure is not None]
    return 2 * sum(failure.stage in stages for failure in failed) >= len(failed)


def verdict_of(tries: Sequence[Try]) -> Verdict:
    """Return what to call a task after these tries."""
    return verdict(_good(tries), len(tries))


def fails(tries: Sequence[Try]) -> bool:
    """Return whether so few tries succeeded that the task is called wrong."""
    return verdict_of(tries) == "wrong"


def _good(tries: Sequence[Try]) -> int:
    return sum(one.failure is None for one in tries)


def in_words(task: Task, tries: Sequence[Try]) -> list[str]:
    """Return the number of successful tries, and a line for each failure reason, the most frequent first."""
    low, high = (round(100 * bound) for bound in wilson(_good(tries), len(tries)))
    lines = [
        f"the expert succeeded in {_good(tries)} of {len(tries)} tries, so expect {low} to {high} % of the attempts of "
        f"a run to succeed (these were attempts 0 to {len(tries) - 1} of seed 0)"
    ]
    elsewhere = sum(one.layout > 0 for one in tries)
    if elsewhere:
        lines.append(
            f"{task.where('regions')}: in {elsewhere} of {len(tries)} tries the objects were put elsewhere in their "
            "regions until the expert had a plan; their positions are then not spread evenly over the regions"
        )
    failed = [(one, one.failure) for one in tries if one.failure is not None]
    counts = Counter((one.keys, failure.reason) for one, failure in failed)
    for (keys, reason), number in counts.most_common():
        detail = next(f.detail for one, f in failed if (one.keys, f.reason) == (keys, reason))
        lines.append(f"{task.where(*keys)}: in {number} of {len(tries)} tries {reason}: {detail}")
    return lines


def _try(task: Task, seed: int, episode: int, *, layouts: int = LAYOUTS) -> Try:
    try:
        _, record = simulate(task, seed, episode, Stopwatch(), layouts=layouts)
    except SamplingError as error:
        return Try(episode, error.failure, ("regions",) if task.config.regions else ())
    keys = () if record.failure is None else _where(task, record, record.failure)
    return Try(episode, record.failure, keys, record.instance.layout, record.instance)


def _where(task: Task, record: EpisodeRecord, failure: Failure) -> tuple[str | int, ...]:
    """Return the keys of the skill in which an attempt ended, or those of the goal if all skills were done."""
    last = record.timeline[-1] if record.timeline else None
    if last is None or last.success or failure.stage is FunnelStage.SUCCESS:
        return ("goal",) if task.config.goal else ("skills",)
    before = [s for s in record.timeline[:-1] if (s.robot, s.arm, s.skill, s.objects) == _what(last) and s.success]
    same = [
        keys
        for keys, skill in placed_skills(task.config)
        if (keys[2], last.arm if keys[4] in CHOSEN else keys[4], skill.name, skill.objects) == _what(last)
    ]
    return same[min(len(before), len(same) - 1)] if same else ("skills",)


def _what(span: SkillSpan) -> tuple[str, str, str, tuple[str, ...]]:
    return span.robot, span.arm, span.skill, span.objects
