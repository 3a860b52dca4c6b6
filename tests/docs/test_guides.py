"""Every snippet of the README and the docs runs, top to bottom, and prints what is shown."""

import importlib.util
import re
from pathlib import Path

import pytest

from handloom.config import allow_code
from handloom.tasks import load_task, sample_task

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("write_guides", ROOT / "tools" / "write_guides.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


@pytest.mark.parametrize("guide", tool.GUIDES, ids=lambda guide: guide.stem)
def test_the_snippets_of_a_guide_run_in_order_and_print_what_it_shows(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tool.written(guide) == guide.read_text(encoding="utf-8"), f"run: python tools/write_guides.py {guide.name}"


SNIPPET = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TASK = re.compile(r"^```yaml\n(tasks:.*?)^```", re.DOTALL | re.MULTILINE)
TASKS = [(guide, match[1]) for guide in tool.GUIDES for match in TASK.finditer(guide.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("guide", "text"), TASKS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_the_task_files_of_a_guide_sample(
    guide: Path, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a guide tells the reader to save as a module lies beside the task.
    (tmp_path / "my_skills.py").write_text("\n".join(SNIPPET.findall(guide.read_text(encoding="utf-8"))))
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "task.yaml"
    file.write_text(text)
    with allow_code():
        assert sample_task(load_task(file), 0, 0).robots
