"""Draw the images of the gallery: scenes of tasks, and objects of the library on a table.

Run ``python tools/draw_gallery.py after`` in the root of the repository; files go to ``docs/images/gallery``. With
``before`` and ``PYTHONPATH`` set to the sources of an older version, it draws the same scenes as that version.
"""

import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.objects.registry import make_object
from handloom.render import Renderer
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.tasks import load_task, sample_task
from handloom.values import CameraSpec

IMAGES = Path(__file__).parents[1] / "docs" / "images" / "gallery"
SIZE = 480, 360
QUALITY = 82
"""JPEG quality; an image has about 25 kB."""
TASKS = {
    "fr3_pour_cup_bowl": ("fr3_pour_cup_bowl", "clean", 0),
    "fr3_hang_mug": ("fr3_hang_mug", "clean", 0),
    "fr3_scan_package": ("fr3_scan_package", "clean", 0),
    "fr3_store_fruit": ("fr3_store_fruit", "clean", 0),
    "randomized_1": ("fr3_stack_bowls", "randomized", 1),
    "randomized_2": ("fr3_pick_place", "randomized", 2),
    "randomized_3": ("fr3_put_in_microwave", "randomized", 3),
}
"""Name of the file > task, variant, episode."""
TRAYS = {
    "tableware": ("bowl", "mug", "glass", "wine_glass", "teapot", "plate", "vase", "carafe"),
    "packages": ("can", "food_tin", "bottle", "jar", "cereal_box", "milk_carton", "cardboard_box", "snack_box"),
    "food": ("apple", "orange", "banana", "donut", "sandwich", "bread_roll", "tomato", "cheese"),
    "toys_and_desk": (
        "cube",
        "triangle_block",
        "studded_brick",
        "rubber_duck",
        "book",
        "computer_mouse",
        "eraser",
        "pot",
    ),
}
"""Name of the file > categories."""


def task_picture(name: str, variant: str, episode: int) -> NDArray[np.uint8]:
    """Draw the first camera of an episode of a task."""
    instance = sample_task(load_task(name, overrides=[f"data.variant={variant}"]), 0, episode)
    scene = build_scene(instance)
    camera = instance.cameras[0].resized(*SIZE)
    return _drawn(scene.world.model, scene.world.data, camera, getattr(scene, "looks", ()))


def tray_picture(categories: tuple[str, ...]) -> NDArray[np.uint8]:
    """Draw objects on the table of the library's tasks."""
    instance = sample_task(load_task("fr3_pick_place"), 0, 0)
    scene = build_scene(instance)
    table = next(obj for obj in instance.objects if obj.name == "table")
    top = table.position[2] + table.parameters["size"][2] / 2
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.32, 0.32, 0.33], [0.12] * 3
    spec.visual.headlight.specular = [0.0] * 3
    spec.worldbody.add_light(
        pos=[1.0, -1.1, 3.1], dir=[-0.4, 0.45, -0.9], diffuse=[0.78, 0.76, 0.73], specular=[0.23] * 3, bulbradius=0.08
    )
    place = spec.worldbody.add_frame(pos=list(table.position))
    spec.attach(scene.assets["table"].spec(), prefix="table/", frame=place)
    looks = [look.under("table/") for look in getattr(scene.assets["table"], "looks", ())]
    for k, category in enumerate(categories):
        asset = make_object(category, rng=generator(5, k, category))
        x, y = 0.21 * (k % 4 - 1.5), 0.12 - 0.24 * (k // 4)
        frame = spec.worldbody.add_frame(pos=[x, y, top - float(asset.aabb[0, 2])])
        spec.attach(asset.spec(), prefix=f"{category}/", frame=frame)
        looks += [look.under(f"{category}/") for look in getattr(asset, "looks", ())]
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = CameraSpec.looking_at(
        "c", (0, 0.0, top + 0.06), eye=(0, -0.68, top + 0.55), width=SIZE[0], height=SIZE[1], focal=0.83 * SIZE[0]
    )
    return _drawn(model, data, camera, looks)


def _drawn(model: mujoco.MjModel, data: mujoco.MjData, camera: CameraSpec, looks: Any) -> NDArray[np.uint8]:
    # Older versions, without looks, have no such argument.
    options = {"looks": looks} if len(looks) else {}
    return np.asarray(Renderer(model, "quality", **options).render(data, [camera])[camera.name]["rgb"], np.uint8)


def main(when: str) -> None:
    """Draw everything."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    pictures = {name: tray_picture(categories) for name, categories in TRAYS.items()}
    pictures |= {name: task_picture(*given) for name, given in TASKS.items()}
    for name, picture in pictures.items():
        Image.fromarray(picture).save(IMAGES / f"{name}_{when}.jpg", quality=QUALITY, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
