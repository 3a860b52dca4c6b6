"""handloom evaluate: run a policy on unseen scenes of a task, and report its success rate with its uncertainty."""

import sys
from collections.abc import Iterable
from json import dumps
from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.datasets.report import disturbed_line
from handloom.cli.flags import Backend, Number, OptionalOutput, OptionalRobot, Overrides, Task
from handloom.cli.runs.generate_display import GenerateDisplay
from handloom.cli.runs.run_flags import USUAL_WORK, Acting, Work, drawing
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels
from handloom.dataset.files.durable import write_json
from handloom.engine import Goal, RunDirectory, RunSettings, generate_run
from handloom.engine.policy.evaluation import PolicyEvaluation, evaluation_of, evaluation_seed, failure_videos, is_fault
from handloom.engine.policy.policies import try_policy
from handloom.engine.reporting import write_page
from handloom.engine.trust import trust_task
from handloom.safe_paths import safe_name
from handloom.tasks import load_task


def run(
    task: Task,
    *,
    robot: OptionalRobot = None,
    acting: Acting,
    scenes: Annotated[int, tyro.conf.arg(aliases=["-n"], metavar="N")] = 100,
    seed: Number = 0,
    output: OptionalOutput = None,
    work: Work = USUAL_WORK,
    backend: Backend = "cpu",
    videos: Number = 4,
    keep: bool = False,
    set: Overrides = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Run a policy on unseen scenes of a task: success rate with 95 % interval, progress, videos of failures.

    Test scenes use run seeds that generate never uses. Repeating the command resumes.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        acting: Which policy acts.
        scenes: Number of scenes.
        seed: Which set of test scenes.
        output: Folder of the results. Default: out/evaluate_TASK.
        work: Where attempts are made.
        backend: Renderer of the policy's images: cpu, or cuda for NVIDIA GPUs (extra gpu); the images are the same.
        videos: Number of failures to render as videos.
        keep: Keep the policy's successes as a dataset with images, as generate would.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task or the checkpoint names.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
        json: Print one JSON object instead of text.
    """
    acting.allow(code=allow_code)
    loaded = load_task(task, overrides=set, allow_outside=allow_outside, robot=robot)
    trust_task(loaded)
    goal = Goal(attempts=scenes)
    settings = RunSettings.of_task(
        loaded,
        seed=evaluation_seed(seed),
        source=acting.source(),
        unit_size=1,
        render="now" if keep else "none",
        backend=backend,
        keep_failures=True,
    )
    try_policy(settings.source, loaded, settings.seed)
    chosen = work.make_executor()
    directory = RunDirectory.begin(
        output or Path("out") / safe_name(f"evaluate_{loaded.name}" + (f"_{robot}" if robot else "")), settings
    )
    compile_kernels()
    with drawing(chosen, backend), GenerateDisplay(goal, quiet=json) as display:
        outcome = generate_run(directory, goal, chosen, skip_stuck=work.skip_stuck, on_receipts=display.update)
    result = evaluation_of(outcome.receipts.values(), seed=settings.seed)
    write_json(directory.path / "evaluation.json", result.to_json())
    page = write_page(directory, directory.path / "report")
    drawn = [str(file) for file in failure_videos(directory, directory.path / "videos", most=videos)]
    if json:
        print(dumps({**result.to_json(), "page": str(page), "videos": drawn}))
    else:
        _tell(result, str(page), drawn)
    return _judged(result, (r.detail for r in outcome.receipts.values() if is_fault(r.reason)))


def _judged(result: PolicyEvaluation, details: Iterable[str]) -> int:
    """Return the exit code; a success rate distorted by faults is not a result."""
    if not result.faults:
        return 0
    print(
        plain(
            f"{result.faults} of {result.scenes} scenes ended in an error, which distorts the success rate; the first: "
            f"{next(iter(details), 'unknown')}"
        ),
        file=sys.stderr,
    )
    return 1 if result.faults == result.scenes else 0


def _tell(result: PolicyEvaluation, page: str, videos: list[str]) -> None:
    low, high = result.interval
    print(
        f"success: {result.successes} of {result.scenes} scenes, {result.success_rate:.0%} "
        f"(95 % interval {low:.0%} to {high:.0%}), seed {result.seed}"
    )
    for skill, count in result.achieved.items():
        print(plain(f"  {skill}: achieved in {count}"))
    for reason, count in result.failure_reasons.items():
        print(plain(f"  {count:>5}  {reason}"))
    if result.disturbed:
        print(plain(disturbed_line(result.disturbed, result.disturbed_scenes, result.scenes)))
    for file in (page, *videos):
        print(f"wrote:   {file}")
