"""Draw the image of the walking guide: one second of each legged robot walking.

Run ``python tools/draw_walking.py`` in the root of the repository; the file goes to ``docs/images``.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handloom.isaac.policy import Walker
from handloom.isaac.wheeled import floor_world
from handloom.render import Renderer, write_png
from handloom.robots import load_robot
from handloom.values import CameraSpec

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH, HEIGHT, FRAMES = 230, 240, 6
# Robot > command, seconds between two frames, height of the look-at point and distance of the camera [m].
WALKS = {"go2": ((1.0, 0.0, 0.0), 0.1, 0.22, 1.5), "h1": ((0.8, 0.0, 0.0), 0.16, 0.92, 3.2)}


def strip(name: str) -> NDArray[np.uint8]:
    """Return frames of a robot that has been walking for three seconds, side by side."""
    command, period, height, distance = WALKS[name]
    description = load_robot(name)
    walker = Walker(description, floor_world(description), prefix="robot/")
    world = walker.world
    walker.command(command, 0.02)
    walker.advance(round(3.0 / world.timestep))
    renderer, frames = Renderer(world.model, preset="quality"), []
    for _ in range(FRAMES):
        walker.advance(round(period / world.timestep))
        pose = walker.pose()
        target = np.array([pose.x, pose.y, height])
        eye = target + distance * np.array([0.3, -0.93, 0.2])
        camera = CameraSpec.looking_at("side", target, eye=eye, width=WIDTH, height=HEIGHT, focal=1.5 * HEIGHT)
        frames.append(renderer.render(world.data, [camera])["side"]["rgb"].astype(np.uint8))
    return np.concatenate(frames, axis=1)


if __name__ == "__main__":
    write_png(IMAGES / "walking.png", np.concatenate([strip(name) for name in WALKS]))
