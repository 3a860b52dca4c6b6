"""``meta/info.json``: the description of a LeRobot v3 dataset."""

from typing import Any

from handloom.dataset.lerobot.feature import BOOKKEEPING, Feature
from handloom.dataset.lerobot.merge_plan import MergePlan
from handloom.dataset.lerobot.tables import LANGUAGE_COLUMNS, SUBTASK_INDEX
from handloom.dataset.video.video_codec import codec_named

CODEBASE_VERSION = "v3.0"
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"


def dataset_info(plan: MergePlan) -> dict[str, Any]:
    """Return the contents of ``info.json``."""
    count = plan.episode_count
    return {
        "codebase_version": CODEBASE_VERSION,
        "robot_type": plan.robot_type,
        "total_episodes": count,
        "total_frames": plan.frame_count,
        "total_tasks": len(plan.tasks),
        "chunks_size": plan.options.chunks_size,
        "data_files_size_in_mb": plan.options.data_files_size_in_mb,
        "video_files_size_in_mb": plan.options.video_files_size_in_mb,
        "fps": plan.table.fps,
        "splits": {"train": f"0:{count}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if plan.table.videos else None,
        "features": _features(plan),
    }


def _features(plan: MergePlan) -> dict[str, Any]:
    """Return the description of every feature, in the order of the columns."""
    features = {feature.name: described_feature(feature, plan.table.fps) for feature in plan.table}
    plain = {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in BOOKKEEPING.items()}
    if plan.subtasks:
        plain[SUBTASK_INDEX] = {"dtype": "int64", "shape": [1], "names": None}
    if plan.options.language:
        plain |= {name: {"dtype": "language", "shape": [1], "names": None} for name in LANGUAGE_COLUMNS}
    return features | plain


def described_feature(feature: Feature, fps: int) -> dict[str, Any]:
    """Return the description of one feature."""
    described: dict[str, Any] = {
        "dtype": feature.dtype,
        "shape": list(feature.shape),
        "names": None if feature.names is None else list(feature.names),
    }
    if feature.is_video:
        described["info"] = _video_info(feature, fps)
    return described


def _video_info(feature: Feature, fps: int) -> dict[str, Any]:
    """Return LeRobot's description of a stream; 0.4 and 0.6 spell the depth flag differently, so both are written."""
    codec = codec_named(feature.codec or "")
    described: dict[str, Any] = {
        "video.height": feature.shape[0],
        "video.width": feature.shape[1],
        "video.codec": codec.stored_name,
        "video.pix_fmt": codec.pixel_format,
        "video.is_depth_map": codec.is_depth,
        "is_depth_map": codec.is_depth,
        "video.fps": fps,
        "video.channels": feature.shape[2],
        "has_audio": False,
    }
    if codec.is_segmentation:
        described["is_segmentation"] = True
    if feature.depth is not None:
        described |= {
            "video.depth_min": feature.depth.depth_min,
            "video.depth_max": feature.depth.depth_max,
            "video.shift": feature.depth.shift,
            "video.use_log": True,
            "depth_unit": "m",
        }
    return described
