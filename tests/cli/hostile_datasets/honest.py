"""The honest run that hostile ones are made of."""

from pathlib import Path

from handloom.dataset.files.durable import write_json
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.attempt import run_attempt
from handloom.tasks import load_task
from rest_task import REST


def honest_run(folder: Path) -> Path:
    """Make a run of three short episodes, the last of them not merged into the dataset yet; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rest.yaml").write_text(REST)
    task = load_task(folder / "rest.yaml")
    settings = RunSettings.of_task(task, seed=0, unit_size=1, preset="fast")
    run = RunDirectory.begin(folder / "run", settings)
    generate_run(run, Goal(attempts=2), InlineExecutor())
    run.journal(2).append(run_attempt(settings, task, 2, run.episodes))
    write_json(run.path / "finished.json", {"attempts": 3})
    return run.path
