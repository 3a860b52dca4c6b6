"""Images of the running scene, rendered in parallel with the simulation and encoded as JPEG."""

import io
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import mujoco
import numpy as np
from PIL import Image

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.render import Renderer
from handloom.scene import Scene
from handloom.spatial import invert_pose, matrix_from_quat, pos_quat_from_pose
from handloom.tasks import SamplingError, Task, sample_task
from handloom.teleop.serving.head_view import HeadPose, eye_of
from handloom.values import CameraSpec

QUALITY = 80
"""JPEG quality; 320 x 240 take about 12 kB."""
STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class PictureStream:
    """Continuously renders the newest state, in its own thread.

    States that arrive faster than they can be rendered are skipped; physics never waits for an image.

    Args:
        publish: Called with the JPEG files of all cameras, in their order, in the rendering thread.
        size: Maximum width and height of the large image [px]; the others are half as wide and high.
        preset: Image quality.
        backend: Renderer: ``cpu`` or ``cuda``.
        cameras: Names of the views to render, including ``operator``; empty means all.
    """

    def __init__(
        self,
        publish: Callable[[list[bytes]], None],
        *,
        size: tuple[int, int] = (640, 480),
        preset: str = "fast",
        backend: str = "cpu",
        cameras: Sequence[str] = (),
    ) -> None:
        self._publish, self._size, self._preset, self._names = publish, size, preset, tuple(cameras)
        self._backend = backend
        self._changed = threading.Condition()
        self._scene: Scene | None = None
        self._views: tuple[Scene, tuple[CameraSpec, ...]] | None = None
        self._large, self._shown = "", size
        self._state: Array | None = None
        self._last: Array | None = None
        self._closed = False
        self.eye_distance = 0.0
        """Eye distance of a headset [m]: the operator's view is then also rendered for the right eye; 0 renders it
        once."""
        self._head: HeadPose | None = None
        """Pose of the head that the operator's view follows; None while it is fixed."""
        self.drawn_head = 0
        """Number of the head pose for which the last images were rendered; 0 for none."""
        self.drawn: deque[float] = deque(maxlen=300)
        """Times at which the last sets of images were finished [s]."""
        self._thread = threading.Thread(target=self._run, name="pictures", daemon=True)
        self._thread.start()

    @property
    def stamp(self) -> bytes:
        """Prefix of the images of the last set: the number of the head pose for which they were rendered."""
        return self.drawn_head.to_bytes(4, "little")

    def show(self, scene: Scene) -> None:
        """Render another scene from now on; its model is read here, its states are offered later."""
        with self._changed:
            self._scene = scene
        self.offer(scene.world.save_state())

    def offer(self, state: Array) -> None:
        """Pass a newer state."""
        with self._changed:
            self._state = self._last = state
            self._changed.notify_all()

    def see_with(self, eye_distance: float) -> None:
        """Render for this eye distance [m] from now on (0: one view), and render the last state again."""
        with self._changed:
            self.eye_distance = eye_distance
            self._head = self._head if eye_distance > 0.0 else None
            self._state = self._last if self._state is None else self._state
            self._changed.notify_all()

    def look_from(self, head: HeadPose) -> bool:
        """Render the operator's view from the head; return whether it did not follow a head before."""
        with self._changed:
            if self.eye_distance <= 0.0:
                return False
            before, self._head = self._head, head
            self._state = self._last if self._state is None else self._state
            self._changed.notify_all()
            return before is None

    def show_large(self, name: str, width: int, height: int) -> None:
        """Render a view at the size shown [px], within the size of this stream, and the others small."""
        with self._changed:
            self._large, self._shown = name, (min(width, self._size[0]), min(height, self._size[1]))
            self._state = self._last if self._state is None else self._state
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def cameras_of(self, scene: Scene, head: HeadPose | None = None) -> tuple[CameraSpec, ...]:
        """Return the cameras to render; first called in the initial state of a scene, which determines the view.

        Args:
            scene: The scene.
            head: Pose of the head; None takes the last received pose.
        """
        if self._views is None or self._views[0] is not scene:
            self._views = scene, self._chosen(scene)
        distance = self.eye_distance
        large = self._large if any(c.name == self._large for c in self._views[1]) else self._views[1][0].name
        small = self._size[0] // 2, self._size[1] // 2
        chosen = tuple(fitted(c, *(self._shown if c.name == large else small)) for c in self._views[1])
        head = head or self._head
        if distance > 0.0 and head is not None:
            eyes = {OPERATOR: -0.5 * distance}
            chosen = tuple(eye_of(c, head, aside=eyes[c.name], name=c.name) if c.name in eyes else c for c in chosen)
        return *chosen, *(right_eye(c, distance) for c in chosen if distance > 0.0 and c.name == OPERATOR)

    def _chosen(self, scene: Scene) -> tuple[CameraSpec, ...]:
        cameras = [fitted(camera, *self._size) for camera in scene.instance.cameras]
        known = {camera.name: camera for camera in (operator_view(scene, self._size), *cameras)}
        for name in self._names:
            if name not in known:
                raise unknown_name("camera", name, known)
        return tuple(known[name] for name in self._names or known)

    def _run(self) -> None:
        drawing: LiveDrawing | None = None
        while True:
            with self._changed:
                while self._state is None and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                scene, state, self._state = self._scene, self._state, None
            if scene is None or state is None:
                continue
            head = self._head
            cameras = self.cameras_of(scene, head)
            if drawing is None or drawing.scene is not scene:
                drawing = LiveDrawing(scene, cameras, self._preset, self._backend)
            drawing.cameras = cameras
            files = drawing.files(state)
            self.drawn_head = 0 if head is None else head.seq
            self._publish(files)
            self.drawn.append(time.monotonic())


class LiveDrawing:
    """A renderer with its own state.

    Args:
        scene: The scene to render; only its model is read.
        cameras: The views.
        preset: Image quality.
        backend: Renderer.
    """

    def __init__(self, scene: Scene, cameras: tuple[CameraSpec, ...], preset: str, backend: str = "cpu") -> None:
        self.scene, self.cameras = scene, cameras
        self._model = scene.world.model
        self._data = mujoco.MjData(self._model)
        self._renderer = Renderer(self._model, preset, looks=scene.looks, backend=backend)

    def files(self, state: Array) -> list[bytes]:
        """Return the images of a state as JPEG files, in the order of the cameras."""
        return [jpeg(image) for image in self.draw(state)]

    def draw(self, state: Array) -> list[np.ndarray]:
        """Return the images of a state (h, w, 3), in the order of the cameras."""
        mujoco.mj_setState(self._model, self._data, state, STATE)
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        images = self._renderer.render(self._data, self.cameras)
        return [np.asarray(images[camera.name]["rgb"]) for camera in self.cameras]


OPERATOR = "operator"
"""Name of the view over the robot's shoulder."""
SHOULDERS = ((-0.7, 0.42, 0.75), (-0.7, -0.42, 0.75), (-0.25, 0.6, 0.8))
HEADS = ((-0.42, 0.0, 0.85), (-0.16, 0.0, 0.8), (-0.03, 0.0, 0.75))
"""Possible positions of its eye, beside one arm or between two: ahead, to the left of and above the handled objects
[m]. The first from which most of them are visible is taken."""
ABOVE = ((-0.75, 0.0, 0.9), (-0.5, 0.0, 0.9), (-0.3, 0.0, 0.9))
"""The same for a mobile base: far enough back to see its destination."""
AT_HAND = 0.7
"""Distance ahead of such a base at which its hands work [m]."""
LARGE_ARM = 0.45
"""Distance of a robot with a large arm from the handled objects [m]; a smaller one is viewed from closer."""


def check_views(task: Task, seed: int, names: Sequence[str]) -> None:
    """Refuse names of views that a task does not have.

    Raises:
        HandloomError: There is no such view; the message suggests a similar name.
    """
    if names:
        with suppress(SamplingError):  # The first scene that can be sampled then reports it.
            known = (OPERATOR, *(camera.name for camera in sample_task(task, seed, 0).cameras))
            for name in names:
                if name not in known:
                    raise unknown_name("camera", name, known)


def operator_view(scene: Scene, size: tuple[int, int]) -> CameraSpec:
    """Return a camera that looks the same way as the robot, so that left is left; it is shown, not recorded."""
    robot = scene.instance.robots[0]
    R = matrix_from_quat(np.array(robot.quat))
    handled = [np.array(obj.position) for obj in scene.instance.objects if not obj.fixed and obj.solid]
    if not handled:
        handled = [arm.world.body_pose(arm.tool_body)[:3, 3] for r in scene.robots.values() for arm in r.arms]
    centre = np.mean(handled, axis=0)
    away = float((R.T @ (centre - np.array(robot.position)))[0])
    base = scene.robot(robot.name).base
    if base is not None:  # The objects may be in another room, so look at the working area of the hands.
        away = AT_HAND
        centre = np.array([*(np.array(robot.position) + R @ np.array([away, 0.0, 0.0]))[:2], centre[2]])
    # Objects far to one side shift the view only halfway.
    centre[:2] = 0.5 * (centre[:2] + (np.array(robot.position) + R @ np.array([away, 0.0, 0.0]))[:2])
    two = sum(len(r.arms) for r in scene.robots.values()) > 1
    share = 1.0 if two else float(np.clip(away / LARGE_ARM, 0.5, 1.0))
    places = ABOVE if base is not None else HEADS if two else SHOULDERS
    eyes = [centre + share * (R @ np.array(place)) for place in places]
    # A robot head that blocks the view of the space between the hands also hides the work there.
    watched = [*handled, *(centre + R @ np.array([0.0, side, 0.0]) for side in (-0.15, 0.0, 0.15))]
    eye = max(eyes, key=lambda eye: sum(_sees(scene, eye, point) for point in watched))
    width, height = size
    view = CameraSpec.looking_at(
        OPERATOR, tuple(centre.tolist()), eye=tuple(eye.tolist()), width=width, height=height, focal=0.95 * height
    )
    return view if base is None else _carried(view, base.body, scene.world.body_pose(base.body))


def _carried(camera: CameraSpec, body: str, T_world_body: Array) -> CameraSpec:
    """Return a camera fixed to a body, at its current pose in the world."""
    position, quat = pos_quat_from_pose(invert_pose(T_world_body) @ camera.T_parent_camera)
    return replace(camera, parent=body, position=tuple(position.tolist()), quat=tuple(quat.tolist()))


RIGHT_EYE = "operator_right"
"""Name of that view for the right eye."""


def right_eye(left: CameraSpec, distance: float) -> CameraSpec:
    """Return a camera at a distance [m] to the right of another one, looking the same way."""
    x, y, z = (np.array(left.position) + matrix_from_quat(np.array(left.quat)) @ (distance, 0.0, 0.0)).tolist()
    return replace(left, name=RIGHT_EYE, position=(x, y, z))


def _sees(scene: Scene, eye: Array, point: Array) -> bool:
    """Return whether nothing large blocks the view from an eye to within 10 cm of a point (3,) [m]."""
    way = point - eye
    distance = mujoco.mj_ray(
        scene.world.model, scene.world.data, eye, way / np.linalg.norm(way), None, True, -1, np.zeros(1, np.int32), None
    )
    return distance < 0.0 or distance > np.linalg.norm(way) - 0.1


def fitted(camera: CameraSpec, width: int, height: int) -> CameraSpec:
    """Return the camera with the largest image of the same aspect ratio that fits into a size [px]."""
    share = min(width / camera.width, height / camera.height)
    return camera.resized(max(16, round(camera.width * share)), max(16, round(camera.height * share)))


def jpeg(image: np.ndarray) -> bytes:
    """Encode an image (h, w, 3) uint8."""
    packed = io.BytesIO()
    Image.fromarray(image).save(packed, format="JPEG", quality=QUALITY)
    return packed.getvalue()
