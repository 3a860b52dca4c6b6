"""Runs hostile cases as a user does, in processes of their own: ``python tests/hostile/run_cases.py COUNT SEED``."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import mesh_cases  # noqa: F401 - fills the table of kinds
import model_cases  # noqa: F401
import task_cases  # noqa: F401
import usd_cases  # noqa: F401
from kinds import cases

SECONDS, BYTES = 30.0, 2_000_000_000
"""What a command line may take."""
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one command line."""

    case: str
    words: str
    code: int | None
    """Exit code; None: it was ended."""
    seconds: float
    peak: int
    """Most memory that it and its children held together [bytes]."""
    text: str

    @property
    def fault(self) -> str | None:
        """Say what must not be, or None."""
        if self.code is None:
            return f"took longer than {SECONDS:.0f} s"
        if self.code not in (0, 1, 2):
            return f"ended with {self.code}"
        if "Traceback" in self.text or "Exception ignored" in self.text:
            return "traceback"
        if self.peak > BYTES:
            return f"held {self.peak / 1e9:.1f} GB"
        if self.code and not self.text.strip():
            return "said nothing"
        return None

    def __str__(self) -> str:
        last = (self.text.strip().splitlines() or [""])[-1]
        figures = f"{self.seconds:5.1f} s{self.peak / 1e6:7.0f} MB"
        return f"{self.case:<40}{self.words[:34]:<36}{figures}  {self.fault or f'code {self.code}'}: {last[:150]}"


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """Yield what becomes of every command line of that many cases."""
    for name, make, rng in cases(count, seed):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "stranger" / "files"
            folder.mkdir(parents=True)
            for words in make(folder, rng):
                yield _run(name, words, folder)


def _run(name: str, words: list[str], folder: Path) -> Outcome:
    begin, peak = time.monotonic(), 0
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "handloom", *words]
        child = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out, start_new_session=True)
        while child.poll() is None and time.monotonic() - begin < SECONDS:
            peak = max(peak, _held(child.pid))
            time.sleep(0.02)
        seconds, code = time.monotonic() - begin, child.poll()
        if code is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    shown = " ".join(Path(word).name for word in words)
    return Outcome(case=name, words=shown, code=code, seconds=seconds, peak=peak, text=text)


def _held(session: int) -> int:
    """Return the memory of all processes of a session [bytes]."""
    total = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            except OSError:
                continue
            if int(fields.split()[3]) == session:
                total += int(fields.split()[21]) * PAGE
    return total


def summary(done: list[Outcome]) -> str:
    """Return the figures of all command lines in one line."""
    return (
        f"{len({outcome.case for outcome in done})} cases, {len(done)} command lines: "
        f"{sum(outcome.fault is not None for outcome in done)} faults, "
        f"{sum(outcome.code == 0 for outcome in done)} succeed, "
        f"slowest {max(outcome.seconds for outcome in done):.1f} s, most memory "
        f"{max(outcome.peak for outcome in done) / 1e9:.2f} GB"
    )


if __name__ == "__main__":
    found = []
    for outcome in outcomes(*(int(word) for word in sys.argv[1:3])):
        found.append(outcome)
        sys.stdout.write(f"{outcome}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{summary(found)}\n")
