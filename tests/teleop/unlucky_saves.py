"""Saves that fail; in a module of its own, which the processes that save import in no time."""

import os
import signal
from pathlib import Path
from typing import Any


def unlucky(folder: Path, failures: int, job: Any) -> Any:
    """Fail some times, by an error or by dying, and then write a file and return the receipt."""
    count = len(list(folder.glob("try_*")))
    (folder / f"try_{count}").touch()
    if count < failures:
        if count % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(28, "No space left on device")
    (folder / f"episode_{job}").touch()
    from handloom.engine.runs.journal import Receipt

    return Receipt(episode=job, success=True)
