"""handloom improve: let the expert take over where a policy fails, and keep its part as demonstrations."""

from json import dumps
from pathlib import Path
from typing import Annotated, Literal

import tyro

from handloom.cli.flags import Backend, Number, OptionalNumber, OptionalOutput, OptionalRobot, Overrides, Task
from handloom.cli.runs.generate import unit_size_of
from handloom.cli.runs.generate_display import GenerateDisplay
from handloom.cli.runs.run_flags import USUAL_WORK, Acting, Work, drawing
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels
from handloom.engine import Goal, RunDirectory, RunSettings, generate_run
from handloom.engine.policy.evaluation import wilson
from handloom.engine.policy.policies import TAKEOVER, try_policy
from handloom.engine.trust import trust_task
from handloom.episode.takeover_source import DONE
from handloom.errors import InputError
from handloom.safe_paths import safe_name
from handloom.seeding import TEST_SEEDS
from handloom.tasks import load_task


def run(
    task: Task,
    *,
    robot: OptionalRobot = None,
    acting: Acting,
    n: Annotated[int, tyro.conf.arg(aliases=["-n"], metavar="N")] = 100,
    max_attempts: OptionalNumber = None,
    seed: Number = 1000,
    output: OptionalOutput = None,
    work: Work = USUAL_WORK,
    render: Literal["now", "later", "none"] = "now",
    backend: Backend = "cpu",
    set: Overrides = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    json: bool = False,
) -> int:
    """Find the scenes in which a policy fails, and let the expert show how to recover there.

    The policy tries each scene. Scenes in which it succeeds are dropped. When it gets stuck, the expert takes over from
    a state the policy reached and finishes the task; its part becomes a demonstration, labelled as a recovery. Train
    on these together with the old ones, and improve again. Test scenes are never used. Repeating the command resumes.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        acting: Which policy acts.
        n: Number of demonstrations to make.
        max_attempts: Limit on the scenes; default ten per demonstration.
        seed: Seed of the scenes; use another one in every round.
        output: Folder of the run. Default: out/improve_TASK.
        work: Where attempts are made.
        render: Render the images now, later with `handloom render`, or not at all.
        backend: Renderer: cpu, or cuda for NVIDIA GPUs (extra gpu); the images are the same.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task or the checkpoint names.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
        json: Print one JSON object instead of text.
    """
    if seed >= TEST_SEEDS:
        raise InputError(f"seed {seed} is one of the test scenes, which evaluate uses; choose one below {TEST_SEEDS}")
    acting.allow(code=allow_code)
    loaded = load_task(task, overrides=set, allow_outside=allow_outside, robot=robot)
    # The expert needs its usual time on top of what the policy has used.
    longer = f"data.max_episode_length={2 * loaded.config.data.max_episode_length}"
    loaded = load_task(task, overrides=(*set, longer), allow_outside=allow_outside, robot=robot)
    trust_task(loaded)
    source = acting.source()
    try_policy(source, loaded, seed)
    goal = Goal(successes=n, max_attempts=max_attempts)
    chosen = work.make_executor()
    settings = RunSettings.of_task(
        loaded,
        seed=seed,
        source=TAKEOVER + source,
        unit_size=unit_size_of(goal, chosen.workers),
        render=render,
        backend=backend,
    )
    directory = RunDirectory.begin(
        output or Path("out") / safe_name(f"improve_{loaded.name}" + (f"_{robot}" if robot else "")), settings
    )
    compile_kernels()
    with drawing(chosen, backend), GenerateDisplay(goal, quiet=json) as display:
        outcome = generate_run(directory, goal, chosen, skip_stuck=work.skip_stuck, on_receipts=display.update)
    receipts = list(outcome.receipts.values())
    alone = sum(receipt.reason == DONE for receipt in receipts)
    shown = sum(receipt.success for receipt in receipts)
    low, high = wilson(alone, len(receipts))
    if json:
        found = {"scenes": len(receipts), "policy_succeeded": alone, "interval": [low, high], "demonstrations": shown}
        print(dumps({**found, "dataset": str(directory.dataset)}))
    else:
        print(
            f"policy:  {alone} of {len(receipts)} scenes, {alone / max(len(receipts), 1):.0%} "
            f"(95 % interval {low:.0%} to {high:.0%}), seed {seed}"
        )
        print(f"expert:  took over in {len(receipts) - alone}, finished {shown}")
        print(plain(f"dataset: {directory.dataset}"))
    return 0 if shown or alone == len(receipts) else 1
