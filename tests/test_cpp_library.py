"""The compiled C++ of the tests."""

import tempfile

import pytest

from cpp_library import COMPILER, cpp_library

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@needs_compiler
def test_a_library_works_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    library = cpp_library('extern "C" int twice(int x) { return 2 * x; }')
    assert library.twice(21) == 42
    assert list(tmp_path.iterdir()) == []
