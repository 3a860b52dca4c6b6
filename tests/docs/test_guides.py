"""Every Python snippet of the README and the docs runs, top to bottom."""

import re
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.tasks import load_task, sample_task

ROOT = Path(__file__).parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_the_snippets_of_a_guide_run_in_order(guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = guide.read_text()
    names: dict[str, object] = {"__name__": "guide"}
    for match in SNIPPET.finditer(text):
        # Blank lines in front make a traceback show the line of the guide.
        lines_before = text.count("\n", 0, match.start(1))
        exec(compile("\n" * lines_before + match[1], str(guide), "exec"), names)


TASK = re.compile(r"^```yaml\n(tasks:.*?)^```", re.DOTALL | re.MULTILINE)
TASKS = [(guide, match[1]) for guide in GUIDES for match in TASK.finditer(guide.read_text())]


@pytest.mark.parametrize(("guide", "text"), TASKS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_the_task_files_of_a_guide_sample(
    guide: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a guide tells the reader to save as a module lies beside the task.
    (tmp_path / "my_skills.py").write_text("\n".join(SNIPPET.findall(guide.read_text())))
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "task.yaml"
    file.write_text(text)
    with allow_code():
        assert sample_task(load_task(file), 0, 0).robots
