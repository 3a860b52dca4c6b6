"""Simulates the episodes of a dataset again and compares every bit."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from handloom.config.own_code import with_permission
from handloom.dataset import DatasetReader
from handloom.dataset.file_list import refuse_strange_files
from handloom.dataset.reading import damage_named
from handloom.engine.executor import Executor, with_retries
from handloom.engine.trust import trusted_record
from handloom.episode import replay
from handloom.episode.columns import image_name, rendered_frames
from handloom.errors import FileError, HandloomError, NotAllowedError
from handloom.scene import build_scene
from handloom.values import EpisodeRecord

TOLERANCE = 1e-6
"""Largest difference of a state entry on another platform, where bits may differ."""


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The verdict on one episode."""

    episode: str
    """Folder name, e.g. ``episode_000003``."""
    verdict: str
    """``exact``, ``close`` (elsewhere, within tolerance), ``different``, ``damaged`` or ``refused``
    (it needs code, or files elsewhere, that the user has to allow)."""
    frames: int = 0
    detail: str = ""

    @property
    def good(self) -> bool:
        """Whether the episode is what it claims to be."""
        return self.verdict in ("exact", "close")


def dataset_of(path: Path) -> Path:
    """Return a dataset folder: the path itself, or the dataset of the run at it.

    Raises:
        FileError: There is no dataset there.
    """
    for root in (path, path / "dataset"):
        if (root / "meta" / "info.json").is_file():
            return root
    raise FileError(f"{path} holds no dataset: neither meta/info.json nor dataset/meta/info.json is there")


def archives_of(path: Path) -> tuple[Path, ...]:
    """Return the archives of a dataset, or of the dataset of a run, in order; folders of no episode are left out.

    Raises:
        FileError: The dataset cannot be read, or has links that lead out of it.
    """
    root = dataset_of(path)
    refuse_strange_files(root)
    dataset = DatasetReader(root)
    folders = [dataset.archive_folder(episode.index) for episode in dataset.episodes]
    return tuple(folder for folder in folders if folder.is_dir())


def verify_dataset(path: Path, executor: Executor) -> Iterator[Verification]:
    """Yield a verdict for every episode of a dataset, as they come."""
    archives = [str(folder) for folder in archives_of(path)]
    for finished in with_retries(executor, with_permission(verify_episode), archives):
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
            report = replay(record)
    except NotAllowedError as error:
        return Verification(episode=name, verdict="refused", detail=str(error))
    except HandloomError as error:
        return Verification(episode=name, verdict="damaged", detail=str(error))
    if report.exact and (changed := _changed_ids(Path(folder), record)):
        return Verification(episode=name, verdict="different", frames=report.frames, detail=changed)
    if report.exact:
        return Verification(episode=name, verdict="exact", frames=report.frames)
    elsewhere = archive.certificate.differences_from_here()
    if elsewhere and report.success_again and report.largest_difference <= TOLERANCE:
        return Verification(episode=name, verdict="close", frames=report.frames, detail="; ".join(elsewhere))
    detail = (
        f"differs from frame {report.first_difference} on, by up to {report.largest_difference:.3g}"
        if report.first_difference is not None
        else "a success term did not hold again"
    )
    if not report.same_model:
        detail += "; robot or object files have changed since it was recorded"
    if elsewhere:
        detail += f"; made elsewhere: {'; '.join(elsewhere)}"
    return Verification(episode=name, verdict="different", frames=report.frames, detail=detail)


def _changed_ids(folder: Path, record: EpisodeRecord) -> str:
    """Return where stored instance ids are not those that the recorded states show; empty when they agree.

    Streams of ids are the only ones stored without loss. The first, the middle and the last frame are drawn again.
    """
    dataset = DatasetReader(folder.parents[1])
    streams = {feature.name for feature in dataset.table.videos if feature.is_segmentation}
    if not streams:
        return ""
    index = next(e.index for e in dataset.episodes if dataset.archive_folder(e.index).name == folder.name)
    chosen = sorted({0, len(record.kept) // 2, len(record.kept) - 1})
    preset = str(dataset.episode(index).columns["render_preset"])
    drawn = rendered_frames(build_scene(record.instance), record, preset=preset, kinds=("segmentation",), frames=chosen)
    for frame, images in zip(chosen, drawn, strict=True):
        for camera, kinds in images.items():
            name, ids = image_name(camera, "segmentation"), kinds["segmentation"]
            stored = dataset.image(index, name, frame)[: ids.shape[0], : ids.shape[1]]
            if wrong := int((stored != ids).sum()):
                return f"{name}: {wrong} pixels of frame {frame} do not show what is there"
    return ""
