"""Observations of the current state for a policy: the dataset's observation columns, computed by the same code."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset import Feature, column_feature
from handloom.dataset.robot_columns import POSE_NAMES
from handloom.episode.columns import episode_columns, image_name, video_features
from handloom.episode.loop import user_inputs
from handloom.errors import unknown_name
from handloom.motion.kinematics import Chain
from handloom.render import Renderer
from handloom.scene import Scene, SceneArm
from handloom.scene.fixtures import FIXTURES
from handloom.spatial import pos_quat_from_pose
from handloom.values import CameraSpec, EpisodeRecord

Size = tuple[int, int] | Mapping[str, tuple[int, int]]
"""Width and height of images [px], of all cameras or by the name of a camera."""
OBSERVATION = "observation."
"""Prefix of the names of everything that a policy may observe."""
OBJECTS = "observation.objects."
"""Prefix of an object's true pose in the world, which no camera gives: for baselines and critics."""


class Observer:
    """Observes a scene, with the names, shapes and units of the dataset.

    Args:
        scene: The scene; its current state is observed.
        cameras: Cameras to draw by name; None draws all of them, an empty tuple none.
        size: Width and height of the images [px], for all cameras or by name; None keeps each camera's own.
        preset: Render preset.
        backend: Renderer, ``cpu`` or ``cuda``.
        objects: Whether to also observe the true poses of objects and of their moving parts.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        cameras: Sequence[str] | None = None,
        size: Size | None = None,
        preset: str = "balanced",
        backend: str = "cpu",
        objects: bool = False,
    ) -> None:
        self._scene = scene
        self._cameras = chosen_cameras(scene.instance.cameras, cameras, size)
        self._preset = preset
        self._backend = backend
        self._renderer: Renderer | None = None
        self._objects = observed_bodies(scene) if objects else {}
        self._chains: dict[tuple[str, str], Chain] = {}
        self._last: dict[str, Array] = {}
        """Poses of the previous observation, used to keep quaternion signs continuous."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """Features that ``observe`` returns, in order."""
        columns = [f for f in self._columns().features if f.name.startswith(OBSERVATION) or f".{OBSERVATION}" in f.name]
        objects = [column_feature(OBJECTS + name, POSE_NAMES) for name in self._objects]
        return (*columns, *objects, *video_features(self._cameras, "h264"))

    def observe(self) -> dict[str, NDArray[Any]]:
        """Return the observation of the present state: columns (n,) float32, images (h, w, 3) uint8."""
        columns = self._columns()
        seen: dict[str, NDArray[Any]] = {}
        for feature in columns.features:
            if OBSERVATION in feature.name:
                values = np.asarray(columns.values[feature.name][0], float)
                seen[feature.name] = self._followed(feature, values).astype(np.float32)
        for name in self._objects:
            pose = self._scene.world.body_pose(self._objects[name])
            seen[OBJECTS + name] = np.concatenate(pos_quat_from_pose(pose), dtype=np.float32)
        if self._cameras:
            world = self._scene.world
            if self._renderer is None:
                self._renderer = Renderer(world.model, self._preset, looks=self._scene.looks, backend=self._backend)
            for camera, images in self._renderer.render(world.data, self._cameras).items():
                seen[image_name(camera, "rgb")] = images["rgb"]
        return seen

    def _columns(self) -> Any:
        """Return the columns of a one-frame record of the present state."""
        world = self._scene.world
        state = world.save_state()
        record = EpisodeRecord(
            instance=self._scene.instance,
            states=np.array([state, state]),
            asked=np.full((1, world.model.nu), np.nan),
            applied=user_inputs(self._scene)[None],
        )
        return episode_columns(self._scene, record, chain_of=self._chain)

    def _chain(self, arm: SceneArm) -> Chain:
        """Return the chain of an arm, which takes longer to build than all columns of a frame."""
        key = arm.robot_name, arm.name
        if key not in self._chains:
            self._chains[key] = arm.chain()
        return self._chains[key]

    def _followed(self, feature: Feature, values: Array) -> Array:
        """Return the values with quaternion signs closest to the previous ones, as in the columns of an episode."""
        names = feature.names or ()
        last = self._last.get(feature.name)
        starts = [k for k, name in enumerate(names) if name.endswith("qw")]
        if last is not None:
            for k in starts:
                if values[k : k + 4] @ last[k : k + 4] < 0.0:
                    values[k : k + 4] *= -1.0
        if starts:
            self._last[feature.name] = values
        return values


def movable_objects(scene: Scene) -> tuple[str, ...]:
    """Return the names of the objects that are free to move."""
    return tuple(obj.name for obj in scene.instance.objects if not obj.fixed)


def observed_bodies(scene: Scene) -> dict[str, str]:
    """Return the bodies whose true poses can be observed: objects, and moving parts as ``cabinet.drawer_0``.

    Tables and floors are left out: their poses are given by the task.
    """
    bodies = {}
    for obj in scene.instance.objects:
        if obj.category not in FIXTURES:
            bodies[obj.name] = scene.body_of(obj.name)
            links = scene.assets[obj.name].joints
            bodies |= {f"{obj.name}.{link.name}": f"{obj.name}/{link.name}" for link in links}
    return bodies


def chosen_cameras(
    cameras: Sequence[CameraSpec], names: Sequence[str] | None, size: Size | None
) -> tuple[CameraSpec, ...]:
    """Return cameras by name, or all for None; resized if a size is given."""
    known = {camera.name: camera for camera in cameras}
    for name in names or ():
        if name not in known:
            raise unknown_name("camera", name, known)
    chosen = tuple(known.values()) if names is None else tuple(known[name] for name in names)
    sizes = size if isinstance(size, Mapping) else {camera.name: size for camera in chosen if size is not None}
    return tuple(camera.resized(*sizes[camera.name]) if camera.name in sizes else camera for camera in chosen)
