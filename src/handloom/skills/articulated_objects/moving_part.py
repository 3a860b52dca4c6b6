"""The moving part of a jointed object relative to an arm: keypoints, joint axis, path."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.objects import Link
from handloom.objects.keypoints import HEAD, LINK_CONTACT, JointKeypoints
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.arm_motion import planned_state
from handloom.skills.arms.candidates import seen_from_base
from handloom.skills.arms.traffic import solid_geoms_of
from handloom.skills.articulated_objects.actuation import HandMotions, JointAxis
from handloom.skills.articulated_objects.joint_strategies import Strategy
from handloom.skills.articulated_objects.keypoint_solver import KeypointFrame
from handloom.spatial import invert_pose

PLACES = 6
"""Number of positions of a joint at which its part is checked for obstacles."""
INTO = "would run into"
"""Fragment of the message about such an obstacle."""
NEAR = 0.01
"""Distances are measured up to this [m]."""
APART = 0.006
"""Distance that an arm keeps from the knobs beside the one it turns [m]: closing fingers shift a tilted hand by
millimetres."""
GRAZED = 0.003
"""Distance that closing fingers keep from the part on a free path [m]: drives follow within a few millimetres."""
STEP = 0.02
"""Largest joint motion between two checks of a path [rad]."""
MOVED = 0.02
"""Fraction of a joint's range by which a part must have moved for a new plan; the hand would miss it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingPart:
    """A link of an object in a scene, and the arm that moves it."""

    scene: Scene
    arm: SceneArm
    name: str
    """The object."""
    keypoints: JointKeypoints
    """Contact point and direction of the hand on the part."""

    @property
    def link(self) -> Link:
        """The moving body and its joint."""
        return self.keypoints.link

    @property
    def body(self) -> str:
        """Its body in the scene."""
        return f"{self.name}/{self.link.name}"

    @property
    def pose_in_world(self) -> Array:
        """Its pose T_world_link (4, 4)."""
        return self.scene.world.body_pose(self.body)

    @property
    def world_in_base(self) -> Array:
        """Orientation R_base_world (3, 3)."""
        return self.arm.T_world_base[:3, :3].T

    def in_world(self, position: Sequence[float]) -> Array:
        """Return a point (3,) of the part in the world [m]."""
        T = self.pose_in_world
        return T[:3, :3] @ np.asarray(position) + T[:3, 3]

    def frame(self, strategy: Strategy) -> KeypointFrame:
        """Return the current keypoints of hand and object for one strategy."""
        keypoints = self.keypoints
        T_base_world = invert_pose(self.arm.T_world_base)
        body = {
            k.body: T_base_world @ self.scene.world.body_pose(f"{self.name}/{k.body}")
            for k in keypoints.points.values()
        }
        points = {n: body[k.body][:3, :3] @ k.position + body[k.body][:3, 3] for n, k in keypoints.points.items()}
        T = body[keypoints.link.name]
        points[LINK_CONTACT] += strategy.lift * T[:3, :3] @ np.asarray(keypoints.link.normal)
        if strategy.place is not None:
            points[HEAD] = T[:3, :3] @ np.asarray(strategy.place) + T[:3, 3]
        axes = {n: body[a.body][:3, :3] @ np.asarray(a.direction) for n, a in keypoints.axes.items()}
        hand = self.arm.spec.keypoints
        tool = {n: np.asarray(getattr(hand, n)[:3], float) for n in ("tool_head", "tool_tail", "tool_side")}
        return KeypointFrame(tool=tool, points=points, axes=axes, R_base_link=T[:3, :3])

    def motions(self, strategy: Strategy, pivot: float) -> HandMotions:
        """Return the motion of the hand with the joint; a task's own setting turns about the annotated axis."""
        link = self.link
        T = invert_pose(self.arm.T_world_base) @ self.pose_in_world
        turns = link.turns if strategy.told and link.turns is not None else link.axis
        axis, anchor = T[:3, :3] @ np.asarray(turns), T[:3, :3] @ np.asarray(link.anchor) + T[:3, 3]
        joint = JointAxis(axis=axis, anchor=anchor, pivot=pivot)
        return HandMotions(joint=joint, approach=self.arm.spec.approach, contact=strategy.contact)

    def outward(self, delta: float) -> Array:
        """Return the unit vector (3,) in the world along which its head moves for a joint motion of ``delta``."""
        axis = np.sign(delta) * self.pose_in_world[:3, :3] @ np.asarray(self.link.axis)
        if self.link.kind == "slide":
            return axis
        way = np.cross(axis, self.in_world(self.link.head) - self.in_world(self.link.anchor))
        return way / max(float(np.linalg.norm(way)), 1e-9)

    def has_moved_from(self, start: float) -> bool:
        """Return whether the joint is no longer at a position [m or rad] for which the hand's motion was planned."""
        low, high = self.link.range
        return abs(self.scene.world.joint_position(f"{self.name}/{self.link.joint}") - start) > MOVED * (high - low)

    def how_far(self) -> str:
        """Return text with the position of the handle relative to the arm."""
        x, y, z = (self.in_world(self.link.head) - self.arm.T_world_base[:3, 3]).tolist()
        return f"the handle of {self.link.name} is {seen_from_base(self.arm, x, y, z)}"

    def runs_into(self, start: float, end: float, path: Array | None = None) -> str:
        """Return text about the robot link that the part would hit on its path; empty if there is none.

        Plans ignore the object whose joint they move, and a waiting arm stays in place: a door that opens against
        either is stopped by it, or falls shut again. The hand that moves the part does not count, nor do links that
        touch the part now.

        Args:
            start: Current position of the joint [m or rad].
            end: Where it goes.
            path: Joints (k, n) of the arm meanwhile, to check its own links; None checks those of all other arms.
        """
        world, arm, model = self.scene.world, self.arm, self.scene.world.model
        root = int(model.jnt_bodyid[world.joint_index(arm.joint_names[0])])
        own = {*world.subtree(model.body(root).name)}
        hand = {*arm.finger_bodies, *world.subtree(arm.tool_body)}
        hand |= {arm.prefix + body for body in arm.spec.forbidden_bodies}
        part, roots = world.subtree(self.body), tuple(f"{robot}/" for robot in self.scene.robots)
        links = [name for name in (model.body(b).name for b in range(model.nbody)) if name.startswith(roots)]
        links = [name for name in links if name not in hand and (name in own) == (path is not None)]
        links = [name for name in links if not world.touching([name], part)]
        solids, others = (np.array(solid_geoms_of(self.scene, bodies), dtype=np.intp) for bodies in (part, links))
        for share in np.linspace(0.0, 1.0, PLACES)[1:] if len(solids) and len(others) else ():
            q = [] if path is None else path[round(share * (len(path) - 1))].tolist()
            joints = dict(zip(arm.joint_names, q, strict=False))
            joints[f"{self.name}/{self.link.joint}"] = start + share * (end - start)
            data = planned_state(self.scene, joints)
            gaps = np.linalg.norm(data.geom_xpos[solids, None] - data.geom_xpos[None, others], axis=2)
            near = np.argwhere(gaps < model.geom_rbound[solids, None] + model.geom_rbound[None, others])
            for i, j in near:
                if mujoco.mj_geomDistance(model, data, int(solids[i]), int(others[j]), NEAR, None) < 0.0:
                    link = model.body(int(model.geom_bodyid[others[j]])).name
                    return f"{self.body} {INTO} {link} when it is moved by {share:.0%}"
        return ""

    def brushes(self, path: Array, neighbours: Sequence[str]) -> str:
        """Return text about the neighbour of the part that the arm would touch on a path (k, n); empty if none.

        Args:
            path: Joints of the arm while it moves the part.
            neighbours: Bodies of the object in the scene that must stay where they are.
        """
        world, arm, model = self.scene.world, self.arm, self.scene.world.model
        root = model.body(int(model.jnt_bodyid[world.joint_index(arm.joint_names[0])])).name
        own, others = (solid_geoms_of(self.scene, bodies) for bodies in (world.subtree(root), neighbours))
        for share in np.linspace(0.0, 1.0, PLACES) if len(others) else ():
            q = path[round(share * (len(path) - 1))].tolist()
            data = planned_state(self.scene, dict(zip(arm.joint_names, q, strict=True)))
            for i in own:
                for j in others:
                    far = np.linalg.norm(data.geom_xpos[i] - data.geom_xpos[j])
                    if far > model.geom_rbound[i] + model.geom_rbound[j] + APART:
                        continue
                    if mujoco.mj_geomDistance(model, data, int(i), int(j), 2 * APART, None) < APART:
                        return f"the hand would brush {model.body(int(model.geom_bodyid[j])).name}"
        return ""


def grazes(scene: Scene, arm: SceneArm, bodies: Sequence[str], path: Array, fingers: Mapping[str, float]) -> bool:
    """Return whether a hand comes too near to bodies on a path with its fingers at other positions.

    Args:
        scene: The scene.
        arm: The arm.
        bodies: The bodies, where they are now.
        path: Joints (m, n) [rad].
        fingers: Joints of the hand [m or rad], by name in the robot's model.
    """
    model = scene.world.model
    data = planned_state(scene, {arm.prefix + name: value for name, value in fingers.items()})
    hand = np.array(solid_geoms_of(scene, [*arm.finger_bodies, *scene.world.subtree(arm.tool_body)]), dtype=np.intp)
    solids = np.array(solid_geoms_of(scene, bodies), dtype=np.intp)
    if data is scene.world.data or not len(solids):
        return False
    path = path if len(path) > 1 else np.repeat(path, 2, axis=0)
    counts = np.maximum(np.ceil(np.abs(np.diff(path, axis=0)).max(axis=1) / STEP), 1).astype(int)
    at = np.concatenate([k + np.arange(count) / count for k, count in enumerate(counts)])
    for k in (*at, len(path) - 1):
        i = min(int(k), len(path) - 2)
        data.qpos[arm.qpos_index] = path[i] + (k - i) * (path[i + 1] - path[i])
        mujoco.mj_kinematics(model, data)
        gaps = np.linalg.norm(data.geom_xpos[hand, None] - data.geom_xpos[None, solids], axis=2)
        near = np.argwhere(gaps < model.geom_rbound[hand, None] + model.geom_rbound[None, solids] + GRAZED)
        if any(mujoco.mj_geomDistance(model, data, int(hand[a]), int(solids[b]), NEAR, None) < GRAZED for a, b in near):
            return True
    return False
