"""Measures what demonstrations are worth: success on unseen scenes against their number, disturbed or not.

    python worth.py fr3_pick_place --demonstrations 100 300 1000 --disturb 0 0.02 --minutes 2 --output worth
    python worth.py fr3_open_drawer fr3_insert_peg lift2_handover --demonstrations 700 --disturb 0.02 --see pictures

Every step is a command that can be given by hand: ``handloom generate``, ``data.py``, ``train.py``, ``handloom
evaluate``. What is finished is kept: the same command again goes on where it was stopped. While policies of some tasks
are trained, demonstrations of the next are made.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore
from typing import Any

import tyro

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How policies are made and tested."""

    demonstrations: tuple[int, ...] = (100, 300, 1000)
    """Numbers of demonstrations to train on; the smaller sets are parts of the largest."""
    disturb: tuple[float, ...] = (0.0, 0.02)
    """Disturbances of the expert [m]."""
    see: tuple[str, ...] = ("pictures", "objects")
    """What policies see: pictures, objects (their true poses)."""
    variant: str = "clean"
    """clean or randomized: clutter, looks, shapes, masses, of demonstrations and of test scenes."""
    head: str = "direct"
    """direct or flow."""
    minutes: float = 2.0
    """Bound on the training of each policy."""
    scenes: int = 100
    """Unseen scenes to evaluate on."""
    seed: int = 1
    """Seed of the demonstrations."""
    test_seed: int = 0
    """Set of test scenes."""
    size: int = 128
    """Width and height of pictures [px]."""
    backend: str = "cpu"
    """What draws the pictures to train on: cpu or cuda."""


class Workshop:
    """Carries out the steps for one task after the other; the processor and the card each do their own at once.

    Args:
        recipe: How policies are made and tested.
        output: Folder of everything.
        workers: Processes.
        trainings: Policies trained at the same time.
    """

    def __init__(self, recipe: Recipe, output: Path, workers: int, trainings: int) -> None:
        self.recipe, self.output, self.workers = recipe, output, workers
        self._processor, self._card = Semaphore(1), Semaphore(trainings)

    def rows(self, task: str) -> list[dict[str, Any]]:
        """Return a row for every policy of a task."""
        recipe, folder = self.recipe, self.output / task.replace("/", "_")
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for number, push in enumerate(recipe.disturb):
            prepared = self._demonstrations(task, folder, recipe.seed + number, push)
            for count in recipe.demonstrations:
                for sense in recipe.see:
                    row = {"task": task, "see": sense, "demonstrations": count, "disturb": push}
                    rows.append(row | self._policy(task, folder, prepared, f"{sense}_{count}_{push:g}", count))
        return rows

    def _demonstrations(self, task: str, folder: Path, seed: int, push: float) -> Path:
        recipe, run, prepared = self.recipe, folder / f"run_{push:g}", folder / f"prepared_{push:g}"
        made = ["--successes", str(max(recipe.demonstrations)), "--seed", str(seed), "--disturb", str(push)]
        with self._processor:
            self._handloom("generate", task, *made, "-o", str(run), "--render", "none")
            drawn = ["--size", str(recipe.size), "--backend", recipe.backend, "--workers", str(self.workers)]
            drawn += [] if "pictures" in recipe.see else ["--pictures", "none"]
            _run([str(HERE / "data.py"), str(run / "dataset"), str(prepared), *drawn])
        return prepared

    def _policy(self, task: str, folder: Path, prepared: Path, name: str, count: int) -> dict[str, Any]:
        recipe, weights, result = self.recipe, folder / f"{name}.pt", folder / f"evaluation_{name}"
        if not weights.exists():
            options = ["--episodes", str(count), "--head", recipe.head, "--minutes", str(recipe.minutes)]
            options += ["--pictures"] if name.startswith("pictures") else []
            with self._card:
                _run([str(HERE / "train.py"), str(prepared), "-o", str(weights), *options])
        if not (result / "evaluation.json").exists():
            tested = ["-n", str(recipe.scenes), "--seed", str(recipe.test_seed), "--videos", "0", "-o", str(result)]
            with self._processor:
                self._handloom("evaluate", task, "--policy", "model:Trained", "--weights", str(weights), *tested)
        return json.loads((result / "evaluation.json").read_text())

    def _handloom(self, verb: str, task: str, *words: str) -> None:
        scene = [] if self.recipe.variant == "clean" else ["--set", f"data.variant={self.recipe.variant}"]
        _run(["-m", "handloom", verb, task, *scene, *words, "--workers", str(self.workers)])


def worth(
    tasks: tyro.conf.Positional[tuple[str, ...]] = ("fr3_pick_place",),
    *,
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = Recipe(),  # noqa: B008 - the defaults of the flags
    output: Path = Path("worth"),
    workers: int = os.cpu_count() or 1,
    trainings: int = 2,
) -> None:
    """Measure and print a table; ``OUTPUT/worth.json`` keeps it.

    Args:
        tasks: Tasks of one robot, by name or file.
        recipe: How policies are made and tested.
        output: Folder of everything.
        workers: Processes.
        trainings: Policies that are trained at the same time.
    """
    begin = time.monotonic()
    workshop = Workshop(recipe, output, workers, trainings)
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(trainings + 1) as pool:
        for made in pool.map(workshop.rows, tasks):
            rows += made
            (output / "worth.json").write_text(json.dumps(rows, indent=1))
    print(table(rows))
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes in all")


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


def _run(words: list[str]) -> None:
    # The folder of the policy is where Python looks for the module it is named by.
    paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, *words], check=True, env={**os.environ, "PYTHONPATH": paths})


if __name__ == "__main__":
    tyro.cli(worth)
