"""Write the page of the task library: what each task is, a strip of pictures, and how often the expert succeeds.

``python tools/write_task_library.py`` writes the page; ``--draw [NAME ...]`` draws the strips too (all, or these).
The figures come from ``docs/images/tasks/success.json``, the output of ``handloom bench tasks --json``.
"""

import json
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from handloom.engine.attempt import Stopwatch, simulate
from handloom.render import Renderer
from handloom.tasks import Task, library, load_task
from handloom.tasks.sampling.robots import robot_source

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "task_library.md"
PICTURES = ROOT / "docs" / "images" / "tasks"
SUCCESS = PICTURES / "success.json"
MOMENTS = (0.0, 0.35, 0.65, 1.0)
"""Shares of an episode that a strip shows."""
SIDE = 200
"""Width and height of one picture of a strip [px]."""


def page() -> str:
    """Return the text of the page."""
    measured = {row["name"]: row for row in json.loads(SUCCESS.read_text())["rows"]} if SUCCESS.exists() else {}
    tasks = {name: load_task(name) for name in library()}
    robots = dict.fromkeys(robot for task in tasks.values() for robot in _robots(task))
    parts = [
        "# The task library",
        "Made by `tools/write_task_library.py`; do not edit.",
        "Every task runs by its name, as in `handloom generate fr3_pick_place -n 100 -o runs/first`, and is a YAML "
        "file to start your own from (`base:` inherits everything). The figures are those of `handloom bench tasks`: "
        "attempts with seeds from 0 on, no pictures drawn; planning as a share of the work, and simulated seconds per "
        "second of one core.",
        _table(tasks, measured),
    ]
    for robot in robots:
        parts.append(f"## {robot}")
        parts += [_section(name, task) for name, task in tasks.items() if robot in _robots(task)]
    return "\n\n".join(parts) + "\n"


def draw(name: str) -> Path:
    """Draw a strip of a successful episode of a task, as its first camera sees it."""
    task = load_task(name)
    first = sum(map(ord, name)) % 7  # another one for every task, so that tables and lights differ on the page
    for episode in range(first, first + 10):
        scene, record = simulate(task, 0, episode, Stopwatch())
        if record.success:
            break
    else:
        raise SystemExit(f"{name}: ten attempts, no success; nothing to draw")
    world, camera = scene.world, record.instance.cameras[0].resized(SIDE, SIDE)
    renderer, strip = Renderer(world.model, "quality"), []
    for share in MOMENTS:
        state = np.ascontiguousarray(record.states[round(share * record.frames)])
        mujoco.mj_setState(world.model, world.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(world.model, world.data)
        mujoco.mj_camlight(world.model, world.data)
        strip.append(renderer.render(world.data, (camera,))[camera.name]["rgb"])
    PICTURES.mkdir(parents=True, exist_ok=True)
    out = PICTURES / f"{name}.jpg"
    Image.fromarray(np.concatenate(strip, axis=1)).save(out, quality=85, optimize=True)
    return out


def _robots(task: Task) -> tuple[str, ...]:
    return tuple(robot_source(task, entry) for entry in task.config.robots)


def _table(tasks: dict[str, Task], measured: dict[str, dict[str, Any]]) -> str:
    rows = ["| task | success | attempts | episode | planning | real time |", "|---|---|---|---|---|---|"]
    for name in tasks:
        row = measured.get(name)
        figures = (
            f"{row['success_percent']:.0f} % | {row['attempts']} | {row['episode_s']:.1f} s | "
            f"{row['planning_percent']:.0f} % | {row['realtime_factor']:.1f} x"
            if row
            else "not measured | | | |"
        )
        rows.append(f"| [{name}](#{name}) | {figures} |")
    return "\n".join(rows)


def _section(name: str, task: Task) -> str:
    about = {}
    for line in task.path.read_text().splitlines():
        key, _, text = line.removeprefix("# ").partition(": ")
        if line.startswith("# ") and text:
            about[key] = text
    skills = dict.fromkeys(
        skill.name
        for stage in task.config.skills
        for blocks in stage.values()
        for block in blocks
        for lane in block.values()
        for skill in lane
    )
    lines = [
        f"### {name}",
        f"![{name}](images/tasks/{name}.jpg)",
        f"{about['Task']} Skills: {', '.join(f'`{skill}`' for skill in skills)}.",
        f"*Randomizations:* {about['Randomizations']}  \n*Success:* {about['Success']}",
    ]
    return "\n\n".join(lines)


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--draw"]:
        for task_name in words[1:] or library():
            sys.stdout.write(f"{draw(task_name)}\n")
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE}\n")
