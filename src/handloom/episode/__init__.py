"""The one loop: command source to controller to physics to record; replay and verification."""

from handloom.episode.loop import Source, run_episode
from handloom.episode.replay import ReplayReport, replay

__all__ = ["ReplayReport", "Source", "replay", "run_episode"]
