"""A short video of a lap: the robot from the side, and its position on the course."""

import math
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.dataset import video_feature
from handloom.dataset.video.video_writer import VideoWriter
from handloom.isaac.wheeled.laps.lap import LapRecord, attach_robot, floor_spec, standing_height
from handloom.isaac.wheeled.laps.track_picture import DRIVEN, INK, PAPER, REFERENCE, lay_track
from handloom.render import Renderer
from handloom.robots import RobotDescription
from handloom.values import CameraSpec

Picture = NDArray[np.uint8]

WIDTH, HEIGHT, FPS = 640, 400, 25
# A longer lap is sped up by a whole factor [s].
LONGEST = 30.0
# The camera follows the mean position of the robot within this time before and after the frame [s].
SMOOTHING = 0.8
# From the right and slightly above, so that legs and wheels are visible.
VIEW_FROM = (-0.35, -1.0, 0.38)
FOCAL = 1.35 * HEIGHT
MAP_PX = 110


def track_video(description: RobotDescription, record: LapRecord, file: Path) -> Path:
    """Write a lap as MP4.

    Args:
        description: The robot.
        record: The lap it drove.
        file: Where to.

    Returns:
        The file.
    """
    model, extent = _stage(description, record)
    data, renderer = mujoco.MjData(model), Renderer(model, preset="balanced")
    period = float(record.times[1] - record.times[0])
    speed = max(1, math.ceil(record.times[-1] / LONGEST))
    middle = _smoothed(record.driven[:, :2], round(SMOOTHING / period))
    chart = _Chart(record, f"{description.name}, {speed}x" if speed > 1 else description.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with VideoWriter(file, video_feature("track", height=HEIGHT, width=WIDTH), fps=FPS) as video:
        for frame in range(int(record.times[-1] / speed * FPS) + 1):
            row = min(round(frame * speed / FPS / period), len(record.times) - 1)
            data.qpos[:] = record.qpos[row]
            mujoco.mj_forward(model, data)
            camera = _camera(middle[row], extent)
            picture = renderer.render(data, [camera])[camera.name]["rgb"].astype(np.uint8)
            video.add(chart.drawn_on(picture, row))
    return file


def _stage(description: RobotDescription, record: LapRecord) -> tuple[mujoco.MjModel, float]:
    """Return the robot on a floor with a grid and its track, and the size of the robot [m]."""
    robot = description.spec()
    extent = float(description.model.stat.extent)
    spec = floor_spec(description)
    low, high = record.driven[:, :2].min(axis=0) - 2.0 * extent, record.driven[:, :2].max(axis=0) + 2.0 * extent
    step = 10.0 ** math.floor(math.log10(extent)) * (
        5.0 if extent > 0.5 * 10.0 ** math.ceil(math.log10(extent)) else 2.0
    )
    for axis in range(2):
        for line in np.arange(math.ceil(low[axis] / step), high[axis] / step) * step:
            size, position = [0.0, 0.0, 0.0002], [*((low + high) / 2.0), 0.0]
            size[axis], position[axis] = 0.004 * extent, float(line)
            size[1 - axis] = float(high[1 - axis] - low[1 - axis]) / 2.0
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=size,
                pos=position,
                rgba=[0.68, 0.70, 0.73, 1.0],
                contype=0,
                conaffinity=0,
            )
    lay_track(spec, record, 0.008 * extent)
    attach_robot(spec, robot, description, prefix="robot/", position=(0.0, 0.0, standing_height(description)))
    return spec.compile(), extent


def _smoothed(track: Array, half: int) -> Array:
    """Return the moving mean of points (n, 2), over ``half`` neighbours on either side."""
    total = np.concatenate([np.zeros((1, 2)), np.cumsum(track, axis=0)])
    rows = np.arange(len(track))
    first, last = np.maximum(rows - half, 0), np.minimum(rows + half + 1, len(track))
    return (total[last] - total[first]) / (last - first)[:, None]


def _camera(point: Array, extent: float) -> CameraSpec:
    target = np.array([*point, 0.28 * extent])
    direction = np.array(VIEW_FROM) / np.linalg.norm(VIEW_FROM)
    eye = target + 2.6 * extent * direction
    return CameraSpec.looking_at("side", target, eye=eye, width=WIDTH, height=HEIGHT, focal=FOCAL)


class _Chart:
    """The course in a corner of the image, with a dot for the robot."""

    def __init__(self, record: LapRecord, title: str) -> None:
        points = np.concatenate([record.reference[:, :2], record.driven[:, :2]])
        low, high = points.min(axis=0), points.max(axis=0)
        scale = (MAP_PX - 16) / max(float(np.max(high - low)), 1e-6)
        corner = np.array([WIDTH - MAP_PX / 2 - 8, MAP_PX / 2 + 8])
        self._pixels = {
            name: (track[:, :2] - (low + high) / 2.0) * [scale, -scale] + corner
            for name, track in (("reference", record.reference), ("driven", record.driven))
        }
        self._title, self._font = title, ImageFont.load_default(15)

    def drawn_on(self, picture: Picture, row: int) -> Picture:
        """Return the image of the course up to a row of the record."""
        image = Image.fromarray(picture)
        pen = ImageDraw.Draw(image)
        pen.rounded_rectangle([WIDTH - MAP_PX - 8, 8, WIDTH - 8, MAP_PX + 8], 8, fill=PAPER)
        pen.line([tuple(p) for p in self._pixels["reference"][::4]], fill=REFERENCE, width=3, joint="curve")
        driven = self._pixels["driven"][: row + 1]
        pen.line([tuple(p) for p in driven[::4]], fill=DRIVEN, width=2, joint="curve")
        x, y = driven[-1]
        pen.ellipse([x - 4, y - 4, x + 4, y + 4], fill=INK)
        pen.text((12, 10), self._title, fill=INK, font=self._font)
        return np.asarray(image)
