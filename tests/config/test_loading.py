"""Mistakes in YAML are reported at their file and line; good files become frozen configs."""

import os
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from handloom.config import Config, UnusedKey, load_config, read_document, unused_keys
from handloom.errors import ConfigError


class Camera(Config):
    name: str
    width: int = 224


class Task(Config):
    title: str
    cameras: tuple[Camera, ...] = ()
    sizes: dict[str, float] = Field(default_factory=dict)
    usd: Annotated[str | None, UnusedKey("only means something to USD")] = None


def write(folder: Path, text: str, name: str = "task.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def error_of(file: Path, **options) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(file, Task, **options)
    return str(caught.value)


def test_a_good_file_becomes_a_frozen_config(tmp_path):
    task = load_config(write(tmp_path, "title: t\ncameras: [{name: head}]\nsizes: {a: 1}\n"), Task)
    assert task.cameras[0].width == 224
    assert task.sizes == {"a": 1.0}
    with pytest.raises(Exception, match="frozen"):
        task.title = "other"


def test_an_unknown_key_names_the_nearest_known_one_and_its_line(tmp_path):
    file = write(tmp_path, "title: t\ncameras:\n  - name: head\n    widht: 3\n")
    assert error_of(file) == (f"{file}:4: cameras.0.widht: unknown key, did you mean 'width'? known keys: name, width")


def test_a_wrong_type_says_what_was_given(tmp_path):
    file = write(tmp_path, "title: t\ncameras:\n  - name: head\n    width: many\n")
    message = error_of(file)
    assert message.startswith(f"{file}:4: cameras.0.width: ")
    assert "'many'" in message


def test_an_unknown_key_does_not_hide_other_mistakes(tmp_path):
    file = write(tmp_path, "titel: t\nsize: {}\ncameras:\n  - {name: head, widht: 3, width: x}\n")
    lines = error_of(file).splitlines()
    assert [line.removeprefix(f"{file}:").partition(": ")[2].partition(":")[0] for line in lines] == [
        "titel",
        "size",
        "title",
        "cameras.0.widht",
        "cameras.0.width",
    ]


def test_every_mistake_gets_its_own_line(tmp_path):
    message = error_of(write(tmp_path, "cameras:\n  - width: x\n"))
    assert message.count("\n") == 2
    assert "title: this key is required and missing" in message
    assert "cameras.0.name: this key is required and missing" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: [1\n", "not valid YAML"),
        ("title: t\ntitle: u\n", "given twice"),
        ("- a\n", "expected keys and values"),
        ("", "found nothing"),
        ("title: t\nsizes: {a: .nan}\n", "sizes.a"),
        ("title: t\nsizes: {a: .inf}\n", "sizes.a"),
        ("? [a, b]\n: c\n", "plain word"),
        ("title: \x00\n", "not valid YAML"),
        ("title: !!python/object:os.system x\n", "cannot read the value"),
        ("title: ${nowhere}\n", "nowhere"),
        ("title: ${oc.env:HOME}\n", "1: title: a reference is written ${a.b.0}"),
        ("title: ${a.${b}}\n", "1: title: a reference is written ${a.b.0}"),
        ("title: ${sizes}\nsizes: ${title}\n", ""),
        ("base: 3\n", "must be the name of a YAML file"),
        ("base: gone.yaml\n", "was not found; searched"),
        ("title: t\n" + "".join(f"{'  ' * i}a{i}:\n" for i in range(80)), "nested more than 60 deep"),
        ("title: " + "[" * 200_000, "nested more than 60 deep"),
        ("title: &a [*a, *a]\n", "nested more than 60 deep"),
        ("title: *a\n", "*a has no anchor"),
        ("title: t\n---\ntitle: u\n", "a second document starts here"),
        ("title: " + "9" * 5000 + "\n", "cannot read the value"),
        ("sizes: &a {<<: *a, b: 1}\n", "merges a mapping into itself"),
        ("sizes: {<<: 3}\n", "'<<' takes a mapping"),
        ("sizes: {<<: {a: 1}, b: 1, b: 2}\n", "sizes.b: this key is given twice"),
    ],
)
def test_malformed_files_give_one_clear_error(tmp_path, text, expected):
    file = write(tmp_path, text)
    message = error_of(file)
    assert expected in message
    assert message.startswith(str(file))


def test_merge_keys_follow_the_rule_of_yaml(tmp_path):
    """Own keys win over merged ones wherever they stand, earlier mappings win over later ones."""
    text = """
title: t
cameras: &all
  - &head {name: head, width: 1}
  - {<<: *head, name: hand}
  - {name: side, <<: *head, width: 3}
sizes: {<<: [{a: 1, b: 1}, {<<: {c: 3, a: 9}, b: 2, d: 4}], d: 5}
"""
    task = load_config(write(tmp_path, text), Task)
    assert [(c.name, c.width) for c in task.cameras] == [("head", 1), ("hand", 1), ("side", 3)]
    assert task.sizes == {"a": 1.0, "b": 1.0, "c": 3.0, "d": 5.0}


def test_a_mistake_in_a_merged_mapping_is_reported_where_it_was_written(tmp_path):
    file = write(tmp_path, "title: t\ncameras:\n  - &head {name: head,\n     width: x}\n  - {<<: *head, name: hand}\n")
    assert f"{file}:4: cameras.1.width" in error_of(file)


def test_pipes_and_devices_are_not_read(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    assert "a device or a pipe" in error_of(pipe)
    assert "cannot be read" in error_of(Path("a\0b.yaml"))


def test_a_long_chain_of_base_files_is_refused(tmp_path):
    for i in range(40):
        write(tmp_path, f"base: {i + 1}.yaml\n", f"{i}.yaml")
    write(tmp_path, "title: t\n", "40.yaml")
    assert "more than 20 base files" in error_of(tmp_path / "0.yaml")


def test_missing_files_folders_and_symlink_loops_are_named(tmp_path):
    assert "cannot be read" in error_of(tmp_path / "none.yaml")
    assert "is a folder" in error_of(tmp_path)
    loop = tmp_path / "loop.yaml"
    loop.symlink_to(loop)
    assert "loop.yaml" in error_of(loop)


def test_huge_files_and_alias_bombs_are_refused(tmp_path):
    assert "MB" in error_of(write(tmp_path, "title: " + "x" * 10_000_000))
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 8)
    )
    assert "aliases" in error_of(write(tmp_path, bomb))


def test_references_are_resolved_over_the_whole_file(tmp_path):
    task = load_config(write(tmp_path, "title: ${cameras.0.name}!\ncameras: [{name: head}]\n"), Task)
    assert task.title == "head!"


def test_overrides_replace_values_and_must_name_keys_that_exist(tmp_path):
    file = write(tmp_path, "title: t\ncameras: [{name: head}]\n")
    assert load_config(file, Task, overrides=["cameras.0.width=64", "title=u"]).cameras[0].width == 64
    assert error_of(file, overrides=["camera.0.width=64"]) == (
        "--set camera.0.width=64: top level has no key 'camera'; did you mean 'cameras'? known: cameras, title"
    )
    assert "did you mean 'width'" in error_of(file, overrides=["cameras.0.with=64"])
    assert error_of(file, overrides=["cameras.0.with=64"]).startswith("--set cameras.0.with=64: ")
    assert "index from 0 to 0" in error_of(file, overrides=["cameras.3.width=64"])
    assert "write it as" in error_of(file, overrides=["title"])


def test_base_files_merge_mappings_and_named_lists(tmp_path):
    write(tmp_path, "title: t\ncameras: [{name: head, width: 1}, {name: hand}]\nsizes: {a: 1, b: 2}\n", "base.yaml")
    file = write(tmp_path, "base: base.yaml\ncameras: [{name: head, width: 9}, {name: side}]\nsizes: {b: 3}\n")
    task = load_config(file, Task)
    assert [(c.name, c.width) for c in task.cameras] == [("head", 9), ("hand", 224), ("side", 224)]
    assert task.sizes == {"a": 1.0, "b": 3.0}


def test_a_named_entry_of_a_base_can_be_dropped(tmp_path):
    (tmp_path / "base.yaml").write_text("parts:\n  - {name: a, x: 1}\n  - {name: b, x: 2}\n  - {name: c, x: 3}\n")
    (tmp_path / "child.yaml").write_text("base: base.yaml\nparts:\n  - {name: b, drop: true}\n  - {name: c, x: 4}\n")
    document = read_document(tmp_path / "child.yaml")
    assert document.values == {"parts": [{"name": "a", "x": 1}, {"name": "c", "x": 4}]}
    assert str(document.mark(("parts", 1, "x"))).endswith("child.yaml:4")


def test_a_mistake_in_a_base_file_is_reported_in_that_file(tmp_path):
    base = write(tmp_path, "title: t\n\nsizes: {a: x}\n", "base.yaml")
    assert error_of(write(tmp_path, "base: base.yaml\ntitle: u\n")).startswith(f"{base}:3: sizes.a")


def test_base_files_in_a_circle_are_refused(tmp_path):
    write(tmp_path, "base: b.yaml\n", "a.yaml")
    write(tmp_path, "base: a.yaml\n", "b.yaml")
    assert "circular inheritance of base files" in error_of(tmp_path / "a.yaml")


def test_relative_paths_are_searched_in_parents_then_asset_root(tmp_path):
    from handloom.config import find_file

    deep = tmp_path / "one" / "two"
    deep.mkdir(parents=True)
    (tmp_path / "robots").mkdir()
    (tmp_path / "robots" / "r.yaml").write_text("")
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "cup.obj").write_text("")
    assert find_file("robots/r.yaml", near=deep) == tmp_path / "robots" / "r.yaml"
    assert find_file("cup.obj", near=deep, asset_root=assets) == assets / "cup.obj"
    with pytest.raises(ConfigError, match=r"searched .*two"):
        find_file("cup.usd", near=deep, asset_root=assets)


def test_keys_without_effect_are_reported_only_when_given(tmp_path):
    plain = load_config(write(tmp_path, "title: t\n"), Task)
    given = load_config(write(tmp_path, "title: t\nusd: a.usd\n"), Task)
    assert unused_keys(plain) == ()
    assert unused_keys(given) == ("usd has no effect here: only means something to USD",)


@pytest.mark.parametrize("item", ["'{}'", "[{}]"])
def test_references_that_grow_without_end_are_refused_before_they_do(tmp_path, item):
    rows = [
        f"r{i}: " + item.format((f"${{r{i - 1}}}" if "'" in item else f"'${{r{i - 1}}}', ") * 10) for i in range(1, 12)
    ]
    assert "references add more than" in error_of(write(tmp_path, "\n".join(["r0: abc", *rows, "title: ${r11}\n"])))


@pytest.mark.parametrize("number", [":".join(["1"] * 600_000), "1:" * 600_000 + "1.5", "0x" + "f" * 10**6])
def test_a_number_without_end_is_refused_before_it_is_read(tmp_path, number):
    # YAML reads 1:30 as 90; of 1.2 MB of it, that took more than a minute.
    with pytest.raises(ConfigError, match=r"task.yaml:1: speed: cannot read the value '(1:1:|0xfff).*\.\.\.'"):
        read_document(write(tmp_path, f"speed: {number}\n"))
    assert read_document(write(tmp_path, "speed: 1:30\n")).values == {"speed": 90}
