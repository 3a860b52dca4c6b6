"""Re-simulates the episodes of a dataset, recomputes its tables, and compares every bit.

This proves that the recorded commands, applied to the archived scene, give the recorded states; that the success
terms of the archive hold in them; and that all tables follow from the two. If the run is present, the scene must be
the one that its task gives. Anything that cannot be proved is reported: terms are those of the archive, and images are
lossy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from handloom.config.own_code import with_permission
from handloom.dataset import DatasetReader, EpisodeArchive, check_layout
from handloom.dataset.episodes.episode_files import EpisodeFiles
from handloom.dataset.episodes.episode_folder import folder_name
from handloom.dataset.files.durable import sha256_of
from handloom.dataset.files.reading import damage_named
from handloom.dataset.lerobot.file_list import FILE_LIST, read_list, refuse_strange_files
from handloom.dataset.lerobot.table_check import check_tables
from handloom.engine.executors.executor import Executor, with_retries
from handloom.engine.lineage.dataset_certificate import CERTIFICATE, check_certificate
from handloom.engine.trust import archives_of, dataset_of, trusted_record
from handloom.engine.verification.recomputed import columns_differ, facts_differ, reader_of
from handloom.engine.verification.resampled import (
    commands_differ,
    goal_differs,
    may_be_disturbed,
    run_of,
    scene_differs,
)
from handloom.episode import replay
from handloom.episode.columns import image_name, rendered_frames
from handloom.episode.replay import ReplayReport
from handloom.errors import FileError, HandloomError, NotAllowedError
from handloom.scene import Scene, build_scene
from handloom.skills.deeds import MERE_MOTIONS
from handloom.skills.registry import SKILLS
from handloom.values import EpisodeRecord

__all__ = ["Verification", "archives_of", "dataset_faults", "dataset_of", "verify_dataset", "verify_episode"]

TOLERANCE = 1e-6
"""Largest allowed difference of a state entry on another platform, where bits may differ."""
COLUMN_TOLERANCE = 1e-5
"""Largest allowed difference of a column there, relative to the value or to one: columns are rounded to 32 bits."""
MOST_TOLD = 3
"""Maximum number of differences reported per episode."""

EVERYTHING = ("states", "success terms of the archive", "columns", "outcomes", "statistics")
"""Data compared in every episode."""
SCENES = "scenes with the task of the run"
COMMANDS = "requested commands with applied ones"
IDS = "instance ids of three frames"
COLOURS = "colours and depths of images, and their statistics beyond episode.json"
TERMS = "the goal of the archive with that of the task"


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The verdict on one episode."""

    episode: str
    """Folder name, e.g. ``episode_000003``."""
    verdict: str
    """``exact``, ``close`` (elsewhere, within tolerance), ``different``, ``unjudged`` (a success without success
    terms), ``damaged`` or ``refused`` (it needs code, or files elsewhere, that the user must allow)."""
    frames: int = 0
    detail: str = ""
    compared: tuple[str, ...] = ()
    """Data that was compared, if the comparison got that far."""
    not_compared: tuple[str, ...] = ()
    """Data that was not compared, with reasons."""

    @property
    def good(self) -> bool:
        """Whether the episode is what it claims to be."""
        return self.verdict in ("exact", "close")


def dataset_faults(path: Path) -> tuple[str, ...]:
    """Return the faults in the files and tables of a dataset, or of the dataset of a run, apart from its episodes.

    Raises:
        FileError: There is no dataset there.
    """
    root = dataset_of(path)
    try:
        refuse_strange_files(root)
    except FileError as error:  # Nothing behind a link is opened.
        return (str(error),)
    faults = [str(fault) for fault in check_layout(root)]
    missing = f"{FILE_LIST}: is missing"
    if not (root / FILE_LIST).is_file() and not any(fault.startswith(missing) for fault in faults):
        faults.append(f"{missing}: the dataset is unsigned, so changed, lost or added files cannot be detected")
    try:
        faults += [str(fault) for fault in check_tables(root)]
    except FileError as error:
        if not faults:  # Otherwise the faults give the reason.
            faults.append(str(error))
    return tuple(faults)


def sampled_faults(path: Path, archives: Sequence[Path]) -> tuple[str, ...]:
    """Return the faults in the files of a few episodes and in the certificate, without reading the other files.

    Args:
        path: A dataset, or a run.
        archives: The episodes.
    """
    root = dataset_of(path)
    faults = list(check_certificate(root)) if (root / CERTIFICATE).is_file() else []
    if not (root / FILE_LIST).is_file():
        return (*faults, f"{FILE_LIST}: is missing, so changed files cannot be detected")
    listing = read_list(root)
    loose = {folder.relative_to(root).as_posix() for folder in archives}
    packs = {pack.path.relative_to(root).as_posix() for folder in archives for pack in EpisodeFiles.at(folder).packs}
    names = [name for name in listing if name.rpartition("/")[0] in loose or name in packs]
    for name in (*names, *sorted(packs - set(names))):
        file = root / name
        if not file.is_file() or name not in listing or sha256_of(file) != listing[name]["sha256"]:
            faults.append(f"{name}: is missing or was changed")
    return tuple(faults)


def verify_dataset(path: Path, executor: Executor, *, archives: Sequence[Path] | None = None) -> Iterator[Verification]:
    """Yield a verdict for every episode of a dataset, or for some, as they complete."""
    folders = [str(folder) for folder in (archives_of(path) if archives is None else archives)]
    for finished in with_retries(executor, with_permission(verify_episode), folders):
        if finished.crash:
            yield Verification(episode=Path(finished.item).name, verdict="damaged", detail=finished.crash)
        else:
            yield finished.result


def verify_episode(folder: str) -> Verification:
    """Replay one archive and compare."""
    name = Path(folder).name
    try:
        archive, record = trusted_record(Path(folder))
        with damage_named(Path(folder)):
            return _verified(Path(folder), archive, record)
    except NotAllowedError as error:
        return Verification(episode=name, verdict="refused", detail=str(error))
    except HandloomError as error:
        return Verification(episode=name, verdict="damaged", detail=str(error))


def _verified(folder: Path, archive: EpisodeArchive, record: EpisodeRecord) -> Verification:
    scene = build_scene(record.instance)
    report = replay(record, scene)
    elsewhere = archive.certificate.differences_from_here()
    near = bool(elsewhere) and report.success_again and report.largest_difference <= TOLERANCE
    if not report.exact and not near:
        detail = _replay_differs(report, elsewhere)
        return Verification(episode=folder.name, verdict="different", frames=report.frames, detail=detail)
    if unjudged := _unjudged(record):
        return Verification(episode=folder.name, verdict="unjudged", frames=report.frames, detail=unjudged)
    compared, left_out = [*EVERYTHING], list[str]()
    exact, wrong = _tables_differ(folder, scene, record, archive, tolerance=COLUMN_TOLERANCE if elsewhere else 0.0)
    wrong += _run_differs(folder, scene, record, compared, left_out, tolerance=TOLERANCE if elsewhere else 0.0)
    if not wrong:
        wrong += _pictures_differ(folder, scene, record, compared, left_out)
    if wrong:
        verdict, detail = "different", _told(wrong)
    else:
        same = report.exact and exact
        verdict, detail = ("exact", "") if same else ("close", "; ".join(elsewhere))
    return Verification(
        episode=folder.name,
        verdict=verdict,
        frames=report.frames,
        detail=detail,
        compared=tuple(compared),
        not_compared=tuple(left_out),
    )


def _replay_differs(report: ReplayReport, elsewhere: Sequence[str]) -> str:
    detail = (
        f"differs from frame {report.first_difference} on, by up to {report.largest_difference:.3g}"
        if report.first_difference is not None
        else "a success term did not hold in the replay"
    )
    if not report.same_model:
        detail += "; robot or object files have changed since the episode was recorded"
    if elsewhere:
        detail += f"; made elsewhere: {'; '.join(elsewhere)}"
    return detail


def _unjudged(record: EpisodeRecord) -> str:
    """Return the reason why a success cannot be confirmed; empty if its terms confirm it, or if it is a failure."""
    if not record.success:
        return ""
    if not record.goal and not any(span.checks for span in record.timeline if span.kind != "mistake"):
        return "nothing to judge: the archive claims success but has no success term"
    judged = {(span.skill, span.objects) for span in record.timeline if span.checks}
    for span in record.timeline:
        deed = span.skill in SKILLS and span.skill not in MERE_MOTIONS and span.objects and span.kind != "mistake"
        if deed and span.success and (span.skill, span.objects) not in judged:
            return f"nothing to judge: {span.skill} of {', '.join(span.objects)} has no success term in the archive"
    return ""


def _tables_differ(
    folder: Path, scene: Scene, record: EpisodeRecord, archive: EpisodeArchive, *, tolerance: float
) -> tuple[bool, list[str]]:
    """Return whether all columns are equal bit for bit, and the faults in the dataset's tables."""
    dataset = reader_of(folder.parents[1])
    index = _index(dataset, folder)
    frames = dataset.frames(index)
    facts = list(facts_differ(dataset, index, frames, scene, record, archive))
    columns = list(columns_differ(dataset, frames, scene, record))
    if columns and tolerance:
        return False, [*columns_differ(dataset, frames, scene, record, tolerance=tolerance), *facts]
    return not columns, [*columns, *facts]


def _index(dataset: DatasetReader, folder: Path) -> int:
    """Return the number of the episode whose archive is in a folder."""
    number = folder.name.rpartition("_")[2]
    if number.isdecimal() and int(number) < dataset.episode_count and folder.name == folder_name(int(number)):
        return dataset.episode(int(number)).index
    raise FileError(f"{folder} does not belong to any episode of {dataset.root}; remove it")


def _run_differs(
    folder: Path, scene: Scene, record: EpisodeRecord, compared: list[str], left_out: list[str], *, tolerance: float
) -> list[str]:
    """Return the differences of the dataset from its run; also record which checks are possible."""
    root = folder.parents[1]
    disturbed = commands_differ(scene, record)
    (left_out if disturbed else compared).append(COMMANDS)
    try:
        run = run_of(root)
        if run is None:
            left_out += [f"{SCENES}: the dataset is not inside a run", TERMS]
            return []
        wrong = [scene_differs(run, root, record.instance, tolerance=tolerance)]
        if not any(wrong):
            wrong.append(goal_differs(run, root, scene, record))
        if disturbed and not may_be_disturbed(run):
            wrong.append("the applied commands differ from the requested ones, but the task has no disturbance")
    except NotAllowedError as error:
        left_out += [f"{SCENES}: {error}", TERMS]
        return []
    except HandloomError as error:
        return [f"the scene cannot be resampled from the run: {error}"]
    compared += [SCENES, TERMS]
    return [difference for difference in wrong if difference]


def _pictures_differ(
    folder: Path, scene: Scene, record: EpisodeRecord, compared: list[str], left_out: list[str]
) -> list[str]:
    """Return the differences of stored instance ids from those of the recorded states.

    Streams of ids are the only ones stored without loss. The first, the middle and the last frame are rendered again.
    """
    dataset = reader_of(folder.parents[1])
    if dataset.table.videos:
        left_out.append(COLOURS)
    if not any(feature.is_segmentation for feature in dataset.table.videos):
        return []
    index = _index(dataset, folder)
    card = dataset.episode(index).columns.get("render_card")
    compared.append(f"{IDS}, rendered on {card}, with those of the CPU" if card else IDS)
    chosen = sorted({0, len(record.kept) // 2, len(record.kept) - 1})
    preset = str(dataset.episode(index).columns["render_preset"])
    drawn = rendered_frames(scene, record, preset=preset, kinds=("segmentation",), frames=chosen)
    for frame, images in zip(chosen, drawn, strict=True):
        for camera, kinds in images.items():
            name, ids = image_name(camera, "segmentation"), kinds["segmentation"]
            stored = dataset.image(index, name, frame)[: ids.shape[0], : ids.shape[1]]
            if wrong := int((stored != ids).sum()):
                return [f"{name}: {wrong} pixels of frame {frame} are wrong"]
    return []


def _told(differences: Sequence[str]) -> str:
    more = f"; and {len(differences) - MOST_TOLD} more" if len(differences) > MOST_TOLD else ""
    return "; ".join(differences[:MOST_TOLD]) + more
