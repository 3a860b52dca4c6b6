"""``handloom robot show|sheet|check|add|describe``: draw, check, import and describe robots."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.flags import NO_HINT, File, Number, OptionalFile, OptionalOutput, Output, Robot, Robots
from handloom.safe_paths import safe_name

FAILED = 1


def show(
    name: Robot,
    /,
    *,
    output: OptionalOutput = None,
    frames: bool = False,
    reach: bool = False,
    size: Number = 720,
) -> None:
    """Draw a robot in its home pose, or its reach on a table, into a PNG file.

    Args:
        name: A robot of `handloom list robots`, a robot folder, or a robot YAML file.
        output: The file to write; by default NAME.png in this folder, or NAME_reach.png.
        reach: Draw and print the areas of a table where objects and cabinets are within reach of its arms; takes a
            minute or two.
        frames: Also draw end-effector, tool-centre and GraspNet axes and the gripper's keypoints.
        size: Width and height [px].
    """
    from handloom.errors import InputError
    from handloom.render import write_png
    from handloom.robots import load_robot
    from handloom.robots.robot_portrait import portrait

    if not 64 <= size <= 4096:
        raise InputError(f"--size must lie between 64 and 4096 pixels, got {size}")
    robot = load_robot(name)
    if reach:
        from handloom.tasks.config.loading import shipped
        from handloom.tasks.reach_picture import drawn, in_text, reach_on_table

        found = reach_on_table(name, shipped() / "setups")
        print(in_text(found))
        print(write_png(output or Path(safe_name(f"{robot.name}_reach.png")), drawn(found)))
        return
    picture = portrait(robot, width=size, height=size, frames=frames)
    path = write_png(output or Path(safe_name(f"{robot.name}.png")), picture)
    for arm in robot.arms:
        print(
            f"{arm.name} arm: {len(arm.joint_names)} joints, base {arm.base_body}, end effector {arm.tool_body}, "
            f"tool centre {arm.tcp_offset * 1000:.1f} mm along {arm.ee_axis}, "
            f"gripper 0 to {arm.gripper_max_width * 1000:.0f} mm"
        )
    print(path)


def check(path: Robot, /, *, json: bool = False) -> int:
    """Check a robot: names, limits, inertias, frames, actuators, gripper opening, grip. Exit code 1 on a fault.

    Args:
        path: A robot folder, a robot YAML file, or a robot of `handloom list robots`.
        json: Print one JSON object instead of a table.
    """
    from dataclasses import asdict
    from json import dumps

    from handloom.robots import load_robot
    from handloom.robots.checks import check_robot

    report = check_robot(load_robot(path))
    print(dumps({**asdict(report), "ok": report.ok}) if json else report.table())
    return 0 if report.ok else FAILED


def sheet(
    names: Robots = (),
    *,
    output: Output = Path("robots.png"),
    size: Number = 340,
    columns: Number = 5,
) -> None:
    """Draw robots in their home poses with their frames, side by side, into one PNG file.

    Args:
        names: Robots, robot folders or robot files; by default every robot that ships with Handloom.
        output: The file to write.
        size: Width and height of each image [px].
        columns: Images per row.
    """
    from handloom.render import contact_sheet, write_png
    from handloom.robots import load_robot, robot_names
    from handloom.robots.robot_portrait import portrait

    robots = [load_robot(name) for name in names or robot_names()]
    pictures = [portrait(robot, width=size, height=size, frames=True) for robot in robots]
    labels = [f"{robot.name}: {robot.config.description.split(',')[0]}" for robot in robots]
    print(write_png(output, contact_sheet(pictures, labels, columns=columns)))


def add(
    path: File,
    /,
    *,
    output: OptionalOutput = None,
    gripper: OptionalFile = None,
    at: Annotated[str | None, tyro.conf.arg(metavar="BODY", help_behavior_hint=NO_HINT)] = None,
    overwrite: bool = False,
    package: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=FOLDER", help_behavior_hint="")] = (),
    allow_outside: bool = False,
) -> int:
    """Turn an MJCF or URDF model into a robot folder: propose robot.yaml, draw it, check it. Exit code 1 on a fault.

    Args:
        path: The model file.
        output: The folder to write; by default robots/NAME in this folder, named after the file.
        gripper: MJCF or URDF model of the gripper, if the arm's file has none.
        at: Body of the arm that carries the gripper; by default the only end body.
        overwrite: Replace a robot that is already in the folder.
        package: Folder of a package in package:// paths; others are looked up in the folders above the file and in
            ROS_PACKAGE_PATH.
        allow_outside: Let the model include files outside its folder and the three levels above it; they are copied.
    """
    import numpy as np

    from handloom.errors import InputError
    from handloom.render import write_png
    from handloom.robots import load_robot
    from handloom.robots.checks import check_robot
    from handloom.robots.proposal import propose_robot, reach_map, write_proposal
    from handloom.robots.robot_portrait import portrait

    packages = {name: Path(folder) for name, _, folder in (given.partition("=") for given in package)}
    if wrong := [name for name, folder in packages.items() if not folder.is_dir()]:
        raise InputError(f"--package is written NAME=FOLDER with a folder that exists, got {wrong[0]!r}")
    proposal = propose_robot(path, gripper=gripper, at=at, allow_outside=allow_outside, packages=packages)
    folder = write_proposal(proposal, output or Path("robots") / safe_name(path.stem), overwrite=overwrite)
    robot = load_robot(folder)
    pictures = (
        write_png(folder / "portrait.png", portrait(robot, width=720, height=720, frames=True)),
        write_png(folder / "reach.png", reach_map(robot, np.random.default_rng(0))),
    )
    for arm in robot.arms:
        print(f"{arm.name} arm: {', '.join(arm.joint_names)}; gripper: {', '.join(arm.gripper_joint_names)}")
    for note in proposal.notes:
        print(f"check this: {note}")
    report = check_robot(robot)
    print(report.table())
    for file in (folder / "robot.yaml", folder / "model.xml", *pictures):
        print(file)
    return 0 if report.ok else FAILED


def describe(name: Robot, /, *, output: OptionalOutput = None, tolerance: float = 0.02) -> None:
    """Write description files for other motion planners: XRDF or Lula YAML, with collision spheres, and a URDF.

    Args:
        name: A robot of `handloom list robots`, a robot folder, or a robot YAML file.
        output: The file to write, ending in .xrdf or .yaml; by default NAME.xrdf in this folder.
        tolerance: Distance by which spheres may protrude from the robot [m].
    """
    from handloom.errors import InputError
    from handloom.isaac.motion_generation.descriptions.describe_robot import write_description
    from handloom.robots import load_robot

    if not 0.002 <= tolerance <= 0.2:
        raise InputError(f"--tolerance must lie between 0.002 and 0.2 m, got {tolerance}")
    robot = load_robot(name)
    for file in write_description(robot, output or Path(safe_name(f"{robot.name}.xrdf")), tolerance=tolerance):
        print(file)


SUBVERBS = {"add": add, "describe": describe, "show": show, "check": check, "sheet": sheet}
