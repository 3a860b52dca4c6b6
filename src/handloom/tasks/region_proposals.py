"""Regions that fit a robot: places of cabinets and objects that are all within reach of its hands.

Found without physics: cabinets first, as in :mod:`standing_places`; then, with them opened, the targets of places, then
the objects to pick. Every proposal is rehearsed in some of its own scenes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import HandloomError
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.scene.region_config import RandomConfig, RegionConfig
from handloom.skills import SkillConfig
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.articulated import ArticulatedSkillConfig
from handloom.skills.configs.picks import PickConfig
from handloom.skills.configs.places import PlaceConfig
from handloom.tasks.config.arm_words import CHOSEN
from handloom.tasks.config.deed_form import CLEAR
from handloom.tasks.config.task import Task
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.grasp_rehearsal import troubles
from handloom.tasks.joint_rehearsal import imagine_moved, planned_joint, tries_joint
from handloom.tasks.reach.chosen_arms import arms_of_skills, with_arms
from handloom.tasks.sampling.sample_task import sample_task
from handloom.tasks.search_time import unlimited
from handloom.tasks.standing_places import YAW, moved_to, near_places
from handloom.tasks.work_area import reached_points

STEP = 0.04
"""Spacing of candidate spots on a table [m]."""
ABOVE = 0.03
"""Height of the fingertips above the table [m], about that of a grasp."""
GAP = 0.05
"""Free space between objects [m]."""
EDGE = 0.03
"""Minimum distance of an object from the table's edge [m]."""
SPREAD = 0.03
"""Half the side length of the square from which an object's place is drawn [m]."""
APART = 0.07
"""Spots nearer than this to one that failed are not tried [m]."""
SPOTS = 8
"""Maximum number of spots tried for an object."""
SCENES = 4
"""Number of scenes rehearsed per proposal."""
SMALLER = (0.75, 0.55)
"""Factors on the size of an object with a joint that are tried if no place suits its own size."""
SkillKeys = tuple[str | int, ...]


class Proposal(NamedTuple):
    """Proposed regions for the objects of a task's skills."""

    regions: tuple[RegionConfig, ...]
    free: int
    """Number of the ``SCENES`` rehearsed scenes in which nothing hinders the hands."""
    arm: tuple[SkillKeys, str] | None = None
    """A skill, which leaves the choice of its arm to the scene, and the arm that it needs."""
    scale: tuple[str, float] | None = None
    """An object that must be smaller, and the factor on its size."""

    def lines(self, task: Task) -> list[str]:
        """Return the regions as written in a task file, then other changes that they need, as comments."""
        lines = [region_line(region, task) for region in self.regions]
        if self.arm is not None:
            lines.append(f"# {task.where(*self.arm[0])}: give arm: {self.arm[1]}")
        if self.scale is not None:
            entry = next(entry for entry in self.of(task).config.objects if entry.name == self.scale[0])
            index = [entry.name for entry in task.config.objects].index(entry.name)
            sizes = ", ".join(f"{side:g}" for side in entry.scale)
            lines.append(f"# {task.where('objects', index)}: a smaller {entry.name}: scale: [{sizes}]")
        return lines

    def of(self, task: Task) -> Task:
        """Return the task with its regions replaced by these, and the other changes."""
        if self.arm is not None:
            task = _with_arm(task, *self.arm)
        if self.scale is not None:
            task = _smaller(task, *self.scale)
        return _with_regions(task, self.regions)


def proposals(task: Task, step: Callable[[str], None] = unlimited) -> Iterator[Proposal]:
    """Yield regions in which the hands reach everything in the rehearsed scenes, if any are found.

    Only objects on a table or another fixture, or without a place, are moved. If the arm that a scene chooses finds no
    place for an object with a joint, the other arms are asked. ``step`` is called before every trial; it may end them.
    """
    table = _table(task)
    start = None if table is None else _somewhere(task, table)
    if table is None or start is None:
        return
    for arm in (None, *_other_arms(task, start)):
        fixed = task if arm is None else _with_arm(task, *arm)
        found = False
        for proposal in _found(fixed, start, table, step):
            found = True
            yield _in_short(fixed, proposal)._replace(arm=arm)
        if found:
            return


def _in_short(task: Task, proposal: Proposal) -> Proposal:
    """Return a proposal with its regions as their short form is read, unless that refuses them.

    In a deed file ``at`` is clipped to the reach map, which is coarse and leaves some room.
    """
    surface, clipped = task.config.work_surface, task.config.work_point is not None
    short = tuple(
        region.model_copy(update={"within_reach": clipped, "clear": CLEAR}) if region.target == surface else region
        for region in proposal.regions
    )
    try:
        for episode in range(SCENES):
            sample_task(_with_regions(task, short), 0, episode)
    except HandloomError:
        return proposal
    return proposal._replace(regions=short)


def smaller_proposals(task: Task, step: Callable[[str], None] = unlimited) -> Iterator[Proposal]:
    """Yield regions for a task whose first object with a joint is made smaller, the largest suitable size first."""
    moved = (skill.objects[0] for _, skill in placed_skills(task.config) if isinstance(skill, ArticulatedSkillConfig))
    name = next((name for name in moved if name in _movable(task)), None)
    for factor in SMALLER if name is not None else ():
        assert name is not None
        yield from (found._replace(scale=(name, factor)) for found in proposals(_smaller(task, name, factor), step))


def _found(task: Task, start: Scene, table: str, step: Callable[[str], None]) -> Iterator[Proposal]:
    search = _Search(with_arms(task, start.instance), start, table, step)
    found = search.joints()
    if found is None:
        return
    regions, scene = found
    rest: list[Proposal] = []
    for spots in search.things(scene):
        proposal = _rehearsed(task, (*regions, *spots), step)
        if proposal.free == SCENES:
            yield proposal
        elif proposal.free:
            rest.append(proposal)
    yield from sorted(rest, key=lambda p: -p.free)


def _other_arms(task: Task, scene: Scene) -> Iterator[tuple[SkillKeys, str]]:
    """Yield the first skill that moves a joint, if it leaves its arm to the scene, with every arm not chosen there."""
    chosen = arms_of_skills(task, scene.instance)
    for keys, skill in placed_skills(task.config):
        if isinstance(skill, ArticulatedSkillConfig) and tries_joint(skill):
            arms = scene.robot(str(keys[2])).arms if keys[4] in CHOSEN else ()
            yield from ((keys, arm.name) for arm in arms if arm.name != chosen[keys])
            return


def _with_arm(task: Task, keys: SkillKeys, arm: str) -> Task:
    """Return a task in which the block of a skill is done by an arm."""
    _, stage, robot, block, word, _ = keys
    stages = [{name: list(blocks) for name, blocks in one.items()} for one in task.config.skills]
    blocks = stages[int(stage)][str(robot)]
    blocks[int(block)] = {arm if own == word else own: skills for own, skills in blocks[int(block)].items()}
    return replace(task, config=task.config.model_copy(update={"skills": tuple(stages)}))


def _smaller(task: Task, name: str, factor: float) -> Task:
    """Return a task in which an object is smaller by a factor."""
    objects = [
        entry.model_copy(update={"scale": tuple(round(factor * side, 3) for side in entry.scale)})
        if entry.name == name
        else entry
        for entry in task.config.objects
    ]
    return replace(task, config=task.config.model_copy(update={"objects": tuple(objects)}))


def unplaced(task: Task) -> set[str]:
    """Return the objects without a region, a place or a hand."""
    placed = {region.object for region in task.config.regions}
    return {
        entry.name
        for entry in task.config.objects
        if entry.name not in placed and entry.translation is None and entry.init_parent is None
    }


@dataclass(frozen=True)
class _Search:
    task: Task
    scene: Scene
    """A scene with objects anywhere."""
    table: str
    step: Callable[[str], None]

    def joints(self) -> tuple[tuple[RegionConfig, ...], Scene] | None:
        """Return regions of objects whose joints are moved, and a scene with these left open; None if not found."""
        skills = list(placed_skills(self.task.config))
        scene, regions = self.scene, list[RegionConfig]()
        filled = {s.objects[1] for _, s in skills if isinstance(s, PlaceConfig) and len(s.objects) > 1}
        movable = _movable(self.task)
        for keys, skill in skills:
            name = skill.objects[0] if skill.objects else ""
            if not isinstance(skill, ArticulatedSkillConfig) or not tries_joint(skill):
                continue
            arm = (str(keys[2]), str(keys[4]))
            if name in movable and name not in {region.object for region in regions}:
                wanted = name in filled and skill.name == "open"
                centred = name in unplaced(self.task)
                found = near_places(scene, arm, skill, self.table, filled=wanted, centred=centred, step=self.step)
                if found is None:
                    return None
                places, turn = found
                middle = world_box(scene, self.table).mean(axis=0)[:2]
                x, y = (middle + places.mean(axis=0)).tolist()
                regions.append(_standing(scene, name, self.table, places, turn))
                scene = build_scene(moved_to(scene.instance, name, x, y, turn))
            if skill.name == "open":
                controller = ArmController(scene, scene.robot(arm[0]).arm(arm[1]))
                planned = planned_joint(scene, controller, skill)
                if planned.manip_list:
                    imagine_moved(scene, planned, ())
        return tuple(regions), scene

    def things(self, scene: Scene) -> Iterator[tuple[RegionConfig, ...]]:
        """Yield regions of targets and picked objects, targets first.

        Args:
            scene: A scene with the objects that have joints, and no loose ones.
        """
        asked = _handled(self.task)
        movable = _movable(self.task)
        names = [name for name in asked if name in movable and not _has_joint(self.scene, name)]
        if not names:
            yield ()
            return
        sizes = {name: float(np.ptp(world_box(self.scene, name), axis=0)[:2].max()) / 2 for name in names}
        reach = {arm: self._reached(scene, arm) for arm in set(asked.values())}
        own = {entry.name for entry in self.task.config.objects} - set(names)
        boxes = [world_box(scene, o.name)[:, :2] for o in scene.instance.objects if o.name in own]
        refused: list[Array] = []
        for _ in range(SPOTS):
            chosen: dict[str, Array] = {}
            for name in names:
                spots = reach[asked[name]]
                spots = spots[_clear(spots, boxes, sizes[name] + SPREAD + GAP)]
                for other, spot in chosen.items():
                    far = sizes[name] + sizes[other] + 2 * SPREAD + GAP
                    spots = spots[np.linalg.norm(spots - spot, axis=1) > far]
                for spot in refused if name == names[-1] else ():
                    spots = spots[np.linalg.norm(spots - spot, axis=1) > APART]
                if not len(spots):
                    break
                chosen[name] = spots[0]
            if len(chosen) < len(names):
                return
            refused.append(chosen[names[-1]])
            yield tuple(self._lying(scene, name, spot) for name, spot in chosen.items())

    def _reached(self, scene: Scene, arm: tuple[str, str]) -> Array:
        """Return spots (n, 2) in the world that a hand reaches from above or at a slant, the most central first [m]."""
        low, high = world_box(scene, self.table)
        xs, ys = (np.arange(low[k] + EDGE, high[k] - EDGE, STEP) for k in range(2))
        grid = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1)
        points = np.concatenate([grid, np.full((len(xs), len(ys), 1), high[2] + ABOVE)], axis=-1)
        controller = ArmController(scene, scene.robot(arm[0]).arm(arm[1]))
        # Every third spot first; then those around the reached ones.
        free, some = np.zeros((len(xs), len(ys)), bool), np.zeros((len(xs), len(ys)), bool)
        some[::3, ::3] = True
        for _ in range(2):
            free[some] = reached_points(controller, points[some], "slanted") if some.any() else False
            some = (_around(free, 3) > 0) & ~some & ~free
        middle = grid[free].mean(axis=0) if free.any() else np.zeros(2)
        # Spots with many others around them, then those in the middle.
        order = np.lexsort((np.linalg.norm(grid[free] - middle, axis=1), -_around(free, 2)[free]))
        return grid[free][order]

    def _lying(self, scene: Scene, name: str, spot: Array) -> RegionConfig:
        x, y = (spot - world_box(scene, self.table).mean(axis=0)[:2]).round(2).tolist()
        own = next((r for r in self.task.config.regions if r.object == name), None)
        turn = own.random_config.yaw_rotation if own is not None and own.random_config is not None else None
        return _region(name, self.table, ((x - SPREAD, y - SPREAD), (x + SPREAD, y + SPREAD)), turn or (-180.0, 180.0))


def _around(free: NDArray[np.bool_], far: int) -> NDArray[np.intp]:
    """Return the number of set cells of a grid (n, m) around each cell, up to a number of steps away."""
    padded, (rows, columns) = np.pad(free, far).astype(np.intp), (free.shape[0], free.shape[1])
    span = range(2 * far + 1)
    return np.sum([padded[i : i + rows, j : j + columns] for i in span for j in span], axis=0)


def _clear(spots: Array, boxes: Sequence[Array], room: float) -> NDArray[np.bool_]:
    """Return which spots (n, 2) keep a clearance [m] from boxes (2, 2)."""
    free = np.ones(len(spots), bool)
    for low, high in boxes:
        free &= np.linalg.norm(spots - np.clip(spots, low, high), axis=1) > room
    return free


def _handled(task: Task) -> Mapping[str, tuple[str, str]]:
    """Return targets and picked objects > the arm that uses them; targets first."""
    found: dict[str, tuple[str, str]] = {}
    skills = list(placed_skills(task.config))
    for wanted in (PlaceConfig, PickConfig, SkillConfig):
        for keys, skill in skills:
            if isinstance(skill, wanted):
                names = skill.objects[1:2] if wanted is PlaceConfig else skill.objects
                found |= {name: (str(keys[2]), str(keys[4])) for name in names if name not in found}
    return found


def _movable(task: Task) -> list[str]:
    """Return the objects that may be moved: they lie on a fixture, or have no place yet."""
    own = {entry.name for entry in task.config.objects}
    flat = [r for r in task.config.regions if r.random_type == "A_on_B_region_sampler" and r.random_config is not None]
    lying = {r.object for r in flat if r.target not in own and r.sub_tgt_prim is None and r.container is None}
    used = {name for _, skill in placed_skills(task.config) for name in skill.objects}
    return [name for name in (e.name for e in task.config.objects) if name in used & (lying | unplaced(task))]


def _table(task: Task) -> str | None:
    """Return the fixture on which the objects lie."""
    own = {entry.name for entry in (*task.config.objects, *task.config.robots)}
    targets = [r.target for r in task.config.regions if r.target not in own]
    fixtures = [fixture.name for fixture in task.arena.fixtures]
    return next(iter((*targets, *(name for name in fixtures if "table" in name))), None)


def _somewhere(task: Task, table: str) -> Scene | None:
    """Return a scene with all movable objects anywhere on the table; None if there is no room."""
    regions = [_region(name, table, ((-0.6, -0.3), (0.6, 0.35)), (0.0, 0.0)) for name in _movable(task)]
    for episode in range(SCENES):
        try:
            return build_scene(sample_task(_with_regions(task, regions), 1, episode))
        except HandloomError:
            continue
    return None


def _rehearsed(task: Task, regions: Sequence[RegionConfig], step: Callable[[str], None]) -> Proposal:
    """Return a proposal, with the number of its scenes in which nothing hinders the hands."""
    fitted, free = _with_regions(task, regions), 0
    for episode in range(SCENES):
        step("regions")
        try:
            free += not any(troubles(fitted, build_scene(sample_task(fitted, 1, episode))))
        except HandloomError:
            continue
        if free <= episode - 1:
            break  # Two failures are enough.
    return Proposal(tuple(regions), free)


def _with_regions(task: Task, regions: Sequence[RegionConfig]) -> Task:
    new = {region.object: region for region in regions}
    kept = tuple(r for r in task.config.regions if r.object not in new)
    return replace(task, config=task.config.model_copy(update={"regions": (*kept, *new.values())}))


def _has_joint(scene: Scene, name: str) -> bool:
    return name in scene.assets and scene.assets[name].articulated


def _standing(scene: Scene, name: str, table: str, places: Array, turn: float) -> RegionConfig:
    R = scene.object_pose(name)[:3, :3]
    yaw = float(np.rad2deg(np.arctan2(R[1, 0], R[0, 0]) + turn))
    yaw, wide = round((yaw + 180.0) % 360.0 - 180.0), round(float(np.rad2deg(YAW)) - 1.0)
    low, high = places.min(axis=0).round(2).tolist(), places.max(axis=0).round(2).tolist()
    return _region(name, table, ((low[0], low[1]), (high[0], high[1])), (yaw - wide, yaw + wide))


def _region(
    name: str, table: str, box: tuple[tuple[float, float], tuple[float, float]], yaw: tuple[float, float]
) -> RegionConfig:
    (a, b), (c, d) = box
    ranges = RandomConfig(pos_range=((a, b, 0.0), (c, d, 0.0)), yaw_rotation=yaw)
    return RegionConfig(object=name, target=table, random_config=ranges)


def region_line(region: RegionConfig, task: Task) -> str:
    """Return a region as it is written in a task file."""
    ranges = region.random_config
    assert ranges is not None
    assert ranges.pos_range is not None
    assert ranges.yaw_rotation is not None
    corners = np.array([corner[:2] for corner in ranges.pos_range])
    yaw = f"[{ranges.yaw_rotation[0]:g}, {ranges.yaw_rotation[1]:g}]"
    short = region.target == task.config.work_surface and region.clear == CLEAR
    if short:
        corners = corners - (task.config.work_point or (0.0, 0.0))
    places = ", ".join(f"[{x:g}, {y:g}]" for x, y in np.round(corners, 3).tolist())
    if short:
        return f"- {{object: {region.object}, at: [{places}], yaw: {yaw}}}"
    where = f"random_config: {{pos_range: [{places}], yaw_rotation: {yaw}}}"
    return f"- {{object: {region.object}, target: {region.target}, {where}}}"
