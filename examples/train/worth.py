"""Measures the value of demonstrations for many tasks: success on unseen scenes, by their number, disturbed or not.

    python worth.py fr3_pick_place --demonstrations 100 300 1000 --disturb 0 0.02 --minutes 2 --output worth
    python worth.py fr3_open_drawer fr3_insert_peg lift2_handover --demonstrations 500 --see pictures

Every step is a command that can also be run by hand: ``handloom generate``, ``data.py``, ``train.py``, ``handloom
evaluate``. Tasks overlap: while policies of some are trained on the GPU, demonstrations of the next are generated,
and finished policies are tested. Every result is written to ``OUTPUT/worth.json`` as soon as it is known, and
finished work is kept: the same command resumes.
"""

import heapq
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count as counting
from pathlib import Path
from threading import Condition, Lock, Semaphore
from typing import Any

import tyro

HERE = Path(__file__).parent
DISTURB = {"so101": 0.01, "fr3_insert_peg": 0.01, "": 0.02}
"""Disturbance by prefix of a task's name [m]: small jaws and narrow openings leave less room."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How policies are trained and tested."""

    demonstrations: tuple[int, ...] = (100, 300, 1000)
    """Numbers of demonstrations to train on; the smaller sets are subsets of the largest."""
    disturb: tuple[float, ...] = ()
    """Disturbances of the expert [m]; if none are given, a value that suits the task."""
    see: tuple[str, ...] = ("pictures", "objects")
    """Inputs of the policies: pictures, objects (their true poses)."""
    variant: str = "clean"
    """Variant of demonstrations and test scenes: clean, or randomized (clutter, looks, shapes, masses)."""
    head: str = "direct"
    """direct or flow."""
    steps: int = 20_000
    """Maximum number of steps of each training run."""
    minutes: float = 2.0
    """Time limit of each training run."""
    scenes: int = 100
    """Unseen scenes to evaluate on."""
    seed: int = 1
    """Seed of the demonstrations."""
    test_seed: int = 0
    """Set of test scenes."""
    size: int = 128
    """Width and height of images [px]."""
    backend: str = "cpu"
    """Renderer of the training images: cpu or cuda."""


class Queue:
    """Limits the number of concurrent jobs; the waiting job with the lowest rank is next."""

    def __init__(self, places: int) -> None:
        self._free, self._waiting, self._tickets = places, [], counting()
        self._changed = Condition()

    @contextmanager
    def place(self, rank: int) -> Iterator[None]:
        """Wait for a slot, and hold it."""
        ticket = (rank, next(self._tickets))
        with self._changed:
            heapq.heappush(self._waiting, ticket)
            self._changed.wait_for(lambda: self._free > 0 and self._waiting[0] == ticket)
            heapq.heappop(self._waiting)
            self._free -= 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()


class Workshop:
    """Runs the steps of many tasks in parallel.

    Args:
        recipe: How policies are trained and tested.
        output: Folder of everything.
        workers: Processes of each job.
        jobs: Concurrent jobs on the CPU.
        trainings: Policies trained at the same time.
        until: No task is started after this time [s, monotonic clock].
        keep: Keep demonstrations and prepared episodes after use.
    """

    def __init__(
        self, recipe: Recipe, output: Path, *, workers: int, jobs: int, trainings: int, until: float, keep: bool
    ) -> None:
        self.recipe, self.output, self.workers, self.until, self.keep = recipe, output, workers, until, keep
        self._processor, self._card, self._drawing = Queue(jobs), Semaphore(trainings), Queue(2)
        self._begin, self._lock = time.monotonic(), Lock()
        self._file = output / "worth.json"
        self.table: list[dict[str, Any]] = json.loads(self._file.read_text()) if self._file.exists() else []

    def task(self, task: str) -> None:
        """Add the rows of a task to the table, one for every policy."""
        recipe, folder = self.recipe, self._folder(task)
        for number, push in enumerate(self._pushes(task)):
            rows = [self._row(task, push, count, sense) for count in recipe.demonstrations for sense in recipe.see]
            todo = [row for row in rows if not any(row.items() <= known.items() for known in self.table)]
            if not todo:
                continue
            times: dict[str, float] = {}
            with self._reported(task):
                prepared = self._demonstrations(task, recipe.seed + number, push, times)
                if prepared is None:
                    return
                for row in todo:
                    self._add(row | self._policy(task, folder, prepared, row, dict(times)))
            if not self.keep:
                shutil.rmtree(folder / f"prepared_{push:g}", ignore_errors=True)

    def together(self, tasks: Sequence[str], begun: int, unseen: Path | None) -> None:
        """Train one policy for all tasks, which reads their words, and test it on each."""
        recipe, folder = self.recipe, self._folder("together")

        def made(task: str) -> Path | None:
            with self._reported(task):
                return self._demonstrations(task, recipe.seed, self._pushes(task)[0], {}, wordings=True)

        with ThreadPoolExecutor(begun) as pool:
            folders = {task: found for task, found in zip(tasks, pool.map(made, tasks), strict=True) if found}
        count, weights, times = max(recipe.demonstrations), folder / "together.pt", {}
        words = f"python worth.py {' '.join(tasks)} --demonstrations {count} --see pictures --seed {recipe.seed}"
        words += f" --together --scenes {recipe.scenes} --minutes {recipe.minutes:g} --size {recipe.size}"
        words += "".join(f" --disturb {push:g}" for push in recipe.disturb) + (f" --unseen {unseen}" if unseen else "")
        if not weights.exists():
            with self._card, self._timed("together", "train", times):
                bounds = ["--steps", "1000000", "--minutes", str(recipe.minutes), "--batch", "256"]
                parts = [str(found) for found in folders.values()]
                run_step(folder, [str(HERE / "train.py"), *parts, "-o", str(weights), "--pictures", *bounds])
        sentences = json.loads(unseen.read_text()) if unseen else {}

        def tested(task: str, said: str, texts: Sequence[str]) -> None:
            result = folder / f"evaluation_{task.replace('/', '_')}_{said}"
            options = ["--set", f"data.language_instruction={texts[0]}"] if texts else []
            options += [f"data.paraphrases={json.dumps(texts[1:])}"] if texts else []
            with self._reported(task):
                found = self._tested(task, folder, weights, result, dict(times), options, rank=3)
                row = {"task": task, "policy": f"one for {len(folders)} tasks", "see": "pictures", "words": said}
                self._add(row | {"recipe": words, "demonstrations": count, "disturb": self._pushes(task)[0]} | found)

        todo = [(task, "usual", []) for task in folders]
        todo += [(task, "unseen", sentences[task]) for task in folders if task in sentences]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda job: tested(*job), todo))

    def _folder(self, task: str) -> Path:
        folder = self.output / task.replace("/", "_")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _pushes(self, task: str) -> tuple[float, ...]:
        suited = next(push for name, push in DISTURB.items() if task.startswith(name))
        return self.recipe.disturb or (suited,)

    @contextmanager
    def _reported(self, task: str) -> Iterator[None]:
        """Report a step that failed, so that the other tasks go on."""
        try:
            yield
        except subprocess.CalledProcessError as error:
            log = self._folder(task) / "log.txt"
            self._tell(task, f"failed: {' '.join(map(str, error.cmd))[:200]}, see {log}")

    def _row(self, task: str, push: float, count: int, sense: str) -> dict[str, Any]:
        recipe = self.recipe
        words = f"python worth.py {task} --demonstrations {count} --disturb {push:g} --see {sense}"
        words += f" --minutes {recipe.minutes:g} --steps {recipe.steps} --seed {recipe.seed} --scenes {recipe.scenes}"
        words += f" --test-seed {recipe.test_seed}" if recipe.test_seed else ""
        words += "" if recipe.variant == "clean" else f" --variant {recipe.variant}"
        words += "" if recipe.head == "direct" else f" --head {recipe.head}"
        return {"task": task, "see": sense, "demonstrations": count, "disturb": push, "recipe": words}

    def _demonstrations(
        self, task: str, seed: int, push: float, times: dict[str, float], *, wordings: bool = False
    ) -> Path | None:
        """Return the prepared episodes, or None if it was too late to start."""
        recipe, folder = self.recipe, self._folder(task)
        run, prepared = folder / f"run_{push:g}", folder / f"prepared_{push:g}"
        made = ["--successes", str(max(recipe.demonstrations)), "--seed", str(seed), "--disturb", str(push)]
        with self._processor.place(2), self._timed(task, "generate", times):
            if time.monotonic() > self.until:
                return None
            self._handloom(folder, "generate", task, *made, "-o", str(run), "--render", "none", "--skip-stuck")
        drawn = ["--size", str(recipe.size), "--workers", str(self.workers)]
        drawn += [] if "pictures" in recipe.see else ["--pictures", "none"]
        drawn += ["--wordings"] if wordings else []
        words = [str(HERE / "data.py"), str(run / "dataset"), str(prepared), *drawn]
        # Rendering on the GPU hardly needs the CPU.
        place = self._processor if recipe.backend == "cpu" else self._drawing
        with place.place(1), self._timed(task, "prepare", times):
            try:
                run_step(folder, [*words, "--backend", recipe.backend])
            except subprocess.CalledProcessError:
                if recipe.backend == "cpu":
                    raise
                self._tell(task, f"could not render on {recipe.backend}, rendering on cpu")
                run_step(folder, [*words, "--backend", "cpu"])
        if not self.keep:
            shutil.rmtree(run, ignore_errors=True)
        return prepared

    def _policy(
        self, task: str, folder: Path, prepared: Path, row: dict[str, Any], times: dict[str, float]
    ) -> dict[str, Any]:
        recipe, name = self.recipe, f"{row['see']}_{row['demonstrations']}_{row['disturb']:g}"
        weights, result = folder / f"{name}.pt", folder / f"evaluation_{name}"
        if not weights.exists():
            options = ["--episodes", str(row["demonstrations"]), "--head", recipe.head]
            options += ["--minutes", str(recipe.minutes), "--steps", str(recipe.steps)]
            options += ["--pictures"] if row["see"] == "pictures" else []
            with self._card, self._timed(task, "train", times):
                run_step(folder, [str(HERE / "train.py"), str(prepared), "-o", str(weights), *options])
        return self._tested(task, folder, weights, result, times)

    def _tested(
        self,
        task: str,
        folder: Path,
        weights: Path,
        result: Path,
        times: dict[str, float],
        options: Sequence[str] = (),
        *,
        rank: int = 0,
    ) -> dict[str, Any]:
        if not (result / "evaluation.json").exists():
            tested = ["-n", str(self.recipe.scenes), "--seed", str(self.recipe.test_seed), "--videos", "0"]
            tested += ["-o", str(result), *options]
            policy = ["--policy", "model:Trained", "--weights", str(weights), "--skip-stuck"]
            with self._processor.place(rank), self._timed(task, "evaluate", times):
                self._handloom(folder, "evaluate", task, *policy, *tested)
        found = json.loads((result / "evaluation.json").read_text())
        return found | {"seconds": {stage: round(value, 1) for stage, value in times.items()}}

    def _handloom(self, folder: Path, verb: str, task: str, *words: str) -> None:
        scene = [] if self.recipe.variant == "clean" else ["--set", f"data.variant={self.recipe.variant}"]
        run_step(folder, ["-m", "handloom", verb, task, *scene, *words, "--workers", str(self.workers)])

    @contextmanager
    def _timed(self, task: str, stage: str, times: dict[str, float]) -> Iterator[None]:
        begin = time.monotonic()
        yield
        times[stage] = time.monotonic() - begin
        self._tell(task, f"{stage} took {times[stage]:.0f} s")

    def _tell(self, task: str, what: str) -> None:
        print(f"{time.monotonic() - self._begin:6.0f} s  {task}: {what}", flush=True)

    def _add(self, row: dict[str, Any]) -> None:
        with self._lock:
            self.table.append(row)
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(self.table, indent=1))
            part.rename(self._file)
        self._tell(row["task"], f"{row['successes']} of {row['scenes']}  {row['failure_reasons']}")


def worth(
    tasks: tyro.conf.Positional[tuple[str, ...]] = ("fr3_pick_place",),
    *,
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = Recipe(),  # noqa: B008 - the defaults of the flags
    output: Path = Path("worth"),
    workers: int = os.cpu_count() or 1,
    jobs: int = 1,
    trainings: int = 2,
    begun: int = 6,
    seconds: float = 1e9,
    together: bool = False,
    unseen: Path | None = None,
    keep: bool = True,
) -> None:
    """Measure and print a table; ``OUTPUT/worth.json`` keeps it.

    Args:
        tasks: Tasks of one robot, by name or file.
        recipe: How policies are trained and tested.
        output: Folder of everything.
        workers: Processes of each job.
        jobs: Concurrent jobs on the CPU: generating demonstrations, rendering, testing.
        trainings: Policies trained at the same time.
        begun: Tasks in progress at the same time.
        seconds: No task is started after this time.
        together: Train one policy for all tasks, which must use the same robot, instead of one for each.
        unseen: JSON file with sentences for each task that the policy for all tasks is tested with, too.
        keep: Keep demonstrations and prepared episodes after use.
    """
    begin = time.monotonic()
    output.mkdir(parents=True, exist_ok=True)
    until = begin + seconds
    workshop = Workshop(recipe, output, workers=workers, jobs=jobs, trainings=trainings, until=until, keep=keep)
    if together:
        workshop.together(tasks, begun, unseen)
    else:
        with ThreadPoolExecutor(begun) as pool:
            list(pool.map(workshop.task, tasks))
    print(table(workshop.table))
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes in total")


def table(rows: list[dict[str, Any]]) -> str:
    """Return a Markdown table of the rows."""
    lines = ["| task | sees | demonstrations | disturbed | success | 95 % | what was missing |", "|" + " --- |" * 7]
    for row in rows:
        low, high = row["interval"]
        missing = ", ".join(f"{reason} {count}" for reason, count in Counter(row["failure_reasons"]).most_common(3))
        cells = [f"`{row['task']}`", row["see"], f"{row['demonstrations']:,}", f"{100 * row['disturb']:g} cm"]
        cells += [f"{row['success_rate']:.0%}", f"{low:.0%} to {high:.0%}", missing]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def run_step(folder: Path, words: list[str]) -> None:
    """Run a step; its output goes to the log of its task. Training has priority over CPU-only steps."""
    gentle = [] if words[0].endswith("train.py") else ["nice", "-n", "5"]
    # Python looks for the policy module (``model:Trained``) in this folder.
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    with (folder / "log.txt").open("a") as log:
        log.write(f"$ python {' '.join(words)}\n")
        log.flush()
        subprocess.run(
            [*gentle, sys.executable, *words],
            check=True,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )


if __name__ == "__main__":
    tyro.cli(worth)
