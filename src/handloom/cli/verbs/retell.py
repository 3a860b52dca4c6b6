"""handloom retell: repeat the demonstrations of a dataset with another robot in the same scenes."""

from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.datasets.report import print_not_retold
from handloom.cli.flags import (
    Backend,
    Codec,
    ColumnStyle,
    Labels,
    LerobotFeature,
    OptionalNumber,
    OptionalOutput,
    OptionalText,
    Preset,
    Run,
    Seconds,
)
from handloom.cli.verbs.doctor import compile_kernels
from handloom.cli.verbs.generate import executor_of, generate_shown, unit_size_of
from handloom.config import own_code
from handloom.engine import Goal, RunDirectory, RunSettings
from handloom.engine.executors.executor import HANG_LIMIT
from handloom.engine.retelling import not_retold, recorded_task, retelling_of
from handloom.engine.trust import trust_task
from handloom.kernels import GENERATE
from handloom.render.backends import drawing_for
from handloom.safe_paths import safe_name
from handloom.tasks import load_task


def run(
    dataset: Run,
    *,
    robot: Annotated[str, tyro.conf.arg(metavar="ROBOT")],
    episodes: OptionalNumber = None,
    output: OptionalOutput = None,
    overwrite: bool = False,
    task: OptionalText = None,
    same_view: bool = False,
    workers: OptionalNumber = None,
    executor: Literal["process", "inline"] = "process",
    render: Literal["now", "later", "none"] = "now",
    preset: Preset = "balanced",
    backend: Backend = "cpu",
    codec: Codec = "h264",
    columns: tuple[ColumnStyle, ...] = ("canonical",),
    lerobot_features: Annotated[tuple[LerobotFeature, ...], tyro.conf.arg(help_behavior_hint="")] = (),
    labels: Labels = (),
    keep_failures: bool = False,
    attempt_seconds: Seconds = HANG_LIMIT,
    skip_stuck: bool = False,
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Repeat the demonstrations of a dataset with another robot: same scenes, same actions, same final poses.

    Objects, their relative poses, looks, lights and words stay the same; robot, table and cameras are those of the
    other robot's workplace, and the whole scene is moved along the table into reach of its arms. The scripted expert
    performs the same actions in the same order and aims for the same final poses. Columns pair_id and retold_from of
    the new dataset refer to the original. Scenes in which the robot fails are listed with the reason. Repeating the
    command resumes.

    Args:
        dataset: Folder of a run, or its dataset.
        robot: The other robot, such as genie1: it needs a workplace at a table.
        episodes: Use only the first N demonstrations. Default: all.
        output: Folder of the new run. Default: out/TASK_ROBOT_retold.
        overwrite: Delete the run in that folder and start over; a folder with anything else in it is left alone.
        task: The task, if DATASET is a dataset without its run. Default: the task as it was recorded.
        same_view: Also render the original room cameras, moved with the scene; told_NAME in the dataset.
        workers: Worker processes; default one per core.
        executor: Where work runs: in worker processes, or inline in this one.
        render: Draw the cameras now, later with `handloom render`, or not at all.
        preset: Image quality: fast, balanced or quality.
        backend: Renderer: cpu, or cuda for NVIDIA GPUs (extra gpu); the images are the same.
        codec: Video codec: h264 or av1.
        columns: Names of the columns, as for generate.
        lerobot_features: Optional features to write, as for generate.
        labels: Kinds of labels to write beside the archives, as for generate.
        keep_failures: Also write failed attempts, into a separate dataset.
        attempt_seconds: Wall time after which an attempt without a result is killed and retried, as for generate.
        skip_stuck: Count attempts as failed after they ran out of memory or time, or lost their worker, three times.
        allow_code: Run Python code that the task names.
        allow_outside: Let the run, its archives and the task refer to files outside their own and surrounding folders.
        json: Print the report as JSON instead of the progress display.
    """
    own_code.allow(code=allow_code, outside=allow_outside)
    source = recorded_task(dataset) if task is None else load_task(task, allow_outside=allow_outside)
    trust_task(source)
    folder = output or Path("out") / safe_name(f"{source.name}_{robot}_retold")
    told = retelling_of(dataset, robot, folder, task=source, most=episodes, same_view=same_view)
    goal = Goal(attempts=len(told.rows))
    chosen = executor_of(executor, workers, attempt_seconds)
    settings = RunSettings.of_task(
        told.task,
        seed=told.seed,
        unit_size=unit_size_of(goal, chosen.workers),
        render=render,
        preset=preset,
        backend=backend,
        codec=codec,
        columns=columns,
        lerobot_features=lerobot_features,
        labels=labels,
        keep_failures=keep_failures,
    )
    if overwrite:
        RunDirectory.discard(folder)
    directory = RunDirectory.begin(folder, settings)
    told.write(directory)
    compile_kernels((*GENERATE, "labels") if labels else None)
    with drawing_for(backend, workers=chosen.workers if executor == "process" and render == "now" else 0):
        failed = generate_shown(directory, goal, chosen, name=source.name, skip_stuck=skip_stuck, json=json)
    if not json:
        print_not_retold(list(not_retold(directory, directory.counted())))
    return failed
