"""Measures `handloom improve`: rounds of takeovers beside the same number of fresh demonstrations.

    python rounds.py fr3_pick_place fr3_stack_cubes --first 100 --more 50 --rounds 2 --see objects

A policy is trained on the first demonstrations. In every round the expert takes over where the newest policy fails, and
a policy is trained on everything so far. Beside it, a policy is trained on as many demonstrations made the usual
way. All policies are trained for the same number of steps and tested on the same unseen scenes. Every result is written
to ``OUTPUT/rounds.json`` as soon as it is known; the same command continues where it stopped.
"""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from worth import DISTURB, HERE, run_step


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What is compared."""

    first: int = 100
    """Demonstrations before the first round."""
    more: int = 50
    """Demonstrations added in every round."""
    rounds: int = 2
    """Number of rounds."""
    see: str = "objects"
    """What policies see: pictures, or objects (their true poses)."""
    steps: int = 6000
    """Training steps of every policy."""
    scenes: int = 100
    """Unseen scenes to test on."""
    seed: int = 1
    """Seed of the demonstrations; those of the rounds follow from it."""
    test_seed: int = 0
    """Set of test scenes."""
    size: int = 128
    """Width and height of images [px]."""
    workers: int = os.cpu_count() or 1
    """Processes of each step."""


class Rounds:
    """The rounds of one task.

    Args:
        task: Its name or file.
        given: What is compared.
        folder: Folder of everything.
    """

    def __init__(self, task: str, given: Comparison, folder: Path) -> None:
        self.task, self.given, self.folder = task, given, folder
        folder.mkdir(parents=True, exist_ok=True)
        self._push = next(push for name, push in DISTURB.items() if task.startswith(name))

    def rows(self) -> list[dict[str, Any]]:
        """Return the result of every policy: `first`, then per round `improved` and `fresh`."""
        given = self.given
        base, found = self._fresh(given.first), []
        weights = self._trained("first", [base])
        found.append(self._tested("first", 0, given.first, weights))
        parts = [base]
        for number in range(1, given.rounds + 1):
            parts.append(self._takeovers(number, weights))
            count = given.first + number * given.more
            weights = self._trained(f"improved_{number}", parts)
            found.append(self._tested("improved", number, count, weights))
            plain = self._trained(f"fresh_{number}", [self._fresh(count)])
            found.append(self._tested("fresh", number, count, plain))
        return found

    def _fresh(self, count: int) -> Path:
        """Return prepared demonstrations made the usual way; a larger number extends the run of the smaller one."""
        made = ["generate", self.task, "-n", str(count), "--seed", str(self.given.seed), "--disturb", str(self._push)]
        return self._prepared(f"fresh_{count}", self.folder / "run", made)

    def _takeovers(self, number: int, weights: Path) -> Path:
        """Return the prepared takeovers of a round."""
        policy = ["--policy", "model:Trained", "--weights", str(weights)]
        seed = str(1000 * (self.given.seed + number))
        made = ["improve", self.task, *policy, "-n", str(self.given.more), "--seed", seed]
        return self._prepared(f"takeovers_{number}", self.folder / f"improve_{number}", made)

    def _prepared(self, name: str, run: Path, made: list[str]) -> Path:
        prepared = self.folder / f"prepared_{name}"
        if not (prepared / "done").exists():
            work = ["--render", "none", "--skip-stuck", "--workers", str(self.given.workers)]
            run_step(self.folder, ["-m", "handloom", *made, "-o", str(run), *work])
            drawn = ["--pictures", "draw" if self.given.see == "pictures" else "none", "--size", str(self.given.size)]
            drawn += ["--workers", str(self.given.workers)]
            run_step(self.folder, [str(HERE / "data.py"), str(run / "dataset"), str(prepared), *drawn])
            (prepared / "done").touch()
        return prepared

    def _trained(self, name: str, parts: list[Path]) -> Path:
        """Return the weights of a policy trained on the episodes of several folders."""
        weights, together = self.folder / f"{name}.pt", self.folder / f"episodes_{name}"
        if not weights.exists():
            together.mkdir(exist_ok=True)
            for number, part in enumerate(parts):
                for file in part.glob("[0-9]*.npz"):
                    link = together / f"{number}{file.name}"
                    if not link.exists():
                        os.link(file, link)
            bounds = ["--steps", str(self.given.steps), "--minutes", "600"]
            bounds += ["--pictures"] if self.given.see == "pictures" else []
            run_step(self.folder, [str(HERE / "train.py"), str(together), "-o", str(weights), *bounds])
        return weights

    def _tested(self, kind: str, number: int, count: int, weights: Path) -> dict[str, Any]:
        result = self.folder / f"evaluation_{weights.stem}"
        if not (result / "evaluation.json").exists():
            policy = ["--policy", "model:Trained", "--weights", str(weights), "--skip-stuck"]
            tested = ["-n", str(self.given.scenes), "--seed", str(self.given.test_seed), "--videos", "0"]
            tested += ["-o", str(result), "--workers", str(self.given.workers)]
            run_step(self.folder, ["-m", "handloom", "evaluate", self.task, *policy, *tested])
        found = json.loads((result / "evaluation.json").read_text())
        kept = {key: found[key] for key in ("successes", "scenes", "interval", "failure_reasons")}
        row = {"task": self.task, "policy": kind, "round": number, "demonstrations": count, "see": self.given.see}
        return row | kept


def main(
    tasks: tyro.conf.Positional[tuple[str, ...]],
    *,
    given: tyro.conf.OmitArgPrefixes[Comparison] = Comparison(),  # noqa: B008 - the defaults of the flags
    output: Path = Path("rounds"),
) -> None:
    """Compare, and print a table; ``OUTPUT/rounds.json`` keeps it.

    Args:
        tasks: Tasks, by name or file.
        given: What is compared.
        output: Folder of everything.
    """
    begin, rows = time.monotonic(), []
    for task in tasks:
        rows += Rounds(task, given, (output / task.replace("/", "_")).absolute()).rows()
        (output / "rounds.json").write_text(json.dumps(rows, indent=1))
    print(table(rows))
    print(f"{(time.monotonic() - begin) / 60:.1f} minutes in all")


def table(rows: list[dict[str, Any]]) -> str:
    """Return a Markdown table: one row per task and round."""
    lines = ["| task | demonstrations | with takeovers | fresh ones only | test scenes |", "|" + " --- |" * 5]
    for row in rows:
        if row["policy"] == "fresh":
            continue
        same = [r for r in rows if r["task"] == row["task"] and r["round"] == row["round"] and r["policy"] == "fresh"]
        beside = str(same[0]["successes"]) if same else str(row["successes"])
        lines.append(f"| `{row['task']}` | {row['demonstrations']} | {row['successes']} | {beside} | {row['scenes']} |")
    return "\n".join(lines)


if __name__ == "__main__":
    tyro.cli(main)
