"""The append-only journal of a work unit: one line per finished attempt."""

import json
import os
from pathlib import Path

from handloom.dataset.durable import file_errors
from handloom.dataset.reading import JSON_LIMIT, parse_json, read_bytes
from handloom.engine.receipt import Receipt, ReceiptLine


class Journal:
    """A file of receipts. A line that a kill cut short is not a receipt and is overwritten by the next one."""

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
        """Add a receipt and wait until it is on the disk."""
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
