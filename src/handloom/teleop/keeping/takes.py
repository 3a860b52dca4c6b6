"""An operator's takes: device input, one file each, on disk before it is processed.

A scene can be sampled again; a person cannot be asked to repeat a take. So every take has its own number, no take
overwrites another, and the journal says which one became the episode. A take without a receipt is one that was being
saved when the program ended; carried out again it gives the episode, bit for bit.
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
    """From 1 in the order of saving."""

    @property
    def file_name(self) -> str:
        """Name of its file; the first take of a scene, which is mostly the only one, has the plain one."""
        return f"episode_{self.episode:06d}" + (f"_take_{self.number}" if self.number > 1 else "") + ".jsonl"


class Takes:
    """The takes of a run.

    Args:
        folder: Where their files are.
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
        """Write a new take of a scene; when this returns, it is on the disk."""
        take = Take(episode, 1 + max((take.number for take in self if take.episode == episode), default=0))
        with atomic_write(self.path(take)) as partial:
            partial.unlink(missing_ok=True)  # What a kill left.
            recording.write(partial)
        return take

    def unfinished(self, done: Mapping[int, int]) -> list[Take]:
        """Return the last take of every scene that is not done, or was done with an earlier take.

        Args:
            done: Scene > number of the take that became its episode; 0 if none did.
        """
        last = {take.episode: take for take in self}
        return sorted(
            take for take in last.values() if take.episode not in done or 0 < done[take.episode] < take.number
        )
