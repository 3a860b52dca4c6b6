"""Runs of any size for measuring bookkeeping: a few hundred real episodes, repeated under further attempt numbers.

Simulating a million episodes takes a day, but their bookkeeping does not depend on what happens in them. Each repeated
episode has its own scene file, certificate, sheet and receipt with its own number; frames, commands and states are
hard links to those of the episode that it repeats. A replay of it gives the recorded states bit for bit; only the
scene is not the one that the task would give under this number.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from handloom.dataset import folder_name
from handloom.dataset.episodes.archive import ARCHIVE_FILES
from handloom.dataset.episodes.episode_folder import FRAMES, SHEET
from handloom.dataset.files.durable import json_bytes
from handloom.dataset.files.reading import read_json
from handloom.engine.attempt import run_unit
from handloom.engine.generate import missing_units
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.ledger import PACK, write_part
from handloom.engine.runs.run_directory import RunDirectory

INSTANCE, CERTIFICATE = ARCHIVE_FILES[0], ARCHIVE_FILES[-1]
LINKED = (FRAMES, *ARCHIVE_FILES[1:-1])
"""Files of an episode that do not contain its number."""

TASK = """# Task: a small arm holds still. Randomizations: its place on the table. Success: it has not moved.
arena_file: small_arena.yaml
robots:
  - {name: arm, robot_config_file: so101, euler: [0, 0, 90]}
regions:
  - {object: arm, target: table, random_config: {pos_range: [[-0.2, -0.3, 0], [0.2, 0.1, 0]], yaw_rotation: [-40, 40]}}
data: {language_instruction: Hold still., max_episode_length: 30, fps: 10}
skills:
  - arm:
      - left: [{name: wait, wait_steps: 2, success_threshold: 0.02}]
"""
ARENA = """name: small_arena
fixtures:
  - {name: table, target_class: GeometryObject, category: table, size: [1.4, 1.0, 0.75], translation: [0.0, 0.0, 0.375]}
"""


def write_task(folder: Path) -> Path:
    """Write a task whose episodes have few frames and small files; return its path."""
    (folder / "small_arena.yaml").write_text(ARENA, encoding="utf-8")
    task = folder / "hold_still.yaml"
    task.write_text(TASK, encoding="utf-8")
    return task


class RepeatedEpisode:
    """An episode that is written again under other attempt numbers.

    Args:
        folder: The episode.
        receipt: Its receipt.
    """

    def __init__(self, folder: Path, receipt: Receipt) -> None:
        self.folder, self.receipt = folder, receipt
        self._text, self._certificate, self._sheet = (
            (folder / name).read_bytes() for name in (INSTANCE, CERTIFICATE, SHEET)
        )
        self._plain = json_bytes(read_json(folder / INSTANCE))

    def files(self, number: int) -> dict[str, bytes]:
        """Return the content of the files that contain the attempt number."""
        old = self.receipt.episode
        text = _replaced(self._text, f'"episode": {old},', f'"episode": {number},')
        plain = _replaced(self._plain, f'"episode":{old},', f'"episode":{number},')
        certificate = _replaced(self._certificate, *(hashlib.sha256(raw).hexdigest() for raw in (self._plain, plain)))
        sheet = _replaced(self._sheet, f'"outcome":{{"index":{old},', f'"outcome":{{"index":{number},')
        for name, before, after in ((INSTANCE, self._text, text), (CERTIFICATE, self._certificate, certificate)):
            sheet = _replaced(sheet, _entry(name, before), _entry(name, after))
        return {INSTANCE: text, CERTIFICATE: certificate, SHEET: sheet}

    def write(self, episodes: Path, number: int) -> Receipt:
        """Write the episode under another number; return its receipt."""
        folder = f"{episodes}/{folder_name(number)}"
        os.mkdir(folder)
        for name in LINKED:
            os.link(f"{self.folder}/{name}", f"{folder}/{name}")
        for name, content in self.files(number).items():
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
        return replace(self.receipt, episode=number)


def _replaced(content: bytes, old: str, new: str) -> bytes:
    """Replace the only occurrence of a text."""
    if content.count(old.encode()) != 1:
        raise ValueError(f"{old!r} does not occur once")
    return content.replace(old.encode(), new.encode())


def _entry(name: str, content: bytes) -> str:
    """Return the line of a file in a sheet."""
    return f'"{name}":{{"bytes":{len(content)},"sha256":"{hashlib.sha256(content).hexdigest()}"}}'


def make_attempts(run: RunDirectory, count: int, *, distinct: int) -> None:
    """Make the attempts of a run: the first ones for real, the others as repetitions of these.

    Args:
        run: A new run; afterwards its dataset is not merged yet.
        count: Number of attempts.
        distinct: Number of real ones; all must succeed.
    """
    for unit in missing_units(run, min(distinct, count), {}):
        run_unit(unit)
    real = [RepeatedEpisode(run.episodes / folder_name(number), receipt) for number, receipt in run.receipts().items()]
    for part in _parts(range(len(real), count), PACK * run.settings.unit_size):
        receipts = [real[number % len(real)].write(run.episodes, number) for number in part]
        write_part(run.path / "journal", receipts)


def _parts(numbers: range, size: int) -> Iterator[range]:
    for start in range(numbers.start, numbers.stop, size):
        yield range(start, min(start + size, numbers.stop))
