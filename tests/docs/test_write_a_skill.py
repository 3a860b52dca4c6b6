"""The skill of the guide runs in the task of the guide, and mistakes in its keys are found."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode import replay
from handloom.errors import ConfigError
from handloom.skills import skill_class
from handloom.tasks import load_task

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "write_a_skill.md").read_text()


def block(kind: str) -> str:
    found = re.search(rf"^```{kind}\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "my_skills.py").write_text(block("python"))
    (tmp_path / "no_skills.py").write_text("class Knock:\n    pass\n")
    (tmp_path / "knock.yaml").write_text(block("yaml"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_skills", raising=False)
    skill_class.cache_clear()
    with allow_code():
        yield tmp_path


def test_the_guides_skill_knocks(folder: Path) -> None:
    _, record = simulate(load_task(folder / "knock.yaml"), 0, 0, Stopwatch())
    assert record.success, record.failure
    assert [span.skill for span in record.timeline] == ["my_skills:Knock"]
    assert replay(record).exact


def test_keys_of_an_own_skill_are_checked_with_their_line(folder: Path) -> None:
    file = folder / "wrong.yaml"
    text = block("yaml")
    file.write_text(text.replace("times: 3", "timse: 3"))
    line = next(k for k, row in enumerate(text.splitlines(), 1) if "my_skills" in row)
    with pytest.raises(ConfigError, match=rf"wrong\.yaml:{line}.*timse.*times"):
        load_task(file)
    file.write_text(text.replace("times: 3", "times: often"))
    with pytest.raises(ConfigError, match=rf"wrong\.yaml:{line}.*times"):
        load_task(file)


@pytest.mark.parametrize(
    ("name", "said"),
    [("no_such_module:Knock", "cannot be imported"), ("my_skills:Nock", "cannot be imported"),
     ("no_skills:Knock", "is not a subclass")],
)  # fmt: skip
def test_a_class_that_is_no_skill_is_refused_when_the_task_is_read(folder: Path, name: str, said: str) -> None:
    file = folder / "wrong.yaml"
    file.write_text(block("yaml").replace("my_skills:Knock", name))
    with pytest.raises(ConfigError, match=said):
        load_task(file)
