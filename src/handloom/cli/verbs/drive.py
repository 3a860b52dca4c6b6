"""``handloom drive ROBOT``: drive a course in simulation, measure and plot the track."""

from pathlib import Path
from typing import Literal

from handloom.cli.flags import Number, OptionalFloat, OptionalOutput, Robot
from handloom.safe_paths import safe_name

FAILED = 1
# Allowed distance of a robot from its course [m]; a legged base sways with every step.
WHEELS, LEGS = 0.05, 0.15


def run(
    robot: Robot,
    /,
    *,
    path: Literal["square", "circle", "figure8"] = "figure8",
    size: OptionalFloat = None,
    laps: Number = 1,
    feedback: Literal["pose", "odometry", "none"] = "pose",
    tolerance: OptionalFloat = None,
    output: OptionalOutput = None,
    view: bool = False,
    video: bool = True,
    json: bool = False,
) -> int:
    """Drive or walk a course in simulation, plot the track against the reference, and film it.

    Args:
        robot: A robot of `handloom list robots` that drives or walks, a robot folder, or a robot YAML file.
        path: Shape of the course.
        size: Side, diameter or half length of the course [m]; by default scaled to the robot.
        laps: Number of laps.
        feedback: What the path tracker receives: the true pose, wheel or leg odometry, or nothing (open loop).
        tolerance: Exit code 1 if the robot strays from the course by more than this [m], or its heading by 2 rad per
            metre of it; default 0.05, for legs 0.15.
        output: The image to write; by default ROBOT_PATH.png in this folder. The video is written beside it.
        view: Also draw the robot along its track, beside the plot.
        video: Write a video of the last lap, MP4, unless this flag is given.
        json: Print one JSON object instead of a table.
    """
    from json import dumps

    import numpy as np

    from handloom.errors import InputError
    from handloom.isaac.policy import driver_for
    from handloom.isaac.wheeled import course, drive_lap, floor_world
    from handloom.isaac.wheeled.laps.track_picture import track_plan, track_view
    from handloom.isaac.wheeled.laps.track_video import track_video
    from handloom.render import write_png
    from handloom.robots import load_robot

    if laps < 1:
        raise InputError(f"--laps must be >= 1, got {laps}")
    description = load_robot(robot)
    world = floor_world(description)
    driver = driver_for(description, world, prefix="robot/")
    allowed = tolerance or (LEGS if driver.drive.kind == "legged" else WHEELS)
    way = course(path, driver.drive, size=size)
    records = [drive_lap(driver, way, driver.tracker, feedback=feedback, place=lap == 0) for lap in range(laps)]
    picture = track_plan(records[-1], f"{description.name}, {path}")
    if view:
        picture = np.concatenate([picture, track_view(description, records[-1])], axis=1)
    file = write_png(output or Path(safe_name(f"{description.name}_{path}.png")), picture)
    film = track_video(description, records[-1], file.with_suffix(".mp4")) if video else None
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
    kept = all(row["position_error_m"] <= allowed and row["heading_error_rad"] <= 2.0 * allowed for row in rows)
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
                    "video": str(film) if film else None,
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
        verdict = f"{'kept to' if kept else 'LEFT'} the course within {1e3 * allowed:.0f} mm and {2.0 * allowed:g} rad"
        print("; ".join([verdict, str(file), *([str(film)] if film else [])]))
    return 0 if kept else FAILED
