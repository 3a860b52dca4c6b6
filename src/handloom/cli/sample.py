"""``handloom sample TASK``: print one sampled scene."""

import json

import tyro

from handloom.config import own_code
from handloom.tasks import load_task, sample_task


def run(
    task: tyro.conf.Positional[str],
    *,
    seed: int = 0,
    episode: int = 0,
    set: tuple[str, ...] = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    compact: bool = False,
) -> None:
    """Print the scene of one episode as JSON: every random choice in plain numbers.

    Args:
        task: A task of the library, or a YAML file.
        seed: Seed of the run.
        episode: Attempt index.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task names, such as an object my_module:my_function.
        allow_outside: Let the task and its assets name files outside its folder, those around it and its asset root.
        compact: One line instead of indented text.
    """
    if allow_code:
        own_code.allow_code()
    text = sample_task(load_task(task, overrides=set, allow_outside=allow_outside), seed, episode).to_json()
    print(text if compact else json.dumps(json.loads(text), indent=2))
