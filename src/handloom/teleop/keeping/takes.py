"""An operator's takes: device input, one file each, on disk before it is processed.

A scene can be sampled again, but a take cannot be repeated. So every take has its own number, no take overwrites
another, and the journal records which one became the episode. A take without a receipt was being saved when the program
ended; replaying it gives the episode, bit for bit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from handloom.dataset.files.durable import atomic_write
from handloom.retarget import DeviceRecording

NAME = re.compile(r"episode_(\d{6,})(?:_take_(\d+))?\.jsonl")


@dataclass(frozen=True, order=True)
class Take:
    """One take of a scene."""

    episode: int
    number: int
    """Number from 1, in the order of saving."""

    @property
    def file_name(self) -> str:
        """Name of its file; the first take of a scene, usually the only one, has no number."""
        return f"episode_{self.episode:06d}" + (f"_take_{self.number}" if self.number > 1 else "") + ".jsonl"


class Takes:
    """The takes of a run.

    Args:
        folder: Folder of their files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self):
        """Iterate over the takes in the order of scenes and numbers."""
        matches = (NAME.fullmatch(file.name) for file in self.folder.glob("episode_*.jsonl"))
        return iter(sorted(Take(int(match[1]), int(match[2] or 1)) for match in matches if match))

    def path(self, take: Take) -> Path:
        """Return the file of a take."""
        return self.folder / take.file_name

    def write(self, episode: int, recording: DeviceRecording) -> Take:
        """Write a new take of a scene; it is on disk when this returns."""
        take = Take(episode, 1 + max((take.number for take in self if take.episode == episode), default=0))
        with atomic_write(self.path(take)) as partial:
            partial.unlink(missing_ok=True)  # Left by a kill.
            recording.write(partial)
        return take

    def unfinished(self, done: Mapping[int, int]) -> list[Take]:
        """Return the last take of every scene that has no episode, or an episode of an earlier take.

        Args:
            done: Scene > number of the take that became its episode; 0 if none did.
        """
        last = {take.episode: take for take in self}
        return sorted(
            take for take in last.values() if take.episode not in done or 0 < done[take.episode] < take.number
        )
