"""The reference pages say what the models say."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_reference_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("write_reference", ROOT / "tools" / "write_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, text in module.pages().items():
        assert (ROOT / "docs" / "reference" / name).read_text() == text, "run: python tools/write_reference.py"
