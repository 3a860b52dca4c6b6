"""Datasets of strangers, and damaged ones, end every verb with an answer: no traceback, no bomb, no code, no escape."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from hostile_datasets import HONEST_DATASET, KINDS, hostile_run
from hostile_datasets.honest import honest_run
from hostile_datasets.signing import sign_archives, sign_files
from hostile_datasets.verb_runner import Outcome, VerbRunner

FIRST = int(os.environ.get("HANDLOOM_HOSTILE_FIRST", "0"))
"""Seed of the first case, so that another run tries other things."""
ARCHIVES = int(os.environ.get("HANDLOOM_HOSTILE_ARCHIVES", str(len(KINDS))))
FLIPS = int(os.environ.get("HANDLOOM_HOSTILE_FLIPS", "60"))
MEMORY = 2 * 10**9
"""[bytes]"""
PROCESSOR_S = 30

VERBS = {
    "verify": ["verify", "run", "--workers", "0"],
    "report": ["report", "run", "-o", "page"],
    "export": ["export", "run", "-o", "out.h5"],
    "render": ["render", "run", "-o", "drawn", "--workers", "0", "--preset", "fast"],
    "join": ["merge", "run", "-o", "merged"],
    "merge": ["merge", "run"],
}
USERS = ("export", "render", "join")
"""Verbs that make something new of a dataset, and compare its hashes first."""


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return honest_run(tmp_path_factory.mktemp("honest"))


@pytest.fixture(scope="module")
def runner() -> Iterator[VerbRunner]:
    with VerbRunner() as runner:
        yield runner


class Tally:
    """The largest figures of many verbs."""

    def __init__(self) -> None:
        self.verbs = self.refused = self.noticed = 0
        self.peak = self.cpu = self.wall = 0.0

    def add(self, outcomes: dict[str, Outcome]) -> None:
        self.verbs += len(outcomes)
        self.refused += sum(outcome.code != 0 for outcome in outcomes.values())
        self.noticed += outcomes["verify"].code != 0
        self.peak = max(self.peak, *(outcome.peak_bytes for outcome in outcomes.values()))
        self.cpu = max(self.cpu, *(outcome.cpu_s for outcome in outcomes.values()))
        self.wall = max(self.wall, *(outcome.wall_s for outcome in outcomes.values()))

    def tell(self, what: str) -> None:
        figures = (
            f"{self.verbs} verbs, {self.refused} refused, {self.noticed} found by verify, {self.peak / 1e6:.0f} MB"
        )
        sys.stdout.write(f"{what}: {figures} at most, {self.cpu:.1f} s of processor, {self.wall:.1f} s of wall time\n")


def tried(runner: VerbRunner, folder: Path, case: str) -> dict[str, Outcome]:
    """Run every verb and hold it to its bounds."""
    outcomes = {name: runner.run(words, folder) for name, words in VERBS.items()}
    for name, outcome in outcomes.items():
        told = f"{case}, {name}: code {outcome.code}\n{outcome.error[-2000:]}"
        assert not outcome.crashed, told
        assert outcome.peak_bytes < MEMORY, told
        assert outcome.cpu_s < PROCESSOR_S, told
        assert outcome.code == 0 or outcome.error.strip() or outcome.out.strip(), told
        assert len(outcome.error.splitlines()) <= 12, told
        assert "\x1b[2J" not in outcome.out + outcome.error, told
    assert not list(folder.glob("ran*")), f"{case}: code ran"
    return outcomes


def try_archives(runner: VerbRunner, honest: Path, folder: Path, seeds: range) -> Tally:
    tally = Tally()
    for seed in seeds:
        place = folder / f"case_{seed}"
        place.mkdir()
        (place / "stranger.py").write_text("open('ran', 'w')\n")
        name = hostile_run(honest, place / "run", seed)
        outcomes = tried(runner, place, f"case {seed} {name}")
        tally.add(outcomes)
        if not name.startswith(HONEST_DATASET) and not name.endswith("signed"):
            assert outcomes["verify"].code == 1, f"case {seed} {name}: verify did not notice"
            codes = {verb: outcomes[verb].code for verb in USERS}
            assert codes == dict.fromkeys(USERS, 2), f"case {seed} {name}: used all the same"
        victim = place / "run_victim"
        assert not victim.exists() or victim.read_text() == "precious", f"case {seed} {name}"
        shutil.rmtree(place)
    return tally


def try_flips(runner: VerbRunner, honest: Path, folder: Path, seeds: range) -> Tally:
    tally = Tally()
    files = sorted(file.relative_to(honest) for file in (honest / "dataset").rglob("*") if file.is_file())
    kinds = sorted({(file.name, file.parts[1]) for file in files})
    for seed in seeds:
        rng = Random(seed)
        place = folder / f"flip_{seed}"
        shutil.copytree(honest, place / "run")
        kind = kinds[seed % len(kinds)]
        file = place / "run" / rng.choice([file for file in files if (file.name, file.parts[1]) == kind])
        raw = bytearray(file.read_bytes())
        where = rng.randrange(len(raw))
        raw[where] ^= rng.randrange(1, 256)
        file.write_bytes(raw)
        case = f"flip {seed}: byte {where} of {file.relative_to(place)}"
        outcomes = tried(runner, place, case)
        tally.add(outcomes)
        assert outcomes["verify"].code == 1, f"{case}: verify did not find it"
        if file.name != "files.json":  # A wrong list accuses the files in it.
            assert file.name in outcomes["verify"].out, f"{case}: verify did not name it\n{outcomes['verify'].out}"
        for verb in USERS:
            assert outcomes[verb].code == 2, f"{case}: {verb} used it\n{outcomes[verb].error}"
        shutil.rmtree(place)
    return tally


def test_the_honest_run_passes_every_verb(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "run")
    outcomes = tried(runner, tmp_path, "honest")
    assert {name: outcome.code for name, outcome in outcomes.items()} == dict.fromkeys(VERBS, 0)
    assert "2 of 2 episodes replay bit for bit" in outcomes["verify"].out
    assert (tmp_path / "run/dataset/extras/episode_000002").is_dir()
    sheet = runner.run(["report", "run", "--episode", "1"], tmp_path)
    assert sheet.out.splitlines()[-1] == f"image: {Path('run/report/episode_1.png')}", sheet.error
    assert (tmp_path / "run/report/episode_1.png").stat().st_size > 1000
    assert "episode 5 is out of range (0-2)" in runner.run(["report", "run", "--episode", "5"], tmp_path).error


def test_some_hostile_runs_end_every_verb_with_an_answer(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    step = len(KINDS) // 2
    try_archives(runner, honest, tmp_path, range(5000, 5000 + len(KINDS), step))


def test_some_flipped_bytes_are_found_and_used_by_no_verb(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    try_flips(runner, honest, tmp_path, range(5000, 5001))


@pytest.mark.slow
def test_a_hundred_hostile_runs_end_every_verb_with_an_answer(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    try_archives(runner, honest, tmp_path, range(FIRST, FIRST + ARCHIVES)).tell(f"{ARCHIVES} hostile runs from {FIRST}")


@pytest.mark.slow
def test_sixty_flipped_bytes_are_found_and_used_by_no_verb(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    try_flips(runner, honest, tmp_path, range(FIRST, FIRST + FLIPS)).tell(f"{FLIPS} flipped bytes from {FIRST}")


def test_hashes_are_compared_unless_the_user_says_otherwise(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "run")
    stats = tmp_path / "run/dataset/meta/stats.json"
    stats.write_text(stats.read_text().replace("0", "1", 1))
    for verb in USERS:
        refused = runner.run(VERBS[verb], tmp_path)
        assert (refused.code, "meta/stats.json was changed" in refused.error) == (2, True), refused.error
        used = runner.run([*VERBS[verb], "--skip-hashes"], tmp_path)
        assert (used.code, "not compared with their hashes, as requested" in used.error) == (0, True), used.error
    refused = runner.run(["merge", "run"], tmp_path)
    assert (refused.code, "meta/stats.json was changed" in refused.error) == (2, True), refused.error
    assert runner.run(["merge", "run", "--skip-hashes"], tmp_path).code == 0


def test_a_dataset_without_a_list_is_used_with_a_note(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "run")
    (tmp_path / "run/dataset/meta/files.json").unlink()
    outcome = runner.run(VERBS["export"], tmp_path)
    assert (outcome.code, "has no meta/files.json" in outcome.error) == (0, True)
    assert "meta/files.json: is missing" in runner.run(VERBS["verify"], tmp_path).out


def test_worker_processes_bring_the_answer_home(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "run")
    file = tmp_path / "run/dataset/extras/episode_000001/instance.json"
    value = json.loads(file.read_text())
    file.write_text(json.dumps({**value, "substeps": 10**9}))
    sign_archives(tmp_path / "run/dataset")
    sign_files(tmp_path / "run/dataset")
    verified = runner.run(["verify", "run", "--workers", "1"], tmp_path)
    assert verified.code == 1
    assert "episode_000001  damaged: run/dataset/extras/episode_000001 cannot be used" in verified.out
    assert "substeps: Input should be less than" in verified.out
    assert "1 of 2 episodes replay bit for bit" in verified.out
    drawn = runner.run(["render", "run", "-o", "drawn", "--workers", "1"], tmp_path)
    assert (drawn.code, "substeps: Input should be less than" in drawn.error) == (2, True), drawn.error
    assert "Traceback" not in drawn.error


def test_an_archive_runs_no_code_unasked(runner: VerbRunner, honest: Path, tmp_path: Path) -> None:
    shutil.copytree(honest, tmp_path / "run")
    (tmp_path / "stranger.py").write_text("open('ran', 'w')\n")
    file = tmp_path / "run/dataset/extras/episode_000000/instance.json"
    value = json.loads(file.read_text())
    value["objects"][-1].update(category="stranger:brick", parameters={})
    file.write_text(json.dumps(value))
    sign_archives(tmp_path / "run/dataset")
    sign_files(tmp_path / "run/dataset")
    outcomes = {verb: runner.run(words, tmp_path) for verb, words in VERBS.items()}
    assert not (tmp_path / "ran").exists()
    assert "episode_000000  refused: object category 'stranger:brick' would run" in outcomes["verify"].out
    assert "'stranger:brick' would run" in outcomes["render"].error
    for verb in ("verify", "render"):  # It is no object, and that is told once it may run.
        runner.run([*VERBS[verb], "--allow-code"], tmp_path)
        assert (tmp_path / "ran").exists()
        (tmp_path / "ran").unlink()
