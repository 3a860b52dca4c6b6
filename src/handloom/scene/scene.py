"""A built scene: its world, robots, objects and cameras."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import StateError, unknown_name
from handloom.motion.kinematics import Chain
from handloom.objects import ObjectAsset
from handloom.render.looks import Look
from handloom.robots import Arm, RobotDescription
from handloom.scene.fixtures import finish_of_surface
from handloom.scene.grains import Grains
from handloom.scene.mobile_base import MobileBase
from handloom.scene.surface_gripper import SurfaceGripper
from handloom.sim import World
from handloom.values import TaskInstance

SAME = 1e-3
"""Arm bases closer together than this are treated as one [m]."""


@dataclass(frozen=True, eq=False)
class SceneArm:
    """One arm and its gripper inside a world."""

    world: World
    robot_name: str
    prefix: str
    """Prefix of every name of this robot, e.g. ``franka/``."""
    spec: Arm
    """Published figures of the arm."""
    suction: SurfaceGripper | None = None
    """Its suction cups; None when it has fingers."""

    @property
    def name(self) -> str:
        """``left`` or ``right``."""
        return self.spec.name

    @cached_property
    def base_body(self) -> str:
        """Body in whose frame the arm's targets are given."""
        return self.prefix + self.spec.base_body

    @cached_property
    def tool_body(self) -> str:
        """Body of the end-effector frame."""
        return self.prefix + self.spec.tool_body

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Arm joints from base to wrist, as named in the world."""
        return tuple(self.prefix + name for name in self.spec.joint_names)

    @cached_property
    def finger_bodies(self) -> tuple[str, ...]:
        """Bodies whose contact with an object counts as a grasp."""
        return tuple(self.prefix + name for name in self.spec.finger_bodies)

    @cached_property
    def finger_parts(self) -> frozenset[str]:
        """The finger bodies, and the bodies fixed to them: a pad may be a body of its own on its finger."""
        model = self.world.model
        rigid = {int(model.body_weldid[self.world.body_index(name)]) for name in self.finger_bodies}
        return frozenset(model.body(b).name for b in range(model.nbody) if int(model.body_weldid[b]) in rigid)

    @cached_property
    def qpos_index(self) -> NDArray[np.intp]:
        """Index of each arm joint in ``qpos``."""
        return np.array([self.world.qpos_index(name) for name in self.joint_names])

    @cached_property
    def gripper_qpos_index(self) -> NDArray[np.intp]:
        """Index of each drive joint of the gripper in ``qpos``."""
        return np.array([self.world.qpos_index(self.prefix + name) for name in self.spec.gripper_joint_names])

    @cached_property
    def ctrl_index(self) -> NDArray[np.intp]:
        """Index of each arm joint's target in ``ctrl``."""
        return np.array([ctrl_of_joint(self.world, name) for name in self.joint_names])

    @cached_property
    def gripper_ctrl_index(self) -> NDArray[np.intp]:
        """Index of each gripper target in ``ctrl``."""
        return np.array([self.world.ctrl_index(self.prefix + name) for name in self.spec.gripper_actuators])

    @cached_property
    def dofs(self) -> NDArray[np.intp]:
        """Indices in ``qvel`` of every joint of the arm and its gripper, with followers."""
        model = self.world.model
        root = model.body(int(model.joint(self.joint_names[0]).bodyid[0])).name
        own = [self.world.body_index(body) for body in self.world.subtree(root)]
        return np.flatnonzero(np.isin(model.dof_bodyid, own))

    @property
    def joints(self) -> Array:
        """Measured joint positions, base to wrist [rad]."""
        return self.world.data.qpos[self.qpos_index]

    @property
    def gripper_positions(self) -> Array:
        """Measured positions of the gripper's drive joints [m or rad]."""
        return self.world.data.qpos[self.gripper_qpos_index]

    @property
    def T_world_base(self) -> Array:  # noqa: N802 - frame notation
        """Pose (4, 4) of the arm base."""
        return self.world.body_pose(self.base_body)

    @property
    def up(self) -> Array:
        """Up in the world, in the arm base (3,), which leans with the waist of some robots.

        Rounded, so that it is exactly z for an upright base.
        """
        return self.T_world_base[2, :3].round(12)

    def chain(self) -> Chain:
        """Return the arm from its base to its end-effector frame; other joints are held where they are."""
        qpos = self.world.data.qpos
        return Chain.from_model(self.world.model, self.tool_body, self.base_body, self.joint_names, qpos=qpos)


@dataclass(frozen=True, eq=False)
class SceneRobot:
    """A robot inside a world."""

    name: str
    description: RobotDescription
    arms: tuple[SceneArm, ...]
    base: MobileBase | None = None
    """The base, if skills and policies drive it; None if it is held."""

    @property
    def roots(self) -> dict[str, Array]:
        """Origin of each arm (3,), in the world [m]: its base or, where both arms share one, its first joint."""
        found = {arm.name: arm.T_world_base[:3, 3] for arm in self.arms}
        places = np.array(list(found.values()))
        if len(places) < 2 or float(np.ptp(places, axis=0).max()) > SAME:
            return found
        return {arm.name: _first_joint(arm) for arm in self.arms}

    def arm(self, name: str) -> SceneArm:
        """Return the arm called ``left`` or ``right``."""
        return self.arms[[arm.name for arm in self.arms].index(self.description.arm(name).name)]


def _first_joint(arm: SceneArm) -> Array:
    world = arm.world
    body = int(world.model.jnt_bodyid[world.joint_index(arm.joint_names[0])])
    return np.array(world.data.xpos[body])


def ctrl_of_joint(world: World, joint: str) -> int:
    """Return the index in ``ctrl`` of the position target of a joint."""
    model = world.model
    index = world.joint_index(joint)
    driven = (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT) & (model.actuator_trnid[:, 0] == index)
    actuators = np.flatnonzero(driven)
    if len(actuators) == 0:
        raise StateError(f"joint {joint!r} has no actuator, so it cannot be driven to its start position")
    return int(model.actuator_ctrladr[actuators[0]])


@dataclass(frozen=True, eq=False)
class Scene:
    """One episode's world at its start."""

    instance: TaskInstance
    world: World
    robots: Mapping[str, SceneRobot]
    assets: Mapping[str, ObjectAsset]
    """Asset of each object and fixture."""
    grains: Grains | None = None
    """The fluid, if the task has one."""

    def robot(self, name: str) -> SceneRobot:
        """Return a robot by its name in the task."""
        if name not in self.robots:
            raise unknown_name("robot", name, self.robots)
        return self.robots[name]

    def body_of(self, name: str) -> str:
        """Return the root body of an object or fixture."""
        if name not in self.assets:
            raise unknown_name("object", name, self.assets)
        return f"{name}/object"

    def object_pose(self, name: str) -> Array:
        """Return T_world_object (4, 4)."""
        return self.world.body_pose(self.body_of(name))

    @cached_property
    def robot_dofs(self) -> NDArray[np.intp]:
        """Indices in ``qvel`` of every joint of the robots: arms, grippers with their followers, lifts and bases."""
        model, robots = self.world.model, tuple(f"{name}/" for name in self.robots)
        owner = [model.body(int(body)).name for body in model.dof_bodyid]
        return np.array([dof for dof, body in enumerate(owner) if body.startswith(robots)], dtype=np.intp)

    @cached_property
    def looks(self) -> tuple[Look, ...]:
        """Visual shapes drawn in place of the objects' collision geometry, for the renderer."""
        # A texture that an instance sets is part of the model; a material is handled by the renderer.
        given = {obj.name: finish_of_surface(obj.look) for obj in self.instance.objects if obj.look}
        looks = [(name, look) for name, asset in self.assets.items() for look in asset.looks]
        return tuple(replace(look.under(f"{name}/"), finish=given.get(name, look.finish)) for name, look in looks)

    def grain_positions(self) -> Array:
        """Return the centre (n, 3) [m] of every grain of the fluid; none when the task has no fluid."""
        return np.zeros((0, 3)) if self.grains is None else self.grains.positions()
