"""``handloom preview TASK``: pictures of sampled scenes."""

from pathlib import Path
from typing import Annotated

import tyro


def run(
    task: tyro.conf.Positional[str],
    *,
    seed: int = 0,
    episodes: int = 4,
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/preview.png"),
    preset: str = "quality",
    set: tuple[str, ...] = (),
    allow_outside: bool = False,
) -> None:
    """Sample a few scenes and draw every camera, labelled, on one sheet.

    Python code that a task names is never run here.

    Args:
        task: A task of the library, or a YAML file.
        seed: Seed of the run.
        episodes: How many scenes.
        output: Picture to write.
        preset: fast, balanced or quality.
        set: Overrides such as data.max_episode_length=500.
        allow_outside: Let the task and its assets name files outside its folder, those around it and its asset root.
    """
    from handloom.config import forbid_code
    from handloom.errors import InputError
    from handloom.render import Renderer, contact_sheet, write_png
    from handloom.scene import build_scene
    from handloom.tasks import load_task, sample_task

    forbid_code()
    if episodes < 1:
        raise InputError(f"--episodes must be at least 1, got {episodes}")
    loaded = load_task(task, overrides=set, allow_outside=allow_outside)
    if not loaded.config.cameras:
        raise InputError(f"{loaded.path}: this task has no cameras, so there is nothing to draw")
    images, labels = [], []
    for episode in range(episodes):
        instance = sample_task(loaded, seed, episode)
        scene = build_scene(instance)
        pictures = Renderer(scene.world.model, preset).render(scene.world.data, instance.cameras)
        for camera in instance.cameras:
            images.append(pictures[camera.name]["rgb"])
            labels.append(f"episode {episode}  {camera.name}")
    per_scene = len(loaded.config.cameras)
    columns = per_scene * max(1, round((episodes / per_scene) ** 0.5))
    print(write_png(output, contact_sheet(images, labels, columns=columns)))
