"""``handloom grasp OBJECT``: annotate an object with grasps, draw them, test them in simulation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from handloom.cli.flags import Number, Object, OptionalFile, OptionalOutput, Robot

if TYPE_CHECKING:
    from handloom.objects import ObjectAsset
    from handloom.robots import Arm, RobotDescription


def run(
    object: tyro.conf.Positional[Object],
    *,
    robot: Robot = "fr3",
    arm: Annotated[str | None, tyro.conf.arg(metavar="ARM", help_behavior_hint="")] = None,
    count: Number = 300,
    seed: Number = 0,
    output: OptionalOutput = None,
    show: OptionalFile = None,
    annotation: OptionalFile = None,
    physics: bool = False,
    preshape: bool = False,
    scale: float = 1.0,
    allow_outside: bool = False,
    size: Number = 720,
) -> int:
    """Find grasps of an object for a gripper, as rows in the published layout (a lower score is better).

    Args:
        object: A category of `handloom list objects`, `my_module:my_function`, or a file that `object import` reads.
        robot: A robot of `handloom list robots`, a robot folder, or a robot YAML file.
        arm: left or right; by default the first arm.
        count: Maximum number of grasps to keep.
        seed: Selects the variant of a category and the surface points to try.
        output: Write the rows into this .npy file, for example Aligned_grasp_sparse.npy beside an asset.
        show: Draw the grasps into this PNG file.
        annotation: Test the best rows of this published .npy file in simulation instead of searching: --count of them,
            scaled with the object by --scale.
        physics: Close, lift and shake with every grasp; keep only those that hold.
        preshape: Approach with the fingers at the width of the grasp instead of fully open.
        scale: Factor on all lengths of the object.
        allow_outside: Let an object's file refer to files outside its folder and the three levels above it.
        size: Height of the image [px].
    """
    import numpy as np
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from handloom.errors import InputError
    from handloom.grasping import AnnotateOptions, GraspTrial, GripperShape, annotate, grasp_picture, write_grasps
    from handloom.render import write_png
    from handloom.robots import load_robot

    if not 128 <= size <= 4096:
        raise InputError(f"--size must lie between 128 and 4096 pixels, got {size}")
    description = load_robot(robot)
    chosen_arm = description.arm(arm) if arm else description.arms[0]
    asset = _asset(object, seed, scale, allow_outside=allow_outside)
    if annotation:
        return _test_annotation(annotation, asset, description, chosen_arm, count, scale, output)
    steps = ["reading the gripper", "searching", *(["testing in physics"] * physics), *(["drawing"] * bool(show))]
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(steps[0], total=None)
        gripper = GripperShape.of(description, chosen_arm)
        progress.update(bar, description="searching")
        options = AnnotateOptions(count=count, preshape=preshape)
        grasps = annotate(asset, gripper, options, np.random.default_rng(seed))
        found = len(grasps)
        if physics and found:
            progress.update(bar, description="testing in physics", completed=0, total=found)
            trial = GraspTrial(description, asset, arm=chosen_arm)
            result = trial.run(grasps.hands, on_step=lambda done: progress.update(bar, completed=done))
            grasps = grasps.take(np.flatnonzero(result.held))
        if show and len(grasps):
            progress.update(bar, description="drawing", total=None)
            write_png(show, grasp_picture(description, chosen_arm, asset, grasps, size=size))
    funnel = " > ".join(f"{name} {n}" for name, n in grasps.funnel.items())
    print(f"{asset.name}, {description.name} {chosen_arm.name} arm: {funnel}")
    if physics and found:
        print(f"physics: {len(grasps)} of {found} hold when closed, lifted and shaken ({len(grasps) / found:.0%})")
    for score in sorted(set(np.round(grasps.rows[:, 0].astype(float), 2))):
        print(f"  score {score:.1f}: {int(np.sum(np.abs(grasps.rows[:, 0] - score) < 0.01))}")
    if not len(grasps):
        print(
            f"no grasp: no part of the object fits between fingers that open "
            f"{1000 * chosen_arm.gripper_max_width:.0f} mm with room for the hand; try --preshape, "
            "a smaller --scale or another --robot"
        )
        return 1
    if output:
        print(write_grasps(output, grasps.rows))
    if show:
        print(show)
    return 0


def _test_annotation(
    file: Path,
    asset: "ObjectAsset",
    description: "RobotDescription",
    arm: "Arm",
    count: int,
    scale: float,
    output: Path | None,
) -> int:
    """Close, lift and shake with the best rows of a published annotation, and print how many hold."""
    import numpy as np

    from handloom.grasping import GraspTrial, read_grasps, write_grasps
    from handloom.robots import tool_poses_of_grasps

    rows = read_grasps(file)
    fitting = rows[rows[:, 1] <= arm.gripper_max_width]
    best = fitting[np.argsort(fitting[:, 0], kind="stable")[:count]]
    print(f"{file}: {len(rows)} rows, {len(fitting)} of them no wider than {1000 * arm.gripper_max_width:.0f} mm")
    if not len(best):
        return 1
    # The second half contains the same grasps rotated by half a turn.
    hands = tool_poses_of_grasps(arm, best, grasp_scale=scale)[0][: len(best)].copy()
    hands[:, :3, :3] = hands[:, :3, :3] @ arm.R_ee_graspnet
    held = GraspTrial(description, asset, arm=arm).run(hands).held
    share = f"{int(held.sum())} of {len(best)} hold when closed, lifted and shaken ({held.mean():.0%})"
    print(f"{asset.name}, {description.name} {arm.name} arm: {share}")
    if output:
        print(write_grasps(output, best[held]))
    return 0 if held.any() else 1


def _asset(name: str, seed: int, scale: float, *, allow_outside: bool) -> "ObjectAsset":
    """Create an object of a category, or read it from a file."""
    from handloom.config import allow_code
    from handloom.objects import import_object, make_object
    from handloom.seeding import generator

    if Path(name).is_file():
        return import_object(Path(name), scale=scale, allow_outside=allow_outside).asset
    allow_code(name)  # Named by the user on the command line.
    return make_object(name, rng=generator(seed, 0, name), scale=scale)
