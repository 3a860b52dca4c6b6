"""``kill -9`` at any moment, then the same command again: the dataset an undisturbed run would have written."""

import hashlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="finds workers in /proc"),
]
HANDLOOM = [sys.executable, "-m", "handloom"]
EPISODES = 5
SMALL = ["--set", "cameras.0.size=[32, 32]", "cameras.1.size=[32, 32]"]
MOMENTS = int(os.environ.get("HANDLOOM_KILLS", "20"))
SEED = int(os.environ.get("HANDLOOM_KILL_SEED", "0"))
"""Seed of the run and of the moments, so that another run of the tests tries others."""
VICTIMS = ("a worker", "the parent", "everything")


def generate(run: Path, *, seed: int = SEED, successes: int = EPISODES) -> list[str]:
    words = ["generate", "fr3_pick_cube", "-n", str(successes), "--seed", str(seed), "--workers", "2"]
    return [*HANDLOOM, *words, "--unit-size", "1", *SMALL, "-o", str(run)]


def digest(folder: Path) -> dict[str, str]:
    """Return the hash of every file of a dataset: data, videos, archives, statistics."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def start(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def finish(process: subprocess.Popen[bytes]) -> int:
    _, error = process.communicate()
    assert b"Traceback" not in error, error.decode()
    return process.returncode


def workers_of(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the process ids of the workers that are there by now."""
    workers = []
    try:
        for pid in map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()):
            workers += [pid] if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes() else []
    except FileNotFoundError:  # It ended while we looked.
        return []
    return workers


def kill(process: subprocess.Popen[bytes], victim: str, chance: random.Random) -> str:
    """Kill a worker, the parent or the whole process group; return who was killed, or that nobody was left."""
    workers = workers_of(process)
    if process.poll() is not None:
        process.communicate()
        return "nobody"
    if victim == "a worker" and workers:
        os.kill(chance.choice(workers), signal.SIGKILL)
        assert finish(process) == 0, "the loss of a worker ends nothing"
    elif victim == "everything":
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    else:
        victim = "the parent"
        process.kill()  # its workers notice and end
        process.communicate()
    return victim


def test_killed_runs_end_with_the_same_bytes(tmp_path):
    begin = time.monotonic()
    assert finish(start(generate(tmp_path / "undisturbed"))) == 0
    duration = time.monotonic() - begin
    expected = digest(tmp_path / "undisturbed" / "dataset")
    assert sum("states.npz" in name for name in expected) == EPISODES
    chance = random.Random(SEED)
    for trial in range(MOMENTS):
        run = tmp_path / f"killed_{trial}"
        process = start(generate(run))
        moment = chance.uniform(0.0, duration)
        time.sleep(moment)
        who = kill(process, VICTIMS[trial % 3], chance)
        assert finish(start(generate(run))) == 0
        assert digest(run / "dataset") == expected
        left = [folder.name for folder in run.glob("episodes/*")]
        assert all(name > "episode_000004" and "partial" not in name for name in left), "only attempts beyond the goal"
        sys.stdout.write(f"{moment:5.1f} s: {who} killed, {len(expected)} files with the same bytes\n")


@dataclass(frozen=True)
class Verb:
    """A command that is killed and given again."""

    command: Callable[[Path], list[str]]
    """The command for a folder that holds copies of the run ``a`` and its twin ``b``."""
    begun: Callable[[Path], bool]
    """Whether it is past its imports, by what it has written."""
    result: str
    """What it makes in the folder; for verify, what it must leave as it is."""


def exists(pattern: str) -> Callable[[Path], bool]:
    return lambda folder: any(folder.glob(pattern))


VERBS = {
    "generate": Verb(
        lambda f: generate(f / "new", seed=SEED + 23, successes=3), exists("new/journal/*"), "new/dataset"
    ),
    "merge": Verb(
        lambda f: [*HANDLOOM, "merge", str(f / "a"), str(f / "b"), "-o", str(f / "both")],
        lambda f: exists("both.partial/data")(f) or exists("both")(f),
        "both",
    ),
    "render": Verb(
        lambda f: [*HANDLOOM, "render", str(f / "a"), "--size", "96", "64", "--relight", "3", "--workers", "2"],
        lambda f: exists("a/rendered.*.partial/*")(f) or exists("a/rendered")(f),
        "a/rendered",
    ),
    "verify": Verb(lambda f: [*HANDLOOM, "verify", str(f / "a"), "--workers", "2"], lambda _: True, "a"),
}


@pytest.fixture(scope="module")
def twins(tmp_path_factory) -> Path:
    """Two finished runs of the same task with different seeds."""
    folder = tmp_path_factory.mktemp("twins")
    for name, seed in (("a", SEED + 11), ("b", SEED + 12)):
        assert finish(start(generate(folder / name, seed=seed))) == 0
    return folder


@pytest.mark.parametrize("name", VERBS)
def test_killed_verbs_end_with_the_same_bytes(name, twins, tmp_path):
    """Twelve kills in all: each verb loses a worker, its parent and its whole group."""
    verb, chance = VERBS[name], random.Random(SEED + 1)

    def begin(folder: Path) -> tuple[subprocess.Popen[bytes], float]:
        shutil.copytree(twins, folder)
        process = start(verb.command(folder))
        while not verb.begun(folder) and process.poll() is None:
            time.sleep(0.002)
        return process, time.monotonic()

    process, begun = begin(tmp_path / "undisturbed")
    assert finish(process) == 0
    duration = time.monotonic() - begun
    expected = digest(tmp_path / "undisturbed" / verb.result)
    assert expected
    for victim in VICTIMS:
        folder, latest = tmp_path / victim, chance.uniform(0.0, duration)
        for moment in (latest * 0.8**tries for tries in itertools.count()):
            shutil.rmtree(folder, ignore_errors=True)
            process, _ = begin(folder)
            time.sleep(moment)
            who = kill(process, victim, chance)
            if who != "nobody":  # Else it was quicker than the undisturbed one: earlier, then.
                break
        assert finish(start(verb.command(folder))) == 0
        assert digest(folder / verb.result) == expected
        assert not list(folder.glob("**/*partial*"))
        sys.stdout.write(f"{name}, {moment:.2f} of {duration:.2f} s: {who} killed, {len(expected)} files, same bytes\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_finishes_what_it_does_and_says_how_to_go_on(number, tmp_path):
    run = tmp_path / "run"
    process = start(generate(run))
    while not list(run.glob("journal/*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, error = process.communicate()
    assert process.returncode == 1
    assert b"continue with: handloom generate fr3_pick_cube -n 5" in error
    assert 1 <= len(list(run.glob("episodes/episode_*"))) < 5
    assert finish(start(generate(run))) == 0
    assert sum("states.npz" in name for name in digest(run / "dataset")) == 5


def test_one_of_three_shards_is_stopped_by_itself_and_resumes(tmp_path):
    attempts = 12

    def shard(run: Path, part: str) -> list[str]:
        words = ["generate", "fr3_pick_cube", "--attempts", str(attempts), "--seed", str(SEED + 31), "--workers", "1"]
        return [*HANDLOOM, *words, "--unit-size", "1", *SMALL, "--shard", part, "-o", str(run)]

    assert finish(start(shard(tmp_path / "whole", "0/1"))) == 0
    expected = digest(tmp_path / "whole" / "dataset")
    run = tmp_path / "shards"
    shards = {part: start(shard(run, part)) for part in ("0/3", "1/3", "2/3")}
    while not list(run.glob("journal/unit_00000[147]*")):  # Of shard 1/3.
        assert shards["1/3"].poll() is None
        time.sleep(0.02)
    shards["1/3"].send_signal(signal.SIGTERM)
    codes = {part: finish(process) for part, process in shards.items()}
    done = sorted(int(file.stem[-6:]) for file in run.glob("journal/*"))
    assert codes == {"0/3": 0, "1/3": 1, "2/3": 0}, "those that did their part are done, the stopped one is not"
    assert [unit for unit in done if unit % 3 != 1] == [0, 2, 3, 5, 6, 8, 9, 11], "the other shards did all of theirs"
    assert len(done) < attempts, "the stopped one did not"
    assert finish(start(shard(run, "1/3"))) == 0, "resumed, it finishes the run and merges it"
    assert digest(run / "dataset") == expected
    sys.stdout.write(f"1/3 stopped after {len(done) - 8} of 4 attempts; {len(expected)} files with the same bytes\n")
