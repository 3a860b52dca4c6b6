"""Draw the image strips of the skill pages: five frames of every skill, from the examples."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from handloom.engine.attempt import Stopwatch, simulate
from handloom.render import Renderer, contact_sheet
from handloom.skills.configs import skill_name
from handloom.tasks import load_task

ROOT = Path(__file__).parents[1]
EXAMPLES, PICTURES = ROOT / "examples" / "skills", ROOT / "docs" / "images" / "skills"
MOMENTS = 5
QUALITY = 82
"""JPEG quality; a strip has about 40 kB."""


def draw(example: Path) -> Path:
    """Run an example and write the strip of its skill."""
    scene, record = simulate(load_task(example), 0, 0, Stopwatch())
    if record.failure is not None:
        raise SystemExit(f"{example}: {record.failure}")
    span = next(s for s in reversed(record.timeline) if skill_name(s.skill) == skill_name(example.stem))
    renderer, images = Renderer(scene.world.model, "quality", looks=scene.looks), []
    frames = np.linspace(span.start, span.end, MOMENTS).round().astype(int)
    for frame in frames:
        scene.world.restore_state(record.states[frame])
        pictures = renderer.render(scene.world.data, record.instance.cameras)
        images.append(pictures[record.instance.cameras[0].name]["rgb"])
    labels = [f"{(frame - span.start) / record.instance.fps:.1f} s" for frame in frames]
    strip = contact_sheet(images, labels, columns=MOMENTS)
    PICTURES.mkdir(parents=True, exist_ok=True)
    file = PICTURES / f"{example.stem}.jpg"
    Image.fromarray(strip).save(file, quality=QUALITY, optimize=True)
    return file


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for path in sorted(EXAMPLES.glob("*.yaml")):
        if not wanted or path.stem in wanted:
            sys.stdout.write(f"{draw(path)}\n")
