"""The judge against the oracle at size, over many processes, as one JSON file.

    python -m tests.oracle.measure tasks --count 300 --attempts 5 --seed 7 --processes 16 --limit 300 --out tasks.json
    python -m tests.oracle.measure planted --count 500 --seed 7 --processes 16 --limit 300 --out planted.json
    python -m tests.oracle.measure library --attempts 10 --seed 7 --processes 16 --limit 300 --out library.json

``tasks`` are written by the grammar, ``planted`` are wrongs planted into tasks that were done, ``library`` are the
tasks that ship. Every unit of work depends on the seed and its number alone, so that a finding is seen again with
``--only NUMBER`` (or a name of the library). What the time limit leaves undone is counted in ``not_run``. The exit
status is 1 where the judge took a wrong for right.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.grammar import write_task
from tests.oracle.library import library_deeds
from tests.oracle.oracle import Deed
from tests.oracle.planted import held_wrongs, make_bench, plant_wrongs
from tests.oracle.run_oracle import Attempt, attempt, goal_holds, load_written, recorded, verdict_of, without_scene

from handloom.engine.attempt import Stopwatch, simulate
from handloom.tasks import SamplingError, Task, load_task

Row = dict[str, Any]
"""What became of one unit: its counts and its findings."""
COUNTS = ("attempts", "judge", "oracle", "honest", "unclear", "redrawn", "false_success", "false_failure", "own_term")
PER_SCENE, HELD = 14, 2
"""Wrongs planted into one scene, and moments looked at in which the hand still had the object."""
YIELD = 4
"""Least wrongs that a scene is expected to give, among the scenes in which nothing can be planted."""


def task_unit(number: int | str, *, seed: int, attempts: int) -> Row:
    """Let the expert try one random task, and ask judge and oracle about each attempt."""
    written = write_task(int(number), seed)
    with tempfile.TemporaryDirectory() as folder:
        task = load_written(written, Path(folder))
        done = [_attempt(task, written.deeds, seed, episode) for episode in range(attempts)]
    return _row(written.kind, written.robot, written.name, done, written.text)


def _attempt(task: Task, deeds: tuple[Deed, ...], seed: int, episode: int) -> Attempt:
    try:
        return attempt(task, deeds, seed, episode)[0]
    except SamplingError as error:
        return without_scene(seed, episode, error)


def library_unit(name: int | str, *, seed: int, attempts: int) -> Row:
    """Let the expert try one task of the library, and ask judge and oracle about each attempt."""
    task, done = load_task(str(name)), []
    for episode in range(attempts):
        try:
            scene, record = simulate(task, seed, episode, Stopwatch())
        except SamplingError as error:
            done.append(without_scene(seed, episode, error))
            continue
        deeds = library_deeds(task, scene)
        scene.world.restore_state(record.states[-1])
        content = goal_holds(scene, record.goal)
        done.append(recorded(record, goal=content, verdict=verdict_of(scene, record, deeds)))
    return _row(str(name), task.config.robots[0].name, str(name), done, "")


def planted_unit(number: int | str, *, seed: int, attempts: int) -> Row:
    """Plant wrongs into a random task that was done, and ask the judge about each."""
    del attempts
    written = write_task(int(number), seed)
    with tempfile.TemporaryDirectory() as folder:
        bench, why = make_bench(written, Path(folder), seed)
        if bench is None:
            return {"kind": written.kind, "robot": written.robot, "name": written.name, "planted": 0, "no_scene": why}
        wrongs = [*plant_wrongs(bench, PER_SCENE), *held_wrongs(bench, HELD)]
    taken = [
        {"task": written.name, "seed": seed, "plant": w.plant, "deed": w.kind, "oracle": w.truth}
        for w in wrongs
        if w.judge
    ]
    plants = dict(Counter(w.plant for w in wrongs))
    row = {"kind": written.kind, "robot": written.robot, "name": written.name, "planted": len(wrongs)}
    return {**row, "plants": plants, "taken_for_right": taken, "text": written.text if taken else ""}


UNITS: dict[str, Callable[..., Row]] = {"tasks": task_unit, "library": library_unit, "planted": planted_unit}


def _row(kind: str, robot: str, name: str, attempts: list[Attempt], text: str) -> Row:
    """Return the counts of some attempts and those that somebody should look at."""
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    odd: list[Row] = []
    for one in attempts:
        done = one.verdict.done
        words = {"false_success": one.false_success, "false_failure": one.false_failure, "own_term": one.own_term}
        word = next((word for word, said in words.items() if said), "")
        word = "unclear" if done is None else word
        counts.update(
            attempts=1,
            judge=one.success,
            oracle=done is True,
            honest=one.success and done is True,
            redrawn=one.layout > 0,
            **({word: 1} if word else {}),
        )
        if word:
            facts = {"what": word, "task": name, "seed": one.seed, "episode": one.episode}
            odd.append(
                facts | {"success": one.success, "goal": one.goal, "reason": one.reason, "oracle": one.verdict.why}
            )
    reasons = dict(Counter(one.reason for one in attempts if one.reason))
    row = {"kind": kind, "robot": robot, "name": name, "counts": dict(counts), "reasons": reasons}
    failures = [{"task": name, "episode": one.episode, "layout": one.layout, "said": one.said} for one in attempts
                if one.said]  # fmt: skip
    return {**row, "failures": failures, "findings": odd, "text": text if odd or failures else ""}


def _guarded(unit: Callable[..., Row], number: int | str) -> Row:
    """Do a unit; a fault of the code is a finding, too, and no end of the run."""
    begin = time.process_time()
    try:
        row = unit(number)
    except Exception as error:
        row = {"name": str(number), "fault": f"{type(error).__name__}: {error}"[:400]}
        row["trace"] = traceback.format_exc()[-1500:]
    return {**row, "unit": number, "cpu_s": round(time.process_time() - begin, 2)}


def _alone() -> None:
    """Give a process of the pool one thread: there are as many processes as cores."""
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"


def rows_of(unit: Callable[..., Row], numbers: list[int | str], processes: int, until: float) -> Iterator[Row]:
    """Yield what becomes of the units, in any order, until the time is over."""
    if processes <= 1:
        for number in numbers:
            if time.monotonic() > until:
                return
            yield _guarded(unit, number)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, initializer=_alone) as pool:
        results = pool.imap_unordered(partial(_guarded, unit), numbers)
        for _ in numbers:
            try:
                yield results.next(timeout=max(0.0, until - time.monotonic()))
            except multiprocessing.TimeoutError:
                pool.terminate()
                return


def summary(kind: str, rows: list[Row], asked: int) -> Row:
    """Return the figures of a run and all its findings."""
    faults = [row for row in rows if "fault" in row]
    done: Row = {"kind": kind, "units": len(rows), "not_run": asked - len(rows), "faults": faults}
    done["cpu_s"] = round(sum(row["cpu_s"] for row in rows), 1)
    if kind == "planted":
        good = [row for row in rows if "planted" in row]
        plants = Counter[str]()
        for row in good:
            plants.update(row.get("plants", {}))
        done["planted"], done["plants"] = sum(row["planted"] for row in good), dict(plants)
        done["taken_for_right"] = [wrong for row in good for wrong in row.get("taken_for_right", ())]
        done["texts"] = {row["name"]: row["text"] for row in good if row.get("text")}
        return done
    tried = [row for row in rows if "counts" in row]
    total = Counter[str]()
    for row in tried:
        total.update(row["counts"])
    done["total"] = {key: total[key] for key in COUNTS}
    for group in ("kind", "robot"):
        parts: dict[str, Counter[str]] = {}
        for row in tried:
            parts.setdefault(row[group], Counter()).update(row["counts"])
        done[f"by_{group}"] = {key: {c: count[c] for c in COUNTS} for key, count in sorted(parts.items())}
    done["reasons"] = dict(sum((Counter(row["reasons"]) for row in tried), Counter[str]()).most_common())
    done["failures"] = [failure for row in tried for failure in row["failures"]]
    done["findings"] = [finding for row in tried for finding in row["findings"]]
    done["texts"] = {row["name"]: row["text"] for row in tried if row["text"]}
    return done


def main(words: list[str] | None = None) -> int:
    """Run, write the file and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=UNITS)
    parser.add_argument("--count", "--tasks", type=int, default=300, help="random tasks, or wrongs to plant")
    parser.add_argument("--attempts", type=int, default=5, help="attempts of each task")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds until what is left is not run")
    parser.add_argument("--only", nargs="*", default=None, help="numbers of tasks, or names of the library")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args(words)
    begin, numbers = time.monotonic(), _numbers(given.kind, given.count, given.only)
    unit = partial(UNITS[given.kind], seed=given.seed, attempts=given.attempts)
    rows: list[Row] = []
    for row in rows_of(unit, numbers, given.processes, begin + given.limit):
        rows.append(row)
        _say(row)
        if given.kind == "planted" and given.only is None and sum(r.get("planted", 0) for r in rows) >= given.count:
            break
    figures = summary(given.kind, rows, len(numbers) if given.kind != "planted" else len(rows))
    figures |= {"seed": given.seed, "attempts": given.attempts, "seconds": round(time.monotonic() - begin, 1)}
    text = json.dumps(figures, indent=1, ensure_ascii=False)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")
    shown = {key: figures.get(key) for key in ("total", "planted", "units", "not_run", "seconds", "cpu_s")}
    sys.stdout.write(json.dumps({k: v for k, v in shown.items() if v is not None}) + "\n")
    false = len(figures.get("taken_for_right", ())) + figures.get("total", {}).get("false_success", 0)
    sys.stdout.write(f"{false} wrong taken for right, {len(figures['faults'])} faults\n")
    return int(false > 0)


def _numbers(kind: str, count: int, only: list[str] | None) -> list[int | str]:
    if only is not None:
        return list(only) if kind == "library" else [int(word) for word in only]
    if kind == "library":
        from handloom.tasks import library

        names: list[int | str] = sorted(library())
        random.Random(0).shuffle(names)  # The slow ones are neighbours.
        return names
    return list(range(count if kind == "tasks" else max(8, count // YIELD)))


def _say(row: Row) -> None:
    """Print one line as a unit is done, so that a long run can be watched."""
    what = row.get("fault") or row.get("counts") or {"planted": row.get("planted"), "why": row.get("no_scene", "")}
    sys.stdout.write(f"{row.get('name')} {row.get('kind', '')} {row.get('robot', '')} {row['cpu_s']} s: {what}\n")
    for odd in (*row.get("findings", ()), *row.get("taken_for_right", ())):
        sys.stdout.write(f"  {odd}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
