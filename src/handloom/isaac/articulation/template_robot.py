"""The wrapper class that all robots share: a robot in a world, described by its configuration."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.config import import_named
from handloom.errors import InputError, unknown_name
from handloom.isaac.articulation.single_articulation import SingleArticulation
from handloom.robots.load import TARGET_CLASSES
from handloom.robots.robot_description import Arm, RobotDescription
from handloom.robots.tool_poses import tool_poses_of_grasps
from handloom.sim import Contact, World
from handloom.spatial import euler_deg_from_matrix, relative_pose, transform_points
from handloom.values import ArticulationAction

OPEN, CLOSED = 1, -1
_SHARED: dict[str, str] = dict.fromkeys(
    ("handloom.robots:TemplateRobot", "handloom.isaac.articulation:TemplateRobot"),
    "handloom.isaac.articulation:TemplateRobot",
)
"""The wrapper class named in robot files written by `handloom robot add`."""


class TemplateRobot(SingleArticulation):
    """A robot in a world: homes, targets, observations, grasp poses, tool frames and contacts.

    Everything that differs between robots comes from the description. Joint indices refer to ``dof_names`` of the
    configuration, as published.

    Args:
        world: The world that holds the robot.
        description: Description of the robot.
        prefix: Name prefix of its parts in the world, e.g. ``"lift2/"``.
        name: Name of the robot in the task; the default is the description's name.
    """

    def __init__(
        self, world: World, description: RobotDescription, *, prefix: str = "", name: str | None = None
    ) -> None:
        dof_names = tuple(map(description.resolve_joint, description.config.dof_names)) or None
        super().__init__(world, prefix, name or description.name, dof_names=dof_names)
        self.description = description
        self.gripper_states: dict[str, int] = {}

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The arms, left first."""
        return self.description.arms

    # -- homes and targets ---------------------------------------------------------------------------------------

    def initialize(self, generator: np.random.Generator | None = None) -> None:
        """Bind names, move every joint to its home position, and hold it there.

        Args:
            generator: Source of noise for the home positions of the arms; None adds no noise.
        """
        super().initialize()
        self.go_home(generator)

    def go_home(self, generator: np.random.Generator | None = None) -> None:
        """Set every joint to its home position; a generator adds normal noise of ``home_std`` to the arms."""
        home = self.sample_home(generator)
        for joint, value in home.items():
            self.world.data.qpos[self.world.qpos_index(self.prefix + joint)] = value
        self.world.forward()
        known = [joint for joint in home if joint in self.dof_names]
        self.set_joint_positions([home[joint] for joint in known], [self.get_dof_index(joint) for joint in known])
        self.gripper_states = {arm.name: _gripper_state(arm) for arm in self.arms}

    def sample_home(self, generator: np.random.Generator | None = None) -> dict[str, float]:
        """Return the home position of every joint that has one [rad or m]."""
        home = {self.description.resolve_joint(joint): value for joint, value in self.description.home.items()}
        if generator is None:
            return home
        for arm in self.arms:
            sampled = arm.home + generator.normal(size=len(arm.home)) * arm.home_std
            limits = [self.world.model.jnt_range[self.world.joint_index(self.prefix + j)] for j in arm.joint_names]
            lower, upper = np.array(limits).T
            home.update(zip(arm.joint_names, np.clip(sampled, lower, upper).tolist(), strict=True))
        return home

    def apply_action(
        self, control_actions: ArticulationAction | ArrayLike, joint_indices: Sequence[int] | None = None
    ) -> None:
        """Set position targets of the joints at these indices, or apply an action.

        Args:
            control_actions: Position targets (k,) [m or rad], or an ``ArticulationAction``.
            joint_indices: The joints that the targets are for; None means all, in order. Not allowed together with an
                action.
        """
        if isinstance(control_actions, ArticulationAction):
            if joint_indices is not None:
                raise InputError("an ArticulationAction carries its own joint_indices; omit the argument")
            super().apply_action(control_actions)
            return
        targets = np.asarray(control_actions, dtype=float)
        super().apply_action(ArticulationAction(joint_positions=targets, joint_indices=joint_indices))

    def joint_indices(self, arm_name: str) -> tuple[int, ...]:
        """Return the indices of an arm's joints."""
        return tuple(self.get_dof_index(joint) for joint in self.description.arm(arm_name).joint_names)

    def gripper_indices(self, arm_name: str) -> tuple[int, ...]:
        """Return the indices of a gripper's drive joints."""
        return tuple(self.get_dof_index(joint) for joint in self.description.arm(arm_name).gripper_joint_names)

    def set_gripper(self, arm_name: str, state: int) -> None:
        """Set the targets of a gripper: 1 opens it, -1 closes it."""
        arm = self.description.arm(arm_name)
        targets = arm.gripper_open if state > 0 else arm.gripper_closed
        self.apply_action(targets, self.gripper_indices(arm_name))
        self.gripper_states[arm_name] = OPEN if state > 0 else CLOSED

    # -- observations --------------------------------------------------------------------------------------------

    def get_observations(self) -> dict[str, Any]:
        """Return the published observation fields.

        Per arm ``states.joint.position`` and ``states.gripper.position`` (with ``left_`` and ``right_`` for two
        arms), ``T_base_ee_fl`` and ``T_base_ee_fr`` (4, 4); for one arm also ``states.gripper.pose`` (x, y, z [m],
        roll, pitch, yaw [rad] of the end effector in the arm's base); ``qvel`` of all joints; ``T_world_base``.
        """
        observations: dict[str, Any] = {}
        single = len(self.arms) == 1
        for arm, suffix in zip(self.arms, ("fl", "fr"), strict=False):
            side = "" if single else f"{arm.name}_"
            T_base_tool = self.ee_pose(arm.name)
            observations[f"states.{side}joint.position"] = self.get_joint_positions(self.joint_indices(arm.name))
            observations[f"states.{side}gripper.position"] = self.get_joint_positions(self.gripper_indices(arm.name))
            observations[f"T_base_ee_{suffix}"] = T_base_tool
            if single:
                angles = np.radians(euler_deg_from_matrix(T_base_tool[:3, :3]))
                observations["states.gripper.pose"] = np.concatenate([T_base_tool[:3, 3], angles])
        observations["qvel"] = self.get_joint_velocities()
        observations["T_world_base"] = self.root.pose()
        return observations

    # -- frames --------------------------------------------------------------------------------------------------

    def ee_pose(self, arm_name: str, *, frame: str = "base") -> Array:
        """Return the pose (4, 4) of an end effector in the arm's base, or in the world (``frame="world"``)."""
        return self._in_frame(
            self.world.body_pose(self.prefix + self.description.arm(arm_name).tool_body), arm_name, frame
        )

    def tcp_pose(self, arm_name: str, *, frame: str = "base") -> Array:
        """Return the pose (4, 4) of a tool centre, with end-effector axes, in the arm's base or in the world."""
        return self.ee_pose(arm_name, frame=frame) @ self.description.arm(arm_name).T_tool_tcp

    def arm_base_pose(self, arm_name: str) -> Array:
        """Return T_world_base (4, 4) of an arm."""
        return self.world.body_pose(self.prefix + self.description.arm(arm_name).base_body)

    def gripper_keypoints(self, arm_name: str, *, frame: str = "world") -> dict[str, Array]:
        """Return tool_head, tool_tail and tool_side (3,) [m] in the world or in the arm's base."""
        keypoints = self.description.arm(arm_name).keypoints
        points = {name: np.array(getattr(keypoints, name)[:3]) for name in ("tool_head", "tool_tail", "tool_side")}
        T = self.ee_pose(arm_name, frame=frame)
        return dict(zip(points, transform_points(T, np.array(list(points.values()))), strict=True))

    def pose_post_process_fn(
        self,
        poses: ArrayLike,
        *,
        lr_arm: str = "left",
        grasp_scale: float = 1.0,
        tcp_offset: float | None = None,
        constraints: Sequence[object] | None = None,
    ) -> tuple[Array, Array] | Array:
        """Convert grasp annotations (n, 16 or 17) to end-effector poses (2 m, 4, 4) and scores (2 m,).

        Poses (..., 4, 4) are returned unchanged, without scores. See :func:`tool_poses_of_grasps`.
        """
        given = np.asarray(poses, dtype=float)
        if given.shape[-2:] == (4, 4):
            return given
        arm = self.description.arm(lr_arm)
        return tool_poses_of_grasps(arm, given, grasp_scale=grasp_scale, tcp_offset=tcp_offset, constraints=constraints)

    # -- contacts ------------------------------------------------------------------------------------------------

    def finger_contacts(self, arm_name: str, bodies: str | Iterable[str]) -> tuple[str, ...]:
        """Return the finger bodies of an arm that touch any of the given bodies."""
        others = {bodies} if isinstance(bodies, str) else set(bodies)
        touched = {
            own for own, other in self._contacts(self.description.arm(arm_name).finger_bodies) if other in others
        }
        return tuple(body for body in self.description.arm(arm_name).finger_bodies if body in touched)

    def forbidden_contacts(self, arm_name: str) -> tuple[tuple[str, str], ...]:
        """Return sorted pairs (body of the arm, body it touches) for arm bodies that must not touch anything."""
        return tuple(sorted(self._contacts(self.description.arm(arm_name).forbidden_bodies)))

    def _contacts(self, bodies: Iterable[str]) -> set[tuple[str, str]]:
        """Return pairs (own body without prefix, name of the other body in the world)."""
        own = {self.prefix + body for body in bodies}
        found: set[tuple[str, str]] = set()
        for contact in self.world.contacts():
            for mine, other in _both_ways(contact):
                if mine in own:
                    found.add((mine.removeprefix(self.prefix), other))
        return found

    def _in_frame(self, T_world_x: Array, arm_name: str, frame: str) -> Array:
        if frame == "world":
            return T_world_x
        if frame == "base":
            return relative_pose(self.arm_base_pose(arm_name), T_world_x)
        raise unknown_name("frame", frame, ("base", "world"))


def _both_ways(contact: Contact) -> tuple[tuple[str, str], tuple[str, str]]:
    return (contact.body_a, contact.body_b), (contact.body_b, contact.body_a)


def _gripper_state(arm: Arm) -> int:
    """Return 1 if a gripper's home is nearer to open, -1 if it is nearer to closed."""
    to_open = np.abs(arm.gripper_home - arm.gripper_open).sum()
    return OPEN if to_open <= np.abs(arm.gripper_home - arm.gripper_closed).sum() else CLOSED


Wrapper = TypeVar("Wrapper", bound=type[TemplateRobot])


def register_robot(wrapper: Wrapper) -> Wrapper:
    """Check a user's wrapper class; ``target_class: my_module:MyRobot`` in a robot file then names it.

    Usable as a decorator. Nothing is stored: the robot file names the class.
    """
    if not (isinstance(wrapper, type) and issubclass(wrapper, TemplateRobot)):
        raise InputError(f"a robot wrapper must derive from TemplateRobot, {wrapper!r} does not")
    if wrapper.__name__ in TARGET_CLASSES:
        raise InputError(f"{wrapper.__name__!r} is the published class of a built-in robot; choose another name")
    return wrapper


def robot_class(target_class: str) -> type[TemplateRobot]:
    """Return the wrapper class a robot file names.

    Published classes all share :class:`TemplateRobot`; custom classes are named ``my_module:MyRobot``.
    """
    if target_class in TARGET_CLASSES:
        return TemplateRobot
    if ":" not in target_class:
        raise unknown_name("target_class", target_class, [*TARGET_CLASSES, "my_module:MyRobot"])
    return register_robot(import_named("target_class", target_class, _SHARED, own="my_module:MyRobot"))


def make_robot(
    world: World, description: RobotDescription, *, prefix: str = "", name: str | None = None
) -> TemplateRobot:
    """Return the robot of a description in a world, wrapped in the class its file names. Call ``initialize`` next."""
    return robot_class(description.config.target_class)(world, description, prefix=prefix, name=name)
