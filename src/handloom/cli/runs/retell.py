"""handloom retell: repeat the demonstrations of a dataset with another robot in the same scenes."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.datasets.report import print_not_retold
from handloom.cli.flags import OptionalNumber, OptionalOutput, OptionalText, Run
from handloom.cli.runs.generate import generate_shown, unit_size_of
from handloom.cli.runs.run_flags import USUAL_WORK, USUAL_WRITING, Work, Writing, drawing
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.engine import Goal, RunDirectory, RunSettings
from handloom.engine.retelling import not_retold, recorded_task, retelling_of
from handloom.engine.trust import trust_task
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
    work: Work = USUAL_WORK,
    writing: Writing = USUAL_WRITING,
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
        robot: The other robot, such as genie1; it needs a workplace at a table.
        episodes: Use only the first N demonstrations. Default: all.
        output: Folder of the new run. Default: out/TASK_ROBOT_retold.
        overwrite: Delete the run in that folder and start over; a folder with anything else in it is left alone.
        task: The task, if RUN is a dataset without its run. Default: the task as it was recorded.
        same_view: Also render the original room cameras, moved with the scene, as told_NAME in the dataset.
        work: Where attempts are made.
        writing: What is rendered and written.
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
    chosen = work.make_executor()
    settings = RunSettings.of_task(
        told.task,
        seed=told.seed,
        unit_size=unit_size_of(goal, chosen.workers),
        **writing.settings(),
    )
    if overwrite:
        RunDirectory.discard(folder)
    directory = RunDirectory.begin(folder, settings)
    told.write(directory)
    compile_kernels(writing.kernels())
    with drawing(chosen, writing.backend, writing.render):
        failed = generate_shown(directory, goal, chosen, name=source.name, skip_stuck=work.skip_stuck, json=json)
    if not json:
        print_not_retold(list(not_retold(directory, directory.counted())))
    return failed
