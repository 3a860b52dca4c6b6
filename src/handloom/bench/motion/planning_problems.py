"""Planning problems for any arm: a table with clutter, a shelf, a cage."""

from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import StateError
from handloom.motion.collision import CollisionWorld, ExactChecker
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, PlannerOptions
from handloom.robots import load_robot
from handloom.spatial import invert_pose, make_pose, matrix_from_rotvec, translation

DRAWS = 200_000
"""Random configurations to search for a start or a goal in the desired region."""

CLEAR = 0.01
"""Clearance around the robot's spheres at start and goal [m]."""

HANGING = 0.25
"""Height of a hanging arm's tool above the table, as a fraction of its reach."""

MOST_REFUSED = 200
"""Scenes without a free start and goal before the arm is declared unfit for a kind."""

KINDS = ("tabletop", "shelf", "cage")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanningProblem:
    """Move from one configuration to another."""

    kind: str
    planner: ArmPlanner
    start: Array
    goal: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class ArmSetup:
    """An arm of a robot at home with its gripper open."""

    model: mujoco.MjModel
    data: mujoco.MjData
    chain: Chain
    home: Array

    @property
    def T_world_base(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the arm's base."""
        base = self.data.body(self.chain.base)
        return make_pose(base.xmat.reshape(3, 3), base.xpos)

    @property
    def reach(self) -> float:
        """Largest distance of the tool from the first joint over random configurations [m]."""
        lower, upper = self.chain.sampling_box
        q = lower + (upper - lower) * np.random.default_rng(0).random((4000, self.chain.dof))
        T, origin = self.chain.T_base_tool(q), self.chain.arrays.positions[0]
        return float(np.linalg.norm(T[:, :3, 3] - origin, axis=1).max())


def arm_setup(robot: str) -> ArmSetup:
    """Load a robot of the zoo and return its first arm."""
    description = load_robot(robot)
    model, arm = description.compile(), description.arms[0]
    data = mujoco.MjData(model)
    for joint, value in description.home.items():
        data.qpos[model.joint(joint).qposadr[0]] = value
    for joint, value in zip(arm.gripper_joint_names, arm.gripper_open, strict=True):
        data.qpos[model.joint(joint).qposadr[0]] = value
    for joint, value in description.config.other_joint_home.items():
        data.qpos[model.joint(joint).qposadr[0]] = value
    mujoco.mj_forward(model, data)
    chain = Chain.from_model(model, tool=arm.tcp_site, base=arm.base_body, joints=arm.joint_names, qpos=data.qpos)
    return ArmSetup(model=model, data=data, chain=chain, home=data.qpos[chain.qpos_index].copy())


def planning_problems(setup: ArmSetup, count: int, *, seed: int = 0) -> list[PlanningProblem]:
    """Return random problems of all kinds in turn, scaled to the arm's reach; both ends have some clearance.

    Scenes stand upright in front of the arm: at the height of its base, in the direction of its tool at home.
    """
    rng = np.random.default_rng(seed)
    problems: list[PlanningProblem] = []
    scale, T_world_scene = setup.reach / 0.855, _T_world_scene(setup)
    lower, upper = setup.chain.sampling_box
    draws = lower + (upper - lower) * rng.random((DRAWS, setup.chain.dof))
    tips = (invert_pose(T_world_scene) @ setup.T_world_base @ setup.chain.T_base_tool(draws))[:, :3, 3]
    refused, robot = 0, None
    while len(problems) < count:
        kind = KINDS[len(problems) % len(KINDS)]
        planner = ArmPlanner(setup.model, setup.chain, data=setup.data, robot=robot, options=PlannerOptions())
        robot = planner.robot
        regions = BUILDERS[kind](planner.world, T_world_scene, scale, rng)
        ends = [_configuration_in(planner, draws, tips, region, rng) for region in regions]
        if ends[0] is not None and ends[1] is not None:
            problems.append(PlanningProblem(kind=kind, planner=planner, start=ends[0], goal=ends[1]))
            refused = 0
        elif (refused := refused + 1) > MOST_REFUSED:
            raise StateError(f"{MOST_REFUSED} {kind} scenes in a row had no free start and goal for this arm")
    return problems


def _T_world_scene(setup: ArmSetup) -> Array:  # noqa: N802 - frame notation
    """Return an upright frame (4, 4) at the arm's base whose x axis points towards the tool at home.

    For an arm that hangs from a shoulder (tool lower than base), the frame lies below the tool.
    """
    origin = setup.T_world_base[:3, 3].copy()
    tool = (setup.T_world_base @ setup.chain.T_base_tool(setup.home))[:3, 3] - origin
    if tool[2] < 0.0:
        origin[2] += tool[2] - HANGING * setup.reach
    return make_pose(matrix_from_rotvec([0.0, 0.0, np.arctan2(tool[1], tool[0])]), origin)


def _configuration_in(
    planner: ArmPlanner, draws: Array, tips: Array, region: Array | None, rng: np.random.Generator
) -> Array | None:
    """Return a free random configuration with the tool inside a region (2, 3) [m] of the scene; None means anywhere."""
    planner.scene.refresh()
    room = planner.scene.spheres(planner.options.padding + CLEAR)
    inside = np.arange(2000)
    if region is not None:
        inside = np.flatnonzero(np.all((tips > region[0]) & (tips < region[1]), axis=1))
    if not len(inside):
        return None
    chosen = rng.permutation(inside)[:2000]
    free = chosen[room.configurations_free(draws[chosen])]
    return draws[free[0]] if len(free) else None


def is_free(planner: ArmPlanner, path: Array) -> bool:
    """Check a path every 0.01 rad of any joint with a new exact checker that ignores nothing."""
    exact = ExactChecker(planner.robot.tree, planner.robot.parts, list(planner.world), planner.robot.ignored)
    for a, b in pairwise(path):
        count = int(np.ceil(np.abs(b - a).max() / 0.01)) + 1
        if not all(exact.is_free(a + f * (b - a)) for f in np.linspace(0.0, 1.0, count)):
            return False
    return True


def _tabletop(world: CollisionWorld, T: Array, scale: float, rng: np.random.Generator) -> list[Array | None]:
    """A table in front of the arm with six to ten objects on it; both ends are low above the table."""
    world.add_box("table", (0.9 * scale, 1.4 * scale, 0.04 * scale), T @ translation([0.6 * scale, 0, -0.03 * scale]))
    for i in range(int(rng.integers(6, 11))):
        sides = rng.uniform([0.05, 0.05, 0.08], [0.14, 0.14, 0.3]) * scale
        place = [rng.uniform(0.3, 0.8) * scale, rng.uniform(-0.6, 0.6) * scale, sides[2] / 2]
        turned = make_pose(matrix_from_rotvec([0, 0, rng.uniform(-3, 3)]), place)
        if i % 2:
            world.add_box(f"thing {i}", sides, T @ turned)
        else:
            world.add_cylinder(f"thing {i}", sides[0] / 2, sides[2], T @ turned)
    low, high = np.array([0.3, -0.55, 0.03]) * scale, np.array([0.75, 0.55, 0.2]) * scale
    return [np.stack([low, high])] * 2


def _shelf(world: CollisionWorld, T: Array, scale: float, rng: np.random.Generator) -> list[Array | None]:
    """A shelf with four compartments; the tool moves from one to another."""
    near, deep, width = rng.uniform(0.42, 0.5), 0.3, 0.8
    T_shelf = T @ make_pose(matrix_from_rotvec([0, 0, rng.uniform(-0.3, 0.3)]), np.zeros(3))
    for k, z in enumerate((0.0, 0.38, 0.76)):
        board = translation(np.array([near + deep / 2, 0, z]) * scale)
        world.add_box(f"board {k}", np.array([deep, width, 0.02]) * scale, T_shelf @ board)
    for k, y in enumerate((-width / 2, 0.0, width / 2)):
        side = translation(np.array([near + deep / 2, y, 0.38]) * scale)
        world.add_box(f"side {k}", np.array([deep, 0.02, 0.78]) * scale, T_shelf @ side)
    boxes = []
    for row, column in rng.permutation([(0, 0), (0, 1), (1, 0), (1, 1)])[:2]:
        low = np.array([near + 0.03, -0.35 + 0.4 * column, 0.05 + 0.38 * row]) * scale
        boxes.append(np.stack([low, low + np.array([0.2, 0.3, 0.28]) * scale]))
    return boxes


def _cage(world: CollisionWorld, T: Array, scale: float, rng: np.random.Generator) -> list[Array | None]:
    """Bars around a block in front of the arm; the tool reaches in from outside."""
    centre = np.array([rng.uniform(0.45, 0.6), rng.uniform(-0.2, 0.2), 0.25])
    half = 0.2
    for k, (x, y) in enumerate(((-1, -1), (-1, 1), (1, -1), (1, 1), (1, 0), (0, 1), (0, -1))):
        place = centre + np.array([half * x, half * y, 0.0])
        world.add_capsule(f"bar {k}", 0.015 * scale, 2 * half * scale, T @ translation(place * scale))
    for k, z in enumerate((-1, 1)):
        for j, (x, y) in enumerate(((0, 1), (0, -1), (1, 0), (-1, 0))):
            turn = matrix_from_rotvec([np.pi / 2, 0, 0] if x else [0, np.pi / 2, 0])
            place = (centre + half * np.array([x, y, z])) * scale
            world.add_capsule(f"rail {k} {j}", 0.015 * scale, 2 * half * scale, T @ make_pose(turn, place))
    inner = 0.12
    return [None, np.stack([centre - inner, centre + inner]) * scale]


BUILDERS = {"tabletop": _tabletop, "shelf": _shelf, "cage": _cage}
