"""The honest run that hostile ones are made of."""

from pathlib import Path

from handloom.dataset.files.durable import write_json
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.attempt import run_attempt
from handloom.tasks import load_task

TASK = """
arena_file: arenas/table.yaml
robots:
  - {name: franka, robot_config_file: fr3, euler: [0, 0, 90]}
objects:
  - {name: apple, target_class: RigidObject, category: apple}
cameras:
  - {name: franka_front, translation: [0.47, 0.49, 1.14], orientation: [0.3209, 0.2085, 0.5033, 0.7747],
     camera_file: realsense_d455_v3, size: [32, 32]}
regions:
  - {object: franka, target: table, random_config: {pos_range: [[0, -0.42, 0], [0, -0.4, 0]], yaw_rotation: [0, 0]}}
  - {object: apple, target: table, random_config: {pos_range: [[-0.1, 0, 0], [0.1, 0.1, 0]], yaw_rotation: [-45, 45]}}
data: {language_instruction: Rest., max_episode_length: 60}
skills:
  - franka:
      - left: [{name: wait, wait_steps: 6, success_threshold: 0.02}]
"""


def honest_run(folder: Path) -> Path:
    """Make a run of three short episodes, the last of them not merged into the dataset yet; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rest.yaml").write_text(TASK)
    task = load_task(folder / "rest.yaml")
    settings = RunSettings.of_task(task, seed=0, unit_size=1, preset="fast")
    run = RunDirectory.begin(folder / "run", settings)
    generate_run(run, Goal(attempts=2), InlineExecutor())
    run.journal(2).append(run_attempt(settings, task, 2, run.episodes))
    write_json(run.path / "finished.json", {"attempts": 3})
    return run.path
