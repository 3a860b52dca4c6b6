"""Images of grasps: all of them as thin forks coloured by score, a few with the real gripper."""

import math

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.grasping.convex_parts import Array
from handloom.grasping.filter_kernels import spread_out
from handloom.grasping.grasp_file import DEPTH, SCORE, GraspSet
from handloom.grasping.grasp_trial import hand_spec, take_options
from handloom.grasping.gripper_shape import GripperShape
from handloom.objects import ObjectAsset
from handloom.render import Renderer
from handloom.robots import Arm, RobotDescription
from handloom.spatial import invert_pose, make_pose, pos_quat_from_pose
from handloom.values import CameraSpec

Picture = NDArray[np.uint8]

FORKS = 26
"""Number of grasps drawn as forks: enough to see the spread, few enough to see the object."""
CLOSE_UPS = 4
"""Number of grasps drawn with the real gripper."""
VIEW_FROM = np.array([0.62, -1.0, 0.55]) / np.linalg.norm([0.62, -1.0, 0.55])
"""View from the front right and above."""
FIELD_OF_VIEW_DEG = 26.0
PRONG, HANDLE, WIRE = 0.035, 0.02, 0.0009
"""Dimensions of a fork: contacts to bar, bar to end of the handle, and half thickness [m]."""
STEP = 1.0 / 510.0
"""Physics step while the gripper closes for a close-up [s]."""
# Green, yellow, red at the scores 0.1, 0.35 and 0.6: sRGB; the order is kept in greyscale.
COLOR_STOPS = ((0.1, (0.10, 0.62, 0.35)), (0.35, (0.96, 0.77, 0.19)), (0.6, (0.84, 0.22, 0.16)))
PAPER, INK, FAINT, RULE = (250, 250, 248), (32, 34, 38), (120, 124, 130), (222, 223, 222)


def grasp_picture(
    robot: RobotDescription, arm: Arm, asset: ObjectAsset, grasps: GraspSet, *, size: int = 720
) -> Picture:
    """Draw grasps of an object.

    Args:
        robot: The robot.
        arm: The arm whose gripper was annotated.
        asset: The object.
        grasps: Grasps from the annotator.
        size: Height of the image [px]; it is twice as wide.

    Returns:
        Image (size, 2 size, 3) uint8 with a caption.
    """
    gripper = GripperShape.of(robot, arm)
    R, place = grasps.hands[:, :3, :3], grasps.contacts.mean(axis=1)
    weight = np.linspace(1.0, 0.8, len(grasps)) if len(grasps) else np.zeros(0)
    order = spread_out(place, np.ascontiguousarray(R), weight, len(grasps), 0.05)
    panels = [_forks(asset, grasps, order[:FORKS], size)]
    # A hand between camera and object would hide it, and one from below is seldom used.
    seen = order[(R[order, :, 0] @ VIEW_FROM > -0.35) & (R[order, 2, 0] < 0.3)]
    shown = [*seen, *order][:CLOSE_UPS]
    panels += [_close_up(robot, gripper, asset, grasps.hands[i], size // 2) for i in shown]
    return _laid_out(panels, _caption(robot, asset, grasps), size)


def score_color(score: float) -> tuple[float, float, float]:
    """Return the sRGB colour (0 to 1) of a score: green is good."""
    stops = [stop for stop, _ in COLOR_STOPS]
    r, g, b = (float(np.interp(score, stops, [color[i] for _, color in COLOR_STOPS])) for i in range(3))
    return r, g, b


def _forks(asset: ObjectAsset, grasps: GraspSet, order: NDArray[np.int64], size: int) -> Picture:
    """Draw the object with forks: two prongs at the contacts, a bar between them, a handle."""
    spec, points = _studio(), [_corners(asset)]
    spec.attach(asset.spec(), prefix="object/", frame=spec.worldbody.add_frame())
    for i in order:
        T = grasps.hands[i]
        (x, y0, z), (_, y1, _) = (grasps.contacts[i] - T[:3, 3]) @ T[:3, :3]
        y0, y1, back = y0 - WIRE, y1 + WIRE, x - PRONG
        depth = float(grasps.rows[i, DEPTH])
        lines = np.array(
            [
                [[x + depth, y0, z], [back, y0, z]],
                [[x + depth, y1, z], [back, y1, z]],
                [[back, y0, z], [back, y1, z]],
                [[back, (y0 + y1) / 2, z], [back - HANDLE, (y0 + y1) / 2, z]],
            ]
        )
        lines = lines @ T[:3, :3].T + T[:3, 3]
        points.append(lines.reshape(-1, 3))
        for ends in lines:
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                fromto=ends.ravel(),
                size=[WIRE, 0.0, 0.0],
                rgba=(*score_color(float(grasps.rows[i, SCORE])), 1.0),
            )
    model = spec.compile()
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    return _render(model, state, np.concatenate(points), size, margin=1.16, asset=asset)


def _close_up(
    robot: RobotDescription, gripper: GripperShape, asset: ObjectAsset, T_object_hand: Array, size: int
) -> Picture:
    """Draw the real gripper closed on the object."""
    arm = gripper.arm
    fixed = hand_spec(robot, arm).compile()
    data = mujoco.MjData(fixed)
    mujoco.mj_kinematics(fixed, data)
    ee = data.body(arm.tool_body)
    T_model_hand = make_pose(ee.xmat.reshape(3, 3) @ arm.R_ee_graspnet, ee.xpos)
    position, quat = pos_quat_from_pose(T_object_hand @ invert_pose(T_model_hand))
    spec = _studio()
    take_options(spec, robot, timestep=STEP)
    spec.attach(hand_spec(robot, arm), prefix="robot/", frame=spec.worldbody.add_frame(pos=position, quat=quat))
    spec.attach(asset.spec(), prefix="object/", frame=spec.worldbody.add_frame())
    model = spec.compile()
    state = mujoco.MjData(model)
    _open_then_close(model, state, arm)
    mujoco.mj_forward(model, state)
    # Fingers and palm are in view, the wrist behind them is not.
    front = gripper.position[-1][gripper.position[-1, :, 0] > 0.02]
    nearby = np.concatenate([_corners(asset), front @ T_object_hand[:3, :3].T + T_object_hand[:3, 3]])
    return _render(model, state, nearby, size, margin=1.12, asset=asset)


def _open_then_close(model: mujoco.MjModel, data: mujoco.MjData, arm: Arm) -> None:
    """Close the gripper on the object, which is fixed."""
    actuators = [model.actuator(f"robot/{name}").id for name in arm.gripper_actuators]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data.ctrl[actuators] = arm.gripper_open
    mujoco.mj_step(model, data, round(1.2 / STEP))
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data.ctrl[actuators] = arm.gripper_closed
    mujoco.mj_step(model, data, round(0.8 / STEP))


def _studio() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.visual.headlight.ambient = [0.46, 0.46, 0.46]
    spec.visual.headlight.diffuse = [0.30, 0.30, 0.30]
    for offset, power in (((-1.8, -3.0, 5.0), 0.55), ((4.0, -1.5, 3.0), 0.25)):
        light = spec.worldbody.add_light(pos=0.3 * np.array(offset), dir=-np.array(offset))
        light.diffuse = [power] * 3
        light.bulbradius = 0.1
    return spec


def _corners(asset: ObjectAsset) -> Array:
    low, high = asset.aabb
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T


def _render(
    model: mujoco.MjModel, state: mujoco.MjData, points: Array, size: int, *, margin: float, asset: ObjectAsset
) -> Picture:
    """Draw a scene on a white background, with all points in view."""
    camera = _camera(points, size, margin)
    looks = [look.under("object/") for look in asset.looks]
    images = Renderer(model, preset="quality", looks=looks).render(state, [camera], ("rgb", "segmentation"))[
        camera.name
    ]
    picture = images["rgb"].astype(np.uint8).copy()
    picture[images["segmentation"].astype(int) < 0] = PAPER
    return picture


def _camera(points: Array, size: int, margin: float) -> CameraSpec:
    """Return a camera that looks at points (n, 3) from the front right, as close as possible."""
    outward = VIEW_FROM
    right = np.cross(-outward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    R = np.column_stack([right, np.cross(-outward, right), -outward])
    half = math.tan(math.radians(FIELD_OF_VIEW_DEG) / 2) / margin
    local = points @ R
    middle = (local.min(axis=0) + local.max(axis=0)) / 2
    across = np.abs(local[:, :2] - middle[:2]).max(axis=1)
    distance = float((across / half - (local[:, 2] - middle[2])).max())
    eye = R @ (middle - [0.0, 0.0, distance])
    focal = size / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEG) / 2)
    return CameraSpec.looking_at("grasps", R @ middle, eye=eye, width=size, height=size, focal=focal)


def _caption(robot: RobotDescription, asset: ObjectAsset, grasps: GraspSet) -> str:
    if not len(grasps):
        return f"{asset.name}: no grasp for {robot.name}"
    extent = " x ".join(f"{1000 * length:.0f}" for length in asset.extent)
    return f"{len(grasps)} grasps of {asset.name} ({extent} mm) for {robot.name}"


def _laid_out(panels: list[Picture], caption: str, size: int) -> Picture:
    """Put the large panel with caption and colour scale on the left, close-ups in two columns on the right."""
    sheet = Image.new("RGB", (2 * size, size), PAPER)
    sheet.paste(Image.fromarray(panels[0]), (0, 0))
    half = size // 2
    for k, panel in enumerate(panels[1:]):
        sheet.paste(Image.fromarray(panel), (size + k % 2 * half, k // 2 * half))
    pen, unit = ImageDraw.Draw(sheet), size / 720
    for x, y, across, down in ((size, 0, 0, size), (size + half, 0, 0, size), (size, half, size, 0)):
        pen.line([x, y, x + across, y + down], fill=RULE, width=max(1, round(unit)))
    pen.text((18 * unit, 14 * unit), caption, INK, font=ImageFont.load_default(19 * unit))
    _scale(pen, unit, size)
    return np.asarray(sheet)


def _scale(pen: ImageDraw.ImageDraw, unit: float, size: int) -> None:
    """Draw the colour scale of the scores."""
    font = ImageFont.load_default(13 * unit)
    left, top = 18 * unit, size - 30 * unit
    pen.text((left, top), "score", FAINT, font=font)
    for k in range(6):
        score = 0.1 * (k + 1)
        x = left + (48 + 62 * k) * unit
        color = tuple(round(255 * c) for c in score_color(score))
        pen.rounded_rectangle([x, top + 3 * unit, x + 22 * unit, top + 13 * unit], 3 * unit, fill=color)
        pen.text((x + 27 * unit, top), f"{score:.1f}", FAINT, font=font)
    pen.text((left + 430 * unit, top), "lower is better", FAINT, font=font)
