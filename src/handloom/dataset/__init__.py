"""Episodes on disk: folders, archives, video, and LeRobot v3 datasets made of them."""

from handloom.dataset.archive import EpisodeArchive, read_archive
from handloom.dataset.certificate import Certificate
from handloom.dataset.dataset_reader import DatasetReader
from handloom.dataset.depth import DepthRange
from handloom.dataset.episode_folder import EpisodeFolder, find_episodes, folder_name
from handloom.dataset.episode_outcome import EpisodeOutcome, Segment
from handloom.dataset.episode_writer import EpisodeWriter
from handloom.dataset.export_hdf5 import export_hdf5
from handloom.dataset.extract import extract_episode
from handloom.dataset.feature import Feature, column_feature, video_feature
from handloom.dataset.feature_table import FeatureTable
from handloom.dataset.layout_check import check_layout
from handloom.dataset.merge import merge_episodes
from handloom.dataset.merge_options import MergeOptions
from handloom.dataset.reference_columns import Columns, reference_columns
from handloom.dataset.robot_series import ArmSeries, RobotSeries

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
    "check_layout",
    "column_feature",
    "export_hdf5",
    "extract_episode",
    "find_episodes",
    "folder_name",
    "merge_episodes",
    "read_archive",
    "reference_columns",
    "video_feature",
]
