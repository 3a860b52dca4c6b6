"""The page of labels lists every column and field that the files have, with its type."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.columns import rendered_frames
from handloom.labels import KINDS, EpisodeLabeller
from handloom.tasks import load_task

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "labels.md"
ROW = re.compile(
    r"^\| (\w+) \| `([\w.]+)` \|(?: `(\w+)`)? \| ([\w ()]+?) \| (\w*) ?\| ([^|]*?) ?\| ([^|]+?) \|$", re.MULTILINE
)


def documented() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Return type, frame, unit and meaning by kind, column and field."""
    return {match[:3]: match[3:] for match in ROW.findall(PAGE.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("labels")
    sizes = ("cameras.0.size=[32, 24]", "cameras.1.size=[32, 24]")
    scene, record = simulate(load_task("fr3_pick_cube", overrides=sizes), 0, 0, Stopwatch())
    labeller = EpisodeLabeller(scene, record, ("all",), folder)
    for number, images in enumerate(rendered_frames(scene, record, preset="fast", kinds=labeller.images)):
        labeller.add(number, images)
    labeller.finish()
    return folder


def type_name(kind: pa.DataType) -> str:
    if pa.types.is_fixed_size_list(kind):
        return f"{type_name(kind.value_type)} ({kind.list_size})"
    if pa.types.is_list(kind):
        return f"list of {type_name(kind.value_type)}"
    return {"float": "float32", "double": "float64"}.get(str(kind), str(kind))


def test_every_column_and_field_of_the_files_is_on_the_page_with_its_type(folder: Path):
    told = documented()
    assert {kind for kind, _, _ in told} == set(KINDS)
    found = set()
    for kind, row in KINDS.items():
        for column in row.columns:
            stored = pq.read_schema(folder / row.file).field(column).type
            structs = pa.types.is_list(stored) and pa.types.is_struct(stored.value_type)
            fields = {field.name: field.type for field in stored.value_type} if structs else {"": stored}
            for name, type_ in fields.items():
                found.add((kind, column, name))
                assert told[kind, column, name][0] == type_name(type_), (kind, column, name)
    assert {row for row in told if row[0] != "words"} == found


def test_the_page_names_what_words_hold_and_nothing_else(folder: Path):
    words = (folder / "words.json").read_text(encoding="utf-8")
    told = {field for kind, _, field in documented() if kind == "words"}
    assert told == set(re.findall(r'^ "(\w+)":', words, re.MULTILINE)) - {"version"}


def test_lengths_and_places_have_a_unit_and_a_frame():
    for (_, column, field), (type_, frame, unit, meaning) in documented().items():
        assert meaning, (column, field)
        if "(3)" in type_ or "(7)" in type_:
            assert frame, (column, field)
            assert unit, (column, field)
