"""Measures what demonstrations are worth: success on unseen scenes against their number, disturbed or not.

    python worth.py fr3_pick_place --demonstrations 100 300 1000 --disturb 0 0.02 --minutes 2 --output worth

Every step is a command that can be given by hand: ``handloom generate``, ``data.py``, ``train.py``, ``handloom
evaluate``. What is finished is kept: the same command again goes on where it was stopped.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import tyro

HERE = Path(__file__).parent


def worth(
    task: tyro.conf.Positional[str] = "fr3_pick_place",
    *,
    demonstrations: tuple[int, ...] = (100, 300, 1000),
    disturb: tuple[float, ...] = (0.0, 0.02),
    see: tuple[str, ...] = ("pictures", "objects"),
    variant: str = "clean",
    head: str = "direct",
    minutes: float = 2.0,
    scenes: int = 100,
    seed: int = 1,
    test_seed: int = 0,
    output: Path = Path("worth"),
    workers: int = os.cpu_count() or 1,
) -> None:
    """Measure and print a table; ``OUTPUT/worth.json`` keeps it.

    Args:
        task: A task of the library, of one arm.
        demonstrations: Numbers of demonstrations to train on; the smaller sets are parts of the largest.
        disturb: Disturbances of the expert [m].
        see: What policies see: pictures, objects (their true poses).
        variant: clean or randomized: clutter, looks, shapes, masses, of demonstrations and of test scenes.
        head: direct or flow.
        minutes: Bound on the training of each policy.
        scenes: Unseen scenes to evaluate on.
        seed: Seed of the demonstrations.
        test_seed: Set of test scenes.
        output: Folder of everything.
        workers: Processes.
    """
    rows = []
    for number, push in enumerate(disturb):
        run = output / f"run_{push:g}"
        scene = ["--set", f"data.variant={variant}"]
        made = [*scene, "--successes", str(max(demonstrations)), "--seed", str(seed + number), "--disturb", str(push)]
        _handloom("generate", task, *made, "-o", str(run), "--render", "none", "--workers", str(workers))
        _python("data.py", str(run / "dataset"), str(output / f"prepared_{push:g}"), "--workers", str(workers))
        for count in demonstrations:
            for sense in see:
                name = f"{sense}_{count}_{push:g}"
                weights = output / f"{name}.pt"
                if not weights.exists():
                    options = ["--episodes", str(count), "--head", head, "--minutes", str(minutes)]
                    options += ["--pictures"] if sense == "pictures" else []
                    _python("train.py", str(output / f"prepared_{push:g}"), "-o", str(weights), *options)
                result = output / f"evaluation_{name}"
                tested = [
                    *scene,
                    "-n",
                    str(scenes),
                    "--seed",
                    str(test_seed),
                    "--workers",
                    str(workers),
                    "-o",
                    str(result),
                ]
                _handloom("evaluate", task, "--policy", "model:Trained", "--weights", str(weights), *tested)
                found = json.loads((result / "evaluation.json").read_text())
                rows.append({"see": sense, "demonstrations": count, "disturb": push, **found})
                (output / "worth.json").write_text(json.dumps(rows, indent=1))
    print(f"{'see':<10}{'demonstrations':>15}{'disturbed':>11}{'success':>9}  95 % interval")
    for row in rows:
        low, high = row["interval"]
        demos = f"{row['see']:<10}{row['demonstrations']:>15}{row['disturb']:>9} m"
        print(f"{demos}{row['success_rate']:>9.0%}  {low:.0%} to {high:.0%}")


def _handloom(*words: str) -> None:
    # The folder of the policy is where Python looks for the module it is named by.
    subprocess.run([sys.executable, "-m", "handloom", *words], check=True, env=_environment())


def _python(script: str, *words: str) -> None:
    subprocess.run([sys.executable, str(HERE / script), *words], check=True)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}


if __name__ == "__main__":
    tyro.cli(worth)
