"""``handloom report RUN``: the outcome of a run."""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path

from handloom.cli.datasets.dataset import checked_run
from handloom.cli.flags import OptionalNumber, OptionalOutput, Preset, Run
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import cores
from handloom.config import own_code
from handloom.dataset import DatasetReader
from handloom.dataset.lerobot.file_list import refuse_strange_files
from handloom.engine import RunReport, report_of
from handloom.engine.reporting import write_dataset_page, write_page
from handloom.engine.reporting.end_states import end_states
from handloom.engine.reporting.page import dataset_sheet
from handloom.engine.retelling import not_retold
from handloom.engine.runs.journal import Receipt
from handloom.engine.runs.run_directory import MANIFEST

MOST_REASONS = 40
"""Failure reasons shown in the text output; JSON lists all of them."""

REMEDIES = {
    "filters_leave_nothing": "leave `approach` out, or widen it: `[down, 60]`",
    "grasps_collide": "move objects apart; `rim: true` for plates",
    "goal_unreachable": "move the region nearer to the base, or to the arm's own side, or further from the base if "
    "it is very near; `approach: any` on `place`",
    "line_unreachable": "move the region nearer to the base, or to the arm's own side, or further from the base if "
    "it is very near; `approach: any` on `place`",
    "goal_in_collision": "move objects apart; if it is the other arm, send it home first: `{home: , arm: both}`",
    "line_in_collision": "lower targets, more room, `pre_place_z_offset`; if it hits an object placed earlier: a "
    "larger target, or a separate position for each with `x_ratio_range: [0.2, 0.4]` and `[0.6, 0.8]`",
    "start_in_collision": "move the region away from the home pose, or from the first object in a container",
    "not_grasped": "a smaller or lighter object; another `approach`; more room around it",
    "blocked_by_hand": "a longer object; let the first hand take one end of it: `constraints: [x, 0, 0.25]` on its "
    "`pick`",
    "not_lifted": "a smaller or lighter object; another `approach`; more room around it",
    "not_released": "a wider target, a longer `retreat`",
    "too_late": "move `pick_range` further downstream, or slow down the belt",
}
"""Failure reason > usual remedy, worded as in the cookbook's table, which lists more reasons."""


def run(
    path: Run,
    *,
    output: OptionalOutput = None,
    workers: OptionalNumber = None,
    episode: OptionalNumber = None,
    last: bool = False,
    preset: Preset = "quality",
    allow_outside: bool = False,
    json: bool = False,
) -> None:
    """Print the funnel, failure reasons and rates of a run, and write them as a page with charts and images.

    For a dataset without its run, such as a merged or rendered one, show what the dataset contains.

    Args:
        path: A run folder, or a dataset.
        output: Folder of the page and its PNG files; default: report/ in the run, or NAME_report beside the dataset.
        workers: Number of workers that the robot hours per day refer to; default one per core, as for generate.
        episode: Also draw twelve frames from every camera of this demonstration, counting from 0, into a PNG file.
        last: Only draw how the first 24 recorded episodes end into end_states.png, from their last states, also of runs
            without images: the first camera fixed in the world, and a view into each drawer or container that was
            filled, opened for the picture and without the robot.
        preset: With --last: fast, balanced or quality.
        allow_outside: Let the archives refer to robots outside their own and surrounding folders.
        json: Print one JSON object instead of text; no page is written unless -o is given.
    """
    if allow_outside:
        own_code.allow_outside()
    if last:
        folder = output or (path.parent / f"{path.name}_report" if _is_dataset(path) else path / "report")
        picture, drawn, count = end_states(path, folder / "end_states.png", preset=preset)
        told = {"image": str(picture), "episodes": drawn, "recorded": count}
        print(dumps(told) if json else f"image: {picture} ({drawn} of {count} recorded episodes)")
        return
    if _is_dataset(path) and not _is_of_run(path):
        _report_dataset(path, output, episode=episode, json=json)
        return
    directory = checked_run(path)
    workers = cores() if workers is None else workers
    receipts = directory.counted()
    report = report_of(receipts.values())
    missing = list(not_retold(directory, receipts))
    if json:
        told = [{"pair_id": name, "reason": r.reason, "detail": r.detail} for name, r in missing]
        print(dumps({**report.to_json(workers=workers), **({"not_retold": told} if told else {})}))
    else:
        print_report(report, workers=workers)
        print_not_retold(missing)
    if output is not None or not json:
        page = write_page(directory, output or directory.path / "report", workers=workers, told=(receipts, report))
        if not json:
            print(f"page:    {page}")
    if episode is not None:
        out = (output or directory.path / "report") / f"episode_{episode}.png"
        picture = dataset_sheet(directory.dataset, out, first=episode, episodes=1, per_camera=12)
        if not json:
            print(f"image: {picture}")


def _is_dataset(path: Path) -> bool:
    return (path / "meta" / "info.json").is_file()


def _is_of_run(path: Path) -> bool:
    """Return whether a dataset belongs to a run, whose journals contain more."""
    return path.name == "dataset" and (path.parent / MANIFEST).is_file()


def _report_dataset(path: Path, output: Path | None, *, episode: int | None, json: bool) -> None:
    """Print what a dataset without its run contains, and write the page."""
    refuse_strange_files(path)
    dataset = DatasetReader(path)
    count, seconds = dataset.episode_count, dataset.info["total_frames"] / dataset.fps
    figures = {"episodes": count, "robot_hours": seconds / 3600.0, "tasks": list(dataset.tasks)}
    if json:
        print(dumps(figures))
    else:
        print(f"data:    {count} demonstrations, {seconds:.0f} s, of {dataset.info['robot_type']}")
        for words in dataset.tasks[:MOST_REASONS]:
            print(plain(f"         {words}"))
        print("         attempts and failures are in the folder of the run that made it")
    folder = output or path.parent / f"{path.name}_report"
    if output is not None or not json:
        page = write_dataset_page(dataset, folder)
        print("" if json else f"page:    {page}\n", end="")
    if episode is not None:
        picture = dataset_sheet(path, folder / f"episode_{episode}.png", first=episode, episodes=1, per_camera=12)
        print("" if json else f"picture: {picture}\n", end="")


def print_report(report: RunReport, *, workers: int) -> None:
    """Print the figures of a run as text."""
    print("funnel:  " + " > ".join(f"{stage} {count}" for stage, count in report.funnel.items()))
    reasons = list(report.failure_reasons.items())
    for reason, count in reasons[:MOST_REASONS]:
        print(plain(f"  {count:>5}  {reason}: {report.failure_examples[reason]}"))
    if len(reasons) > MOST_REASONS:
        print(f"         and {len(reasons) - MOST_REASONS} more reasons")
    if report.disturbed:
        print(plain(disturbed_line(report.disturbed, report.disturbed_attempts, report.attempts)))
    work = sum(report.worker_seconds.values())
    if not report.episodes or not work:
        return
    seconds = report.robot_hours * 3600.0
    stages = ", ".join(f"{name} {1000 * spent / seconds:.0f}" for name, spent in report.worker_seconds.items())
    print(f"success: {report.episodes} of {report.attempts} attempts ({report.success_rate:.0%})")
    print(f"data:    {seconds:.0f} s of demonstrations, {report.realtime_factor:.2f}x real time per core")
    print(f"         {report.robot_hours_per_day(workers):.0f} robot-hours per day with {workers} worker(s)")
    print(f"work:    ms per demonstrated second: {stages}")


def print_not_retold(missing: Sequence[tuple[str, Receipt]]) -> None:
    """Print the scenes in which the robot of a retold run failed, and why."""
    for name, receipt in missing[:MOST_REASONS]:
        print(plain(f"not retold: {name}  {receipt.reason}: {receipt.detail}"))
    if len(missing) > MOST_REASONS:
        print(f"            and {len(missing) - MOST_REASONS} more; --json lists all")


def disturbed_line(disturbed: Mapping[str, int], times: int, attempts: int) -> str:
    """List objects that were moved or knocked over although the task does not involve them."""
    names = [f"{name} {count}" for name, count in disturbed.items()]
    more = f" and {len(names) - MOST_REASONS} more" if len(names) > MOST_REASONS else ""
    told = ", ".join(names[:MOST_REASONS]) + more
    return f"side effects: in {times} of {attempts} attempts another object was moved by over 5 cm or fell: {told}"


def advice(report: RunReport) -> str:
    """Return advice for a task in which most attempts fail."""
    reason, count = next(iter(report.failure_reasons.items()))
    what = f"try: {REMEDIES[reason]}; more" if reason in REMEDIES else "its meaning is"
    return (
        f"note: {report.episodes} of {report.attempts} attempts succeeded; {count} failed with {reason}; {what} "
        "in the cookbook under 'When attempts fail'"
    )
