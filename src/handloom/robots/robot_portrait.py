"""An image of a robot at home, with its frames drawn on top if asked."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.render import Renderer, camera_pose, project
from handloom.robots.checks.robot_at_home import place_at_home
from handloom.robots.robot_description import RobotDescription
from handloom.spatial import make_pose, transform_points
from handloom.values import CameraSpec

Picture = NDArray[np.uint8]

# From the front, slightly to the robot's left and above: shows the gripper and the folded arm.
VIEW_FROM = (1.0, 0.72, 0.42)
FIELD_OF_VIEW_DEG = 28.0
# Lines are drawn at this scale and scaled down, for antialiasing.
OVERSAMPLING = 3
LONGEST_AXIS_M = 0.1
SMALLEST_LABELLED_PX = 500
AXIS_COLORS = ((226, 59, 46), (52, 168, 83), (48, 110, 230))
GRASP_COLORS = ((255, 150, 40), (30, 200, 210), (190, 90, 220))
KEYPOINT_COLOR = (250, 210, 40)
INK, PAPER = (30, 32, 36), (255, 255, 255)


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnFrame:
    """A coordinate frame to draw."""

    label: str
    T_world_frame: Array
    """(4, 4)"""
    length: float
    """Length of the axes [m]."""
    colors: tuple[tuple[int, int, int], ...] = AXIS_COLORS


def portrait(robot: RobotDescription, *, width: int = 640, height: int = 640, frames: bool = False) -> Picture:
    """Draw a robot at home on a plain floor.

    Args:
        robot: The robot.
        width: [px]
        height: [px]
        frames: Also draw end-effector, tool-centre and GraspNet axes and the gripper's key points.

    Returns:
        Image (height, width, 3) uint8.
    """
    model = _studio(robot)
    data = mujoco.MjData(model)
    place_at_home(model, data, robot)
    center, radius = _bounds(model, data)
    camera = _camera(center, radius, width, height)
    picture = Renderer(model, preset="quality").render(data, [camera])[camera.name]["rgb"].astype(np.uint8)
    if not frames:
        return picture
    overlay = _Overlay(picture, camera, camera_pose(model, data, camera))
    # Two arms in a small image leave no room for labels; the colours distinguish the frames.
    labelled = len(robot.arms) == 1 or min(width, height) >= SMALLEST_LABELLED_PX
    for frame in robot_frames(robot, data, length=min(0.16 * radius, LONGEST_AXIS_M)):
        overlay.frame(frame, labelled=labelled)
    for arm in robot.arms:
        T_world_tool = _body_pose(data, arm.tool_body)
        points = (arm.keypoints.tool_head, arm.keypoints.tool_tail, arm.keypoints.tool_side)
        overlay.points(transform_points(T_world_tool, np.array(points)[:, :3]))
    return overlay.flattened()


def robot_frames(robot: RobotDescription, data: mujoco.MjData, *, length: float) -> tuple[DrawnFrame, ...]:
    """Return the base, end-effector, tool-centre and GraspNet frames of every arm."""
    found: list[DrawnFrame] = []
    for arm in robot.arms:
        prefix = f"{arm.name} " if len(robot.arms) > 1 else ""
        tcp, grasp = data.site(arm.tcp_site), data.site(arm.grasp_site)
        T_grasp = make_pose(grasp.xmat.reshape(3, 3), grasp.xpos)
        T_tcp = make_pose(tcp.xmat.reshape(3, 3), tcp.xpos)
        found += [
            DrawnFrame(label=f"{prefix}base", T_world_frame=_body_pose(data, arm.base_body), length=length),
            DrawnFrame(label=f"{prefix}GraspNet", T_world_frame=T_grasp, length=1.5 * length, colors=GRASP_COLORS),
            DrawnFrame(label=f"{prefix}EE", T_world_frame=_body_pose(data, arm.tool_body), length=length),
            DrawnFrame(label=f"{prefix}TCP", T_world_frame=T_tcp, length=length),
        ]
    return tuple(found)


def _body_pose(data: mujoco.MjData, body: str) -> Array:
    view = data.body(body)
    return make_pose(view.xmat.reshape(3, 3), view.xpos)


def _studio(robot: RobotDescription) -> mujoco.MjModel:
    """Put the robot on a floor, with a key light and a fill light."""
    alone = robot.compile()
    data = mujoco.MjData(alone)
    place_at_home(alone, data, robot)
    center, radius = _bounds(alone, data)
    lowest = min(_lowest(alone, data, g) for g in range(alone.ngeom) if alone.geom_group[g] <= 2)
    spec = robot.spec()
    spec.visual.headlight.ambient = [0.42, 0.42, 0.42]
    spec.visual.headlight.diffuse = [0.18, 0.18, 0.18]
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, lowest - 5e-4])
    floor.contype = floor.conaffinity = 0
    floor.group = 0
    floor.rgba = [0.80, 0.82, 0.84, 1]
    for offset, power in (((1.6, -0.9, 2.6), 0.62), ((0.8, 2.6, 1.6), 0.22)):
        light = spec.worldbody.add_light(pos=center + radius * np.array(offset), dir=-np.array(offset))
        light.type = mujoco.mjtLightType.mjLIGHT_SPOT
        light.cutoff = 60
        light.diffuse = [power] * 3
        light.bulbradius = 0.12 * radius
    return spec.compile()


def _lowest(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """Return the lowest z [m] of a geom; of meshes and cylinders, that of the bounding box."""
    down, size = data.geom_xmat[geom].reshape(3, 3)[2], model.geom_size[geom]
    kind, z = model.geom_type[geom], float(data.geom_xpos[geom, 2])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return z - size[0]
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return z - size[0] - abs(down[2]) * size[1]
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return z - float(np.linalg.norm(down * size))
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    return z + float(down @ center - np.abs(down) @ half)


def _bounds(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[Array, float]:
    """Return centre (3,) and radius [m] of a ball around the visible geoms except floors."""
    seen = [
        g for g in range(model.ngeom) if model.geom_group[g] <= 2 and model.geom_type[g] != mujoco.mjtGeom.mjGEOM_PLANE
    ]
    corners = []
    for g in seen:
        center, half = model.geom_aabb[g, :3], model.geom_aabb[g, 3:]
        signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
        corners.append((center + signs * half) @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g])
    points = np.concatenate(corners)
    middle = (points.min(0) + points.max(0)) / 2
    return middle, float(np.linalg.norm(points - middle, axis=1).max())


def _camera(center: Array, radius: float, width: int, height: int) -> CameraSpec:
    direction = np.array(VIEW_FROM) / np.linalg.norm(VIEW_FROM)
    half_angle = np.radians(FIELD_OF_VIEW_DEG) / 2
    eye = center + direction * radius / np.sin(half_angle)
    focal = float(min(width, height) / 2 / np.tan(half_angle))
    return CameraSpec.looking_at("portrait", center, eye=eye, width=width, height=height, focal=focal)


class _Overlay:
    """Lines, dots and labels on top of an image."""

    def __init__(self, picture: Picture, camera: CameraSpec, T_world_camera: Array) -> None:
        self._camera, self._T = camera, T_world_camera
        size = (picture.shape[1] * OVERSAMPLING, picture.shape[0] * OVERSAMPLING)
        self._image = Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS)
        self._pen = ImageDraw.Draw(self._image)
        self._unit = OVERSAMPLING * max(1.0, min(picture.shape[:2]) / 480)
        self._font = ImageFont.load_default(12 * self._unit)

    def _pixels(self, points: Array) -> Array:
        return project(self._camera, self._T, points)[0] * OVERSAMPLING

    def frame(self, frame: DrawnFrame, *, labelled: bool) -> None:
        T = frame.T_world_frame
        ends = T[:3, 3] + frame.length * T[:3, :3].T
        origin, *tips = self._pixels(np.vstack([T[:3, 3], ends]))
        for tip in tips:
            self._pen.line([*origin, *tip], fill=PAPER, width=round(4.5 * self._unit))
        for tip, color in zip(tips, frame.colors, strict=True):
            self._pen.line([*origin, *tip], fill=color, width=round(2.5 * self._unit))
        if not labelled:
            return
        lowest = max(tips, key=lambda tip: tip[1])
        at = (lowest[0] + 4 * self._unit, lowest[1] - 6 * self._unit)
        self._pen.text(at, frame.label, INK, font=self._font, stroke_width=round(1.5 * self._unit), stroke_fill=PAPER)

    def points(self, points: Array) -> None:
        for x, y in self._pixels(points):
            for radius, color in ((3.4, INK), (2.4, KEYPOINT_COLOR)):
                r = radius * self._unit
                self._pen.ellipse([x - r, y - r, x + r, y + r], fill=color)

    def flattened(self) -> Picture:
        size = (self._image.width // OVERSAMPLING, self._image.height // OVERSAMPLING)
        return np.asarray(self._image.resize(size, Image.Resampling.LANCZOS))
