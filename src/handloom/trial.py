"""Draws one picture in a child process: a broken graphics driver ends the process that loads it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

TIMEOUT = 60.0


class Trial(NamedTuple):
    """How a trial ended."""

    error: str | None
    """What went wrong, or None."""
    output: str
    """What the child printed."""


def run_trial(code: str, environment: Mapping[str, str] | None = None) -> Trial:
    """Run Python code in a child process, with additions to this environment."""
    try:
        child = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Trial(f"no picture after {TIMEOUT:.0f} s", "")
    if child.returncode == 0:
        return Trial(None, child.stdout + child.stderr)
    lines = child.stderr.strip().splitlines()
    return Trial(lines[-1] if lines else f"the trial ended with code {child.returncode}", child.stdout + child.stderr)
