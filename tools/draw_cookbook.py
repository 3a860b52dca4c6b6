"""Draw the images of the cookbook: four frames of each recipe's first success, from its first camera."""

import importlib.util
import os
import re
import tempfile
from itertools import count
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

from handloom.engine.attempt import Stopwatch, simulate
from handloom.render import Renderer
from handloom.tasks import load_task

ROOT = Path(__file__).parents[1]
COOKBOOK = ROOT / "docs" / "guides" / "cookbook.md"
MOMENTS = 4
SIDE = 192


def main() -> None:
    """Draw every recipe."""
    spec = importlib.util.spec_from_file_location("write_guides", ROOT / "tools" / "write_guides.py")
    assert spec is not None
    assert spec.loader is not None
    guides = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(guides)
    out = ROOT / "docs" / "images" / "cookbook"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for code in re.findall(
            r"^```python\n(.*?)^```", COOKBOOK.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            exec(code, {})
        recipes = guides.task_files(COOKBOOK)
        for name, text in recipes.items():
            Path(f"{name}.yaml").write_text(text, encoding="utf-8")
        for name in recipes:
            Image.fromarray(_strip(Path(f"{name}.yaml"))).save(out / f"{name}.jpg", quality=85)


def _strip(file: Path) -> np.ndarray:
    task = load_task(file)
    scene, record = next((s, r) for s, r in (simulate(task, 0, k, Stopwatch()) for k in count()) if r.success)
    cameras = record.instance.cameras
    camera = next((camera for camera in cameras if camera.name == "front"), cameras[0])
    camera = camera.resized(round(SIDE * camera.width / camera.height), SIDE)
    renderer = Renderer(scene.world.model, "quality", looks=scene.looks)
    pictures = []
    for frame in np.linspace(0, len(record.kept) - 1, MOMENTS).astype(int):
        state = np.ascontiguousarray(record.states[record.kept][frame])
        mujoco.mj_setState(scene.world.model, scene.world.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(scene.world.model, scene.world.data)
        pictures.append(renderer.render(scene.world.data, [camera], ("rgb",))[camera.name]["rgb"])
    return np.concatenate(pictures, axis=1)


if __name__ == "__main__":
    main()
