"""``handloom drive ROBOT``: drive a course in physics, measure it, draw it."""

from pathlib import Path
from typing import Literal

from handloom.cli.flags import Number, OptionalFloat, OptionalOutput, Robot

FAILED = 1


def run(
    robot: Robot,
    /,
    *,
    path: Literal["square", "circle", "figure8"] = "figure8",
    size: OptionalFloat = None,
    laps: Number = 1,
    feedback: Literal["pose", "odometry", "none"] = "pose",
    tolerance: float = 0.05,
    output: OptionalOutput = None,
    view: bool = False,
    json: bool = False,
) -> int:
    """Drive a course in physics and draw the track against the reference.

    Args:
        robot: A robot of `handloom list robots` that drives, a robot folder, or a robot YAML file.
        path: The course.
        size: Side, diameter or half length of the course [m]; by default cut to the robot.
        laps: How many laps, one after the other.
        feedback: What the path tracker sees: the true pose, wheel odometry, or nothing (open loop).
        tolerance: Exit code 1 if the robot leaves the course by more than this [m], or 0.1 rad.
        output: The picture to write; by default ROBOT_PATH.png in this folder.
        view: Also draw the robot along its track, beside the plan.
        json: Print one JSON object instead of a table.
    """
    from json import dumps

    import numpy as np

    from handloom.control.wheeled import BaseDriver, PathTracker, course, drive_lap, floor_world
    from handloom.control.wheeled.track_picture import track_plan, track_view
    from handloom.errors import InputError
    from handloom.render import write_png
    from handloom.robots import load_robot

    if laps < 1:
        raise InputError(f"--laps must be >= 1, got {laps}")
    description = load_robot(robot)
    world = floor_world(description)
    driver = BaseDriver(description, world, prefix="robot/")
    way = course(path, driver.drive, size=size)
    records = [
        drive_lap(driver, way, PathTracker(slides=driver.slides), feedback=feedback, place=lap == 0)
        for lap in range(laps)
    ]
    picture = track_plan(records[-1], f"{description.name}, {path}")
    if view:
        picture = np.concatenate([picture, track_view(description, records[-1])], axis=1)
    file = write_png(output or Path(f"{description.name}_{path}.png"), picture)
    rows = [
        {
            "lap": lap + 1,
            "position_error_m": round(float(record.position_errors.max()), 6),
            "heading_error_rad": round(float(record.heading_errors.max()), 6),
            "odometry_drift_m": round(record.drift[0], 6),
            "odometry_drift_rad": round(record.drift[1], 6),
        }
        for lap, record in enumerate(records)
    ]
    kept = all(row["position_error_m"] <= tolerance and row["heading_error_rad"] <= 0.1 for row in rows)
    if json:
        print(
            dumps(
                {
                    "robot": description.name,
                    "path": path,
                    "length_m": round(way.length, 3),
                    "duration_s": round(way.duration, 3),
                    "feedback": feedback,
                    "ok": kept,
                    "picture": str(file),
                    "laps": rows,
                }
            )
        )
    else:
        print(f"{description.name}: {path}, {way.length:.2f} m in {way.duration:.1f} s, feedback from {feedback}")
        for row in rows:
            off = f"off by {1e3 * row['position_error_m']:.1f} mm and {row['heading_error_rad']:.4f} rad at most"
            drift = f"odometry drifts {1e3 * row['odometry_drift_m']:.1f} mm and {row['odometry_drift_rad']:.4f} rad"
            print(f"lap {row['lap']}: {off}; {drift}")
        print(f"{'kept to' if kept else 'LEFT'} the course within {1e3 * tolerance:.0f} mm and 0.1 rad; {file}")
    return 0 if kept else FAILED
