"""Reports of workers about every attempt: receipts, and the append-only journals that contain them."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Required

from pydantic import Field
from typing_extensions import TypedDict

from handloom.dataset.files.durable import file_errors
from handloom.dataset.files.reading import JSON_LIMIT, parse_json, read_bytes
from handloom.dataset.files.shapes import Count, Text, Time

LONGEST_DETAIL = 10_000
"""Maximum characters of an error message that are kept."""


class ReceiptLine(TypedDict, total=False):
    """The required shape of a journal line."""

    episode: Required[Annotated[Count, Field(lt=2**31)]]
    success: Required[bool]
    stage: Text
    reason: Text
    detail: Text
    frames: Annotated[Count, Field(lt=2**31)]
    fps: Annotated[int, Field(ge=1, le=10_000)]
    seconds: dict[str, Time]
    cpu_seconds: Time
    skills: dict[str, Time]
    disturbed: list[Text]
    take: Annotated[Count, Field(lt=2**31)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """One attempt's line in a journal."""

    episode: int
    """Attempt index."""
    success: bool
    stage: str = ""
    """Funnel stage in which it failed; empty on success."""
    reason: str = ""
    """Typed reason of the failure."""
    detail: str = ""
    frames: int = 0
    fps: int = 30
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time by stage [s]."""
    cpu_seconds: float = 0.0
    """CPU time of all stages together [s]; less than their wall time on a shared machine."""
    skills: Mapping[str, float] = field(default_factory=dict)
    """Simulated time by skill [s]."""
    disturbed: tuple[str, ...] = ()
    """Objects that were moved or fell although the task does not involve them."""
    take: int = 0
    """Number of the person's take of this scene, from 1; 0 for attempts not driven by a person."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values that can be read back, even if an error message contains invalid characters."""
        detail = self.detail[:LONGEST_DETAIL].encode("utf-8", "replace").decode()
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        record |= {"detail": detail, "seconds": dict(self.seconds), "skills": dict(self.skills)}
        record["disturbed"] = list(self.disturbed)
        return {key: value for key, value in record.items() if value or key not in ("take", "disturbed")}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Receipt":
        """Read what ``to_json`` wrote; keys of a newer version are left out."""
        known = cls.__dataclass_fields__
        given = {key: item for key, item in value.items() if key in known}
        return cls(**{**given, "disturbed": tuple(given.get("disturbed", ()))})


class Journal:
    """A file of receipts. A line truncated by a kill is not a receipt and is overwritten by the next one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[int, Receipt]:
        """Return the receipts by attempt index."""
        if not self.path.is_file():
            return {}
        whole, _, _ = read_bytes(self.path, limit=JSON_LIMIT).rpartition(b"\n")
        lines = [line for line in whole.split(b"\n") if line.strip()]
        receipts = [Receipt.from_json(parse_json(line, ReceiptLine, source=str(self.path))) for line in lines]
        return {receipt.episode: receipt for receipt in receipts}

    def append(self, receipt: Receipt) -> None:
        """Add a receipt and wait until it is on disk."""
        with file_errors("write", self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab+") as file:
                file.seek(0)
                file.truncate(_whole_length(file.read()))
                file.seek(0, os.SEEK_END)
                file.write(json.dumps(receipt.to_json(), separators=(",", ":")).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())


def _whole_length(content: bytes) -> int:
    """Return the length of the part that ends with a newline."""
    return content.rfind(b"\n") + 1
