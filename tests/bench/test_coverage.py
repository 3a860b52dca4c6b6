"""Coverage of a folder of task files: what is a task, one success is enough, crashes, changes, going on."""

import json
from pathlib import Path

import pytest

from handloom.bench import coverage
from handloom.bench.coverage import family_of, measure, reasons_of, survey
from handloom.config import allow_code
from handloom.errors import InputError
from rest_task import REST

OUT_OF_REACH = REST.replace("{name: wait, wait_steps: 6, success_threshold: 0.02}", "{name: pick, objects: [apple]}")
OUT_OF_REACH = OUT_OF_REACH.replace("[[-0.1, 0, 0], [0.1, 0.1, 0]]", "[[-0.1, 0.36, 0], [0.1, 0.36, 0]]")
CRASHING = REST.replace("category: apple", "category: 'crashing_object:make'")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a collection: two tasks that run, one that does not, one of no use, and a file that is no task."""
    root = tmp_path / "collection"
    for name, text in {
        "basic/franka/rest/left/rest_0001.yaml": REST,
        "basic/franka/rest/left/rest_0002.yaml": REST,
        "basic/franka/reach/train/v1/reach.yaml": OUT_OF_REACH,
        "basic/franka/typo/typo.yaml": REST.replace("wait_steps", "wait_step"),
        "robots/mine.yaml": "left_joint_home: [0, 0]\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_a_family_is_the_path_without_robots_arms_splits_and_numbers() -> None:
    assert family_of(Path("basic/lift2/pour/v1/left/pour_0001.yaml"), ["lift2"]) == "basic/pour"
    assert family_of(Path("left/pick_cup_part12.yaml"), []) == "pick_cup"
    assert family_of(Path("0003.yaml"), []) == "0003"


def test_files_that_are_no_tasks_are_left_out_and_wrong_tasks_are_not(folder: Path) -> None:
    files, others = survey(folder)
    assert others == 1
    assert [(one.family, one.robot) for one in files] == [("basic/reach", "fr3"), *[("basic/rest", "fr3")] * 2,
                                                         ("basic/franka/typo", "-")]  # fmt: skip
    assert files[-1].mistake is not None
    assert "did you mean 'wait_steps'?" in files[-1].mistake.detail


def test_every_task_of_a_file_is_found(tmp_path: Path) -> None:
    indented = "\n".join(f"    {line}" for line in REST.strip().splitlines())
    (tmp_path / "two.yaml").write_text(f"tasks:\n  -\n{indented}\n  -\n{indented}\n")
    assert [one.name for one in survey(tmp_path)[0]] == ["two.yaml", "two.yaml[1]"]


def test_a_folder_without_tasks_says_what_it_has(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        survey(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a file; handloom check and generate take one"):
        survey(folder / "robots" / "mine.yaml")
    with pytest.raises(
        InputError, match="1 YAML files, none of them a task: a task file has a key 'skills' or 'tasks'"
    ):
        survey(folder / "robots")
    with pytest.raises(InputError, match="none of its 5 YAML files has 'pours' in its path"):
        survey(folder, only="pours")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no YAML file in it or below it"):
        survey(tmp_path / "empty")


def test_the_attempts_of_a_file_count_up_to_its_first_success(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    found = measure(folder, attempts=2, record=record)
    assert {one.file.path.stem: (one.success, len(one.outcomes)) for one in found.files} == {
        "rest_0001": (True, 1),
        "rest_0002": (True, 1),
        "reach": (False, 2),
        "typo": (False, 1),
    }
    assert found.runs == 2
    rows = {row[0]: reasons_of(row[2]) for row in found.rows()}
    assert rows["basic/rest"] == {}
    assert sum(rows["basic/reach"].values()) == 2

    stored = json.loads(record.read_text())
    for entry in stored["tasks"].values():
        entry["outcomes"][0]["cpu_s"] = 12345.0  # An attempt that is made again would not have it.
    record.write_text(json.dumps(stored))
    changed = folder / "basic/franka/rest/left/rest_0002.yaml"
    changed.write_text(REST.replace("wait_steps: 6", "wait_steps: 7"))
    again = measure(folder, attempts=2, record=record)
    assert again.known == 3
    assert {one.file.path.stem: one.outcomes[0].cpu_s == 12345.0 for one in again.files if one.file.fingerprint} == {
        "rest_0001": True, "reach": True, "rest_0002": False}  # fmt: skip
    with pytest.raises(InputError, match=r"a record of coverage task files, seed 0, not of .* seed 1"):
        measure(folder, seed=1, record=record)


def test_a_file_that_crashes_its_worker_is_one_row_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "crashing_object.py").write_text("import os\ndef make(rng, **_):\n    os.abort()\n")
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "collection"
    root.mkdir()
    (root / "a_crash.yaml").write_text(CRASHING)
    (root / "b_rest.yaml").write_text(REST)
    with allow_code():
        found = measure(root, attempts=1)
    assert [(one.file.path.stem, one.outcomes[0].reason) for one in found.files] == [
        ("a_crash", "crash"),
        ("b_rest", ""),
    ]
    assert "SIGABRT" in found.files[0].outcomes[0].detail
    refused = measure(root, attempts=1, only="crash")
    assert refused.files[0].outcomes[0].reason == "not_allowed_error"


def test_when_the_time_is_up_files_are_left_undecided(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "warm_up", lambda: None)
    found = measure(folder, limit=1e-9)
    assert [one.finished for one in found.files if one.file.mistake is None] == [False, False, False]
    assert found.runs == 0
