"""What a child process tries first cannot end, fill or hang this one."""

import os
from pathlib import Path

import pytest

from handloom.child_process import MEMORY, call_apart
from handloom.errors import FileError, InputError

FUNCTIONS = """
import ctypes, os, time
from handloom.errors import InputError

def double(value): return 2 * value
def place(): return os.getcwd()
def number(): return os.getpid()
def refuse(): raise InputError("not this one")
def stumble(): return {}["gone"]
def crash(): ctypes.string_at(0)
def leave(): os._exit(3)
def hang(): time.sleep(60)
def nap(): time.sleep(2.5); return "done"
def fill(size): return len(bytearray(size))
def chatter(): os.write(1, b"a library prints"); return "fine"
def large(size): return bytes(size)
def variable(name): return os.environ.get(name)
"""


@pytest.fixture(autouse=True)
def functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apart_functions.py").write_text(FUNCTIONS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)


def call(name: str, *arguments: object, seconds: float = 20.0) -> object:
    return call_apart(f"apart_functions:{name}", *arguments, what="thing.stl", seconds=seconds, more="ask for more")


def test_values_come_back_and_the_child_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("double", [1.5]) == [1.5, 1.5]
    assert call("number") == call("number") != os.getpid()
    monkeypatch.chdir(tmp_path)
    assert call("place") == str(tmp_path)
    assert call("large", 30_000_000) == bytes(30_000_000)


def test_a_call_sees_the_cache_and_home_of_its_caller_without_a_new_child(monkeypatch: pytest.MonkeyPatch) -> None:
    before = call("number")
    for folder in ("/one", "/two"):
        monkeypatch.setenv("HANDLOOM_CACHE", folder)
        assert call("variable", "HANDLOOM_CACHE") == folder
    monkeypatch.delenv("HANDLOOM_CACHE")
    assert call("variable", "HANDLOOM_CACHE") is None
    assert call("number") == before


def test_what_libraries_print_is_not_taken_for_an_answer() -> None:
    assert call("chatter") == "fine"


@pytest.mark.parametrize(
    ("name", "arguments", "error", "text"),
    [
        ("refuse", (), InputError, "not this one"),
        ("stumble", (), FileError, "thing.stl: cannot be read: KeyError: 'gone'"),
        ("crash", (), FileError, "thing.stl: cannot be read: its reader crashed with SIGSEGV"),
        ("leave", (), FileError, "thing.stl: cannot be read: its reader ended with code 3"),
        ("fill", (2 * MEMORY,), FileError, "thing.stl: cannot be read: it needs more than 1.2 GB of memory"),
    ],
)
def test_trouble_of_any_kind_is_a_typed_error_and_the_next_call_works(name, arguments, error, text) -> None:
    with pytest.raises(error) as told:
        call(name, *arguments)
    assert str(told.value) == text
    assert call("double", 4) == 8


def test_a_call_that_hangs_is_ended_and_the_way_to_more_time_is_said() -> None:
    call("number")
    with pytest.raises(FileError, match=r"thing.stl: cannot be read in 0.5 s; ask for more"):
        call("hang", seconds=0.5)
    assert call("double", 4) == 8


def test_a_reader_that_the_machine_has_no_time_for_is_waited_for() -> None:
    assert call("nap", seconds=2.0) == "done"
