"""The columns and camera streams of a dataset."""

from collections.abc import Sequence
from dataclasses import replace

from handloom.dataset import Columns, Feature, robot_columns, video_feature
from handloom.episode.series import robot_series
from handloom.scene import Scene
from handloom.values import CameraSpec, EpisodeRecord

IMAGES = "observation.images."
"""Start of every camera's feature name."""


def episode_columns(scene: Scene, record: EpisodeRecord, styles: Sequence[str] = ("canonical",)) -> Columns:
    """Return features and values of all robots; with several robots every name starts with the robot's.

    Args:
        scene: The scene of the record's instance, at its start.
        record: What happened.
        styles: ``canonical``, ``reference`` or both.
    """
    parts = [
        _named(robot_columns(style, series), f"{name}." if len(scene.robots) > 1 else "")
        for name, series in robot_series(scene, record).items()
        for style in styles
    ]
    return Columns(
        features=tuple(feature for part in parts for feature in part.features),
        values={name: values for part in parts for name, values in part.values.items()},
    )


def video_features(cameras: Sequence[CameraSpec], codec: str, *, depth: bool = False) -> tuple[Feature, ...]:
    """Return the camera streams of a scene, with ``depth`` a second one for each camera."""
    codecs = {"rgb": codec, "depth": "depth"} if depth else {"rgb": codec}
    return tuple(
        video_feature(image_name(camera.name, kind), height=camera.height, width=camera.width, codec=name)
        for camera in cameras
        for kind, name in codecs.items()
    )


def image_name(camera: str, kind: str) -> str:
    """Return the feature of a camera's images of a kind (rgb or depth)."""
    return IMAGES + camera if kind == "rgb" else f"{IMAGES}{camera}_{kind}"


def _named(columns: Columns, prefix: str) -> Columns:
    if not prefix:
        return columns
    return Columns(
        features=tuple(replace(feature, name=prefix + feature.name) for feature in columns.features),
        values={prefix + name: values for name, values in columns.values.items()},
    )
