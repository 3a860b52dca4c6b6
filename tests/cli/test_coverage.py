"""``handloom coverage``: the table, the JSON object, and mistakes."""

import json
from pathlib import Path

import pytest

from handloom.cli.main import BAD_INPUT, DONE, main
from rest_task import REST


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere"], "nowhere: there is no such folder; coverage takes a folder of task files"),
        ([".", "--attempts", "0"], "--attempts and --processes must be at least 1"),
        (["."], "no YAML file in it or below it"),
    ],
)
def test_a_mistake_is_one_message(words, expected, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["coverage", *words]) == BAD_INPUT
    assert expected in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_table_has_families_robots_and_reasons_and_the_same_command_only_reads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in {"rest/franka/rest_1.yaml": REST, "wrong/wrong_1.yaml": "skills: []\n"}.items():
        Path("tasks", name).parent.mkdir(parents=True)
        Path("tasks", name).write_text(text)
    assert main(["coverage", "tasks", "--processes", "1"]) == DONE
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert lines[0].split()[:4] == ["family", "robot", "files", "run"]
    assert lines[1].split() == ["rest", "fr3", "1", "1"]
    assert lines[2].split() == ["wrong", "-", "1", "0", "1", "config_error"]
    assert lines[3].startswith("fails wrong/wrong_1.yaml: config_error: tasks/wrong/wrong_1.yaml:1")
    assert lines[4] == "1 of 2 task files produce a demonstration"
    assert "ok    rest/franka/rest_1.yaml" in told.err
    assert main(["coverage", "tasks", "--json"]) == DONE
    told = capsys.readouterr()
    values = json.loads(told.out)
    assert told.err == ""
    assert (values["run"], values["task_files"], values["undecided"]) == (1, 2, 0)
    assert values["rows"][1] == {"family": "wrong", "robot": "-", "files": 1, "run": 0, "reasons": {"config_error": 1}}
