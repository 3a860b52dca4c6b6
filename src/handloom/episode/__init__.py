"""The one loop: command source to controller to physics to record; replay and verification."""

from handloom.episode.loop import run_episode
from handloom.episode.replay import ReplayReport, replay
from handloom.episode.source import Source

__all__ = ["ReplayReport", "Source", "replay", "run_episode"]
