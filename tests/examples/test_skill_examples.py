"""Every skill has an example task that succeeds, and a strip of pictures from it."""

import re
from pathlib import Path

import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.skills import SKILLS
from handloom.skills.configs import skill_name
from handloom.tasks import load_task
from spread import every

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples" / "skills").glob("*.yaml"))


@pytest.mark.parametrize("example", every(EXAMPLES, 3), ids=lambda example: example.stem)
def test_the_example_shows_its_skill_and_succeeds(example: Path) -> None:
    _, record = simulate(load_task(example), 0, 0, Stopwatch())
    assert record.success, record.failure
    assert skill_name(example.stem) in [skill_name(span.skill) for span in record.timeline]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_the_example_works_wherever_it_is_copied_to(example: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copied.yaml").write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    assert load_task(tmp_path / "copied.yaml").config.skills


def test_every_skill_that_runs_has_an_example_and_a_picture() -> None:
    plain = {re.sub("_+", "_", name) for name in SKILLS}
    assert plain == {example.stem for example in EXAMPLES}
    assert plain == {file.stem for file in (ROOT / "docs" / "images" / "skills").glob("*.jpg")}
