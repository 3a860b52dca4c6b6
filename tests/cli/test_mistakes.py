"""Mistakes that people make on the command line: one message with cause and remedy, exit code 2, no traceback."""

import re

import pytest

from handloom.cli.main import BAD_INPUT, main

# ruff: noqa: E501 - a row is a row
MISTAKES = {
    "a verb misspelt": (["genrate", "fr3_pick_cube"], r"no verb 'genrate'; did you mean 'generate'\?"),
    "a task misspelt": (["generate", "fr3_pik_cube"], r"no task named 'fr3_pik_cube'; did you mean 'fr3_pick_cube'\?"),
    "a file that is not there": (["check", "nothing.yaml"], r"nothing\.yaml: cannot be read: No such file"),
    "no task at all": (["generate"], r"TASK"),
    "a number that is a word": (["generate", "fr3_pick_cube", "-n", "many"], r"many"),
    "no demonstrations in another word": (["generate", "fr3_pick_cube", "--episodes", "0"], r"at least 1"),
    "no demonstrations": (["generate", "fr3_pick_cube", "-n", "0"], r"at least 1"),
    "a preset that does not exist": (["generate", "fr3_pick_cube", "--preset", "best"], r"invalid choice 'best'"),
    "a codec that does not exist": (["generate", "fr3_pick_cube", "--codec", "mpeg"], r"invalid choice 'mpeg'"),
    "columns that do not exist": (["generate", "fr3_pick_cube", "--columns", "canonic"], r"invalid choice 'canonic'"),
    "an executor that does not exist": (["generate", "fr3_pick_cube", "--executor", "slurm"], r"invalid choice 'slurm'"),
    "a flag misspelt": (["generate", "fr3_pick_cube", "--sucesses", "3"], r"sucesses"),
    "an override of nothing": (["generate", "fr3_pick_cube", "--set", "dta.fps=20"], r"no key 'dta'; did you mean 'data'\?"),
    "an override without a value": (["generate", "fr3_pick_cube", "--set", "data.fps"], r"write it as key\.path=value"),
    "a run that is none": (["verify", "."], r"contains no dataset"),
    "a report of nothing": (["report", "."], r"contains no run: there is no run\.yaml"),
    "a robot misspelt": (["robot", "show", "fr4"], r"fr3"),
    "an object misspelt": (["object", "show", "mugg"], r"did you mean 'mug'\?"),
    "a list of what does not exist": (["list", "robot"], r"invalid choice 'robot'"),
    "a benchmark misspelt": (["bench", "rendr"], r"no benchmark named 'rendr'; did you mean 'render'\?"),
    "staging without Ray": (["generate", "fr3_pick_cube", "--staging", "s3://x/y"], r"--staging is for --executor ray"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_message(name, tmp_path, monkeypatch, capsys):
    words, expected = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    assert main(words) == BAD_INPUT
    shown = "".join(capsys.readouterr())
    assert re.search(expected, shown), shown
    assert "Traceback" not in shown
    assert not list(tmp_path.iterdir())
