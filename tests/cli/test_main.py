"""The command line starts fast, imports only what a verb needs, and never shows a traceback for a mistake."""

import importlib
import json
import subprocess
import sys

import pytest

from handloom.cli.main import BAD_INPUT, DONE, FAILED, VERBS, main

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


def test_a_verb_that_is_stopped_says_so_without_a_traceback(capsys, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("handloom.cli.bench.run", stop)
    assert main(["bench"]) == FAILED
    assert capsys.readouterr().err == "handloom bench: stopped\n"


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out.startswith("handloom 0.")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["-n", "-3"], "say how much to make"),
        (["-n", "1", "--preset", "nope"], "no render preset named 'nope'"),
        (["-n", "1", "--codec", "nope"], "no video codec named 'nope'"),
        (["-n", "1", "--shard", "4/4"], "--shard is written i/N"),
        (["-n", "1", "--workers", "0"], "at least 1 worker"),
        (["-n", "1", "--set", "cameras.0.size=[-5, 4]"], "greater than 0, got -5"),
        (["-n", "1", "--set", "data.max_episode_lenght=5"], "did you mean 'max_episode_length'?"),
    ],
)
def test_wrong_flags_of_generate_write_nothing(flags, expected, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("handloom.cli.generate.compile_kernels", lambda: None)
    out = tmp_path / "run"
    assert main(["generate", "fr3_pick_cube", "-o", str(out), *flags]) == BAD_INPUT
    assert expected in capsys.readouterr().err
    assert not out.exists()


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("handloom.cli.generate.compile_kernels", lambda: None)
    (tmp_path / "file").write_text("")
    assert main(["generate", "fr3_pick_cube", "-n", "1", "-o", str(tmp_path / "file" / "run")]) == BAD_INPUT
    error = capsys.readouterr().err
    assert "a part of the path is a file" in error
    assert "Errno" not in error
