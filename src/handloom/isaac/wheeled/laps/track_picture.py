"""Images of a lap: a plan of the track, and the robot at stations along it."""

import math
from itertools import pairwise

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.isaac.wheeled.laps.lap import LapRecord, attach_robot, floor_spec, standing_height
from handloom.render import Renderer
from handloom.robots import RobotDescription
from handloom.values import CameraSpec

Picture = NDArray[np.uint8]

INK, PAPER, GRID = (30, 32, 36), (255, 255, 255), (226, 229, 233)
REFERENCE, DRIVEN, RECKONED = (150, 155, 162), (14, 140, 150), (232, 118, 44)
# Lines are drawn this many times larger and scaled down, for antialiasing.
OVERSAMPLING = 3
# An odd number, so that no two stations coincide at the crossing of a figure eight.
STATIONS = 5
STRIPES = 160


def track_plan(record: LapRecord, title: str, *, size: int = 720) -> Picture:
    """Draw a lap from above: reference, true path and odometry.

    Args:
        record: The lap.
        title: First line of the legend.
        size: Width and height [px].

    Returns:
        Image (size, size, 3) uint8.
    """
    big = size * OVERSAMPLING
    sheet = Image.new("RGB", (big, big), PAPER)
    pen = ImageDraw.Draw(sheet)
    points = np.concatenate([record.reference[:, :2], record.driven[:, :2], record.odometry[:, :2]])
    low, high = points.min(axis=0), points.max(axis=0)
    extent = max(float(np.max(high - low)), 1e-3) * 1.35
    # The track is drawn slightly below the middle, leaving room for the legend.
    corner = (low + high) / 2.0 - extent * np.array([0.5, 0.43])
    scale = big / extent

    def place(xy: Array) -> list[tuple[float, float]]:
        spot = (xy - corner) * scale
        return [(float(x), float(big - y)) for x, y in np.atleast_2d(spot)]

    step = 10.0 ** math.floor(math.log10(extent / 2.0))
    for axis in range(2):
        for line in np.arange(math.ceil(corner[axis] / step) * step, corner[axis] + extent, step):
            ends = np.array([corner, corner + extent])
            ends[:, axis] = line
            pen.line(place(ends), fill=GRID, width=OVERSAMPLING)
    pen.line(place(record.reference[:, :2]), fill=REFERENCE, width=9 * OVERSAMPLING, joint="curve")
    pen.line(place(record.odometry[:, :2]), fill=RECKONED, width=3 * OVERSAMPLING, joint="curve")
    pen.line(place(record.driven[:, :2]), fill=DRIVEN, width=3 * OVERSAMPLING, joint="curve")
    for index in np.linspace(0, len(record.times) - 1, 2 * STATIONS).astype(int):
        x, y, yaw = record.driven[index]
        nose = 0.035 * extent * np.array([math.cos(yaw), math.sin(yaw)])
        pen.line(place(np.array([[x, y], [x + nose[0], y + nose[1]]])), fill=INK, width=2 * OVERSAMPLING)
    _legend(pen, record, title, step)
    return np.asarray(sheet.resize((size, size), Image.Resampling.LANCZOS))


def _legend(pen: ImageDraw.ImageDraw, record: LapRecord, title: str, step: float) -> None:
    font = ImageFont.load_default(15 * OVERSAMPLING)
    distance, angle = record.drift
    lines = (
        (INK, f"{title}; grid {step:g} m"),
        (REFERENCE, "reference"),
        (DRIVEN, f"driven: off by {1e3 * record.position_errors.max():.1f} mm, {record.heading_errors.max():.3f} rad"),
        (RECKONED, f"odometry: drifts {1e3 * distance:.1f} mm, {angle:.3f} rad"),
    )
    for row, (color, text) in enumerate(lines):
        pen.text((12 * OVERSAMPLING, (10 + 20 * row) * OVERSAMPLING), text, fill=color, font=font)


def track_view(description: RobotDescription, record: LapRecord, *, size: int = 720) -> Picture:
    """Draw the robot at stations along its track, with the track on the floor.

    Args:
        description: The robot.
        record: The lap it drove.
        size: Width and height [px].

    Returns:
        Image (size, size, 3) uint8.
    """
    spec = floor_spec(description)
    driven = record.driven
    low, high = driven[:, :2].min(axis=0), driven[:, :2].max(axis=0)
    reach = max(float(np.max(high - low)), 0.1)
    _light(spec, (low + high) / 2.0, reach)
    lay_track(spec, record, 0.0025 * reach)
    height = standing_height(description)
    # A closed course ends where it began, so the last station would hide the first.
    stations = np.linspace(0, len(driven), STATIONS, endpoint=False).astype(int)
    for station in range(STATIONS):
        prefix = f"station{station}/"
        attach_robot(spec, description.spec(), description, prefix=prefix, position=(0.0, 0.0, height))
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = record.qpos[stations].ravel()
    mujoco.mj_forward(model, data)
    width, depth = (high - low).tolist()
    camera = _camera((low + high) / 2.0, max(1.9 * width, 2.7 * depth, 0.2), size)
    return Renderer(model, preset="quality").render(data, [camera])[camera.name]["rgb"].astype(np.uint8)


def _light(spec: mujoco.MjSpec, center: Array, reach: float) -> None:
    """Replace the sun with a key light and a fill light over the track, for soft shadows."""
    spec.delete(spec.light("sun"))
    for offset, power in (((0.9, -0.8, 1.9), 0.62), ((-1.2, 1.4, 1.5), 0.22)):
        light = spec.worldbody.add_light(pos=np.array([*center, 0.0]) + reach * np.array(offset), dir=-np.array(offset))
        light.type = mujoco.mjtLightType.mjLIGHT_SPOT
        light.cutoff = 60
        light.diffuse = [power] * 3
        light.bulbradius = 0.08 * reach


def lay_track(spec: mujoco.MjSpec, record: LapRecord, width: float) -> None:
    """Draw the reference and the track of a lap on the floor.

    Args:
        spec: The floor.
        record: The lap.
        width: Half the width of the track [m]; the reference is wider.
    """
    _stripe(spec, record.reference, 2.4 * width, 0.0004, [0.55, 0.57, 0.60, 1.0])
    _stripe(spec, record.driven, width, 0.0008, [0.05, 0.55, 0.59, 1.0])


def _stripe(spec: mujoco.MjSpec, track: Array, width: float, height: float, rgba: list[float]) -> None:
    """Draw a track on the floor as flat boxes."""
    corners = track[np.linspace(0, len(track) - 1, STRIPES).astype(int), :2]
    for start, end in pairwise(corners):
        way = end - start
        length = float(np.hypot(*way))
        if length < 1e-6:
            continue
        half = math.atan2(way[1], way[0]) / 2.0
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=[length / 2.0 + width / 2.0, width, height],
            pos=[*(start + way / 2.0), height],
            quat=[math.cos(half), 0.0, 0.0, math.sin(half)],
            rgba=rgba,
            contype=0,
            conaffinity=0,
        )


def _camera(center: Array, distance: float, size: int) -> CameraSpec:
    """Point the camera at the track from the negative y side, 40 degrees downwards."""
    target = np.array([*center, 0.0])
    eye = target - distance * np.array([0.0, 0.77, -0.64])
    focal = size / (2.0 * math.tan(math.radians(19.0)))
    return CameraSpec.looking_at("track", target, eye=eye, width=size, height=size, focal=focal)
