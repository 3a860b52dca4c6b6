"""Reach maps: the spots on a table, and heights above it, that an arm's fingertips can reach without collision.

They are found by inverse kinematics once per robot, table and height. Those of the shipped workplaces lie beside them
as text; others are computed on demand and kept in the cache.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.cache import user_cache
from handloom.dataset.files.durable import atomic_write
from handloom.errors import FileError
from handloom.safe_paths import safe_name
from handloom.scene import Scene, SceneArm, build_scene
from handloom.scene.measures import geom_points, world_box
from handloom.skills.arms.arm_controller import ArmController
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.objects import sample_props
from handloom.tasks.sampling.robots import robot_source, sample_robots
from handloom.tasks.work_area import Approach, furthest, reached_stepwise
from handloom.values import TaskInstance

STEPS = {0.55: 0.03, np.inf: 0.06}
"""Largest reach of an arm from its base > distance between the spots of its map [m]."""
LEVELS = (0.03, 0.12, 0.24)
"""Heights of the tool centre above the table [m]."""
LONGEST = 0.01
"""Fingers may extend this much further beyond the tool centre than a level is high: a tilted hand is shorter [m]. From
above, a hand with longer fingers is tested as low as they allow, which is where it picks things up."""
CLEARANCE = 0.005
"""Distance of such fingers from the table [m]."""
APPROACHES: tuple[Approach, ...] = ("slanted", "side")
"""From above, as steeply as the arm allows; level."""
METHOD = 1
"""Version number, increased when the maps are computed differently."""
LOW = 0.06
"""Height up to which objects are only grasped from above [m]: a level hand cannot reach flat objects."""
NEAR = 0.05
"""A level this much beyond two heights also counts [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReachMap:
    """Reach of a robot's arms on a table."""

    table: Array
    """Corners of the table top (2, 2), from its middle [m]."""
    step: float
    """Distance between spots [m]."""
    arms: dict[str, NDArray[np.bool_]]
    """Arm > the spots it reaches: approach, level, x and y (2, levels, nx, ny)."""

    def spots(self) -> tuple[Array, Array]:
        """Return the x and y of the spots, from the middle of the table [m]."""
        x, y = (np.arange(low + self.step / 2, high, self.step) for low, high in self.table.T)
        return x, y

    def gets_to(
        self,
        arm: str,
        spot: ArrayLike,
        low: float,
        high: float,
        *,
        approaches: Sequence[Approach] = APPROACHES,
        loosely: bool = False,
    ) -> bool:
        """Return whether an arm reaches a spot and those around it, at all levels between two heights.

        Args:
            arm: The arm.
            spot: From the middle of the table (2,) [m].
            low: Lowest height of the fingertips above the table [m].
            high: Highest.
            approaches: Allowed approaches of the hand.
            loosely: Whether one of these levels is enough.
        """
        free = self.free(arm, low, high, approaches, loosely=loosely)
        place = (np.asarray(spot, float)[:2] - self.table[0]) / self.step - 0.5
        first = np.floor(place + 1e-9).astype(int)
        if np.any(first < 0) or np.any(first + 1 >= free.shape):
            return False
        i, j = first
        return bool(free[i : i + 2, j : j + 2].all())

    def free(
        self, arm: str, low: float, high: float, approaches: Sequence[Approach] = APPROACHES, *, loosely: bool = False
    ) -> NDArray[np.bool_]:
        """Return the spots (nx, ny) that an arm reaches at all levels between two heights [m], or loosely at one."""
        nearest = int(np.argmin(np.abs(np.array(LEVELS) - (low + high) / 2)))
        levels = [k for k, level in enumerate(LEVELS) if low - NEAR <= level <= high + NEAR] or [nearest]
        flat = "slanted" in approaches and low <= LOW
        ways = [APPROACHES.index(way) for way in approaches if way == "slanted" or not flat]
        together = np.any if loosely else np.all
        return np.any([together(self.arms[arm][way][levels], axis=0) for way in ways], axis=0)

    def to_text(self, key: str) -> str:
        """Return the map as text, the far edge of the table first; two digits per spot, of 16: from above, level."""
        (x0, y0), (x1, y1) = self.table.tolist()
        lines = [f"reach map {key}", f"table {x0:.6g} {y0:.6g} {x1:.6g} {y1:.6g} step {self.step}"]
        for arm, free in self.arms.items():
            digits = np.sum(free * (2 ** np.arange(len(LEVELS)))[None, :, None, None], axis=1)
            lines += [f"arm {arm}"]
            lines += [" ".join(f"{a:x}{b:x}" for a, b in digits[:, :, j].T) for j in range(digits.shape[2] - 1, -1, -1)]
        return "\n".join([*lines, ""])

    @classmethod
    def from_text(cls, text: str) -> "ReachMap":
        """Read the text of a map."""
        _, table, *rows = text.splitlines()
        corners, step = np.array(table.split()[1:5], float).reshape(2, 2), float(table.split()[-1])
        found: dict[str, list[list[str]]] = {}
        arm = ""
        for row in rows:
            if row.startswith("arm "):
                arm = row.removeprefix("arm ")
                found[arm] = []
            elif row:
                found[arm].append(row.split())
        arms = {name: _of_digits(lines[::-1]) for name, lines in found.items()}
        return cls(table=corners, step=step, arms=arms)


def _of_digits(rows: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    numbers = np.array([[[int(digit, 16) for digit in cell] for cell in row] for row in rows])  # y, x, approach
    bits = (numbers[..., None] >> np.arange(len(LEVELS))) & 1
    return bits.transpose(2, 3, 1, 0).astype(bool)


def reach_key(task: Task) -> str:
    """Return the key of the reach map of a task's robot and table."""
    entry = task.config.robots[0]
    source = robot_source(task, entry)
    table = next(fixture for fixture in task.arena.fixtures if fixture.name == task.config.work_surface)
    files = sorted(Path(source.robot).parent.glob("*.*")) if Path(source.robot).is_file() else []
    facts = [
        METHOD,
        source.robot,
        [sha256(file.read_bytes()).hexdigest() for file in files],
        {key: value for key, value in source.overrides.items() if not key.endswith("_std")},
        [list(entry.translation), entry.euler, entry.quaternion, list(entry.ignore_substring)],
        [table.size, table.translation, _height(task)],
        [list(STEPS.items()), LEVELS, APPROACHES],
    ]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def reach_map(task: Task, shipped: Path | None = None) -> ReachMap:
    """Return the reach map of the first robot of a task; the same for every task at that workplace.

    Args:
        task: The task.
        shipped: Folder of the shipped maps; None takes the package's.
    """
    key = reach_key(task)
    return _known(key, shipped or shipped_maps()) or _made(task, key)


def shipped_maps() -> Path:
    """Return the folder of the shipped maps."""
    return Path(__file__).parents[1] / "library" / "reach"


def _own_maps() -> Path:
    """Return the folder of maps computed here; ``reach`` has those from before long fingers were raised."""
    return user_cache() / "reach_maps"


@lru_cache(maxsize=32)
def _known(key: str, shipped: Path) -> ReachMap | None:
    for folder in (shipped, _own_maps()):
        for file in sorted(folder.glob(f"*{key}.txt")):
            return ReachMap.from_text(file.read_text(encoding="utf-8"))
    return None


_MADE: dict[str, ReachMap] = {}
"""Maps of this process, by key."""


def _made(task: Task, key: str) -> ReachMap:
    if key not in _MADE:
        _MADE[key] = computed(task)
        folder = _own_maps()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(folder / safe_name(f"{key}.txt")) as file:
                file.write_text(_MADE[key].to_text(key), encoding="utf-8")
        except (OSError, FileError):
            pass  # It is computed again next time.
    return _MADE[key]


def computed(task: Task) -> ReachMap:
    """Compute the reach map of the first robot of a task, which takes a few seconds."""
    scene = _bare_scene(task)
    surface = task.config.work_surface
    box = world_box(scene, surface)
    middle, top = box.mean(axis=0)[:2], box[1, 2]
    robot = next(iter(scene.robots.values()))
    controllers = {arm.name: ArmController(scene, arm) for arm in robot.arms}
    far = max(furthest(controller) for controller in controllers.values())
    step = next(step for most, step in STEPS.items() if far < most)
    result = ReachMap(table=box[:, :2] - middle, step=step, arms={})
    x, y = result.spots()
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2) + middle
    for name, controller in controllers.items():
        free = np.zeros((len(APPROACHES), len(LEVELS), len(x), len(y)), bool)
        beyond = beyond_tool_centre(scene, controller.arm)
        for (a, approach), (k, level) in ((p, q) for p in enumerate(APPROACHES) for q in enumerate(LEVELS)):
            long = approach == "slanted" and beyond > level + LONGEST
            points = np.column_stack([grid, np.full(len(grid), top + (beyond + CLEARANCE if long else level))])
            free[a, k] = reached_stepwise(controller, points, approach).reshape(len(x), len(y))
        result.arms[name] = free
    return result


def beyond_tool_centre(scene: Scene, arm: SceneArm) -> float:
    """Return how far the hand of an arm extends beyond its tool centre, along its approach, as it is now [m]."""
    world = scene.world
    model, data = world.model, world.data
    wrist = model.body(model.jnt_bodyid[world.joint_index(arm.joint_names[-1])]).name
    bodies = [world.body_index(body) for body in world.subtree(wrist)]
    solid = (model.geom_contype > 0) | (model.geom_conaffinity > 0)
    tool = data.body(arm.tool_body)
    approach = tool.xmat.reshape(3, 3) @ arm.spec.approach
    centre = tool.xpos + arm.spec.tcp_offset * approach
    furthest = 0.0
    for g in np.flatnonzero(solid & np.isin(model.geom_bodyid, bodies)).tolist():
        points = geom_points(model, g) @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]
        furthest = max(furthest, float(np.max((points - centre) @ approach)))
    return furthest


def _height(task: Task) -> float | None:
    """Return the middle height of a table whose height varies [m]."""
    return None if task.config.table_height is None else float(np.mean(task.config.table_height))


def _bare_scene(task: Task) -> Scene:
    """Return the robot of a task at home at its table, without any objects."""
    height = _height(task)
    robots = tuple(
        entry.model_copy(
            update={
                "overrides": {
                    key: [0.0] * len(value) if key.endswith("_std") else value for key, value in entry.overrides.items()
                }
            }
        )
        for entry in task.config.robots[:1]
    )
    update = {"objects": (), "robots": robots, "table_height": None if height is None else (height, height)}
    bare = replace(task, config=task.config.model_copy(update=update), robot_sources={})
    rng = np.random.default_rng(0)
    return build_scene(
        TaskInstance(
            task="reach",
            seed=0,
            episode=0,
            instruction="",
            robots=sample_robots(bare, rng),
            objects=sample_props(bare, rng),
            cameras=(),
        )
    )
