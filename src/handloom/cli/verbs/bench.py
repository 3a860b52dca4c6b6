"""``handloom bench NAME``: run a benchmark and print its rows."""

import importlib
import inspect
from dataclasses import asdict
from json import dumps
from typing import Annotated

import tyro

from handloom.bench import BENCHES
from handloom.cli.flags import Backend, OptionalFile, OptionalFloat, OptionalNumber, OptionalText, Overrides
from handloom.errors import InputError, unknown_name

FLAGS = {"names": "task names", "overrides": "--set", "seed": "--seed", "seeds": "--seeds"}
FLAGS |= {"backend": "--backend", "device": "--device", "robot": "--robot", "tasks": "--task", "attempts": "--attempts"}
FLAGS |= {"processes": "--processes", "limit": "--limit", "record": "--record"}
"""Name of a benchmark's argument on the command line."""


def run(
    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = "",
    only: Annotated[
        tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="TASK [TASK ...]", help_behavior_hint="")
    ] = (),
    *,
    seeds: OptionalNumber = None,
    seed: OptionalNumber = None,
    set: Overrides = (),
    backend: Annotated[Backend | None, tyro.conf.arg(help_behavior_hint="")] = None,
    device: Annotated[Backend | None, tyro.conf.arg(help_behavior_hint="")] = None,
    robot: OptionalText = None,
    task: Annotated[tuple[str, ...], tyro.conf.arg(metavar="TASK [TASK ...]", help_behavior_hint="")] = (),
    attempts: OptionalNumber = None,
    processes: OptionalNumber = None,
    limit: OptionalFloat = None,
    record: OptionalFile = None,
    json: bool = False,
) -> None:
    """Benchmark one part, and other libraries if installed; without a name, list the benchmarks.

    Args:
        name: Which benchmark.
        only: What to measure: task names, for benchmarks of several tasks; the pack, for the benchmark pack.
        seeds: Attempts per task; by default the benchmark's own number.
        seed: Seed of the measured run, if there is one; 0 by default.
        set: Changes to the tasks, such as data.variant=randomized; for the benchmark plan on a GPU, settings to
            compare, such as parts=4,8 workers=8,16.
        backend: Renderer, for the benchmark render: cpu, or cuda for an NVIDIA GPU (extra gpu).
        device: Where to compute, for the benchmarks ik and plan: cpu, or cuda for an NVIDIA GPU (extra gpu).
        robot: Robot for tasks that any robot can do; for a pack, its first robot by default.
        task: Tasks of a pack, patterns such as 'KITCHEN*', or groups of the pack; all by default.
        attempts: Attempts per task of a pack.
        processes: Worker processes, for the benchmark pack.
        limit: Seconds after which no further attempt at a pack starts.
        record: JSON file of the attempts at a pack; the same command again continues where it stopped.
        json: Print one JSON object instead of a table.
    """
    if not name:
        for bench, (_, summary) in BENCHES.items():
            print(f"{bench:<12}{summary}")
        return
    if name not in BENCHES:
        raise unknown_name("benchmark", name, BENCHES)
    measure = importlib.import_module(BENCHES[name][0]).run
    options = {"names": only or None, "seeds": seeds, "seed": seed, "overrides": set or None}
    options |= {"robot": robot, "tasks": task or None, "attempts": attempts, "processes": processes}
    options |= {"limit": limit, "record": record}
    options |= {"backend": backend, "device": device}
    given = {key: value for key, value in options.items() if value is not None}
    unknown = [key for key in given if key not in inspect.signature(measure).parameters]
    if unknown:
        raise InputError(f"the benchmark {name!r} takes no {' and no '.join(FLAGS.get(key, key) for key in unknown)}")
    result = measure(**given)
    if json:
        print(dumps(asdict(result)))
    else:
        print(result.table())
