"""Verbs work without a home, in odd locales, on dumb terminals, and when nobody reads what they print."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HANDLOOM = f"{sys.executable} -m handloom"
ASCII = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}


def shell(command: str, folder: Path, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """Run a command line with changes to this environment; None takes a variable away."""
    changed = {**os.environ, "HANDLOOM_CACHE": None, **environment}
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={name: value for name, value in changed.items() if value is not None},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": "/dev/null", "LANG": "C", "LC_ALL": None, "TERM": "dumb"},
        {"HOME": None, "TERM": None, "PYTHONIOENCODING": "latin-1"},
        {"HANDLOOM_CACHE": "/dev/null/cache", **ASCII},
    ],
    ids=lambda given: ",".join(f"{name}={value}" for name, value in given.items()),
)
def test_a_task_is_checked_whatever_the_surroundings(tmp_path: Path, environment: dict[str, str | None]) -> None:
    temporary = {"TMPDIR": str(tmp_path)}
    done = shell(f"{HANDLOOM} check --fast fr3_pick_cube", tmp_path, **temporary, **environment)
    assert (done.returncode, done.stdout) == (0, "ok fr3_pick_cube\n")
    told = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]
    assert len(told) <= 1
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"HOME": "/dev/null"}, {"HANDLOOM_CACHE": "/dev/null/cache"}], ids=str)
def test_kernels_are_compiled_into_a_temporary_folder_where_there_is_no_other(
    tmp_path: Path, environment: dict[str, str | None]
) -> None:
    done = shell(f"{HANDLOOM} robot show so101 --size 64", tmp_path, TMPDIR=str(tmp_path), **environment)
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1), done.stderr
    assert list(tmp_path.glob("handloom-*/kernels/render-*"))
    assert (tmp_path / "so101.png").is_file()


def test_words_that_a_terminal_cannot_show_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "tasse.yaml").write_text("tasks:\n  - naïve: [ü]\n", encoding="utf-8")
    done = shell(f"{HANDLOOM} check --fast tasse.yaml", tmp_path, **ASCII)
    assert done.returncode == 2
    assert "tasse.yaml:2: tasks.0.na?ve: unknown key" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "redirected"),
    [
        *(("list objects", redirected) for redirected in ("| head -1", "| true", ">&-")),
        *(("--help", redirected) for redirected in ("| head -1", "| true", ">&-", ">&- 2>&-", "<&-")),
        ("list --help", ">&- 2>&-"),
        ("--version", "| true"),
    ],
)
def test_output_that_nobody_reads_is_no_fault(tmp_path: Path, words: str, redirected: str) -> None:
    done = shell(f"{HANDLOOM} {words} {redirected}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_behind_standard_output_is_one_line(tmp_path: Path) -> None:
    done = shell(f"{HANDLOOM} list robots > /dev/full", tmp_path)
    assert (done.returncode, done.stderr) == (1, "handloom list: No space left on device\n")


def test_a_file_opened_while_standard_output_is_closed_does_not_get_what_is_printed(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "from handloom.cli.terminal import mend_streams\n"
        "mend_streams()\n"
        "file = open('data', 'wb')\n"
        "os.write(1, b'a library prints')\n"
        "file.write(b'bytes')\n"
    )
    (tmp_path / "program.py").write_text(code)
    assert shell(f"{sys.executable} program.py >&-", tmp_path).returncode == 0
    assert (tmp_path / "data").read_bytes() == b"bytes"


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = shell(f"{HANDLOOM} robot show so101 --size 64 -o file/so101.png", tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("megabytes", [200, 400, 600])
def test_too_little_memory_for_the_libraries_is_said_in_one_line(tmp_path: Path, megabytes: int) -> None:
    done = shell(f"ulimit -v {megabytes * 1000}; {HANDLOOM} generate fr3_pick_cube -n 1 -o run", tmp_path)
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert f"the memory of this process is limited to {megabytes * 1024 // 1000} MB (ulimit -v)" in done.stderr
