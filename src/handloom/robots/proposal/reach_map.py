"""An image of a robot's tool workspace."""

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.robots.checks.robot_at_home import RobotAtHome
from handloom.robots.robot_description import RobotDescription

SAMPLES = 6000
SIZE, MARGIN = 420, 34
PAPER, INK, GRID = (255, 255, 255), (40, 42, 46), (222, 225, 230)
COLORS = {"left": (38, 120, 200), "right": (214, 96, 48)}


def reachable_points(
    robot: RobotDescription, generator: np.random.Generator, *, samples: int = SAMPLES
) -> dict[str, Array]:
    """Return tool-centre positions (n, 3) [m] per arm, at random joint positions without contacts, others at home."""
    home = RobotAtHome.build(robot)
    model, data = home.model, home.data
    start = data.qpos.copy()
    found: dict[str, Array] = {}
    for arm in robot.arms:
        data.qpos[:] = start
        addresses = [int(model.joint(name).qposadr[0]) for name in arm.joint_names]
        lower, upper = np.array([model.joint(name).range for name in arm.joint_names]).T
        points = []
        for q in generator.uniform(lower, upper, (samples, len(addresses))):
            data.qpos[addresses] = q
            mujoco.mj_fwdPosition(model, data)
            if not any(contact.dist < 0 for contact in data.contact):
                points.append(data.site(arm.tcp_site).xpos.copy())
        found[arm.name] = np.array(points).reshape(-1, 3)
    return found


def reach_map(robot: RobotDescription, generator: np.random.Generator, *, samples: int = SAMPLES) -> NDArray[np.uint8]:
    """Draw the reachable tool-centre positions from above and from the side, as an image (h, w, 3)."""
    points = reachable_points(robot, generator, samples=samples)
    everything = np.concatenate([*points.values(), np.zeros((1, 3))])
    center = (everything.min(0) + everything.max(0)) / 2
    scale = (SIZE - 2 * MARGIN) / max(float(np.ptp(everything, axis=0).max()), 0.1)
    views = (("from above: x right, y up", (0, 1)), ("from the side: x right, z up", (0, 2)))
    sheet = Image.new("RGB", (SIZE * len(views), SIZE), PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(13)
    for k, (title, axes) in enumerate(views):
        origin = np.array([SIZE * (k + 0.5), SIZE / 2])
        flip = np.array([1.0, -1.0])
        _grid(pen, origin, scale, center[list(axes)], k)
        for name, cloud in points.items():
            pixels = origin + scale * flip * (cloud[:, axes] - center[list(axes)])
            pen.point([tuple(p) for p in np.round(pixels)], fill=COLORS[name])
        pen.text((SIZE * k + 8, 6), f"{title}; grid 0.1 m", INK, font=font)
    return np.asarray(sheet)


def _grid(pen: ImageDraw.ImageDraw, origin: Array, scale: float, center: Array, view: int) -> None:
    """Draw lines every 0.1 m, and a cross at the robot."""
    half = SIZE / 2 / scale
    for i in range(-40, 41):
        for axis in (0, 1):
            at = i * 0.1 - center[axis]
            if abs(at) > half:
                continue
            offset = at * scale * (1 if axis == 0 else -1)
            color = INK if i == 0 else GRID
            if axis == 0:
                pen.line([origin[0] + offset, 24, origin[0] + offset, SIZE], fill=color)
            else:
                pen.line([SIZE * view, origin[1] + offset, SIZE * (view + 1) - 2, origin[1] + offset], fill=color)
