"""Runs cases whose names are paths in one process, with a witness: ``python tests/hostile/run_names.py COUNT SEED``."""

import contextlib
import io
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
import run_name_cases  # noqa: F401 - fills the table of kinds
from canaries import TOKEN, Home, Witness, witnessed
from name_cases import NAME_KINDS
from names import spilled

SECONDS, BYTES = 30, 2_000_000_000
"""What a command line may take."""


@dataclass(frozen=True, kw_only=True)
class NameOutcome:
    """What became of one command line."""

    case: str
    words: str
    code: int | None
    """Exit code; None: it raised, or was ended."""
    seconds: float
    text: str
    faults: tuple[str, ...]
    """What must not be."""

    def __str__(self) -> str:
        last = (self.text.strip().splitlines() or [""])[-1]
        told = "; ".join(self.faults) or f"code {self.code}"
        return f"{self.case:<22}{self.words[:70]:<72}{self.seconds:5.1f} s  {told}: {last[:160]}"


def name_outcomes(count: int, seed: int) -> Iterator[NameOutcome]:
    """Yield what becomes of every command line of that many cases, all kinds in turn."""
    with tempfile.TemporaryDirectory() as place, witnessed(Path(place)) as (home, witness):
        for i in range(count):
            made = NAME_KINDS[i % len(NAME_KINDS)]
            os.chdir(home.root)
            files, work = home.case(i)
            commands = made(files, random.Random(f"{seed} {i}"))
            witness.seen()  # Making the files is no crime.
            for words in commands:
                yield _run(f"{i:04d} {made.__name__}", words, (files, work), home, witness)
            home.clear()


def _run(case: str, words: list[str], places: tuple[Path, Path], home: Home, witness: Witness) -> NameOutcome:
    from handloom.cli.main import main

    files, work = places
    planted = set(spilled(files))
    os.chdir(work)
    said, faults, code, begin = io.StringIO(), [], None, time.monotonic()
    with _alarm(SECONDS), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main(words)
        except _LateError:
            faults.append(f"took longer than {SECONDS} s")
        except BaseException:
            said.write(traceback.format_exc())
            faults.append("traceback")
    text, seconds = said.getvalue(), time.monotonic() - begin
    faults += witness.seen()
    faults += ["code ran"] * (work / "ran").exists() + ["a canary came out"] * (TOKEN in text)
    faults += [f"a canary lies in {Path(file).name}" for file in spilled(work, files) if file not in planted]
    if code is not None and (code not in (0, 1, 2) or (code and not text.strip())):
        faults.append(f"ended with {code} and {len(text)} characters")
    if most_memory() > BYTES:
        faults.append("held more than 2 GB")
    shown = " ".join(word.replace(str(home.home), "~") for word in words)
    return NameOutcome(case=case, words=shown, code=code, seconds=seconds, text=text, faults=tuple(faults))


class _LateError(BaseException):
    pass


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def most_memory() -> int:
    """Return the most memory that this program has held [bytes]; getrusage counts what its parent held, too."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def summary(done: list[NameOutcome]) -> str:
    """Return the figures of all command lines in one line."""
    codes = Counter(outcome.code for outcome in done)
    return (
        f"{len({outcome.case for outcome in done})} cases, {len(done)} command lines: "
        f"{sum(bool(outcome.faults) for outcome in done)} with faults, exit codes {dict(codes)}, slowest "
        f"{max(outcome.seconds for outcome in done):.1f} s, most memory "
        f"{most_memory() / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    found = []
    for outcome in name_outcomes(*(int(word) for word in sys.argv[1:3])):
        found.append(outcome)
        if outcome.faults or "-v" in sys.argv:
            sys.stdout.write(f"{outcome}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{summary(found)}\n")
