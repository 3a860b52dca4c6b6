"""The scene of an episode, resampled from the task of its run, and the run's disturbance of commands."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from json import dumps
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from handloom.dataset.lerobot.table_check import short
from handloom.engine.runs.run_directory import MANIFEST
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.sources import EXPERT, TELEOP
from handloom.engine.trust import trusted_task
from handloom.episode.columns import asked_controls
from handloom.judging.ahead import LASTING, undone_after
from handloom.judging.checks import holds
from handloom.judging.joint_terms import other_joints_kept
from handloom.judging.moved_containers import container_stays, moved_in
from handloom.judging.wording.measured import unmet
from handloom.scene import Scene
from handloom.seeding import generator
from handloom.skills.deeds import make_judge
from handloom.tasks import sample_task, worded_skills
from handloom.tasks.retelling.retold_scene import retold_instance
from handloom.values import Check, EpisodeRecord, TaskInstance

DATASETS = ("dataset", "failures", "rendered")
"""Folders of a run whose episodes follow from its task."""
GOAL_TOLERANCE = 1e-9
"""Largest relative difference of a number in a goal: heights are recomputed."""
ROLLING = "rolling_resistance"
"""Value of loose objects that older recordings do not have."""
DRAWN = "rendered"
"""The folder whose looks ``handloom render`` may have changed."""


def run_of(dataset: Path) -> RunSettings | None:
    """Return the manifest of the run that a dataset belongs to; None if there is no run around it.

    Raises:
        HandloomError: The manifest exists but cannot be used.
    """
    file = dataset.parent / MANIFEST
    if dataset.name not in DATASETS or not file.is_file():
        return None
    facts = file.stat()
    stamp = (str(file), facts.st_mtime_ns, facts.st_size, facts.st_ino)
    if stamp not in _RUNS:
        _RUNS.clear()
        _RUNS[stamp] = RunSettings.read(file)
    return _RUNS[stamp]


_RUNS: dict[tuple[Any, ...], RunSettings] = {}
"""The manifest that was read last."""


def scene_differs(run: RunSettings, dataset: Path, instance: TaskInstance, *, tolerance: float = 0.0) -> str:
    """Return the differences of an archived scene from the one that the run's task gives; empty if equal.

    Args:
        run: The manifest.
        dataset: The dataset in the run's folder.
        instance: The scene in the archive.
        tolerance: Largest allowed difference of a number on another platform; 0 compares bits.

    Raises:
        NotAllowedError: The task needs code, or files elsewhere, that were not allowed.
    """
    for name, told in (("task", run.task_name), ("seed", run.seed)):
        if getattr(instance, name) != told:
            return f"{name} is {short(getattr(instance, name))} in the archive, {short(told)} in {MANIFEST}"
    task, told = trusted_task(run.loaded_task(), dataset.parent), instance.retold
    if task.config.retold is None or told is None:
        right = sample_task(task, run.seed, instance.episode, layout=instance.layout)
    else:
        right = retold_instance(task, run.seed, instance.episode, placement=told.placement)
    if run.source == TELEOP:
        right = replace(right, instruction=instance.instruction)  # The operator may have phrased it differently.
    there, wanted = (from_json(value.to_json()) for value in (instance, right))
    wanted = _as_recorded(wanted, there)
    if dataset.name == DRAWN:
        there, wanted = _undrawn(there), _undrawn(wanted)
    found = next(_tree_differs("", there, wanted, tolerance), "")
    return f"the scene is not the one that {MANIFEST} gives: {found}" if found else ""


def goal_differs(run: RunSettings, dataset: Path, scene: Scene, record: EpisodeRecord) -> str:
    """Return the differences of an episode's goal from that of the run's task; empty if equal.

    Older recordings have no term that success must last, or a weaker one, none about the other joints of an object or
    about containers, and no upper bound of a turn, and a forger would omit them: for all of these, what is missing is
    tested on the recorded states.

    Args:
        run: The manifest.
        dataset: The dataset in the run's folder.
        scene: The scene of the episode, in any state.
        record: The episode.
    """
    task = trusted_task(run.loaded_task(), dataset.parent)
    now = scene.world.save_state()
    scene.world.restore_state(record.states[0])
    draws = None if run.source == EXPERT else generator(run.seed, record.instance.episode, "skills", task=task.name)
    wanted = make_judge(scene, worded_skills(task, record.instance), draws).goal
    undone, judged_by = "", record.goal
    lasting = [term for term in wanted if term.name == LASTING]
    if any(_as_strict(term, record.goal) not in record.goal for term in lasting):
        wanted, judged_by = (tuple(term for term in terms if term.name != LASTING) for terms in (wanted, record.goal))
        scene.world.restore_state(record.states[-1])
        standing = [term for term in wanted if not term.seconds]
        undone = "; ".join(undone_after(scene, term, standing) for term in lasting if record.success)
    scene.world.restore_state(record.states[-1])
    older = [(term, _as_before(term, record.goal)) for term in wanted]
    added = [term for term, before in older if before != (term,) and record.success and not term.seconds]
    unasked = "; ".join(unmet(scene, term) for term in added if not holds(scene, term))
    stays = [term for term in added if term.name == container_stays.__name__]
    unasked = unasked or moved_in(scene, stays, record.states)
    wanted = tuple(term for _, before in older for term in before)
    scene.world.restore_state(now)
    if unasked:
        return f"the goal in the archive does not require this, and it does not hold: {unasked}"
    if undone:
        return f"the goal in the archive does not require success to last, and it does not last: {undone}"
    wanted = tuple(_as_strict(term, record.goal) for term in wanted)
    there, right = ([from_json(dumps(asdict(term))) for term in terms] for terms in (judged_by, wanted))
    found = next(_tree_differs("goal", dict(enumerate(there)), dict(enumerate(right)), GOAL_TOLERANCE), "")
    return f"the episode was judged by a goal other than the task's: {found}" if found else ""


def _as_before(term: Check, goal: Sequence[Check]) -> tuple[Check, ...]:
    """Return a term as an archive has it that was made before joints were bounded: without the bound, or not at all."""
    if term.name in (other_joints_kept.__name__, container_stays.__name__):
        return () if all(other.name != term.name for other in goal) else (term,)
    bare = replace(term, arguments={name: value for name, value in term.arguments.items() if name != "most"})
    return (term,) if term in goal or bare not in goal else (bare,)


def _as_strict(term: Check, goal: Sequence[Check]) -> Check:
    """Return a term without the allowance for rocking objects if the archive has none, since that is stricter."""
    stricter = replace(term, arguments={name: value for name, value in term.arguments.items() if name != "rocking"})
    return stricter if stricter in goal else term


def _as_recorded(wanted: dict[str, Any], there: dict[str, Any]) -> dict[str, Any]:
    """Return an instance without the rolling resistance if no object of the archive, which is older, has any."""
    if any(ROLLING in obj for obj in there["objects"]):
        return wanted
    objects = [{name: value for name, value in obj.items() if name != ROLLING} for obj in wanted["objects"]]
    return wanted | {"objects": objects}


def _undrawn(instance: dict[str, Any]) -> dict[str, Any]:
    """Return the plain values of an instance without those that rendering it again may change."""
    kept = {name: value for name, value in instance.items() if name not in ("cameras", "lights")}
    for obj in kept["objects"]:
        for part in ("parameters", "look"):
            obj[part] = {name: value for name, value in obj[part].items() if name != "texture_seed"}
    return kept


def _tree_differs(place: str, there: Any, wanted: Any, tolerance: float) -> Iterator[str]:
    """Yield the paths at which two trees of plain values differ."""
    if isinstance(there, dict) and isinstance(wanted, dict):
        for name in {**wanted, **there}:
            yield from _tree_differs(f"{place}.{name}", there.get(name), wanted.get(name), tolerance)
    elif isinstance(there, list) and isinstance(wanted, list) and len(there) == len(wanted):
        for number, (a, b) in enumerate(zip(there, wanted, strict=True)):
            yield from _tree_differs(f"{place}.{number}", a, b, tolerance)
    elif there != wanted and not _near(there, wanted, tolerance):
        yield f"{place.removeprefix('.')} is {short(there)} in the archive, {short(wanted)} when resampled"


def _near(there: Any, wanted: Any, tolerance: float) -> bool:
    numbers = all(isinstance(value, float) for value in (there, wanted))
    return numbers and abs(there - wanted) <= tolerance * max(1.0, abs(there), abs(wanted))


def commands_differ(scene: Scene, record: EpisodeRecord) -> bool:
    """Return whether the applied controls differ from the requested ones, as in a disturbed episode."""
    applied = record.applied[:, : scene.world.model.nu]
    return bool((asked_controls(scene, record) != applied).any())


def may_be_disturbed(run: RunSettings) -> bool:
    """Return whether attempts of a run are disturbed: then the applied controls differ from the requested ones."""
    return run.source == EXPERT and run.loaded_task().config.disturbance.any
