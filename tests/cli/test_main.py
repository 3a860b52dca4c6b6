"""The command line starts fast, imports only what a verb needs, and never shows a traceback for a mistake."""

import importlib
import json
import re
import subprocess
import sys

import pytest

from handloom.cli.main import BAD_INPUT, DONE, FAILED, VERBS, main
from handloom.engine import RunDirectory, RunSettings
from handloom.tasks import load_task

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
def test_every_verb_has_a_function_or_a_table_of_functions(name):
    place, _, function = VERBS[name].code.partition(":")
    module = importlib.import_module(place)
    assert callable(getattr(module, function)) if function else all(map(callable, module.SUBVERBS.values()))


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

    monkeypatch.setattr("handloom.cli.verbs.bench.run", stop)
    assert main(["bench"]) == FAILED
    assert capsys.readouterr().err == "handloom bench: stopped\n"


def test_what_the_system_refuses_is_one_message(capsys, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "somewhere")

    monkeypatch.setattr("handloom.cli.verbs.bench.run", refuse)
    assert main(["bench"]) == FAILED
    assert capsys.readouterr().err == "handloom bench: somewhere: Permission denied\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_words_and_choices_instead_of_types(verb, capsys):
    module = importlib.import_module(VERBS[verb].code.partition(":")[0])
    for words in [[verb, name] for name in getattr(module, "SUBVERBS", ())] or [[verb]]:
        assert main([*words, "--help"]) == DONE
        text = capsys.readouterr().out
        assert not re.search(r"\bSTR\b|\bINT\b|\{None\}|default: None|default: \)", text), text


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == DONE
    assert capsys.readouterr().out.startswith("handloom 0.")


def not_reached() -> None:
    raise AssertionError("kernels are compiled before the options are known to be right")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["-n", "-3"], "give the amount"),
        (["-n", "1", "--preset", "nope"], "invalid choice 'nope' for argument '--preset'"),
        (["-n", "1", "--codec", "nope"], "invalid choice 'nope' for argument '--codec'"),
        (["-n", "1", "--shard", "4/4"], "--shard is written i/N"),
        (["-n", "1", "--shard", "²/3"], "--shard is written i/N"),
        (["-n", "1", "--workers", "0"], "at least 1 worker"),
        (["-n", "1", "--seed", "-1"], "seed: input should be greater than or equal to 0, got -1"),
        (["-n", "1", "--unit-size", "0"], "unit_size: input should be greater than or equal to 1, got 0"),
        (["-n", "1", "--columns"], "a dataset needs columns; choose from canonical, reference"),
        (["-n", "1", "--set", "cameras.0.size=[-5, 4]"], "greater than 0, got -5"),
        (["-n", "1", "--set", "data.max_episode_lenght=5"], "did you mean 'max_episode_length'?"),
    ],
)
def test_wrong_flags_of_generate_write_and_compile_nothing(flags, expected, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("handloom.cli.runs.generate.compile_kernels", not_reached)
    out = tmp_path / "run"
    assert main(["generate", "fr3_pick_cube", "-o", str(out), *flags]) == BAD_INPUT
    assert expected in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--preset", "nope"], "invalid choice 'nope' for argument '--preset'"),
        (["--codec", "nope"], "invalid choice 'nope' for argument '--codec'"),
        (["--size", "0", "4"], "size: an image must be at least 1 pixel wide and high, got (0, 4)"),
        (["--relight", "-1"], "relight: a seed must be 0 or more, got -1"),
        (["--workers", "-1"], "at least 1 worker"),
    ],
)
def test_wrong_flags_of_render_compile_nothing(flags, expected, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("handloom.cli.datasets.dataset.compile_kernels", not_reached)
    RunDirectory.begin(tmp_path / "run", RunSettings.of_task(load_task("fr3_pick_cube"), seed=0))
    (tmp_path / "run" / "dataset" / "meta").mkdir(parents=True)
    (tmp_path / "run" / "dataset" / "meta" / "info.json").write_text("{}")
    assert main(["render", str(tmp_path / "run"), *flags]) == BAD_INPUT
    assert expected in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("handloom.cli.runs.generate.compile_kernels", not_reached)
    (tmp_path / "file").write_text("")
    assert main(["generate", "fr3_pick_cube", "-n", "1", "-o", str(tmp_path / "file" / "run")]) == BAD_INPUT
    error = capsys.readouterr().err
    assert "a part of the path is a file" in error
    assert "Errno" not in error
