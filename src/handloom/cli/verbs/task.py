"""``handloom check|sample|preview TASK``: validate task files, print and draw sampled scenes."""

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from handloom.cli.flags import Number, OptionalNumber, OptionalRobot, Output, Overrides, Preset, Task, Tasks
from handloom.cli.verbs.doctor import tell_of_cold_kernels
from handloom.config import forbid_code, own_code
from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.trial import TRIES, Try, Verdict, better_than, in_words, of_places, tries_of, verdict, verdict_of
from handloom.errors import HandloomError
from handloom.scene import Scene
from handloom.tasks import SamplingError, load_task, sample_task
from handloom.tasks import Task as LoadedTask
from handloom.tasks.config.checking import refused_code
from handloom.tasks.config.loading import setup_of, variety_notes
from handloom.tasks.goal_rehearsal import goal_in_words
from handloom.tasks.layout_rehearsal import sampled_layouts
from handloom.tasks.nearby_regions import nearby_proposals, regions_of_tries
from handloom.tasks.reach.within_reach import NOWHERE
from handloom.tasks.region_proposals import proposals, smaller_proposals, unplaced
from handloom.tasks.rehearsal import Rehearsal, rehearse, static_mistakes
from handloom.tasks.search_time import SearchOverError, SearchTime

PROPOSALS = 3
"""Number of regions to try before the best one is proposed."""
SEARCH_SECONDS = 300.0
"""Time for the search of regions, not counting the last try [s]."""
PROPOSAL_TRIES = 3
"""Maximum number of tries in each of them."""


def check(
    files: Tasks,
    *,
    robot: OptionalRobot = None,
    fast: bool = False,
    tries: Number = TRIES,
    set: Overrides = (),
    allow_outside: bool = False,
) -> int:
    """Validate task files, folders of them, or tasks of the library; print ``ok FILE`` or every mistake.

    Scenes are sampled and checked: objects that cannot be placed or that no camera sees, goals that cannot be met.
    Without physics, many more are sampled to see in how many the objects find a place.
    Then the expert tries the task in some of them, in physics: ok if a success rate of at least 80 % is to be expected
    from the tries, wrong if less than 50 %, otherwise unsure. If it fails, every handle, object and place is tested
    for reach, and the output lists what is out of reach, by how much, and where objects could be instead. Python code
    that a task names is never run by this command; such a task is not sampled, and a note names the code.

    Args:
        files: Task names, YAML files or folders.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        fast: Only check keys, names, numbers and the order of the skills; sample no scenes.
        tries: Maximum number of attempts by the expert; fewer if the verdict is clear before. 0 only checks reach.
        set: Overrides such as data.max_episode_length=500, applied to every file.
        allow_outside: Let tasks and their assets refer to files outside their own and surrounding folders.
    """
    from handloom.cli.main import BAD_INPUT, DONE

    forbid_code()
    if not fast:
        tell_of_cold_kernels()
    wrong = 0
    for name in _expanded(files):
        notices: tuple[str, ...] = ()
        called, mistakes = "ok", ""
        try:
            task = load_task(name, overrides=set, allow_outside=allow_outside, robot=robot)
            notices = (*task.notices, *task.stand_ins, *variety_notes(task))
            mistakes = "\n".join(static_mistakes(task) if fast else ())
            if not fast and not refused_code(task):
                rehearsal, called = _with_layouts(task, tries, *_tried(task, tries))
                mistakes, notices = "\n".join(rehearsal.mistakes), (*notices, *rehearsal.notes)
        except HandloomError as error:
            mistakes = str(error)
        wrong += bool(mistakes)
        print(f"{'wrong' if mistakes else called} {name}")
        if mistakes:
            print("  " + mistakes.replace("\n", "\n  "))
        for notice in notices:
            print(f"  note: {notice}")
    return BAD_INPUT if wrong else DONE


def _tried(task: LoadedTask, tries: int) -> tuple[Rehearsal, Verdict]:
    """Return the faults of a task's scenes, how the expert performs in them, and what to call the task."""
    seen = rehearse(task, hands=tries < 1)
    if seen.no_room or unplaced(task):
        elsewhere = _regions_that_do(task, max(tries, 1))
        # The reach map is coarse: what it says about the whole table is wrong where other regions do.
        cut = NOWHERE if len(elsewhere) > 1 else "\n"
        return Rehearsal((*(line.partition(cut)[0].rstrip("; ") for line in seen.mistakes), *elsewhere)), "wrong"
    if tries < 1:
        return seen, "ok"
    if len(seen.mistakes) > len(seen.unseen):
        return seen, "wrong"
    outcomes = tries_of(task, tries, on_try=_TriesTold("try"))
    told, called = in_words(task, outcomes), verdict_of(outcomes)
    if all(one.failure is None for one in outcomes):
        return seen._replace(notes=(*told, *seen.notes)), called
    why = rehearse(task, places=False)
    hands = [line for line in why.mistakes if line not in seen.mistakes]
    if called == "wrong":
        elsewhere = _regions_that_do(task, tries) if of_places(outcomes) else ()
        return Rehearsal((*seen.mistakes, *hands, *told[1:], told[0], *elsewhere), seen.notes), called
    # If the expert succeeded, the task is feasible regardless of the reach test.
    return Rehearsal(seen.mistakes, (*told, *_of_successes(task, outcomes), *hands, *(why.notes or seen.notes))), called


def _of_successes(task: LoadedTask, tries: Sequence[Try]) -> list[str]:
    """Return the regions of the tries that succeeded, if the file gives none; empty if it does."""
    sampled = [(one.failure is None, one.instance) for one in tries if one.instance is not None]
    good, bad = ([instance for succeeded, instance in sampled if succeeded is wanted] for wanted in (True, False))
    lines = regions_of_tries(task, good, bad)
    return ["\n  ".join(("regions of tries that succeeded, to write under regions:", *lines))] if lines else []


def _with_layouts(task: LoadedTask, tries: int, seen: Rehearsal, called: Verdict) -> tuple[Rehearsal, Verdict]:
    """Return the same, called worse if the objects find no place in many more scenes than those of the tries."""
    if seen.no_room or called == "wrong" or len(seen.mistakes) > len(seen.unseen):
        return seen, called
    layouts = sampled_layouts(task)
    placed = verdict(layouts.scenes - layouts.without, layouts.scenes)
    lines = layouts.in_words()
    if placed == "ok":
        return seen._replace(notes=(*lines, *seen.notes)), called
    lines += _regions_that_do(task, max(tries, 1))
    if placed == "unsure":
        return seen._replace(notes=(*lines, *seen.notes)), "unsure"
    return seen._replace(mistakes=(*seen.mistakes, *lines)), "wrong"


class _TriesTold:
    """Prints the outcome of every try as it ends, since some take half a minute.

    Args:
        what: Words before the number of the try.
        failures: Counts the failures; None: nobody asks for them.
    """

    def __init__(self, what: str, failures: Counter[str] | None = None) -> None:
        self._what, self._begin, self._failures = what, time.monotonic(), failures

    def __call__(self, tried: Try, most: int) -> None:
        """Print one line about a try.

        Args:
            tried: The try.
            most: Maximum number of tries.
        """
        if tried.failure is not None and self._failures is not None:
            self._failures[f"{tried.failure.reason}, {tried.failure.detail}"] += 1
        outcome = "succeeded" if tried.failure is None else f"failed, {tried.failure.reason}"
        seconds, self._begin = time.monotonic() - self._begin, time.monotonic()
        _tell(f"{self._what} {tried.episode + 1} of up to {most}: {outcome} ({seconds:.0f} s)")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _regions_that_do(task: LoadedTask, tries: int) -> list[str]:
    """Return regions in which the expert succeeds at a task, as lines to copy; without any, what to change."""
    tries, failures = min(tries, PROPOSAL_TRIES), Counter[str]()
    limit = SearchTime(SEARCH_SECONDS, _tell)
    over = ""
    for size, found in (
        ("nearby ", nearby_proposals(task, limit.step)),
        ("", proposals(task, limit.step)),
        ("smaller objects and ", smaller_proposals(task, limit.step)),
    ):
        _tell(f"looking for {size}regions that the hands reach, for at most {SEARCH_SECONDS / 60:.0f} minutes")
        best: tuple[int, list[str]] = (0, [])
        try:
            for number, proposal in enumerate(islice(found, PROPOSALS), 1):
                told = _TriesTold(f"proposed {size}regions {number}, try", failures)
                good = better_than(proposal.of(task), tries, best[0], on_try=told)
                if good > best[0]:
                    best = (good, [f"  {line}" for line in proposal.lines(task)])
                if good == tries:
                    break
        except SearchOverError as error:
            over = str(error)
        good, lines = best
        if lines:
            rate = f"the expert succeeded in {good} of {tries} tries"
            return [f"these regions would work ({rate}):", *lines]
        if over:
            why = _most_common(failures) if failures else ", before it came to a try; other regions may do"
            return [f"no regions were found in which the expert succeeds: {over}{why}"]
    return [f"no regions were found in which the expert succeeds{_most_common(failures)}"]


def _most_common(failures: Counter[str]) -> str:
    """Return text about the most common failure in proposed regions, which is what to change."""
    if not failures:
        return ", as the hands do not reach everything anywhere on the table; use another robot"
    reason, count = failures.most_common(1)[0]
    return f"; {count} of {failures.total()} tries there failed: {reason}"


def _expanded(files: tuple[str, ...]) -> list[str]:
    """Replace folders by the YAML files in them; a folder without any is kept, and later refused as a file."""
    names: list[str] = []
    for name in files:
        path = Path(name)
        inside = sorted(str(file) for file in path.rglob("*.y*ml") if not file.is_dir()) if path.is_dir() else []
        names += inside or [name]
    return names


def show(task: Task, *, robot: OptionalRobot = None, set: Overrides = (), allow_outside: bool = False) -> None:
    """Print a task as it is executed: base files merged, short forms expanded, overrides applied.

    The success criteria follow, in words.

    Args:
        task: A task of the library, a YAML file, or a setup such as setups/kitchen_fr3.yaml.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        set: Overrides such as data.max_episode_length=500.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
    """
    import yaml

    setup = setup_of(task)
    if setup is not None:
        print(f"# A setup, not a task: write base: {task}, and objects, regions and skills.")
        print(yaml.safe_dump(setup, sort_keys=False, allow_unicode=True, width=118, default_flow_style=None), end="")
        return
    loaded = load_task(task, overrides=set, allow_outside=allow_outside, robot=robot)
    values = loaded.config.model_dump(mode="json", exclude_unset=True, by_alias=True)
    print(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=118, default_flow_style=None), end="")
    if not refused_code(loaded):
        print("# How it is judged, in the first scene of seed 0:")
        for line in goal_in_words(loaded):
            print(f"# - {line}")


def sample(
    task: Task,
    *,
    robot: OptionalRobot = None,
    seed: Number = 0,
    episode: Number = 0,
    set: Overrides = (),
    allow_code: bool = False,
    allow_outside: bool = False,
    compact: bool = False,
) -> None:
    """Print the scene of one episode as JSON, with every random choice as plain numbers.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        seed: Seed of the run.
        episode: Attempt index.
        set: Overrides such as data.max_episode_length=500.
        allow_code: Run Python code that the task refers to, such as an object my_module:my_function.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
        compact: One line instead of indented text.
    """
    if allow_code:
        own_code.allow_code()
    text = sample_task(
        load_task(task, overrides=set, allow_outside=allow_outside, robot=robot), seed, episode
    ).to_json()
    print(text if compact else json.dumps(json.loads(text), indent=2))


def preview(
    task: Task,
    *,
    robot: OptionalRobot = None,
    seed: Number = 0,
    episode: Number = 0,
    episodes: OptionalNumber = None,
    last: bool = False,
    output: Output = Path("out/preview.png"),
    preset: Preset = "quality",
    set: Overrides = (),
    allow_outside: bool = False,
) -> None:
    """Sample a few scenes and draw every camera, labelled, on one sheet.

    With --last, the expert performs the task as in a run with this seed, and the last moment of every attempt is drawn
    with its outcome: also of a failed attempt, of which a run keeps no images. An attempt whose objects find no place
    is a blank tile. ``handloom report RUN --last`` draws the ends of a run without performing its attempts again.

    Python code that a task names is never run by this command.

    Args:
        task: A task of the library, or a YAML file.
        robot: Robot for tasks that any robot can do: a name or a folder. Default: the robot named in the file.
        seed: Seed of the run.
        episode: Attempt index of the first scene.
        episodes: Number of scenes. Default: 4, or 1 with --last.
        last: Draw the end of the attempt instead of its beginning.
        output: Image to write.
        preset: fast, balanced or quality.
        set: Overrides such as data.max_episode_length=500.
        allow_outside: Let the task and its assets refer to files outside its own and surrounding folders.
    """
    import numpy as np

    from handloom.config import forbid_code
    from handloom.errors import InputError
    from handloom.render import Renderer, contact_sheet, write_png
    from handloom.scene import build_scene
    from handloom.tasks import load_task, sample_task

    forbid_code()
    count = (1 if last else 4) if episodes is None else episodes
    if count < 1 or episode < 0:
        raise InputError(f"--episodes must be at least 1 and --episode at least 0, got {count} and {episode}")
    loaded = load_task(task, overrides=set, allow_outside=allow_outside, robot=robot)
    if not loaded.config.cameras:
        raise InputError(f"{loaded.path}: this task has no cameras, so there is nothing to draw")
    tell_of_cold_kernels()
    images, labels = [], []
    for index in range(episode, episode + count):
        try:
            scene, outcome = (
                _end_of(loaded, seed, index) if last else (build_scene(sample_task(loaded, seed, index)), "")
            )
        except SamplingError as error:
            if not last:
                raise
            print(f"attempt {index} of seed {seed}: {error}")
            for camera in loaded.config.cameras:
                images.append(np.zeros((240, 320, 3), np.uint8))
                labels.append(f"episode {index}  {camera.name}  {error.failure.reason}: {error.failure.detail}")
            continue
        cameras = scene.instance.cameras
        pictures = Renderer(scene.world.model, preset, looks=scene.looks).render(scene.world.data, cameras)
        for camera in cameras:
            images.append(pictures[camera.name]["rgb"])
            labels.append(f"episode {index}  {camera.name}{outcome}")
    per_scene = len(loaded.config.cameras)
    columns = per_scene * max(1, round((count / per_scene) ** 0.5))
    print(write_png(output, contact_sheet(images, labels, columns=columns)))


def _end_of(task: LoadedTask, seed: int, episode: int) -> tuple[Scene, str]:
    """Return the scene of an attempt in its last state, and its outcome in words, which are also printed."""
    scene, record = simulate(task, seed, episode, Stopwatch())
    if len(record.states):
        scene.world.restore_state(record.states[-1])
    reason = "succeeded" if record.failure is None else record.failure.reason
    detail = "" if record.failure is None else f": {record.failure.detail}"
    print(f"attempt {episode} of seed {seed}: {reason}{detail}")
    return scene, f"  {reason}"
