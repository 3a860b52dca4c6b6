"""Wrongs planted in a dataset by somebody who writes every checksum anew."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from handloom.dataset import DatasetReader
from handloom.dataset.episodes.certificate import array_hash
from handloom.dataset.files.durable import json_bytes, sha256_of, write_json
from handloom.dataset.files.parquet_files import write_plain
from handloom.dataset.lerobot.file_list import FILE_LIST, list_files
from handloom.dataset.lerobot.tables import LANGUAGE_COLUMNS
from handloom.dataset.lerobot.tables import _repeated as repeated_list
from handloom.engine import InlineExecutor, verify_dataset
from handloom.engine.verification.verify import dataset_faults


def copied(folder: Path, target: Path) -> Path:
    """Return a copy without hard links, so that the original stays."""
    return Path(shutil.copytree(folder, target, copy_function=shutil.copyfile))


def sign(dataset: Path) -> None:
    """Write all checksums anew: of archives, sheets and files."""
    for folder in sorted((dataset / "extras").iterdir()):
        sheet, certificate = (json.loads((folder / name).read_text()) for name in ("episode.json", "certificate.json"))
        for part in ("instance", "timeline"):
            value = json.loads((folder / f"{part}.json").read_text())
            (folder / "scratch").write_bytes(json_bytes(value))
            certificate["hashes"][part] = sha256_of(folder / "scratch")
            (folder / "scratch").unlink()
        (folder / "certificate.json").write_bytes(json_bytes(certificate, indent=1))
        for name in sheet["files"]:
            if (folder / name).is_file():
                file = folder / name
                sheet["files"][name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
        (folder / "episode.json").write_bytes(json_bytes(sheet))
    write_json(dataset / FILE_LIST, list_files(dataset), indent=4)


def edit_json(file: Path, change: Callable[[Any], Any]) -> None:
    value = json.loads(file.read_text())
    change(value)
    file.write_bytes(json_bytes(value))


def sign_array(folder: Path, part: str, array: Any) -> None:
    """Write the hash of an array of an archive anew."""
    edit_json(folder / "certificate.json", lambda value: value["hashes"].update({part: array_hash(array)}))


def wrong(value: Any, step: float = 0.001) -> Any:
    """Return something of the same kind that is not it."""
    if isinstance(value, list):
        return [*value[:-1], wrong(value[-1], step)]
    if isinstance(value, dict):
        name = next(iter(value))
        return {**value, name: wrong(value[name], step)}
    if isinstance(value, str | None):
        return f"{value}x"
    return not value if isinstance(value, bool) else value + (1 if isinstance(value, int) else step)


def plant(file: Path, columns: Sequence[str], row: int, *, step: float = 0.001) -> None:
    """Change one value of each of some columns of a Parquet file and leave everything else, its row groups too."""
    with pq.ParquetFile(file) as parquet:
        groups = [parquet.read_row_group(k) for k in range(parquet.num_row_groups)]
    schema, k = groups[0].schema, 0
    while row >= groups[k].num_rows:
        row, k = row - groups[k].num_rows, k + 1
    for column in columns:
        honest, field = groups[k].column(column).combine_chunks(), schema.field(column)
        if column in LANGUAGE_COLUMNS:
            said = {"role": ["user"], "content": ["x"], "style": ["x"], "timestamp": [0.0]}
            forged = repeated_list(LANGUAGE_COLUMNS[column], said, 1, 1)
        else:
            forged = pa.array([wrong(honest[row].as_py(), step)], field.type)
        values = pa.concat_arrays([honest.slice(0, row), forged, honest.slice(row + 1)])
        groups[k] = groups[k].set_column(schema.get_field_index(column), field, values)
    write_plain(file, schema, groups)


def said(dataset: Path) -> str:
    """Return everything that verification finds; empty for a sound dataset."""
    DatasetReader(dataset)
    found = [f"{v.episode} {v.verdict}: {v.detail}" for v in verify_dataset(dataset, InlineExecutor()) if not v.good]
    return "\n".join([*found, *dataset_faults(dataset)])
