"""The moving part of a jointed object as an arm sees it: keypoints, the axis of its joint, where it goes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.objects import Link
from handloom.objects.keypoints import HEAD, LINK_CONTACT, JointKeypoints
from handloom.scene import Scene, SceneArm
from handloom.skills.arms.candidates import seen_from_base
from handloom.skills.articulated_objects.actuation import HandMotions, JointAxis
from handloom.skills.articulated_objects.joint_strategies import Strategy
from handloom.skills.articulated_objects.keypoint_solver import KeypointFrame
from handloom.spatial import invert_pose


@dataclass(frozen=True, kw_only=True, eq=False)
class MovingPart:
    """A link of an object in a scene, and the arm that moves it."""

    scene: Scene
    arm: SceneArm
    name: str
    """The object."""
    keypoints: JointKeypoints
    """Where and along what a hand works on it."""

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
        """Return where the keypoints of hand and object are now, for one strategy."""
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
        """Return how the hand moves with the joint; the turns of a task's own setting are about the annotated axis."""
        link = self.link
        T = invert_pose(self.arm.T_world_base) @ self.pose_in_world
        turns = link.turns if strategy.told and link.turns is not None else link.axis
        axis, anchor = T[:3, :3] @ np.asarray(turns), T[:3, :3] @ np.asarray(link.anchor) + T[:3, 3]
        joint = JointAxis(axis=axis, anchor=anchor, pivot=pivot)
        return HandMotions(joint=joint, approach=self.arm.spec.approach, contact=strategy.contact)

    def outward(self, delta: float) -> Array:
        """Return the unit vector (3,) in the world along which its head goes when the joint moves by ``delta``."""
        axis = np.sign(delta) * self.pose_in_world[:3, :3] @ np.asarray(self.link.axis)
        if self.link.kind == "slide":
            return axis
        way = np.cross(axis, self.in_world(self.link.head) - self.in_world(self.link.anchor))
        return way / max(float(np.linalg.norm(way)), 1e-9)

    def how_far(self) -> str:
        """Say where the handle is, seen from the arm."""
        x, y, z = (self.in_world(self.link.head) - self.arm.T_world_base[:3, 3]).tolist()
        return f"the handle of {self.link.name} is {seen_from_base(self.arm, x, y, z)}"
