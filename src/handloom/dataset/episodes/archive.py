"""The archive of an episode: everything needed to replay, check and render it again."""

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.dataset.episodes.certificate import Certificate, array_hash, certify
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_outcome import EpisodeOutcome, Scalar, Segment
from handloom.dataset.files.durable import file_errors, json_bytes
from handloom.dataset.files.reading import check_shape, checked_size, damage_named
from handloom.dataset.files.shapes import CertificateFile, PlainObject, Timeline
from handloom.errors import FileError, InputError
from handloom.values import MARK, Check, EpisodeRecord, Failure, FunnelStage, SkillSpan, TaskInstance

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest date a zip file can store."""

_KINDS = "biufU"
"""Kinds of array elements in archives: booleans, numbers and text."""

MOST_ARRAYS = 100
LEAST_BOUND = 256 * 2**20
"""Total array size that is read from any file [bytes]."""
MOST_RATIO = 50
"""Above that: maximum ratio of array size to file size."""

_LEVEL = 1
"""Deflate level: simulation states shrink almost as far as at level 9, in a tenth of the time."""


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays so that ``numpy.load`` reads them and equal arrays give equal bytes; not synced yet."""
    with file_errors("write", path), zipfile.ZipFile(path, "w", allowZip64=True) as archive:
        for name in sorted(arrays):
            array = np.asarray(arrays[name])
            if array.dtype.hasobject:
                raise InputError(f"array {name!r} holds Python objects; archives keep plain numbers and text only")
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            archive.writestr(entry, _npy(array), compress_type=zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)


def read_npz(path: Path, content: bytes | None = None) -> dict[str, NDArray[Any]]:
    """Read all arrays of an archive; raise an error if it is missing or damaged.

    The declared size of an array is compared with the size of the file before memory is allocated.

    Args:
        path: The file, for error messages.
        content: Its content, if it is part of another file.
    """
    most = max(LEAST_BOUND, MOST_RATIO * (checked_size(path) if content is None else len(content)))
    source = path if content is None else io.BytesIO(content)
    with file_errors("read", path), damage_named(path), zipfile.ZipFile(source) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        if len(members) > MOST_ARRAYS or total > most:
            raise FileError(
                f"{path} declares {len(members)} arrays of {total} bytes; at most {MOST_ARRAYS} of {most} "
                "are read from a file of its size; it is damaged or malicious"
            )
        return {_array_name(path, member.filename): _read_array(archive, member) for member in members}


def _array_name(path: Path, member: str) -> str:
    if not member.endswith(".npy"):
        raise FileError(f"{path} holds {member!r}, which is not an array; generate the episode again")
    return member.removesuffix(".npy")


def _read_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Read one array whose header agrees with the bytes that follow it."""
    with cast(Any, archive.open(member)) as stream:
        version = np.lib.format.read_magic(stream)
        if version != (1, 0):
            raise ValueError(f"{member.filename} has the array format {version}, not 1.0")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if dtype.kind not in _KINDS or min(shape, default=0) < 0:
            raise ValueError(f"{member.filename} is an array of {dtype} with the shape {shape}")
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - stream.tell():
            raise ValueError(f"{member.filename} has the shape {shape}, which does not match its size")
        array = np.empty(shape, dtype, order="F" if fortran else "C")
        if cast(Any, stream).readinto(array.reshape(-1, order="A").view(np.uint8)) != size or stream.read(1):
            raise ValueError(f"{member.filename} is cut short")
    return array


def _npy(array: NDArray[Any]) -> bytes:
    """Return an array in NumPy's file format, in C order and little-endian."""
    plain = np.ascontiguousarray(array).reshape(array.shape)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


ARCHIVE_FILES = ("instance.json", "commands.npz", "states.npz", "timeline.json", "certificate.json")
"""Files of an archive, in the order they are written."""
LABEL_FILES = ("labels.parquet", "label_pictures.parquet", "words.json")
"""Label files beside an archive, if any: per frame, per frame and camera, per episode."""


@dataclass(frozen=True, kw_only=True)
class EpisodeArchive:
    """One episode: sampled scene, commands and simulation."""

    instance: Mapping[str, Any]
    """The sampled scene, as plain JSON values."""
    commands: Mapping[str, NDArray[Any]]
    """Commands requested and applied, one row per frame."""
    states: Mapping[str, NDArray[Any]]
    """Integration states, one row per frame, and the other values that a replay compares."""
    timeline: Mapping[str, Any]
    """Timeline of the active skills, as plain JSON values."""
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
        """Return which parts do not match the hash in the certificate; empty if all match."""
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
        folder: An episode folder, or ``extras/episode_XXXXXX`` of a dataset, in a folder or in a pack.
        check: Compare every part with the hashes of the certificate.

    Raises:
        FileError: A file is missing or damaged, or a part is not the certified one.
    """
    files = EpisodeFiles.at(folder)
    arrays = {
        name: read_npz(folder / f"{name}.npz", files.read(f"{name}.npz") if files.packed else None)
        for name in ("commands", "states")
    }
    archive = EpisodeArchive(
        instance=files.json("instance.json", PlainObject),
        commands=arrays["commands"],
        states=arrays["states"],
        timeline=files.json("timeline.json", PlainObject),
        certificate=Certificate.from_json(files.json("certificate.json", CertificateFile)),
    )
    if check and (faults := archive.tampering()):
        raise FileError(
            f"the archive {folder} has changed since it was written: {'; '.join(faults)}; generate it again"
        )
    return archive


def _write_json(path: Path, value: Any) -> None:
    """Write a JSON file in a readable layout."""
    with file_errors("write", path):
        path.write_bytes(json_bytes(value, indent=1))


def _hashes(
    instance: Mapping[str, Any],
    commands: Mapping[str, NDArray[Any]],
    states: Mapping[str, NDArray[Any]],
    timeline: Mapping[str, Any],
) -> dict[str, str]:
    """Return the hash of every part by its name in the certificate."""
    texts = {"instance": instance, "timeline": timeline}
    return {
        **{name: hashlib.sha256(json_bytes(value)).hexdigest() for name, value in texts.items()},
        **{f"commands/{name}": array_hash(commands[name]) for name in sorted(commands)},
        **{f"states/{name}": array_hash(states[name]) for name in sorted(states)},
    }


STATES = "integration"
"""Name of the integration states in ``states.npz``."""


def archive_of_record(record: EpisodeRecord) -> EpisodeArchive:
    """Return the archive of an episode that was recorded on this machine."""
    timeline = {
        "model_hash": record.model_hash,
        "spans": [asdict(span) for span in record.timeline],
        "goal": [asdict(term) for term in record.goal],
        "left_out": record.left_out,
        "failure": None if record.failure is None else asdict(record.failure),
    }
    return EpisodeArchive.made_here(
        instance=json.loads(record.instance.to_json()),
        commands={"asked": record.asked, "applied": record.applied},
        states={STATES: record.states},
        timeline=json.loads(json.dumps(timeline)),
    )


def record_of_archive(archive: EpisodeArchive) -> EpisodeRecord:
    """Return the record from which an archive was made, bit for bit.

    Raises:
        FileError: The archive does not contain a consistent record.
    """
    timeline = archive.timeline
    check_shape(timeline, Timeline, source="timeline.json")
    applied = _rows(archive.commands, "applied")
    frames, failure = len(applied), timeline["failure"]
    try:
        return EpisodeRecord(
            instance=TaskInstance.from_json(json.dumps(archive.instance)),
            states=_rows(archive.states, STATES, count=frames + 1),
            asked=_rows(archive.commands, "asked", count=frames),
            applied=applied,
            model_hash=timeline["model_hash"],
            timeline=tuple(_span(span) for span in timeline["spans"]),
            goal=tuple(Check(**term) for term in timeline.get("goal", ())),
            left_out=tuple((start, stop) for start, stop in timeline.get("left_out", ())),
            failure=None if failure is None else Failure(**{**failure, "stage": FunnelStage(failure["stage"])}),
        )
    except (TypeError, ValueError, KeyError) as error:
        raise FileError(
            f"the archive does not contain an episode record: {error}; generate the episode again"
        ) from error


def _rows(arrays: Mapping[str, NDArray[Any]], name: str, *, count: int | None = None) -> Array:
    """Return an array (count, n) of an archive; raise an error if it has another type or shape."""
    array = arrays.get(name)
    if array is None or array.dtype != np.float64 or array.ndim != 2 or (count is not None and len(array) != count):
        found = "missing" if array is None else f"{array.dtype} of shape {array.shape}"
        wanted = "a table" if count is None else f"a table of {count} rows"
        raise FileError(f"the archive does not hold an episode record: {name!r} must be {wanted}, but is {found}")
    return array


def outcome_of_record(
    record: EpisodeRecord, archive: EpisodeArchive, *, attempts: int = 1, columns: Mapping[str, Scalar] | None = None
) -> EpisodeOutcome:
    """Return the episode table's entries for a recorded episode.

    Args:
        record: The episode.
        archive: Its archive; the hash of its states becomes the column ``state_hash``.
        attempts: Tries of the expert within the episode, in its last layout or place.
        columns: Further columns.
    """
    instance, failure = record.instance, record.failure
    return EpisodeOutcome(
        index=instance.episode,
        task=instance.instruction,
        success=record.success,
        failure_reason=None if failure is None else failure.reason,
        seed=instance.seed,
        robot="+".join(robot.robot for robot in instance.robots),
        attempts=attempts + (instance.layout if instance.retold is None else instance.retold.placement),
        segments=segments_of(record),
        columns={
            "task_name": instance.task,
            "recovery": any(span.kind == "mistake" for span in record.timeline),
            "failure_stage": None if failure is None else str(failure.stage),
            "failure_detail": None if failure is None else failure.detail,
            "state_hash": archive.certificate.hashes[f"states/{STATES}"],
            **_pairing(record),
            **(columns or {}),
        },
    )


def _pairing(record: EpisodeRecord) -> dict[str, Scalar]:
    """Return the columns that link an episode to the one whose scene it retells."""
    told = record.instance.retold
    return {} if told is None else {"pair_id": told.pair_id, "retold_from": f"{told.robot}:{told.scene_hash[:16]}"}


def segments_of(record: EpisodeRecord) -> tuple[Segment, ...]:
    """Return the sub-tasks of a demonstration; if two arms work at the same time, their labels are joined by ``and``.

    If a person named a span while recording, that name is used alone.
    """
    active: list[list[str]] = [[] for _ in range(record.frames)]
    for span in sorted(record.timeline, key=lambda span: (span.robot, span.arm, span.start)):
        if span.kind == "correction":
            continue  # It marks who was in control, not the sub-task.
        label = span.instruction or " ".join([span.skill, *span.objects])
        for frame in range(max(span.start, 0), min(span.end, record.frames)):
            if label not in active[frame]:
                active[frame].append(label)
    for span in record.timeline:
        if span.skill == MARK:
            active[span.start : span.end] = [[span.instruction]] * len(active[span.start : span.end])
    kept = [active[frame] for frame in record.kept]
    segments, start = [], 0
    for label, run in groupby(_joined(labels) for labels in kept):
        stop = start + len(list(run))
        if label:
            segments.append(Segment(label=label, start=start, stop=stop))
        start = stop
    return tuple(segments)


def _joined(labels: list[str]) -> str:
    """Return one label: sentences become one sentence, other labels are joined unchanged."""
    if not all(label.endswith(".") for label in labels):
        return " and ".join(labels)
    first, *others = (label.removesuffix(".") for label in labels) if labels else ("",)
    return " and ".join([first, *(label[:1].lower() + label[1:] for label in others)]) + ("." if labels else "")


def _span(value: dict[str, Any]) -> SkillSpan:
    """Return a span from its JSON form."""
    checks = tuple(Check(**check) for check in value["checks"])
    return SkillSpan(**{**value, "objects": tuple(value["objects"]), "checks": checks})
