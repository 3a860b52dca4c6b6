"""What an archive or a run of somebody else names is opened only with a word on the command line."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))
from hostile_datasets.signing import sign_archives, sign_files

from handloom.cache import user_cache
from handloom.cli.main import main
from handloom.engine import Goal, InlineExecutor, RunDirectory, RunSettings, generate_run
from handloom.engine.trust import trusted_task
from handloom.errors import FileError, NotAllowedError
from handloom.robots import load_robot
from handloom.tasks import load_task
from rest_task import REST as TASK

FAR = "../../../elsewhere/fr3/model.xml"
VERBS = {
    "verify": ["--workers", "0"],
    "render": ["-o", "drawn", "--workers", "0", "--preset", "fast"],
    "export": ["-o", "out.h5", "--no-images"],
    "report": ["-o", "page"],
    "augment": ["--executor", "inline", "--render", "none", "--attempts", "1", "--json"],
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of one short episode."""
    folder = tmp_path_factory.mktemp("maker")
    (folder / "rest.yaml").write_text(TASK)
    settings = RunSettings.of_task(load_task(folder / "rest.yaml"), seed=0, unit_size=1, preset="fast")
    run = RunDirectory.begin(folder / "run", settings)
    generate_run(run, Goal(attempts=1), InlineExecutor())
    return run.path


@pytest.fixture
def run(honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run, downloaded into somebody's home; ``elsewhere`` beside the home is none of its business."""
    monkeypatch.setenv("HANDLOOM_CACHE", str(user_cache()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home" / "work")
    shutil.copytree(honest, tmp_path / "home" / "downloads" / "run")
    copy_robot(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "secret").write_text("root:x:0:0: a password\n")
    return tmp_path / "home" / "downloads" / "run"


def copy_robot(folder: Path) -> None:
    """Put a robot into a folder, and beside it what its model includes."""
    for name in ("fr3", "franka_parts"):
        shutil.copytree(load_robot("fr3").folder.parent / name, folder / name)


def tampered(run: Path, **changes: object) -> None:
    """Change the first robot or the last object of the archive, and write its hashes anew."""
    file = run / "dataset/extras/episode_000000/instance.json"
    value = json.loads(file.read_text())
    value["robots"][0].update({key: text for key, text in changes.items() if key == "robot"})
    value["objects"][-1].update({key: text for key, text in changes.items() if key != "robot"})
    file.write_text(json.dumps(value))
    sign_archives(run / "dataset")
    sign_files(run / "dataset")


@pytest.mark.parametrize("verb", VERBS)
def test_a_robot_elsewhere_is_neither_opened_nor_printed(
    run: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tampered(run, robot=str(run.parents[2] / "elsewhere" / "secret"))
    assert main([verb, str(run), *VERBS[verb]]) in (1, 2)
    told = "".join(capsys.readouterr())
    assert "robot 'franka'" in told
    assert "--allow-outside" in told
    assert "password" not in told
    assert "root:" not in told


@pytest.mark.parametrize("parameters", [{"path": "../../../elsewhere/a.stl"}, {"path": "a.stl", "allow_outside": True}])
def test_neither_the_path_of_an_object_nor_its_own_word_leads_out(
    run: Path, parameters: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    tampered(run, category="file", parameters=parameters)
    assert main(["verify", str(run), "--workers", "0"]) == 1
    assert "refused: " in (told := capsys.readouterr().out)
    assert "--allow-outside" in told


def test_a_robot_elsewhere_is_used_where_the_user_says_so(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tampered(run, robot=str(run.parents[2] / "elsewhere" / "fr3"))
    for verb in ("report", "export", "render"):
        assert main([verb, str(run), *VERBS[verb], "--allow-outside"]) == 0, capsys.readouterr()
    for words in (VERBS["verify"], ["--workers", "1"]):
        # It is opened and replayed; the tables tell that the robot was another when they were written.
        assert main(["verify", str(run), *words, "--allow-outside"]) == 1
        assert "robot: recorded in episode.json is 'fr3'" in capsys.readouterr().out


def test_a_robot_beside_the_run_needs_no_word(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy_robot(run.parent)
    tampered(run, robot=str(run.parent / "fr3"))
    main(["verify", str(run), "--workers", "1"])
    assert "robot: recorded in episode.json is 'fr3'" in capsys.readouterr().out, "it was opened and compared"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"allow_outside": True}, "allow_outside"),
        ({"asset_root": "/"}, "asset_root"),
        (
            {"objects": [{"name": "apple", "target_class": "RigidObject", "path": FAR}]},
            "",
        ),
    ],
)
def test_a_manifest_allows_itself_nothing(
    run: Path, change: dict[str, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = yaml.safe_load((run / "run.yaml").read_text())
    values["task"].update(change)
    (run / "run.yaml").write_text(yaml.safe_dump(values))
    assert main(["augment", str(run), *VERBS["augment"]]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "--allow-outside" in told


def test_relative_paths_of_a_downloaded_task_start_at_the_run(run: Path) -> None:
    directory = RunDirectory.open(run)
    task = trusted_task(directory.settings.loaded_task(), run)
    assert task.path == run / "run.yaml"
    (run / "run.yaml").rename(run / "elsewhere.yaml")
    (run / "run.yaml").symlink_to(run.parents[2] / "elsewhere" / "secret")
    with pytest.raises(NotAllowedError, match="leads out of"):
        RunDirectory.open(run)


def test_a_lock_that_is_a_link_is_not_opened(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = run.parents[2] / "elsewhere" / "secret"
    (run / "lock").unlink(missing_ok=True)
    (run / "lock").symlink_to(secret)
    with pytest.raises(FileError, match="cannot lock"), RunDirectory.open(run).held():
        pass
    RunDirectory.open(run)
    assert main(["generate", "fr3_pick_cube", "-n", "1", "-o", str(run), "--overwrite"]) == 2
    assert "cannot lock" in capsys.readouterr().err
    assert secret.read_text() == "root:x:0:0: a password\n"


def test_a_hostile_task_name_does_not_choose_the_output_folder(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "x/../../../../escaped"
    values = yaml.safe_load((run / "run.yaml").read_text())
    (run / "run.yaml").write_text(yaml.safe_dump({**values, "task_name": name}))
    file = run / "dataset/extras/episode_000000/instance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "task": name}))
    sign_archives(run / "dataset")
    sign_files(run / "dataset")
    main(["augment", str(run), *VERBS["augment"]])
    assert not list(tmp_path.rglob("escaped*")), capsys.readouterr()
    assert {place.name for place in (tmp_path / "home").iterdir()} == {"work", "downloads"}
