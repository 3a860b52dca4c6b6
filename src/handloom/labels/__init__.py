"""Labels of episodes, exact and per frame, computed from recorded states."""

from handloom.labels.episode_labels import EpisodeLabels
from handloom.labels.kinds import KINDS, chosen_kinds
from handloom.labels.labeller import EpisodeLabeller

__all__ = ["KINDS", "EpisodeLabeller", "EpisodeLabels", "chosen_kinds"]
