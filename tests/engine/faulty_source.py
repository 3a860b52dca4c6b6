"""A source that works like the expert, except in some attempts, which fail in every way an attempt can."""

import ctypes
import errno
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import ClassVar

import mujoco
import numpy as np

from handloom.errors import FileError, InputError, StateError
from handloom.skills import Schedule

TASK = """
base: setups/fr3.yaml
objects:
  - {name: cube, target_class: RigidObject, category: cube, color: red, parameters: {edge: 0.04}}
regions:
  - object: cube
    target: table
    random_config: {pos_range: [[-0.13, 0.07, 0], [-0.07, 0.13, 0]], yaw_rotation: [-40, 40]}
cameras: []
data: {language_instruction: Turn the wrist.}
skills:
  - franka: [{left: [{name: joint__ctrl, ctrl_list: [[6, 10, delta]], num_steps: 12, success_threshold_js: 0.1}]}]
"""
MARKS = "HANDLOOM_TEST_MARKS"
"""Variable with a folder in which attempts that fail only once leave a mark."""


def raised(error: BaseException):
    def fail(_):
        raise error

    return fail


def unstable(scene):
    scene.world.data.qvel[:] = np.nan


def hang(_):
    time.sleep(3600)


def segfault(_):
    ctypes.string_at(0)


def killed(_):
    os.kill(os.getpid(), signal.SIGKILL)


def too_large(_):
    np.ones(1 << 55)


def starved(scene):
    """Make MuJoCo ask for memory that the system does not give."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (1, before[1]))
    try:
        kept = [mujoco.MjData(scene.world.model) for _ in range(1000)]
        raise AssertionError(f"there was room for {len(kept)}")
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def leave(_):
    sys.exit(3)


MILD = {
    "state_error": raised(StateError("the robot is in no mood")),
    "input_error": raised(InputError("nobody asked for this")),
    "file_error": raised(FileError("the recording is not here")),
    "internal_error": raised(KeyError("x")),
    "internal_error 2": raised(np.linalg.LinAlgError("SVD did not converge")),
    "internal_error 3": leave,
    "unstable": unstable,
}
"""Typed reason > what leads to it, without harm to the process."""
MACHINE = {
    "out_of_memory": raised(MemoryError()),
    "out_of_memory 2": too_large,
    "out_of_memory 3": starved,
}
"""Faults of the machine, by what they are called when the user wants them counted."""
HARSH = {"worker_crash": segfault, "worker_killed": killed, "hang": hang}
"""What ends or blocks the process."""
ONCE = (MemoryError(), OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EMFILE, "Too many open files"))
"""Faults that are gone when the attempt is tried again."""

KINDS = {**MILD, **MACHINE, **HARSH}


class Faulty(Schedule):
    """Turns the wrist; subclasses say which attempts fail how."""

    faults: ClassVar[dict[int, str | int]] = {}
    """Attempt > name in KINDS, or number in ONCE."""

    def next(self, frame):
        kind = self.faults.get(self.scene.instance.episode) if frame == 2 else None
        if isinstance(kind, str):
            KINDS[kind](self.scene)
        elif kind is not None:
            mark = Path(os.environ[MARKS]) / f"{self.scene.instance.episode}"
            if not mark.exists():
                mark.touch()
                raise ONCE[kind]
        return super().next(frame)


class Mildly(Faulty):
    """Every second attempt fails."""

    faults: ClassVar = {2 * number + 1: name for number, name in enumerate(MILD)}


class Poor(Faulty):
    """One attempt takes more memory than there is, two meet a fault that passes."""

    faults: ClassVar = {1: "out_of_memory 3", 3: 0, 5: 2}


class Every(Faulty):
    """Of 200 attempts, 20 fail, in every way; six more meet a fault that passes."""

    faults: ClassVar = {
        **{7 + 9 * number: name for number, name in enumerate([*KINDS, *list(MILD)[:6], "worker_crash"])},
        **{3 + 30 * number: number % 3 for number in range(6)},
    }
