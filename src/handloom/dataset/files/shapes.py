"""The shape of every JSON file of a dataset and of a row of its episode table, for ``reading``."""

import json
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field, FiniteFloat, StringConstraints
from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12


def _finite(value: Any) -> Any:
    """Refuse infinity, for example from 1e999."""
    json.dumps(value, allow_nan=False)
    return value


Plain = Annotated[Any, AfterValidator(_finite)]
"""Any JSON value."""
PlainObject = Annotated[dict[str, Any], AfterValidator(_finite)]
Count = Annotated[int, Field(ge=0, le=2**53)]
"""A count or an index; also exactly representable as a float."""
Size = Annotated[int, Field(ge=1, le=2**20)]
"""Entries of a column, or pixels of a side."""
Frame = Annotated[int, Field(ge=-(2**53), le=2**53)]
Time = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
"""[s]"""
Text = Annotated[str, StringConstraints(max_length=100_000)]
Words = Annotated[Text, StringConstraints(pattern=r"^[^\x00]*$")]
"""Text that every format can store."""
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Scalar = bool | int | FiniteFloat | Text | None


class FileEntry(TypedDict):
    """Size and hash of a file."""

    bytes: Count
    sha256: Hash


FileList = dict[str, FileEntry]
FileName = Annotated[str, StringConstraints(pattern=r"^[^/\x00]{1,255}$")]
"""A file name without a path."""


class SaidWording(TypedDict):
    """A wording in ``words.json``."""

    grain: Text
    style: Text
    text: Words


class SaidQuestion(TypedDict):
    """A question in ``words.json``."""

    kind: Text
    frame: Count
    question: Words
    answer: Words
    about: list[Text]


class DataEnd(TypedDict):
    """The last data file and the frames in it."""

    chunk: Count
    file: Count
    frames: Count


class VideoEnd(TypedDict):
    """The last video file of a camera, its content, and the header that its videos share."""

    chunk: Count
    file: Count
    bytes: Count
    frames: Count
    first_length: Count
    """Frames of the first episode in it."""
    header: Text


class PlanEnd(TypedDict):
    """The state of a plan after its last episode, from which a plan of more episodes continues."""

    data: DataEnd
    videos: dict[str, VideoEnd]
    attempts: Text
    """Hash of the attempts' numbers, in order."""
    last_attempt: Frame
    """The largest of these numbers."""


class MergeReceipt(TypedDict):
    """``meta/merge.json``; earlier versions wrote the first two keys only."""

    fingerprint: Hash
    versions: dict[str, Text | None]
    writer: NotRequired[Hash]
    """Hash of all inputs of the bytes except the episodes."""
    end: NotRequired[PlanEnd]
    parts: NotRequired[list[Count]]
    """If it was merged from the files of other datasets, their numbers of episodes."""


class InfoFeature(TypedDict):
    """A feature in ``meta/info.json``; only the keys that Handloom reads."""

    dtype: Text
    shape: list[Size]
    names: Plain
    info: NotRequired[dict[str, Scalar] | None]


class Info(TypedDict):
    """``meta/info.json``."""

    codebase_version: Text
    robot_type: NotRequired[Words | None]
    total_episodes: Count
    total_frames: Count
    fps: Annotated[int, Field(ge=1, le=10_000)]
    features: Annotated[dict[Text, InfoFeature], Field(max_length=2000)]


Nested = FiniteFloat | list[list[FiniteFloat]]
Statistics = dict[str, dict[str, list[Nested]]]
"""Feature > statistic > one number per entry, or ``[[x]]`` per channel of images."""


class DepthInfo(TypedDict):
    """A range of depths [m]."""

    depth_min: FiniteFloat
    depth_max: FiniteFloat
    shift: FiniteFloat


class SheetFeature(TypedDict):
    """A feature in the sheet of an episode."""

    name: Text
    dtype: Text
    shape: list[Size]
    names: list[Text] | None
    codec: Text | None
    depth: DepthInfo | None


class Table(TypedDict):
    """Features of each frame."""

    fps: Annotated[int, Field(ge=1, le=10_000)]
    features: Annotated[list[SheetFeature], Field(max_length=2000)]


class SheetSegment(TypedDict):
    """A span of frames with one sub-task."""

    label: Text
    start: Count
    stop: Count


class Outcome(TypedDict):
    """The outcome of an episode."""

    index: Count
    task: Text
    success: bool
    failure_reason: Text | None
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    robot: Text
    attempts: Count
    segments: list[SheetSegment]
    columns: dict[Text, Scalar]


class Histogram(TypedDict):
    """Counts of pixel values."""

    channels: Annotated[int, Field(ge=1, le=4)]
    frames: Count
    counts: str


class Sheet(TypedDict):
    """``episode.json``."""

    folder_version: Literal[1]
    length: Annotated[int, Field(ge=1, le=2**31)]
    table: Table
    outcome: Outcome
    files: dict[FileName, FileEntry]
    statistics: Statistics
    histograms: dict[str, Histogram]
    video_headers: dict[str, str]


class CertificateFile(TypedDict):
    """``certificate.json``."""

    certificate_version: Literal[1]
    versions: dict[str, Text]
    platform: dict[str, Text]
    hashes: dict[str, Hash]


class CheckEntry(TypedDict):
    """A success term."""

    name: Text
    arguments: PlainObject
    share: NotRequired[float]
    seconds: NotRequired[float]


class Span(TypedDict):
    """A skill's part of a timeline."""

    robot: Text
    arm: Text
    skill: Text
    objects: list[Text]
    start: Frame
    end: Frame
    success: bool
    instruction: NotRequired[Text]
    checks: list[CheckEntry]
    kind: NotRequired[Literal["", "mistake", "recovery", "correction"]]


class Timeline(TypedDict):
    """``timeline.json`` of a simulated episode."""

    model_hash: Text
    spans: list[Span]
    goal: NotRequired[list[CheckEntry]]
    left_out: NotRequired[list[Annotated[list[Count], Field(min_length=2, max_length=2)]]]
    failure: PlainObject | None


EpisodeRow = TypedDict(
    "EpisodeRow",
    {
        "episode_index": Count,
        "length": Annotated[int, Field(ge=1, le=2**31)],
        "tasks": list[Words],
        "dataset_from_index": Count,
        "dataset_to_index": Count,
        "data/chunk_index": Count,
        "data/file_index": Count,
    },
)
"""Columns that every reader of an episode table needs."""


class VideoRow(TypedDict):
    """Location of a camera's stream of an episode, by the last part of the column names."""

    chunk_index: Count
    file_index: Count
    from_timestamp: Time
