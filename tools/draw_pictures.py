"""Draw the images of the rendering guide: every preset and backend that works here, beside the classic renderer.

Run ``python tools/draw_pictures.py`` in the root of the repository; files go to ``docs/images``.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handloom.bench.render import build_scene, front_camera
from handloom.render import Renderer, contact_sheet, probe_backends, write_png
from handloom.render.preset import CPU_PRESETS
from handloom.scene import build_scene as build_task_scene
from handloom.tasks import load_task, sample_task

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZE = 320, 240
SMALL = 192, 144
TASKS = ("fr3_store_fruit", "lift2_dual_pick_place", "so101_stack_cubes", "split_aloha_pick_place")


def bench_picture(preset: str, backend: str, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw the scene of the benchmark."""
    model, data = build_scene()
    camera = front_camera(*size)
    return np.asarray(Renderer(model, preset, backend=backend).render(data, [camera])[camera.name]["rgb"], np.uint8)


def task_picture(name: str) -> NDArray[np.uint8]:
    """Draw the first camera of the first episode of a task."""
    instance = sample_task(load_task(name), 0, 0)
    scene = build_task_scene(instance)
    camera = instance.cameras[0].resized(*SMALL)
    images = Renderer(scene.world.model, "quality", looks=scene.looks).render(scene.world.data, [camera])
    return np.asarray(images[camera.name]["rgb"], np.uint8)


def main() -> None:
    """Draw everything."""
    for preset in CPU_PRESETS:
        write_png(IMAGES / f"render_{preset}.png", bench_picture(preset, "cpu", SIZE))
    backends = [state.name for state in probe_backends() if state.works]
    pictures = [bench_picture("quality", backend, SMALL) for backend in backends]
    write_png(IMAGES / "render_backends.png", contact_sheet(pictures, backends, columns=len(backends)))
    looks = [task_picture(task) for task in TASKS]
    write_png(IMAGES / "render_tasks.png", contact_sheet(looks, TASKS, columns=2))


if __name__ == "__main__":
    main()
