"""Merge several datasets under URLs, file by file: no machine holds all of them.

Videos and packs of archives are copied by the store itself without passing through this machine. Data files are
rewritten one at a time, since frames and episodes are renumbered; tables and totals are joined. The result contains
the episodes of the datasets in the given order, and ``verify`` can recompute all of it.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from handloom.dataset.episodes.archive import LABEL_FILES
from handloom.dataset.episodes.archive_pack import ARCHIVES, LABELS, first_of, pack_name, write_pack
from handloom.dataset.episodes.certificate import package_versions
from handloom.dataset.episodes.episode_files import EXTRAS
from handloom.dataset.files.durable import json_bytes, sha256_of
from handloom.dataset.files.parquet_files import names_table, open_parquet, read_table, write_plain
from handloom.dataset.files.replacing import RECEIPT
from handloom.dataset.files.storage import Storage
from handloom.dataset.lerobot import tables
from handloom.dataset.lerobot.dataset_reader import DatasetReader
from handloom.dataset.lerobot.feature import BOOKKEEPING
from handloom.dataset.lerobot.file_list import FILE_LIST, list_bytes, read_list
from handloom.dataset.lerobot.merge_plan import SEVERAL, chained
from handloom.dataset.lerobot.planned_episodes import FilePlace
from handloom.dataset.lerobot.statistics import ImageHistogram
from handloom.dataset.lerobot.total_statistics import HISTOGRAMS, Totals
from handloom.dataset.merging.column_totals import TOTALS, ColumnTotals
from handloom.errors import FileError, InputError

RENUMBERED = ("episode_index", "index", "task_index", tables.SUBTASK_INDEX)
"""Columns of data files whose values depend on preceding episodes."""


class Shard:
    """A dataset under a URL whose small files are downloaded.

    Args:
        storage: Its location.
        folder: Local folder for its small files.
    """

    def __init__(self, storage: Storage, folder: Path) -> None:
        self.storage, self.folder = storage, folder
        if not storage.holds(FILE_LIST):
            raise FileError(f"{storage.url} has no {FILE_LIST}: it is unfinished, or not a dataset made with Handloom")
        storage.download(FILE_LIST, folder / FILE_LIST)
        self.listing = read_list(folder)
        for name in ("meta/info.json", "meta/tasks.parquet", "meta/subtasks.parquet", RECEIPT):
            if name in self.listing:
                self.fetch(name)
        self.reader = DatasetReader(folder)
        self.episodes, self.frames = self.reader.info["total_episodes"], self.reader.info["total_frames"]
        if TOTALS not in self.listing:
            raise FileError(f"{storage.url} was written by an earlier version; merge it again there first")

    def fetch(self, name: str) -> Path:
        """Download a file, and check that it is unchanged."""
        file = self.storage.download(name, self.folder / name)
        written = self.listing[name]
        if file.stat().st_size != written["bytes"] or sha256_of(file) != written["sha256"]:
            raise FileError(f"{self.storage.url}/{name} has changed since it was written; make that dataset again")
        return file

    @contextmanager
    def fetched(self, *names: str) -> Iterator[list[Path]]:
        """Keep local copies of some files while they are needed."""
        files = [self.fetch(name) for name in names]
        try:
            yield files
        finally:
            for file in files:
                file.unlink()

    def schema(self) -> pa.Schema:
        """Return the schema of its episode table."""
        with self.fetched(self.files("meta/episodes/")[0]) as (file,), open_parquet(file) as stored:
            return stored.schema_arrow

    def files(self, start: str, ending: str = "") -> list[str]:
        """Return the names of its files with this prefix and suffix, in order."""
        return sorted(name for name in self.listing if name.startswith(start) and name.endswith(ending))


def merge_shards(sources: Sequence[str], out: str) -> None:
    """Merge several datasets into a new one, in the given order. Called again after a kill, it continues.

    Args:
        sources: URLs of the datasets.
        out: URL of the new one. Files of an interrupted call are kept.

    Raises:
        FileError: A dataset is unfinished or damaged, or they have different features.
        InputError: Another dataset is at ``out``.
    """
    target = Storage(out)
    with tempfile.TemporaryDirectory(prefix="merge-") as scratch:
        shards = [Shard(Storage(url), Path(scratch) / f"{number:05d}") for number, url in enumerate(sources)]
        if not shards:
            raise InputError("there is no dataset to merge; give at least one")
        joint = _Joint(shards, target, Path(scratch) / "out")
        if target.holds(FILE_LIST):
            if not target.holds(RECEIPT) or json.loads(target.read(RECEIPT))["fingerprint"] != joint.fingerprint:
                raise InputError(f"{out} contains another dataset; choose another URL")
            return
        joint.write()


class _Joint:
    """The new dataset being built."""

    def __init__(self, shards: Sequence[Shard], target: Storage, folder: Path) -> None:
        self.shards, self.target, self.folder = shards, target, folder
        first = shards[0].reader
        for shard in shards[1:]:
            if difference := first.table.difference(shard.reader.table):
                raise FileError(f"{shards[0].storage.url} and {shard.storage.url} cannot share a dataset: {difference}")
            if list(first.info["features"]) != list(shard.reader.info["features"]):
                raise FileError(f"{shards[0].storage.url} and {shard.storage.url} have different frame columns")
        receipts = [json.loads((shard.folder / RECEIPT).read_bytes()) for shard in shards]
        prints = [receipt["fingerprint"] for receipt in receipts]
        if len(set(prints)) < len(prints):
            twice = next(n for n, one in enumerate(prints) if one in prints[:n])
            raise InputError(f"{shards[twice].storage.url} contains the same episodes as an earlier one; list it once")
        self.fingerprint = chained("", prints)
        self.tasks = tuple(dict.fromkeys(task for shard in shards for task in shard.reader.tasks))
        self.subtasks = tuple(dict.fromkeys(label for shard in shards for label in shard.reader.subtasks))
        self.chunks_size = int(first.info["chunks_size"])
        self.listing: dict[str, dict[str, Any]] = {}
        self._there = target.names()
        self._counts: dict[str, int] = {}
        """Files of every kind so far."""

    def write(self) -> None:
        """Write every file; the list of all files comes last."""
        counted = {name: dtype for name, dtype in self._dtypes().items() if name in RENUMBERED}
        numbers = ColumnTotals(counted, dict.fromkeys(counted, 1))
        schema = pa.unify_schemas([shard.schema() for shard in self.shards], promote_options="permissive")
        waiting, episode, frame = schema.empty_table(), 0, 0
        for shard in self.shards:
            table = self._episode_rows(shard, episode, frame)
            self._data(shard, table, episode, frame, numbers)
            for camera in (feature.name for feature in shard.reader.table.videos):
                for name in shard.files(f"videos/{camera}/"):
                    self._copy(shard, name, f"videos/{camera}/{self._next(f'videos/{camera}').path('mp4')}")
            self._extras(shard, episode)
            waiting = pa.concat_tables([waiting, _fitted(table, schema)])
            waiting = self._episode_table(waiting, last=False)
            episode, frame = episode + shard.episodes, frame + shard.frames
        self._episode_table(waiting, last=True)
        self._meta(numbers, episode, frame)
        order = sorted(self.listing, key=lambda name: name.split("/"))
        self.target.write(FILE_LIST, list_bytes({name: self.listing[name] for name in order}))

    def _dtypes(self) -> dict[str, str]:
        columns = {feature.name: feature.dtype for feature in self.shards[0].reader.table.columns}
        return columns | BOOKKEEPING | ({tables.SUBTASK_INDEX: "int64"} if self.subtasks else {})

    def _next(self, kind: str) -> FilePlace:
        """Return the place of the next file of a kind."""
        number = self._counts.get(kind, 0)
        self._counts[kind] = number + 1
        return FilePlace(chunk=number // self.chunks_size, file=number % self.chunks_size)

    def _copy(self, shard: Shard, name: str, target: str) -> None:
        """Let the store copy a file; its hash is unchanged."""
        written = shard.listing[name]
        if self._there.get(target) != written["bytes"]:
            shard.storage.copy_to(name, self.target, target)
        self.listing[target] = dict(written)

    def _put(self, name: str, file: Path) -> None:
        """Upload a file made locally."""
        self.target.upload(file, name)
        self.listing[name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}

    def _put_bytes(self, name: str, content: bytes) -> None:
        self.target.write(name, content)
        self.listing[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def _episode_rows(self, shard: Shard, episode: int, frame: int) -> pa.Table:
        """Return the rows of a shard's episodes, renumbered."""
        with shard.fetched(*shard.files("meta/episodes/")) as files:
            parts = [read_table(file) for file in files]
        table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
        kinds = ["data", *(f"videos/{feature.name}" for feature in shard.reader.table.videos)]
        changed: dict[str, Any] = {}
        for name in ("episode_index", "dataset_from_index", "dataset_to_index"):
            changed[name] = _numbers(table, name) + (episode if name == "episode_index" else frame)
        for kind in kinds:
            own = self.chunks_size
            number = _numbers(table, f"{kind}/chunk_index") * own + _numbers(table, f"{kind}/file_index")
            number += self._counts.get(kind, 0)
            changed[f"{kind}/chunk_index"], changed[f"{kind}/file_index"] = number // own, number % own
        place = changed["episode_index"] // tables.ROWS_PER_FILE
        changed["meta/episodes/chunk_index"], changed["meta/episodes/file_index"] = divmod(place, self.chunks_size)
        task_of = {task: number for number, task in enumerate(self.tasks)}
        told = [task_of[words[0]] for words in table["tasks"].to_pylist()]
        facts = zip(
            changed["episode_index"], changed["dataset_from_index"], _numbers(table, "length"), told, strict=True
        )
        found = [tables.renumbered_statistics(*map(int, row)) for row in facts]
        for feature in ("episode_index", "index", "task_index"):
            for name in found[0][feature]:
                changed[f"stats/{feature}/{name}"] = [row[feature][name] for row in found]
        for name, values in changed.items():
            at = table.schema.get_field_index(name)
            field = table.schema.field(at)
            table = table.set_column(at, field, pa.array(values, field.type))
        return table

    def _data(self, shard: Shard, rows: pa.Table, episode: int, frame: int, numbers: ColumnTotals) -> None:
        """Write the data files of a shard, renumbered, with one row group per episode."""
        tasks = [self.tasks.index(task) for task in shard.reader.tasks]
        labels = {label: number for number, label in enumerate(self.subtasks)}
        subtasks = [labels[label] for label in shard.reader.subtasks]
        statistics = iter(rows.select([n for n in rows.column_names if n.startswith("stats/")]).to_pylist())
        for name in shard.files("data/"):
            place = self._next("data").path("parquet")
            file = self.folder / "data.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            with shard.fetched(name) as (old,), open_parquet(old) as stored:
                changed = _renumbered(stored, episode, frame, tasks, subtasks)
                write_plain(file, stored.schema_arrow, self._tallied(changed, statistics, numbers))
            self._put(f"data/{place}", file)

    def _tallied(
        self, groups: Iterator[pa.Table], statistics: Iterator[dict[str, Any]], numbers: ColumnTotals
    ) -> Iterator[pa.Table]:
        """Pass on row groups, one per episode, after adding the renumbered columns to the totals."""
        for group in groups:
            row, values = next(statistics), tables.counted_values(numbers.dtypes, group)
            names = ("min", "max", "mean", "std", "count")
            told = {
                column: {name: row[f"stats/{column}/{name}"] for name in names}
                for column in numbers.dtypes
                if column != tables.SUBTASK_INDEX
            }
            if tables.SUBTASK_INDEX in numbers.dtypes:
                told[tables.SUBTASK_INDEX] = tables.column_statistics(values[tables.SUBTASK_INDEX]).as_lists()
            numbers.add({name: told[name] for name in numbers.dtypes})
            numbers.tally(values)
            yield group

    def _extras(self, shard: Shard, episode: int) -> None:
        """Copy the packs of a shard; archives in folders become a pack."""
        for kind in (ARCHIVES, LABELS):
            packs = [name for name in shard.files(f"{EXTRAS}/chunk-", ".zip") if f"/{kind}-" in name]
            for name in packs:
                self._copy(shard, name, f"{EXTRAS}/{pack_name(kind, episode + first_of(Path(name)))}")
        loose: dict[int, dict[str, list[tuple[str, bytes]]]] = {}
        for name in shard.files(f"{EXTRAS}/episode_"):
            index, kind = int(Path(name).parent.name.rpartition("_")[2]), Path(name).name
            with shard.fetched(name) as (file,):
                content = file.read_bytes()
            which = LABELS if kind in LABEL_FILES else ARCHIVES
            loose.setdefault(index, {ARCHIVES: [], LABELS: []})[which].append((kind, content))
        for first, members in _rows_of(sorted(loose)):
            for kind in (ARCHIVES, LABELS):
                episodes = [loose[index][kind] for index in members]
                if any(episodes):
                    file = self.folder / "pack.zip"
                    write_pack(file, episodes)
                    self._put(f"{EXTRAS}/{pack_name(kind, episode + first)}", file)

    def _meta(self, numbers: ColumnTotals, episodes: int, frames: int) -> None:
        """Write the tables of names, the totals and statistics, info.json and the receipt."""
        for name, words, column in (
            ("meta/tasks.parquet", self.tasks, "task_index"),
            ("meta/subtasks.parquet", self.subtasks, tables.SUBTASK_INDEX),
        ):
            if words:
                file, table = self.folder / "names.parquet", names_table(words, column)
                write_plain(file, table.schema, [table])
                self._put(name, file)
        totals = self._totals(numbers)
        totals.columns.write(self.folder / "totals.parquet")
        self._put(TOTALS, self.folder / "totals.parquet")
        if totals.cameras:
            sums = {name: total.to_json() for name, total in totals.cameras.items()}
            self._put_bytes(HISTOGRAMS, json_bytes(sums, indent=4))
        self._put_bytes("meta/stats.json", json_bytes(totals.statistics(self.shards[0].reader.table), indent=4))
        robots = {str(shard.reader.info.get("robot_type") or "") for shard in self.shards}
        counts = {"total_episodes": episodes, "total_frames": frames, "total_tasks": len(self.tasks)}
        counts |= {"robot_type": robots.pop() if len(robots) == 1 else SEVERAL, "splits": {"train": f"0:{episodes}"}}
        self._put_bytes("meta/info.json", json_bytes({**self.shards[0].reader.info, **counts}, indent=4))
        versions = {name: package_versions().get(name) for name in ("handloom", "pyarrow", "av")}
        parts = [shard.episodes for shard in self.shards]
        receipt = {"fingerprint": self.fingerprint, "versions": versions, "parts": parts}
        self._put_bytes(RECEIPT, json_bytes(receipt, indent=1))

    def _totals(self, numbers: ColumnTotals) -> Totals:
        first = self._totals_of(self.shards[0])
        for other in map(self._totals_of, self.shards[1:]):
            first.columns.merge(other.columns)
            for name, total in first.cameras.items():
                total.merge(other.cameras[name])
        parts = {name: numbers if name in RENUMBERED else first.columns for name in self._dtypes()}
        cameras: dict[str, ImageHistogram] = first.cameras
        return Totals(columns=ColumnTotals.of_parts(parts), cameras=cameras)

    @staticmethod
    def _totals_of(shard: Shard) -> Totals:
        names = [TOTALS, *([HISTOGRAMS] if shard.reader.table.videos else [])]
        with shard.fetched(*names) as (columns, *cameras):
            return Totals.read(columns, cameras[0] if cameras else None)

    def _episode_table(self, rows: pa.Table, *, last: bool) -> pa.Table:
        """Write as many rows as fill whole files, or all of them; return the rest."""
        full, size = tables.ROWS_PER_FILE, tables.ROWS_PER_GROUP
        while rows.num_rows >= full or (last and rows.num_rows):
            part, rows = rows.slice(0, full).combine_chunks(), rows.slice(full)
            file = self.folder / "episodes.parquet"
            write_plain(file, rows.schema, [part.slice(begin, size) for begin in range(0, part.num_rows, size)])
            self._put(f"meta/episodes/{self._next('meta/episodes').path('parquet')}", file)
        return rows


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns of a schema; missing columns are empty."""
    arrays = [
        table[field.name].cast(field.type) if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _numbers(table: pa.Table, name: str) -> Any:
    return np.asarray(table[name].to_numpy(), np.int64)


def _renumbered(
    stored: Any, episode: int, frame: int, tasks: Sequence[int], subtasks: Sequence[int]
) -> Iterator[pa.Table]:
    """Yield the row groups of a data file with episodes, frames, tasks and sub-tasks renumbered."""
    moved = {"episode_index": episode, "index": frame}
    named = {"task_index": np.array(tasks), tables.SUBTASK_INDEX: np.array(subtasks)}
    for number in range(stored.num_row_groups):
        group = stored.read_row_group(number, use_threads=False)
        for name in RENUMBERED:
            at = group.schema.get_field_index(name)
            if at < 0:
                continue
            old = group.column(at).to_numpy()
            new = old + moved[name] if name in moved else named[name][old]
            group = group.set_column(at, group.schema.field(at), pa.array(new, pa.int64()))
        yield group


def _rows_of(numbers: Sequence[int], most: int = 100) -> Iterator[tuple[int, list[int]]]:
    """Yield runs of consecutive numbers of limited length, with the first number of each."""
    row: list[int] = []
    for number in numbers:
        if row and (number != row[-1] + 1 or len(row) == most):
            yield row[0], row
            row = []
        row.append(number)
    if row:
        yield row[0], row


def upload_dataset(dataset: Path, url: str) -> None:
    """Upload a dataset to a URL; its list of files comes last, so that an incomplete upload is recognizable."""
    storage, listing = Storage(url), read_list(dataset)
    there = storage.names()
    for name, written in listing.items():
        if there.get(name) != written["bytes"]:
            storage.upload(dataset / name, name)
    storage.upload(dataset / FILE_LIST, FILE_LIST)
