"""Messages about a task are shown at the line of the edited text that they are about."""

from pathlib import Path

import pytest

from handloom.errors import ConfigError
from handloom.tasks import load_task
from handloom.tasks.config.loading import library
from handloom.viewer.task_page.task_worker import remarks

FILE = library()["fr3_pick_place"]
TEXT = FILE.read_text(encoding="utf-8")


def said(text: str) -> list[tuple[int, str]]:
    with pytest.raises(ConfigError) as error:
        load_task(FILE, text=text)
    return [(remark.line, remark.text) for remark in remarks(str(error.value), FILE, text)]


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_an_unknown_key_is_marked_at_its_line() -> None:
    text = TEXT.replace("    regions:", "    regoins:")
    ((line, what),) = said(text)
    assert line == line_of(text, "regoins")
    assert "did you mean 'regions'" in what
    assert str(FILE) not in what


def test_every_mistake_has_its_own_line() -> None:
    text = (
        TEXT.replace("fps: 30", "")
        .replace("    env_map:", "    env_mapp:")
        .replace("gripper_change_steps: 12,", "gripper_change_steps: many,", 1)
    )
    lines = [line for line, _ in said(text)]
    assert line_of(text, "env_mapp") in lines
    assert line_of(text, "many") in lines


def test_broken_yaml_is_marked_where_it_breaks() -> None:
    text = TEXT.replace("    cameras:", "    cameras: [")
    ((line, what),) = said(text)
    assert line >= line_of(text, "cameras: [")
    assert "not valid YAML" in what


def test_a_mistake_in_a_base_file_is_shown_at_the_line_that_names_it() -> None:
    text = "# my task\nbase: setups/fr3.yaml\n"
    (remark,) = remarks("/somewhere/setups/fr3.yaml:7: robots.0: wrong", Path("my.yaml"), text)
    assert remark.line == 2
    assert remark.text == "in fr3.yaml, line 7: robots.0: wrong"


def test_a_message_without_a_place_stays_whole() -> None:
    (remark,) = remarks("my.yaml: this task has no cameras\n  add one", Path("my.yaml"), "")
    assert (remark.line, remark.text) == (0, "this task has no cameras\n  add one")


def test_the_text_of_an_editor_is_read_in_the_place_of_the_file() -> None:
    task = load_task(FILE, text=TEXT.replace("max_episode_length: 600", "max_episode_length: 321"))
    assert task.config.data.max_episode_length == 321
    assert load_task(FILE).config.data.max_episode_length == 600
