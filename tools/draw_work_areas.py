"""Find the area of the table that each robot of ``setups/`` reaches; draw it, and write it into the cookbook."""

import re
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from handloom.arrays import Array
from handloom.scene import Scene, SceneArm, build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.tasks import load_task, sample_task
from handloom.tasks.work_area import reached_points

ROOT = Path(__file__).parents[1]
COOKBOOK = ROOT / "docs" / "guides" / "cookbook.md"
PICTURE = ROOT / "docs" / "images" / "work_areas.png"
SETUPS = (
    "aloha",
    "fr3",
    "fr3_pair",
    "franka_robotiq85",
    "genie1",
    "lift2",
    "so101",
    "split_aloha",
    "ur5e_robotiq85",
)
TABLE = (1.4, 1.0)
"""Size of the table of ``arenas/table.yaml`` [m]; the middle of its top is x = y = 0."""
DOT = 0.02
"""Edge of a cube in the corner of the table, which gives the height of the table [m]."""
ABOVE = 0.03
"""Height of the fingertips above the table [m], about that of a grasp."""
STEP = 0.07
"""Distance between tested points [m]."""
FEW = 4
"""Up to this many points do not count as an area."""
SCALE = 200
"""Pixels per metre."""
BORDER = 0.32
"""Room around the table, for robots that stand beside it [m]."""
COLORS = {"down": (36, 113, 163), "side": (245, 176, 65), "both": (88, 150, 90)}
MARKS = ("<!-- work areas -->", "<!-- end of work areas -->")
TASK = f"""objects:
  - {{name: dot, target_class: RigidObject, category: cube, parameters: {{edge: {DOT}}}}}
regions:
  - {{object: dot, target: table,
     random_config: {{pos_range: [[0.66, 0.46, 0], [0.66, 0.46, 0]], yaw_rotation: [0, 0]}}}}
data: {{language_instruction: "Stay."}}
skills: [home]
"""


class Area(NamedTuple):
    """The area of the table that an arm reaches."""

    arm: str
    base: Array
    """Position of its base (2,) [m]."""
    points: Array
    """Tested points (n, 2) [m]."""
    down: NDArray[np.bool_]
    """Which of them (n,) the hand reaches from above."""
    side: NDArray[np.bool_]
    """Which of them (n,) the hand reaches while level and pointing away from the base."""


def main() -> None:
    """Draw one panel per robot, and write one row per arm."""
    rows, panels = [], []
    for robot in SETUPS:
        areas = areas_of(robot)
        panels.append(_panel(robot, areas))
        rows += [_row(robot, area) for area in areas]
    _sheet(panels).save(PICTURE, optimize=True)
    text = COOKBOOK.read_text(encoding="utf-8")
    table = "\n".join([MARKS[0], HEAD, *rows, MARKS[1]])
    COOKBOOK.write_text(re.sub(f"{MARKS[0]}.*?{MARKS[1]}", table, text, flags=re.DOTALL), encoding="utf-8")


HEAD = (
    "| Robot | Arm | From above: x, y on the table [m] | Distance from the base [m] | Level hand: distance [m] |\n"
    "| --- | --- | --- | --- | --- |"
)


def areas_of(robot: str) -> list[Area]:
    """Return the area of every arm of a robot in its setup, found by inverse kinematics."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "area.yaml"
        file.write_text(f"base: setups/{robot}.yaml\n{TASK}", encoding="utf-8")
        scene = build_scene(sample_task(load_task(file), 0, 0))
    x, y = (np.arange(-side / 2 + STEP, side / 2 - STEP / 2, STEP) for side in TABLE)
    points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    return [_area(scene, arm, points) for robot in scene.robots.values() for arm in robot.arms]


def _area(scene: Scene, arm: SceneArm, points: Array) -> Area:
    controller = ArmController(scene, arm)
    controller.ignored = ("dot/",)
    top = scene.object_pose("dot")[2, 3] - DOT / 2
    world = np.column_stack([points, np.full(len(points), top + ABOVE)])
    down, side = (reached_points(controller, world, approach) for approach in ("down", "side"))
    return Area(arm.name, arm.T_world_base[:2, 3], points, down, side)


def _row(robot: str, area: Area) -> str:
    """Return a row of the table; each range contains 90 % of the reached points, so that it can be relied on."""

    def span(values: Array) -> str:
        low, high = np.quantile(values, (0.05, 0.95))
        return f"{low:.2f} to {high:.2f}"

    distance = np.linalg.norm(area.points - area.base, axis=1)
    sideways = span(distance[area.side]) if area.side.sum() > FEW else "-"
    if area.down.sum() <= FEW:
        return f"| `{robot}` | {area.arm} | - | - | {sideways} |"
    x, y = area.points[area.down].T
    return f"| `{robot}` | {area.arm} | x {span(x)}, y {span(y)} | {span(distance[area.down])} | {sideways} |"


def _panel(robot: str, areas: list[Area]) -> Image.Image:
    """Draw the table from above: x to the right, y up."""
    width, depth = TABLE[0] + 2 * BORDER, TABLE[1] + 2 * BORDER
    image = Image.new("RGB", (int(SCALE * width), int(SCALE * depth)), "white")
    draw = ImageDraw.Draw(image)

    def pixel(x: float, y: float) -> tuple[float, float]:
        return SCALE * (x + width / 2), SCALE * (depth / 2 - y)

    def square(x: float, y: float, size: float, **look: object) -> None:
        (left, top), (right, bottom) = pixel(x - size / 2, y + size / 2), pixel(x + size / 2, y - size / 2)
        draw.rectangle((left, top, right, bottom), **look)  # pyright: ignore[reportArgumentType]

    draw.rectangle(
        (*pixel(-TABLE[0] / 2, TABLE[1] / 2), *pixel(TABLE[0] / 2, -TABLE[1] / 2)), fill="#eee", outline="#777"
    )
    down, side = (np.any([getattr(a, key) for a in areas], axis=0) for key in ("down", "side"))
    for (x, y), above, level in zip(areas[0].points, down, side, strict=True):
        if above or level:
            square(x, y, 0.9 * STEP, fill=COLORS["both" if above and level else "down" if above else "side"])
    for area in areas:
        x, y = np.clip(area.base, -np.array([width, depth]) / 2 + 0.03, np.array([width, depth]) / 2 - 0.03)
        square(x, y, 0.05, fill="black")
        draw.text(pixel(x + 0.04, y + 0.02), area.arm, fill="black")
    draw.line((*pixel(0, 0), *pixel(0.2, 0)), fill="#c0392b", width=3)
    draw.line((*pixel(0, 0), *pixel(0, 0.2)), fill="#1e8449", width=3)
    draw.text(pixel(0.21, 0.02), "x", fill="#c0392b")
    draw.text(pixel(-0.01, 0.25), "y", fill="#1e8449")
    draw.text(pixel(-width / 2 + 0.03, depth / 2 - 0.02), robot, fill="black")
    return image


def _sheet(panels: list[Image.Image]) -> Image.Image:
    """Arrange the panels in rows of three, above a legend of the colours."""
    width, height = panels[0].size
    sheet = Image.new("RGB", (3 * width, (len(panels) + 2) // 3 * height + 24), "white")
    for k, panel in enumerate(panels):
        sheet.paste(panel, (k % 3 * width, k // 3 * height))
    draw = ImageDraw.Draw(sheet)
    words = {"down": "from above", "both": "from above and level", "side": "level"}
    for k, (key, text) in enumerate(words.items()):
        at = 10 + k * 220, sheet.height - 20
        draw.rectangle((*at, at[0] + 12, at[1] + 12), fill=COLORS[key])
        draw.text((at[0] + 18, at[1]), text, fill="black")
    return sheet


if __name__ == "__main__":
    main()
