"""Episodes on disk: folders, archives, video, and the LeRobot v3 datasets made from them."""

from handloom.dataset.episodes.archive import (
    EpisodeArchive,
    archive_of_record,
    outcome_of_record,
    read_archive,
    record_of_archive,
)
from handloom.dataset.episodes.certificate import Certificate
from handloom.dataset.episodes.episode_folder import EpisodeFolder, find_episodes, folder_name, remove_unfinished
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome, Segment
from handloom.dataset.episodes.episode_writer import EpisodeWriter
from handloom.dataset.export_hdf5 import export_hdf5
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.feature import Feature, FeatureTable, column_feature, video_feature
from handloom.dataset.lerobot.layout_check import check_layout
from handloom.dataset.lerobot.merge import merge_episodes
from handloom.dataset.lerobot.merge_datasets import extract_episode, merge_datasets
from handloom.dataset.lerobot.merge_plan import MergeOptions
from handloom.dataset.robot_columns import ArmSeries, Columns, RobotSeries, robot_columns
from handloom.dataset.video.video_codec import DepthRange

__all__ = [
    "ArmSeries",
    "Certificate",
    "Columns",
    "DatasetReader",
    "DepthRange",
    "EpisodeArchive",
    "EpisodeFolder",
    "EpisodeOutcome",
    "EpisodeWriter",
    "Feature",
    "FeatureTable",
    "MergeOptions",
    "RobotSeries",
    "Segment",
    "archive_of_record",
    "check_layout",
    "column_feature",
    "export_hdf5",
    "extract_episode",
    "find_episodes",
    "folder_name",
    "merge_datasets",
    "merge_episodes",
    "outcome_of_record",
    "read_archive",
    "record_of_archive",
    "remove_unfinished",
    "robot_columns",
    "video_feature",
]
