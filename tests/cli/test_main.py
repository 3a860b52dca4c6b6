"""The command line starts fast, imports only what a verb needs, and never shows a traceback for a mistake."""

import importlib
import json
import subprocess
import sys

import pytest

from handloom.cli.main import BAD_INPUT, DONE, VERBS, main

HEAVY = ("numba", "mujoco", "mink", "pyarrow", "av", "numpy", "pydantic", "torch")


def test_the_overview_lists_every_verb_and_imports_nothing_heavy():
    code = (
        "import sys, json; from handloom.cli import main; main(['--help']);"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(out.splitlines()[-1]) == []
    for verb in VERBS:
        assert f"\n  {verb}" in out


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_a_module_with_flags(name):
    module = importlib.import_module(VERBS[name].module)
    assert hasattr(module, "run") or module.SUBVERBS


def test_a_misspelt_verb_names_the_nearest(capsys):
    assert main(["lits"]) == BAD_INPUT
    assert "did you mean 'list'?" in capsys.readouterr().err


def test_an_error_is_one_message_and_exit_code_2(capsys):
    assert main(["bench", "nothing"]) == BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith("handloom bench: no benchmark named 'nothing'")
    assert "Traceback" not in error


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out.startswith("handloom 0.")
