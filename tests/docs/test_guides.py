"""Every snippet of the README and the docs runs, top to bottom, and prints what is shown."""

import importlib.util
import re
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.engine.attempt import Stopwatch, simulate
from handloom.tasks import load_task, sample_task

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("write_guides", ROOT / "tools" / "write_guides.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


LONG = ("wheeled",)
"""Guides whose snippets drive for minutes; ``isaac/wheeled`` and ``examples`` drive the same controllers for less."""
GUIDES = [pytest.param(g, marks=pytest.mark.slow) if g.stem in LONG else g for g in tool.GUIDES]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_the_snippets_of_a_guide_run_in_order_and_print_what_it_shows(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tool.written(guide) == guide.read_text(encoding="utf-8"), f"run: python tools/write_guides.py {guide.name}"


SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TASKS = [(guide, name) for guide in tool.GUIDES for name in tool.task_files(guide)]


def write_task(guide: Path, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the task files of a guide into a folder, and what its snippets write or have the reader save."""
    snippets = SNIPPET.findall(guide.read_text(encoding="utf-8"))
    (folder / "my_skills.py").write_text("\n".join(snippets))
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(folder)
    for code in snippets:
        if ".write_text(" in code:
            exec(code, {})
    for other, text in tool.task_files(guide).items():
        (folder / f"{other}.yaml").write_text(text)
    return folder / f"{name}.yaml"


@pytest.mark.parametrize(("guide", "name"), TASKS, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_the_task_files_of_a_guide_sample(
    guide: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with allow_code():
        assert sample_task(load_task(write_task(guide, name, tmp_path, monkeypatch)), 0, 0).robots


@pytest.mark.slow
@pytest.mark.parametrize(("guide", "name"), TASKS, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_the_task_files_of_a_guide_succeed(
    guide: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with allow_code():
        task = load_task(write_task(guide, name, tmp_path, monkeypatch))
        records = [simulate(task, 3, episode, Stopwatch())[1] for episode in range(5)]
    assert sum(record.success for record in records) >= 3, [record.failure for record in records]


def test_every_recipe_is_short_and_has_its_picture() -> None:
    cookbook = ROOT / "docs" / "guides" / "cookbook.md"
    for name, text in tool.task_files(cookbook).items():
        assert len(text.splitlines()) <= 25, name
        assert (ROOT / "docs" / "images" / "cookbook" / f"{name}.jpg").is_file(), name
