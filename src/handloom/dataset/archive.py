"""The archive of an episode: everything needed to replay, check and render it again."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from handloom.dataset.certificate import Certificate, array_hash, certify
from handloom.dataset.durable import file_errors, json_bytes
from handloom.dataset.npz import read_npz, write_npz
from handloom.dataset.reading import read_json
from handloom.dataset.shapes import CertificateFile, PlainObject
from handloom.errors import FileError

ARCHIVE_FILES = ("instance.json", "commands.npz", "states.npz", "timeline.json", "certificate.json")
"""Files of an archive, in the order they are written."""


@dataclass(frozen=True, kw_only=True)
class EpisodeArchive:
    """One episode as it was sampled, commanded and simulated."""

    instance: Mapping[str, Any]
    """The sampled scene, as plain JSON values."""
    commands: Mapping[str, NDArray[Any]]
    """Commands asked and applied, one row per frame."""
    states: Mapping[str, NDArray[Any]]
    """Integration states, one row per frame, and what else a replay compares."""
    timeline: Mapping[str, Any]
    """Which skill was active when, as plain JSON values."""
    certificate: Certificate
    """Versions, platform and hashes."""

    @classmethod
    def made_here(
        cls,
        *,
        instance: Mapping[str, Any],
        commands: Mapping[str, NDArray[Any]],
        states: Mapping[str, NDArray[Any]],
        timeline: Mapping[str, Any],
    ) -> "EpisodeArchive":
        """Return an archive with the certificate of this machine."""
        certificate = certify(_hashes(instance, commands, states, timeline))
        return cls(instance=instance, commands=commands, states=states, timeline=timeline, certificate=certificate)

    def tampering(self) -> tuple[str, ...]:
        """Return which parts do not have the hash the certificate gives; empty when all do."""
        now, then = _hashes(self.instance, self.commands, self.states, self.timeline), self.certificate.hashes
        return tuple(
            [f"{name} was changed after it was certified" for name in now if then.get(name, now[name]) != now[name]]
            + [f"{name} is missing" for name in then if name not in now]
            + [f"{name} was added after the rest was certified" for name in now if name not in then]
        )


def write_archive(folder: Path, archive: EpisodeArchive) -> None:
    """Write the files of an archive into a folder; equal archives give equal bytes; not synced yet."""
    _write_json(folder / "instance.json", archive.instance)
    write_npz(folder / "commands.npz", archive.commands)
    write_npz(folder / "states.npz", archive.states)
    _write_json(folder / "timeline.json", archive.timeline)
    _write_json(folder / "certificate.json", archive.certificate.to_json())


def read_archive(folder: Path, *, check: bool = True) -> EpisodeArchive:
    """Read an archive.

    Args:
        folder: An episode folder, or ``extras/episode_XXXXXX`` of a dataset.
        check: Compare every part with the hashes of the certificate.

    Raises:
        FileError: A file is missing or damaged, or a part is not the one that was certified.
    """
    archive = EpisodeArchive(
        instance=read_json(folder / "instance.json", PlainObject),
        commands=read_npz(folder / "commands.npz"),
        states=read_npz(folder / "states.npz"),
        timeline=read_json(folder / "timeline.json", PlainObject),
        certificate=Certificate.from_json(read_json(folder / "certificate.json", CertificateFile)),
    )
    if check and (faults := archive.tampering()):
        raise FileError(f"the archive {folder} is not as it was written: {'; '.join(faults)}; generate it again")
    return archive


def _write_json(path: Path, value: Any) -> None:
    """Write a JSON file that people may want to read."""
    with file_errors("write", path):
        path.write_bytes(json_bytes(value, indent=1))


def _hashes(
    instance: Mapping[str, Any],
    commands: Mapping[str, NDArray[Any]],
    states: Mapping[str, NDArray[Any]],
    timeline: Mapping[str, Any],
) -> dict[str, str]:
    """Return the hash of every part by the name it has in the certificate."""
    texts = {"instance": instance, "timeline": timeline}
    return {
        **{name: hashlib.sha256(json_bytes(value)).hexdigest() for name, value in texts.items()},
        **{f"commands/{name}": array_hash(commands[name]) for name in sorted(commands)},
        **{f"states/{name}": array_hash(states[name]) for name in sorted(states)},
    }
