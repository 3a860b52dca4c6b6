"""A task file with something wrong in it, or a wrong override, never gives a traceback, a hang or half a dataset."""

import importlib
import os
import random
import signal
import sys
from pathlib import Path

import pytest

from handloom.cli.main import main
from handloom.dataset import check_layout
from handloom.engine import RunDirectory
from handloom.tasks import library

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks"))
mutations = importlib.import_module("mutations")

CASES = int(os.environ.get("HANDLOOM_FUZZ_CASES", "60"))
FIRST = int(os.environ.get("HANDLOOM_FUZZ_FIRST", "0"))
"""Seed of the first case, so that another run tries other mistakes."""
LIMIT = 300
"""Seconds after which an attempt counts as hung; one takes two on an idle machine."""
KEYS = ("data.fps", "data.max_episode_length", "cameras.0.size", "objects.0.name", "regions.1", "skills", "seed", "a.b")


def overrides(rng: random.Random) -> list[str]:
    if rng.random() < 0.7:
        return []
    return ["--set", *(f"{rng.choice(KEYS)}={rng.choice(mutations.WEIRD)}" for _ in range(rng.randint(1, 2)))]


def out_of_time(*_: object) -> None:
    raise TimeoutError(f"no answer after {LIMIT} s")


@pytest.mark.slow
def test_malformed_tasks_end_with_a_message_or_a_whole_dataset(tmp_path, capsys):
    before = signal.signal(signal.SIGALRM, out_of_time)
    texts = [library()[name].read_text() for name in ("fr3_pick_cube", "fr3_pick_place")]
    codes = {0: 0, 1: 0, 2: 0}
    for seed in range(FIRST, FIRST + CASES):
        rng = random.Random(seed)
        file = tmp_path / f"case_{seed}.yaml"
        file.write_text(mutations.mutated(rng.choice(texts), seed), encoding="utf-8")
        out = tmp_path / f"run_{seed}"
        words = ["generate", str(file), "--attempts", "1", "--render", "none", "--executor", "inline", "-o", str(out)]
        signal.alarm(LIMIT)
        try:
            code = main([*words, *overrides(rng)])
        except SystemExit as stop:  # flags that the parser refuses
            code = stop.code
        finally:
            signal.alarm(0)
        error = capsys.readouterr().err
        assert "Traceback" not in error, f"case {seed}"
        assert code in codes, f"case {seed}"
        codes[code] += 1
        if out.exists():
            run = RunDirectory.open(out)
            assert all(receipt.reason != "internal_error" for receipt in run.receipts().values()), f"case {seed}"
            assert not list(out.rglob("*.partial*")), f"case {seed}"
            assert (code == 0) == run.dataset.exists(), f"case {seed}"
            assert not run.dataset.exists() or check_layout(run.dataset) == (), f"case {seed}"
    signal.signal(signal.SIGALRM, before)
    sys.stdout.write(f"{CASES} task files: {codes[0]} datasets, {codes[1]} failed attempts, {codes[2]} refused\n")
