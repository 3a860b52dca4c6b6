"""The parts of the documentation site that are made from other files."""

import importlib.util
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def load_tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool = load_tool("write_changelog")
FRAGMENTS = sorted((ROOT / "changelog").glob("*.md"))


def test_the_changelog_has_every_fragment_once_under_its_area() -> None:
    text = tool.changelog()
    for fragment in FRAGMENTS:
        entry = fragment.read_text(encoding="utf-8").strip()
        assert text.count(entry) == 1, fragment.name
        heading = re.findall(r"^### (.*)$", text[: text.index(entry)], re.MULTILINE)[-1]
        assert heading == tool.area_of(fragment), fragment.name


def test_fragments_are_lists() -> None:
    assert all(path.read_text(encoding="utf-8").startswith("- ") for path in FRAGMENTS)


def pages(nav: list) -> list[str]:
    """Return the paths of a mkdocs nav, top to bottom."""
    found = []
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found += pages(value) if isinstance(value, list) else [value]
    return found


def test_every_page_of_the_docs_is_in_the_navigation() -> None:
    listed = pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    assert len(listed) == len(set(listed))
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert {path for path in written if not path.startswith("reference/skills/")} <= set(listed)


def test_the_learning_path_goes_from_a_first_try_to_library_use() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| (\d)\. (.*?) \|", text, re.MULTILINE)
    assert [name for _, name in steps] == [
        "Try it",
        "Your own task",
        "Look at it",
        "Your own robot",
        "Your own skill",
        "Scale",
        "As a library",
    ]
    for link in re.findall(r"\]\(([\w/.]+\.md)\)", text):
        assert (ROOT / "docs" / link).exists()
