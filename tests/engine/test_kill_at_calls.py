"""``kill -9`` at any system call that changes files, then the same command again: the same bytes and no leftovers.

Each verb is traced once, which gives the calls it makes. Kills are then spread over them at random: ``strace`` sends
the signal when the call is about to be made. HANDLOOM_KILLS sets how many there are in all; 300 take half an hour.
"""

import hashlib
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from handloom.retarget import DeviceRecording
from handloom.tasks import load_task

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")]
KILLS = int(os.environ.get("HANDLOOM_KILLS", "20"))
SEED = int(os.environ.get("HANDLOOM_KILL_SEED", "0"))
CALLS = (
    *("write", "pwrite64", "ftruncate", "fsync", "fdatasync", "rename", "renameat", "renameat2"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "link", "linkat"),
)
"""Calls that change files; not every machine has all of them."""

POLICY = """
import numpy as np

class Still:
    cameras = ()

    def reset(self, instruction, rng):
        pass

    def act(self, observation):
        return np.r_[observation["observation.state"].astype(float)[:-1], 1.0]
"""
INLINE = ["--executor", "inline"]
SHORT = ["--set", "data.max_episode_length=4", "cameras.0.size=[16, 16]", "cameras.1.size=[16, 16]"]
TASK = "fr3_pick_cube"


def generate(run: str, attempts: int, *, seed: int = SEED) -> list[str]:
    count = ["--attempts", str(attempts), "--unit-size", "1", "--seed", str(seed)]
    return ["generate", TASK, *count, "--render", "none", *INLINE, "-o", run]


def render(width: int) -> list[str]:
    size = ["--size", str(width), "16", "--preset", "fast"]
    return ["render", "a", *size, "--workers", "0", "-o", "drawn"]


@dataclass(frozen=True)
class Verb:
    """A command that is killed and given again, in a folder with copies of the runs ``a`` and ``b``."""

    words: list[str]
    result: str
    """What it makes: a folder or a file."""


VERBS = {
    "generate": Verb(generate("new", 1), "new/dataset"),
    "extend": Verb(generate("a", 3), "a/dataset"),
    "shrink": Verb(generate("a", 1), "a/dataset"),
    "render": Verb(render(16), "drawn"),
    "merge": Verb(["merge", "a", "b", "-o", "both"], "both"),
    "export": Verb(["export", "a", "-o", "a.hdf5", "--no-images", "--no-models"], "a.hdf5"),
    "evaluate": Verb(
        ["evaluate", TASK, "--policy", "still:Still", "-n", "1", "--videos", "1", *INLINE, *SHORT, "-o", "judged"],
        "judged/failures",
    ),
    "augment": Verb(["augment", "a", "--attempts", "1", "--render", "none", *INLINE, "-o", "more"], "more/dataset"),
    "teleop": Verb(["teleop", TASK, "--replay", "hand.jsonl", "--render", "none", "-o", "driven"], "driven/dataset"),
}


class VerbServer:
    """A process that runs verbs in forks of itself, see ``verb_server.py``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        script = Path(__file__).with_name("verb_server.py")
        command = [sys.executable, str(script), str(folder), json.dumps(generate("a", 2))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._answer() == "ready"

    def run(self, words: list[str], trace: list[str] | None = None) -> int:
        """Run a verb, under strace if words for it are given, and return its exit code."""
        self._ask(words)
        child = self._answer()
        tracer = None
        if trace is not None:
            tracer = subprocess.Popen(["strace", "-f", "-qq", *trace, "-p", str(child)], stderr=subprocess.DEVNULL)
            status = Path(f"/proc/{child}/status")
            while "TracerPid:\t0\n" in status.read_text() and tracer.poll() is None:
                time.sleep(0.002)
        self._ask("go")
        code = self._answer()
        if tracer is not None:
            tracer.wait()
        return code

    def _ask(self, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> object:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def __enter__(self) -> "VerbServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


def hand_recording() -> DeviceRecording:
    """Return what the controllers of a person say who does what the expert does."""
    path = Path(__file__).parents[1] / "teleop" / "expert_hand.py"
    spec = importlib.util.spec_from_file_location("expert_hand", path)
    assert spec is not None
    assert spec.loader is not None
    hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hand)
    return hand.hand_recording(hand.expert_record(load_task(TASK), 0, 0))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VerbServer]:
    """A server that works in a folder with two finished runs, a drawing of one, a policy and a recording."""
    with VerbServer(tmp_path_factory.mktemp("kills")) as server:
        folder = server.folder
        assert server.run(generate("b", 1, seed=SEED + 1)) == 0
        assert server.run(render(24)) == 0
        (folder / "drawn/notes.txt").write_text("mine")
        (folder / "a/dataset/notes.txt").write_text("mine")
        (folder / "still.py").write_text(POLICY)
        hand_recording().write(folder / "hand.jsonl")
        shutil.copytree(folder, folder.with_name("begin"))
        yield server


def restored(server: VerbServer) -> None:
    """Bring the folder back to how it was before a verb."""
    for entry in server.folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(server.folder.with_name("begin"), server.folder, dirs_exist_ok=True)


def digest(path: Path) -> dict[str, str]:
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path.parent)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def leftovers(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if "partial" in path.name]


def moments(log: Path) -> list[tuple[str, int]]:
    """Return every traced call and how often its thread had made that call by then."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for line in log.read_text(errors="replace").splitlines():
        if call := re.match(r"(\d+) +(\w+)\(", line):
            seen[call.groups()] += 1
            found.append((call[2], seen[call.groups()]))
    return found


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_that_is_killed_at_any_call_ends_with_the_same_bytes(
    name: str, server: VerbServer, tmp_path: Path
) -> None:
    if name == "export" and importlib.util.find_spec("h5py") is None:
        pytest.skip("needs h5py")
    verb, chance = VERBS[name], random.Random(f"{SEED} {name}")
    traced = ["-e", "trace=" + ",".join(f"?{call}" for call in CALLS)]
    restored(server)
    code = server.run(verb.words, [*traced, "-o", str(tmp_path / "log")])
    assert code >= 0
    expected = digest(server.folder / verb.result)
    assert expected
    assert not leftovers(server.folder)
    known, killed = moments(tmp_path / "log"), 0
    share = KILLS // len(VERBS) + (list(VERBS).index(name) < KILLS % len(VERBS))
    for call, count in chance.sample(known, min(share, len(known))):
        restored(server)
        how = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={count}", "-o", os.devnull]
        killed += server.run(verb.words, how) == -9
        if name == "export" and (server.folder / verb.result).exists():
            continue  # It was whole; the same command again would refuse to replace it.
        assert server.run(verb.words) == code, f"after a kill at {call} {count}"
        assert digest(server.folder / verb.result) == expected, f"after a kill at {call} {count}"
        assert not leftovers(server.folder), f"after a kill at {call} {count}"
    sys.stdout.write(f"{name}: {killed} of {share} kills at {len(known)} calls, {len(expected)} files, same bytes\n")
    assert killed >= share * 0.9 or share > len(known)
