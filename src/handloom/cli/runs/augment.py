"""handloom augment: turn a few demonstrations into many in new scenes."""

import sys
from collections import Counter
from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.flags import OptionalNumber, OptionalOutput, OptionalText, Overrides, Run
from handloom.cli.runs.generate import generate_shown, unit_size_of
from handloom.cli.runs.run_flags import USUAL_WORK, USUAL_WRITING, Work, Writing, drawing
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.engine import Goal, RunDirectory, RunSettings
from handloom.engine.augmentation import augmenting_source, check_demonstrations, demonstrations_of
from handloom.engine.retelling import recorded_task
from handloom.engine.trust import trust_task
from handloom.errors import InputError
from handloom.safe_paths import safe_name
from handloom.tasks import Task, load_task


def run(
    run: Run,
    *,
    n: Annotated[int | None, tyro.conf.arg(aliases=["-n"], metavar="N", help_behavior_hint="(default: 100)")] = None,
    attempts: OptionalNumber = None,
    output: OptionalOutput = None,
    seed: OptionalNumber = None,
    demonstrations: OptionalNumber = None,
    task: OptionalText = None,
    work: Work = USUAL_WORK,
    writing: Writing = USUAL_WRITING,
    keep_going: bool = False,
    max_attempts: OptionalNumber = None,
    set: Overrides = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Turn a few demonstrations into many: their paths are adapted to the objects of new scenes and executed.

    Every attempt is simulated and judged by the success terms of the task; successes are written as by generate.
    Repeating the command resumes.

    Args:
        run: Folder of a run of teleop or generate, or its dataset.
        n: Number of demonstrations to make.
        attempts: Number of attempts to make instead, regardless of their outcome.
        output: Folder of the new run. Default: out/augment_TASK.
        seed: Seed of the new scenes. Default: the seed after that of the demonstrations.
        demonstrations: Use only the first N. Default: all successful ones.
        task: The task, if RUN is a dataset without its run, or to use the current task file, for example with wider
            regions. Default: the task as it was recorded.
        work: Where attempts are made.
        writing: What is rendered and written.
        keep_going: Continue even if the first attempts all failed for the same reason.
        max_attempts: Limit on the attempts; default ten per demonstration.
        set: Overrides of the task given with --task.
        allow_code: Run Python code that the task names.
        allow_outside: Let the run, its archives and the task refer to files outside their own and surrounding folders.
        json: Print the report as JSON instead of the progress display.
    """
    own_code.allow(code=allow_code, outside=allow_outside)
    given = None if task is None else load_task(task, overrides=set, allow_outside=allow_outside)
    if given is not None:
        trust_task(given)
    source = augmenting_source(run, most=demonstrations)
    loaded = _recorded_task(run, set) if given is None else given
    chosen_seed = check_demonstrations(source, loaded, seed)
    goal = Goal(
        successes=n if n is not None or attempts is not None else 100, attempts=attempts, max_attempts=max_attempts
    )
    chosen = work.make_executor()
    settings = RunSettings.of_task(
        loaded,
        seed=chosen_seed,
        source=source,
        unit_size=unit_size_of(goal, chosen.workers),
        **writing.settings(),
    )
    directory = RunDirectory.begin(output or Path("out") / safe_name(f"augment_{loaded.name}"), settings)
    if not json:
        print(_parts(source), file=sys.stderr)
    compile_kernels(writing.kernels())
    with drawing(chosen, writing.backend, writing.render):
        return generate_shown(
            directory, goal, chosen, name=loaded.name, keep_going=keep_going, skip_stuck=work.skip_stuck, json=json
        )


def _recorded_task(path: Path, overrides: tuple[str, ...]) -> Task:
    """Return the task of a run as it was recorded."""
    if overrides:
        raise InputError("--set changes a task given with --task; without it the task stays as it was recorded")
    return recorded_task(path)


def _parts(source: str) -> str:
    """Describe the segments of the demonstrations in one line."""
    known = demonstrations_of(source)
    counts: Counter[str] = Counter(
        segment.object or "the base" for d in known for hand in d.hands for segment in hand.segments
    )
    parts = ", ".join(f"{count} relative to {name}" for name, count in counts.items())
    return f"{len(known)} demonstrations split into {sum(counts.values())} segments: {parts}"
