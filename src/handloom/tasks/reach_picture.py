"""Reachable places of objects and cabinets on a robot's table, as an image and as text."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from handloom.arrays import Array
from handloom.safe_paths import safe_name
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.articulated import OpenConfig
from handloom.tasks.config.loading import load_task
from handloom.tasks.sampling.sample_task import sample_task
from handloom.tasks.standing_places import faces, handle_of, works
from handloom.tasks.work_area import reached_points

STEP = 0.07
"""Spacing of places for objects [m]; cabinets are tried at every second one."""
ABOVE = 0.03
"""Height of the fingertips above the table [m], about that of a grasp."""
SHORT = 0.55
"""An arm with a shorter reach works on a desk, with a cabinet of that size [m]."""
CABINETS = {"": "{drawers: 2}", "desk ": "{drawers: 2, width: 0.16, depth: 0.14, drawer_height: 0.065}"}
"""Kind of cabinet > its parameters."""
SCALE, BORDER = 320, 0.34
"""Pixels per metre, and margin around the table [m]."""
DOWN, LEVEL, BOTH, CABINET = (36, 113, 163), (245, 176, 65), (88, 150, 90), (150, 40, 40)
WORDS = {"o": "an object here is grasped from above", "-": "only by a level hand", ".": "by no hand"}
TASK = """
arena_file: arenas/table.yaml
robots: [{{name: robot, robot_config_file: {file!r}, translation: [0, -0.42, 0.75], euler: [0, 0, 90]}}]
"""
SCENE = """
objects:
  - {{name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true,
     parameters: {parameters}}}
regions: [{{object: cabinet, target: table, random_config: {{pos_range: [[0, 0.2], [0, 0.2]], yaw_rotation: [0, 0]}}}}]
data: {{language_instruction: Stay.}}
cameras: []
distractors: null
skills: [home]
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReachOfArm:
    """Reach of one arm on the table."""

    arm: str
    base: Array
    """Position of its base (2,) from the middle of the table [m]."""
    points: Array
    """Tested places of objects (n, 2) [m]."""
    down: NDArray[np.bool_]
    """Places (n,) that the hand reaches from above."""
    level: NDArray[np.bool_]
    """Places (n,) that it reaches level."""
    cabinets: Array
    """Places (m, 2) of the middle of a cabinet, its front to the robot, whose top drawer the arm opens [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TableReach:
    """Reach of a robot on its table."""

    robot: str
    table: Array
    """Half width and depth of the table (2,) [m]."""
    arms: Sequence[ReachOfArm]
    kind: str
    """The tested kind of ``CABINETS``."""
    size: Array
    """Its width, depth and height (3,) [m]."""
    work_point: tuple[float, float] | None
    """Origin of the work frame of deed files, from the middle of the table [m]; None without one."""


def reach_on_table(robot: str, setups: Path) -> TableReach:
    """Return the collision-free reach of a robot's arms in its setup, by inverse kinematics.

    Args:
        robot: A robot of the zoo, a robot folder or file; without its own workplace or setup, it stands at the edge of
            a table.
        setups: Folder of the setups.
    """
    name = safe_name(f"{robot}.yaml")
    tables = setups.parent / "workplaces" / "table"
    known = {"workplaces/table": tables / safe_name(f"{robot}.yaml"), "setups": setups / safe_name(f"{robot}.yaml")}
    own = next((folder for folder, file in known.items() if file.is_file()), None)
    start = f"base: {own}/{name}" if own is not None else TASK.format(file=str(robot))
    scene, work_point = _scene(start, "")
    kind = "desk " if max(_furthest(scene, arm) for arm in _arms(scene)) < SHORT else ""
    if kind:
        scene, _ = _scene(start, kind)
    half = np.ptp(world_box(scene, "table"), axis=0)[:2] / 2
    arms = [_reach(scene, arm, half) for arm in _arms(scene)]
    size = scene.assets["cabinet"].extent
    return TableReach(robot=Path(robot).stem, table=half, arms=arms, kind=kind, size=size, work_point=work_point)


def _scene(start: str, kind: str) -> tuple[Scene, tuple[float, float] | None]:
    """Return the scene of a robot with a cabinet, and the origin of its work frame."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reach.yaml"
        file.write_text(start + SCENE.format(parameters=CABINETS[kind]), encoding="utf-8")
        task = load_task(file, allow_outside=True)
        return build_scene(sample_task(task, 0, 0)), task.config.work_point


def _arms(scene: Scene) -> list[tuple[str, str]]:
    return [(robot.name, arm.name) for robot in scene.robots.values() for arm in robot.arms]


def _without_cabinet(scene: Scene, arm: tuple[str, str]) -> ArmController:
    controller = ArmController(scene, scene.robot(arm[0]).arm(arm[1]))
    controller.ignored = ("cabinet/",)
    return controller


def _grid(half: Array, step: float) -> Array:
    axes = [np.arange(-side + step, side - step / 2, step) for side in half]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)


def _furthest(scene: Scene, arm: tuple[str, str]) -> float:
    """Return the approximate reach of an arm for objects on the table [m]."""
    controller, box = _without_cabinet(scene, arm), world_box(scene, "table")
    points = _grid(np.ptp(box, axis=0)[:2] / 2, 2 * STEP)
    world = np.column_stack([points + box.mean(axis=0)[:2], np.full(len(points), box[1, 2] + ABOVE)])
    free = reached_points(controller, world, "down") | reached_points(controller, world, "side")
    return float(np.linalg.norm((world - controller.arm.T_world_base[:3, 3])[free, :2], axis=1).max(initial=0.0))


def _reach(scene: Scene, arm: tuple[str, str], half: Array) -> ReachOfArm:
    controller, box = _without_cabinet(scene, arm), world_box(scene, "table")
    middle, points = box.mean(axis=0)[:2], _grid(half, STEP)
    world = np.column_stack([points + middle, np.full(len(points), box[1, 2] + ABOVE)])
    down, level = (reached_points(controller, world, way) for way in ("down", "side"))
    link, config = scene.assets["cabinet"].joints[0], OpenConfig(name="open", objects=("cabinet",), amount=0.4)
    turn = faces(scene, "cabinet", link, arm[0])
    offset = handle_of(scene, "cabinet", link) - [*scene.object_pose("cabinet")[:2, 3], 0.0]
    size = np.ptp(world_box(scene, "cabinet"), axis=0)[:2] / 2
    tried = _grid(half, 2 * STEP)
    tried = tried[np.all(np.abs(tried) < half - size, axis=1)]
    handles = np.column_stack([tried + middle + offset[:2], np.full(len(tried), offset[2])])
    near = reached_points(controller, handles, "side") | reached_points(controller, handles, "down")
    good = [p for p in tried[near] if works(scene.instance, "cabinet", p + middle, turn, arm, config)]
    return ReachOfArm(
        arm=arm[1],
        base=controller.arm.T_world_base[:2, 3] - middle,
        points=points,
        down=down,
        level=level,
        cabinets=np.array(good).reshape(-1, 2),
    )


def in_text(reach: TableReach) -> str:
    """Return the map as lines of characters, the far edge of the table first, and the ranges of cabinets."""
    lines = []
    for arm in reach.arms:
        x, y = (np.unique(np.round(arm.points[:, k], 6)) for k in range(2))
        cells = np.where(arm.down, "o", np.where(arm.level, "-", ".")).reshape(len(x), len(y))
        for place in arm.cabinets:
            cells[np.abs(x - place[0]).argmin(), np.abs(y - place[1]).argmin()] = "C"
        lines.append(f"{arm.arm} arm: x from {x[0]:.2f} to {x[-1]:.2f} m, to the right")
        lines += [f"  y {y[k]:+.2f}  {' '.join(cells[:, k])}" for k in range(len(y) - 1, -1, -1)]
        lines.append(f"  {cabinets_in_words(reach, arm)}")
    meanings = "; ".join(f"{mark} {words}" for mark, words in WORDS.items())
    lines.append(f"{meanings}; C a cabinet here, front to the robot, is opened")
    if reach.work_point is not None:
        x, y = reach.work_point
        lines.append(
            f"x and y count from the middle of the table, as in pos_range; at of a deed file counts from x {x:.2f}, "
            f"y {y:.2f}: subtract these"
        )
    return "\n".join(lines)


def cabinets_in_words(reach: TableReach, arm: ReachOfArm) -> str:
    """Return where a cabinet can stand for an arm, in a sentence."""
    size = " x ".join(f"{side:.2f}" for side in reach.size)
    what = f"a {reach.kind}cabinet of {size} m"
    if not len(arm.cabinets):
        return f"{what} has no place on the table at which the {arm.arm} arm can open it"
    (x0, y0), (x1, y1) = arm.cabinets.min(axis=0), arm.cabinets.max(axis=0)
    return (
        f"{what}: its middle at x {x0:.2f} to {x1:.2f}, y {y0:.2f} to {y1:.2f} ({len(arm.cabinets)} places tried work)"
    )


def drawn(reach: TableReach) -> NDArray[np.uint8]:
    """Draw the table from above, one panel per arm, as an image (h, w, 3): x to the right, y up."""
    panels = [_panel(reach, arm) for arm in reach.arms]
    sheet = Image.new("RGB", (sum(p.width for p in panels), panels[0].height + 26), "white")
    for k, panel in enumerate(panels):
        sheet.paste(panel, (sum(p.width for p in panels[:k]), 0))
    pen, font, x = ImageDraw.Draw(sheet), ImageFont.load_default(13), 10
    legend = {"from above": DOWN, "from above and level": BOTH, "level": LEVEL, "middle of a cabinet": CABINET}
    for words, color in legend.items():
        pen.rectangle((x, sheet.height - 20, x + 12, sheet.height - 8), fill=color)
        pen.text((x + 18, sheet.height - 22), words, fill="black", font=font)
        x += 36 + int(pen.textlength(words, font=font))
    return np.asarray(sheet)


def _panel(reach: TableReach, arm: ReachOfArm) -> Image.Image:
    width, depth = 2 * (reach.table + BORDER)
    image = Image.new("RGB", (int(SCALE * width), int(SCALE * depth)), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(13)

    def box(x: float, y: float, half: float) -> tuple[float, float, float, float]:
        left, top = SCALE * (x - half + width / 2), SCALE * (depth / 2 - y - half)
        return left, top, left + 2 * SCALE * half, top + 2 * SCALE * half

    corner = SCALE * BORDER
    pen.rectangle((corner, corner, image.width - corner, image.height - corner), fill="#eee", outline="#777")
    for (x, y), above, level in zip(arm.points, arm.down, arm.level, strict=True):
        if above or level:
            pen.rectangle(box(x, y, 0.45 * STEP), fill=BOTH if above and level else DOWN if above else LEVEL)
    for x, y in arm.cabinets:
        pen.ellipse(box(x, y, 0.02), fill=CABINET)
    edge = np.array([width, depth]) / 2 - 0.04
    x, y = np.clip(arm.base, -edge, edge)
    pen.rectangle(box(x, y, 0.025), fill="black")
    pen.text((8, 6), f"{reach.robot}, {arm.arm} arm; squares every {STEP:g} m", fill="black", font=font)
    return image
