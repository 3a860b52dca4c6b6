"""Code that a file names runs only where the user allowed it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from handloom.cli.main import main
from handloom.config import allow_code, forbid_code, import_named
from handloom.config.own_code import with_permission
from handloom.engine import ProcessExecutor
from handloom.errors import ConfigError, InputError, NotAllowedError

MODULE = """
from pathlib import Path
from handloom.objects import Blueprint
from handloom.objects.shapes import Appearance, box
from handloom.skills.motions.joint_skills import Wait

Path("ran").touch()


class Rest(Wait):
    "Wait, but by code of one's own."


def brick(c):
    size = c.number("size", 0.04, 0.05)
    part = box((size, size, size), (0, 0, size / 2), **Appearance(color=(1, 0, 0)))
    return Blueprint(words=("brick",), color="red", parts=(part,))
"""

TASK = """
tasks:
  - name: rest
    arena_file: arenas/table.yaml
    robots:
      - {name: franka, robot_config_file: fr3, euler: [0, 0, 90]}
    objects:
      - {name: box, target_class: RigidObject, category: CATEGORY}
    cameras:
      - {name: front, translation: [0.47, 0.49, 1.14], orientation: [0.3209, 0.2085, 0.5033, 0.7747],
         camera_file: realsense_d455_v3, size: [32, 32]}
    regions:
      - {object: franka, target: table, random_config: {pos_range: [[0, -0.42, 0], [0, -0.4, 0]], yaw_rotation: [0, 0]}}
      - {object: box, target: table, random_config: {pos_range: [[-0.1, 0, 0], [0.1, 0.1, 0]], yaw_rotation: [-45, 45]}}
    data: {language_instruction: Rest., max_episode_length: 60}
    skills:
      - franka:
          - left: [{name: "SKILL", wait_steps: 3, success_threshold: 0.02}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder somebody downloaded, in which the user works."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    (folder / "stranger.py").write_text(MODULE)
    (folder / "skill.yaml").write_text(TASK.replace("SKILL", "stranger:Rest").replace("CATEGORY", "apple"))
    (folder / "object.yaml").write_text(TASK.replace("SKILL", "wait").replace("CATEGORY", "stranger:brick"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield folder
    sys.modules.pop("stranger", None)
    from handloom.skills import skill_class

    skill_class.cache_clear()


def ran(folder: Path) -> bool:
    return (folder / "ran").exists()


@pytest.mark.parametrize("name", ["skill.yaml", "object.yaml"])
def test_a_task_runs_no_code_unasked(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", name]) == 0
    told = capsys.readouterr().out
    assert f"ok {name}" in told
    assert f"would run {here / 'stranger.py'}" in told
    assert main(["generate", name, "--attempts", "1", "-o", "run"]) == 2
    error = capsys.readouterr().err
    line = next(k for k, row in enumerate((here / name).read_text().splitlines(), 1) if "stranger:" in row)
    assert f"{name}:{line}" in error
    assert f"would run {here / 'stranger.py'}" in error
    assert "--allow-code" in error
    assert "settings.yaml" in error
    assert not (here / "run").exists()
    assert main(["sample", "object.yaml"]) == 2
    assert main(["preview", "object.yaml"]) == 2
    assert main(["preview", "skill.yaml", "--episodes", "1", "--preset", "fast"]) == 0
    assert main(["list", "skills"]) == 0
    assert not ran(here)


def test_check_and_preview_run_nothing_even_from_a_folder_that_is_allowed(here: Path) -> None:
    settings(here, [str(here)])
    assert main(["check", "skill.yaml", "object.yaml"]) == 0
    assert main(["preview", "object.yaml"]) == 2
    assert not ran(here)


@pytest.mark.parametrize("name", ["skill.yaml", "object.yaml"])
def test_allowed_code_runs_in_the_workers_too(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["generate", name, "--attempts", "1", "-o", "run", "--workers", "1", "--render", "none"]
    assert main([*words, "--allow-code"]) == 0, capsys.readouterr().err
    assert ran(here)
    (here / "ran").unlink()
    # What one command was allowed, the next is not.
    assert main(["verify", "run", "--workers", "0"]) == (1 if name == "object.yaml" else 0)
    assert not ran(here)
    if name == "object.yaml":
        assert "refused: object category 'stranger:brick' would run" in capsys.readouterr().out
        assert main(["render", "run", "--workers", "0"]) == 2
        assert "'stranger:brick' would run" in capsys.readouterr().err
        assert not ran(here)
        assert main(["verify", "run", "--allow-code", "--workers", "1"]) == 0
        assert ran(here)
        assert main(["render", "run", "--allow-code", "--workers", "0", "--preset", "fast"]) == 0


def test_mistakes_in_allowed_code_are_found_before_anything_is_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (here / "skill.yaml").read_text()
    (here / "skill.yaml").write_text(text.replace("wait_steps", "wait_stesp"))
    assert main(["generate", "skill.yaml", "--allow-code", "-o", "run"]) == 2
    assert "wait_stesp" in capsys.readouterr().err
    (here / "stranger.py").write_text("def broken(:\n")
    sys.modules.pop("stranger")
    (here / "skill.yaml").write_text(text.replace("stranger:Rest", "stranger:Other"))
    assert main(["generate", "skill.yaml", "--allow-code", "-o", "run"]) == 2
    assert "skill 'stranger:Other' cannot be imported: SyntaxError" in capsys.readouterr().err
    assert not (here / "run").exists()


def settings(here: Path, folders: object) -> None:
    file = here.parent / "config" / "handloom" / "settings.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({"allow_code": folders}))


def test_the_settings_file_allows_folders(here: Path) -> None:
    own = {"kind": "skill", "name": "stranger:Rest", "table": {}, "own": "my_module:MySkill"}
    settings(here, [str(here.parent / "elsewhere")])
    with pytest.raises(NotAllowedError, match=r"settings\.yaml"):
        import_named(**own)
    assert not ran(here)
    settings(here, "everything")
    with pytest.raises(ConfigError, match=r"settings.yaml:1: allow_code"):
        import_named(**own)
    settings(here, [str(here)])
    with forbid_code(), pytest.raises(NotAllowedError):
        import_named(**own)
    assert not ran(here)
    assert import_named(**own).__name__ == "Rest"


@pytest.mark.parametrize("name", ["os:system", "sys:exit", "posixpath:join", "_thread:exit", "zipimport:zipimporter"])
def test_a_folder_allows_no_module_that_is_built_into_python(here: Path, name: str) -> None:
    settings(here, [str(here), os.getcwd()])
    with pytest.raises(NotAllowedError, match="was not found in any file"):
        import_named("skill", name, {}, own="my_module:MySkill")


def test_a_package_in_several_folders_is_allowed_if_all_of_them_are(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (here / "one", here.parent / "two"):
        (folder / "strewn").mkdir(parents=True)
        monkeypatch.syspath_prepend(str(folder))
    (here.parent / "two" / "strewn" / "inside.py").write_text("def brick(c): ...")
    (here / "one" / "strewn" / "other.py").write_text("def brick(c): ...")
    settings(here, [str(here)])
    with pytest.raises(NotAllowedError):
        import_named("object", "strewn.inside:brick", {}, own="")
    settings(here, [str(here), str(here.parent / "two")])
    assert import_named("object", "strewn.inside:brick", {}, own="").__name__ == "brick"


def test_a_permission_can_be_for_one_name_and_for_a_while(here: Path) -> None:
    with allow_code("stranger:brick"):
        with pytest.raises(NotAllowedError, match="'stranger:Rest'"):
            import_named("skill", "stranger:Rest", {}, own="")
        assert import_named("object", "stranger:brick", {}, own="").__name__ == "brick"
    with pytest.raises(NotAllowedError, match="'stranger:brick'"):
        import_named("object", "stranger:brick", {}, own="")


def test_a_name_on_the_command_line_is_the_users_own_word(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["object", "show", "stranger:brick", "--count", "1", "--size", "32"]) == 0, capsys.readouterr().err
    assert ran(here)


def test_names_of_the_package_itself_need_leave_too_unless_a_table_has_them(here: Path) -> None:
    with pytest.raises(NotAllowedError, match=r"handloom\.cli\.runs\.generate:run"):
        import_named("object category", "handloom.cli.runs.generate:run", {}, own="")
    with pytest.raises(NotAllowedError, match="os:system"):
        import_named("object category", "os:system", {}, own="")


@pytest.mark.parametrize("name", ["", ":", "a:", ":b", ".a:b", "nowhere:Nobody", "os:no_such", "a b:c", "os.no:x"])
def test_a_name_that_leads_nowhere_is_told_either_way(here: Path, name: str) -> None:
    with pytest.raises(NotAllowedError, match="--allow-code"):
        import_named("skill", name, {}, own="my_module:MySkill")
    with allow_code(), pytest.raises(InputError, match="cannot be imported"):
        import_named("skill", name, {}, own="my_module:MySkill")


def test_looking_a_package_up_does_not_run_it(here: Path) -> None:
    (here / "parts").mkdir()
    for name in ("__init__", "inner"):
        (here / "parts" / f"{name}.py").write_text("open('ran', 'w')\n")
    with pytest.raises(NotAllowedError, match=f"would run {here / 'parts'};"):
        import_named("skill", "parts.inner:Skill", {}, own="")
    assert not ran(here)


def is_brick_allowed(_: int) -> bool:
    try:
        import_named("object", "stranger:brick", {}, own="")
    except NotAllowedError:
        return False
    return True


def test_workers_have_the_permission_of_their_parent(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from test_own_code import is_brick_allowed as function

    def answers() -> list[bool]:
        return [finished.result for finished in ProcessExecutor(1).run(with_permission(function), iter([0, 1]))]

    assert answers() == [False, False]
    with allow_code("stranger:brick"):
        assert answers() == [True, True]


@pytest.mark.parametrize("verb", [["list", "tasks"], ["check", "skill.yaml"], ["--help"]])
def test_files_in_the_working_folder_do_not_pose_as_packages(here: Path, verb: list[str]) -> None:
    for name in ("tyro", "yaml", "rich", "numpy", "json", "h5py", "pydantic", "av", "sitecustomize"):
        (here / f"{name}.py").write_text("open('ran', 'w')\nraise SystemExit(3)\n")
    command = Path(sys.executable).with_name("handloom")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([command, *verb], cwd=here, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, ran(here)) == (0, False), done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_actors_of_ray_have_the_permission_of_their_driver(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray", reason="needs the extra ray")
    words = ["generate", "object.yaml", "--attempts", "1", "-o", "run", "--executor", "ray", "--workers", "1"]
    assert main([*words, "--render", "none"]) == 2
    assert not ran(here)
    assert main([*words, "--render", "none", "--allow-code"]) == 0, capsys.readouterr().err
    assert ran(here)
