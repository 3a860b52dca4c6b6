"""Ways of a base over the floor: the planner of the arms, on the three joints that carry the whole robot."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.motion.kinematics import Chain
from handloom.motion.planning import ArmPlanner, PlannerOptions, PlanResult
from handloom.scene import Scene
from handloom.scene.measures import geom_box
from handloom.scene.mobile_base import TURNS, MobileBase
from handloom.skills.checks import grasped
from handloom.spatial import invert_pose

CLEARANCE = 0.02
"""Distance that ways keep from furniture where there is room [m]; rounding corners takes up to half of it."""
OPTIONS = PlannerOptions(padding=CLEARANCE, sphere_tolerance=0.02, tree_step=1.0, shortcuts=120)
"""A robot is larger than an arm, so its spheres may be coarser; ways over the floor are seen from end to end, so more
work goes into making them short."""


class BasePlanner:
    """Finds ways for a robot's base around everything else in the scene, with its arms and what they hold as they are.

    What lies lower than the lowest solid of the robot, such as the floor, is driven over.

    Args:
        scene: The scene in its present state.
        base: The base.
        ignore: Obstacles whose name contains one of these texts do not count.
    """

    def __init__(self, scene: Scene, base: MobileBase, *, ignore: Sequence[str] = ()) -> None:
        world = scene.world
        self._base = base
        chain = Chain.from_model(world.model, base.body, "world", base.joint_names, qpos=world.data.qpos)
        self._planner = ArmPlanner(world.model, chain, data=world.data, options=OPTIONS)
        T_base_world = invert_pose(world.body_pose(base.body))
        parts = [part.geom for part in self._planner.robot.parts]
        self.held = held_objects(scene, base.robot_name)
        """Objects that the robot's hands hold."""
        for name in self.held:
            for solid in [o for o in self._planner.world if o.name.startswith(f"{name}/")]:
                self._planner.attach(solid.name, solid.shape, base.body, T_base_world @ solid.T_world_obstacle)
        lowest = min(geom_box(world.model, world.data, geom)[0, 2] for geom in parts)
        below = [o.name for o in self._planner.world if geom_box(world.model, world.data, o.geom)[1, 2] < lowest]
        self._ignore = (*below, *ignore)

    def plan(self, start: ArrayLike, goal: ArrayLike) -> PlanResult:
        """Plan from one pose of the base (3,) to another; the path (k, 3) is one of joints."""
        q_start, q_goal = self._base.joints_at(start), self._base.joints_at(goal)
        # The same heading is reached turning either way; the base cannot wind up for ever.
        ways = q_goal[2] + 2.0 * np.pi * np.arange(-3, 4)
        q_goal[2] = min(ways[np.abs(ways) <= TURNS], key=lambda yaw: abs(yaw - q_start[2]))
        return self._planner.plan_to_joints(q_start, q_goal, ignore=self._ignore)

    def blocked(self, path: Array) -> str:
        """Return what is in the way of straight motions between poses (k, 3); empty when nothing is."""
        self._planner.scene.refresh((*self._ignore, *self.held))
        found = self._planner.scene.first_collision(self._base.joints_at(path), step=OPTIONS.exact_step)
        return "" if found is None else str(found.touch)


def held_objects(scene: Scene, robot: str) -> tuple[str, ...]:
    """Return the movable objects that a hand of a robot holds."""
    loose = [obj.name for obj in scene.instance.objects if obj.solid and not obj.fixed]
    arms = [arm.name for arm in scene.robot(robot).arms]
    return tuple(o for o in loose if any(grasped(scene, robot=robot, arm=arm, object=o) for arm in arms))
