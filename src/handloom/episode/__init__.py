"""The episode loop, from command source over controller and physics to the record; replay and verification."""

from handloom.episode.loop import Source, run_episode
from handloom.episode.replay import ReplayReport, replay

__all__ = ["ReplayReport", "Source", "replay", "run_episode"]
