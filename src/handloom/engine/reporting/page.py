"""One HTML file that needs nothing else, with every chart also as a PNG file beside it."""

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np
from PIL import Image

from handloom.dataset import DatasetReader
from handloom.dataset.files.durable import atomic_write
from handloom.engine.report import RunReport, report_of
from handloom.engine.reporting.charts import MOST_ROWS, bars, rose, strips, top_view
from handloom.engine.reporting.diversity import Diversity, chosen_episodes, diversity_of
from handloom.engine.reporting.drawing import ROLES, Drawing
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import RunDirectory
from handloom.errors import InputError
from handloom.render import contact_sheet, write_png

MOST_DOTS = 5000
"""Maximum number of demonstrations drawn as dots, evenly sampled if there are more."""
STYLE = Path(__file__).with_name("page.css")
Chart = tuple[str, str, str, Drawing]
"""File name, heading, a sentence below it, and the drawing."""


def write_page(
    run: RunDirectory,
    folder: Path,
    *,
    workers: int = 1,
    told: tuple[Mapping[int, Receipt], RunReport] | None = None,
) -> Path:
    """Write ``index.html`` and one PNG per chart; return the page.

    Args:
        run: The run; its journals are read, and its dataset if there is one.
        folder: Folder for the files.
        workers: Number of workers, for the robot-hours per day.
        told: The receipts that count and their report, if already read.
    """
    counted, report = told or (run.counted(), None)
    receipts = list(counted.values())
    report = report or report_of(receipts)
    reader = DatasetReader(run.dataset) if (run.dataset / "meta" / "info.json").is_file() else None
    diversity = diversity_of(reader) if reader else Diversity(episodes=0)
    charts = [*_outcome_charts(report), *_time_charts(report, receipts), *_diversity_charts(diversity)]
    settings = run.settings
    facts = f"seed {settings.seed} · Handloom {settings.handloom_version} · preset {settings.preset}"
    below = f"{_examples(report)}{_pictures(reader) if reader else ''}"
    return _written(folder, charts, _html(settings.task_name, facts, _tiles(report, workers), charts, below))


def write_dataset_page(dataset: DatasetReader, folder: Path) -> Path:
    """Write the page of a dataset without its run, such as a merged or rendered one; failed attempts are unknown."""
    diversity = diversity_of(dataset) if _has_archives(dataset) else Diversity(episodes=0)
    charts = _diversity_charts(diversity)
    frames = dataset.info["total_frames"]
    tiles = [(f"{dataset.episode_count:,}", "demonstrations"), (f"{len(dataset.tasks):,}", "wordings of the task")]
    tiles += [(f"{frames / dataset.fps / 60:,.1f} min", "of demonstrations"), (f"{dataset.fps}", "frames per second")]
    facts = f"{dataset.info['robot_type']} · {dataset.tasks[0] if dataset.tasks else 'no task'}"
    return _written(folder, charts, _html(dataset.root.name, facts, _tile_row(tiles), charts, _pictures(dataset)))


def _has_archives(dataset: DatasetReader) -> bool:
    """Return whether the episodes that are examined have archives."""
    chosen = chosen_episodes(dataset.episode_count)
    return bool(chosen) and all(dataset.archive_files(index).exists() for index in chosen)


def _written(folder: Path, charts: Sequence[Chart], text: str) -> Path:
    for name, _, _, drawing in charts:
        write_png(folder / f"{name}.png", drawing.picture())
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    with atomic_write(page) as partial:
        partial.write_text(text, encoding="utf-8")
    return page


def _outcome_charts(report: RunReport) -> list[Chart]:
    funnel = list(report.funnel.items())
    rows = []
    for k, (stage, count) in enumerate(funnel):
        lost = funnel[k - 1][1] - count if k else 0
        rows.append((stage, float(count), f"{count}" + (f"  (-{lost})" if lost else "")))
    charts: list[Chart] = []
    if report.attempts:
        note = "Number of attempts that passed each stage."
        charts.append(("funnel", "Funnel", note, bars(rows, whole=float(report.attempts))))
    if report.failure_reasons:
        rows = [(name, float(count), str(count)) for name, count in report.failure_reasons.items()]
        note = "Why attempts failed. Failed attempts are not in the dataset."
        charts.append(("failures", "Failure reasons", note, bars(rows, role="bad")))
    if report.disturbed:
        rows = [(name, float(count), str(count)) for name, count in list(report.disturbed.items())[:MOST_ROWS]]
        note = "Objects not involved in the task that were moved by more than 5 cm or fell, and in how many attempts."
        charts.append(("disturbed", "Side effects", note, bars(rows, role="bad")))
    return charts


def _time_charts(report: RunReport, receipts: Sequence[Receipt]) -> list[Chart]:
    wins = [receipt for receipt in receipts if receipt.success]
    if not wins:
        return []
    if len(wins) > MOST_DOTS:
        wins = [wins[k * len(wins) // MOST_DOTS] for k in range(MOST_DOTS)]
    names = list(dict.fromkeys(name for receipt in wins for name in receipt.skills))
    rows = [("whole episode", [receipt.frames / receipt.fps for receipt in wins])]
    rows += [(name, [receipt.skills[name] for receipt in wins if name in receipt.skills]) for name in names]
    note = "Simulated time per demonstration; one dot each; the stroke is the median."
    charts: list[Chart] = [("durations", "Durations by skill", note, strips(rows, unit="s"))]
    seconds = report.robot_hours * 3600.0
    if sum(report.worker_seconds.values()):
        spent = {stage: 1000.0 * value / seconds for stage, value in report.worker_seconds.items()}
        work = [(stage, value, f"{value:.0f} ms") for stage, value in spent.items()]
        note = f"Wall time of one worker per second of demonstration; {sum(spent.values()):.0f} ms in all."
        charts.append(("throughput", "Where the time goes", note, bars(work)))
    return charts


def _diversity_charts(diversity: Diversity) -> list[Chart]:
    charts: list[Chart] = []
    if diversity.starts:
        note = "Start positions of movable objects, seen from above [m]."
        drawing = top_view(diversity.starts, marks=diversity.robots)
        charts.append(("object_poses", "Object poses", note, drawing))
    if diversity.approaches:
        count = sum(len(vectors) for vectors in diversity.approaches.values())
        note = f"Direction from which the hand approached when it closed, {count} grasps."
        charts.append(("grasps", "Grasps", note, rose(diversity.approaches)))
    if diversity.paths:
        note = (
            "Paths of the hands from above [m], from green to red; two of them are "
            f"{100 * diversity.path_spread:.0f} cm apart on average at equal fractions of their time (root mean "
            f"square)."
        )
        drawing = top_view({}, paths=[path[:, :2] for path in diversity.paths], marks=diversity.robots)
        charts.append(("trajectories", "Trajectories", note, drawing))
    return charts


def _html(title: str, facts: str, tiles: str, charts: Sequence[Chart], below: str) -> str:
    """Return the page: a heading, large figures, a card per chart, and further sections."""
    cards = "".join(
        f'<section class="card"><h2>{escape(heading)}</h2><p>{escape(note)}</p>{drawing.svg(heading)}</section>'
        for _, heading, note, drawing in charts
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: report</title><style>{_style()}</style></head><body><main>"
        f"<header><h1>{escape(title)}</h1><p>{escape(facts)}</p></header>"
        f'<div class="tiles">{tiles}</div><div class="cards">{cards}</div>{below}</main></body></html>\n'
    )


def _tiles(report: RunReport, workers: int) -> str:
    tiles = [
        (f"{report.episodes:,}", "demonstrations"),
        (f"{report.success_rate:.0%}", f"of {report.attempts:,} attempts"),
        (f"{report.robot_hours * 60:,.1f} min", "of demonstrations"),
        (f"{report.realtime_factor:.1f}x", "real time per core"),
        (f"{report.robot_hours_per_day(workers):,.0f} h", f"robot-hours a day, {workers} worker{'s'[: workers != 1]}"),
    ]
    return _tile_row(tiles)


def _tile_row(tiles: Sequence[tuple[str, str]]) -> str:
    return "".join(f'<div class="tile"><b>{escape(a)}</b><span>{escape(b)}</span></div>' for a, b in tiles)


def _examples(report: RunReport) -> str:
    if not report.failure_examples:
        return ""
    rows = "".join(
        f"<tr><td>{escape(reason)}</td><td>{count}</td><td>{escape(report.failure_examples[reason])}</td></tr>"
        for reason, count in list(report.failure_reasons.items())[:MOST_ROWS]
    )
    head = "<tr><th>Reason</th><th>Attempts</th><th>First occurrence</th></tr>"
    return f'<section class="card wide"><h2>Failures in words</h2><table>{head}{rows}</table></section>'


def _pictures(reader: DatasetReader, *, episodes: int = 4, per_camera: int = 4) -> str:
    """Return a strip of frames for the first demonstrations, inside the page."""
    cameras = [feature.name for feature in reader.table.videos if feature.is_colour]
    if not cameras:
        return ""
    rows = []
    for episode in (reader.episode(index) for index in range(min(episodes, reader.episode_count))):
        frames = np.linspace(0, episode.length - 1, per_camera).round().astype(int)
        images = [reader.image(episode.index, camera, int(frame)) for camera in cameras for frame in frames]
        strip = "".join(f'<img alt="" src="{_jpeg(image)}">' for image in images)
        rows.append(
            f"<figure><figcaption>{episode.index}: {escape('; '.join(episode.tasks))}</figcaption>{strip}</figure>"
        )
    names = ", ".join(camera.rpartition(".")[2] for camera in cameras)
    intro = f"<p>Evenly spaced frames of every camera: {escape(names)}.</p>"
    return f'<section class="card wide"><h2>First demonstrations</h2>{intro}{"".join(rows)}</section>'


def _jpeg(image: np.ndarray) -> str:
    buffer = io.BytesIO()
    small = Image.fromarray(image)
    small.thumbnail((192, 192))
    small.save(buffer, format="JPEG", quality=80)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def _style() -> str:
    colours = "".join(f"--{role}:{value};" for role, value in ROLES.items())
    classes = "".join(
        f".fill-{role}{{fill:var(--{role})}}.line-{role}{{stroke:var(--{role});fill:none}}" for role in ROLES
    )
    return f":root{{{colours}}}{classes}{STYLE.read_text(encoding='utf-8')}"


def dataset_sheet(dataset: Path, out: Path, *, first: int = 0, episodes: int = 5, per_camera: int = 4) -> Path:
    """Draw evenly spaced frames of all cameras: one row per episode, or two rows per camera for a single episode.

    Raises:
        InputError: There is no such episode, or the dataset has no images.
    """
    reader = DatasetReader(dataset)
    cameras = [feature.name for feature in reader.table.videos if feature.is_colour]
    if not cameras:
        raise InputError(f"{dataset} has no images; `handloom render` draws them")
    if not 0 <= first < reader.episode_count:
        raise InputError(f"{dataset}: episode {first} is out of range (0-{reader.episode_count - 1})")
    images, labels = [], []
    last = min(first + episodes, reader.episode_count)
    for episode in (reader.episode(index) for index in range(first, last)):
        for camera in cameras:
            for frame in np.linspace(0, episode.length - 1, per_camera).round().astype(int):
                images.append(reader.image(episode.index, camera, int(frame)))
                labels.append(f"{episode.index}  {camera.rpartition('.')[2]}  {frame / reader.fps:.1f} s")
    columns = per_camera * len(cameras) if episodes > 1 else (per_camera + 1) // 2
    return write_png(out, contact_sheet(images, labels, columns=columns))
