"""``handloom sample TASK``: print one sampled scene."""

import json

import tyro

from handloom.tasks import load_task, sample_task


def run(
    task: tyro.conf.Positional[str],
    *,
    seed: int = 0,
    episode: int = 0,
    set: tuple[str, ...] = (),
    compact: bool = False,
) -> None:
    """Print the scene of one episode as JSON: every random choice in plain numbers.

    Args:
        task: A task of the library, or a YAML file.
        seed: Seed of the run.
        episode: Attempt index.
        set: Overrides such as data.max_episode_length=500.
        compact: One line instead of indented text.
    """
    text = sample_task(load_task(task, overrides=set), seed, episode).to_json()
    print(text if compact else json.dumps(json.loads(text), indent=2))
