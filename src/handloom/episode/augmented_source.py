"""Makes new demonstrations from existing ones: paths relative to objects, transferred to the objects' new poses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handloom.arrays import Array
from handloom.episode.demonstration import Demonstration, HandWay, WaySegment
from handloom.episode.transferred_path import TransferredPath, WayCarrier
from handloom.objects.symmetry import turns_alike
from handloom.scene import Scene
from handloom.skills.schedule import Stages
from handloom.spatial import invert_pose, pose_error
from handloom.values import Failure, FunnelStage, SkillSpan

METRES_PER_RADIAN = 0.1
"""Cost of rotating a path compared to shifting it."""
MIXED = 5
"""This many of the nearest demonstrations are shuffled before use; taking only the nearest would waste the others."""


@dataclass
class _Hand:
    """State of one arm along its path."""

    carrier: WayCarrier
    way: HandWay
    upcoming: list[WaySegment]
    carried: TransferredPath | None = None


class AugmentedSource:
    """Performs a task by following one of several demonstrations, with each segment moved with its object.

    The demonstration is chosen before the first frame: one whose paths can be followed in this scene and whose objects
    had similar poses. Each segment is transferred when it begins, from the current pose of its object. All hands share
    one clock, which slows down when any arm needs more time, so that they stay synchronized.

    Args:
        scene: The scene in its first state.
        stages: The skills of the task; unused, since the judge evaluates the task's terms.
        rng: Chooses among demonstrations.
        demonstrations: Source of the paths.
    """

    def __init__(
        self, scene: Scene, stages: Stages, rng: np.random.Generator, *, demonstrations: Sequence[Demonstration]
    ) -> None:
        self.failure: Failure | None = None
        self.timeline: tuple[SkillSpan, ...] = ()
        self.recording = True
        self._scene = scene
        self._turns: dict[str, int] = {}
        self._row = 0.0
        arms = {(robot, arm.name): arm for robot, parts in scene.robots.items() for arm in parts.arms}
        self._carriers = {key: WayCarrier(scene, arm) for key, arm in arms.items()}
        self._hands: list[_Hand] = []
        self._rows = 0
        self._choose(demonstrations, rng)

    def next(self, frame: int) -> Array | None:
        """Return the targets (controls,) of a frame; None at its end, or when it cannot continue."""
        if self.failure is not None or self._row > self._rows - 1:
            return None
        targets = np.full(self._scene.world.model.nu, np.nan)
        for hand in self._hands:
            if hand.upcoming and self._row >= hand.upcoming[0].start and not self._begin(hand):
                return None
            arm = hand.carrier.arm
            if hand.carried is not None:
                targets[arm.ctrl_index] = hand.carried.at(self._row)
            targets[arm.gripper_ctrl_index] = hand.way.gripper[int(self._row)]
        pace = min((hand.carried.pace_at(self._row) for hand in self._hands if hand.carried), default=1.0)
        # Segments begin on whole rows, so that none is entered in the middle.
        starts = [float(hand.upcoming[0].start) for hand in self._hands if hand.upcoming]
        self._row = min([self._row + pace, *starts])
        return targets

    def _begin(self, hand: _Hand) -> bool:
        """Transfer the next segment of a hand to its object's current pose; return whether that is possible."""
        segment = hand.upcoming.pop(0)
        q = self._scene.world.data.ctrl[hand.carrier.arm.ctrl_index].copy()
        X = self._transform(hand.carrier, hand.way, segment, self._present(segment))
        carried = hand.carrier.carried(hand.way, segment, X, q)
        if isinstance(carried, str):
            about = segment.object or "its base"
            detail = f"the path of the {hand.way.arm} arm relative to {about} cannot be followed to the end"
            self.failure = Failure(stage=FunnelStage.REACH, reason=carried, detail=detail)
            return False
        hand.carried = carried
        return True

    def _present(self, segment: WaySegment) -> Array:
        return np.eye(4) if segment.object is None else self._scene.object_pose(segment.object)

    def _transform(self, carrier: WayCarrier, way: HandWay, segment: WaySegment, T_world_object: Array) -> Array:
        if segment.object is None:
            return carrier.transform(way, segment, T_world_object, 1, np.array([0.0, 0.0, 1.0]))
        asset = self._scene.assets[segment.object]
        if segment.object not in self._turns:
            self._turns[segment.object] = 1 if asset.articulated else turns_alike(asset.model, asset.up)
        return carrier.transform(way, segment, T_world_object, self._turns[segment.object], np.array(asset.up))

    def _choose(self, demonstrations: Sequence[Demonstration], rng: np.random.Generator) -> None:
        plans = [(demonstration, self._foreseen(demonstration)) for demonstration in demonstrations]
        order = sorted(range(len(plans)), key=lambda k: self._cost(plans[k][1]))
        order = [*rng.permutation(order[:MIXED]).tolist(), *order[MIXED:]]
        reasons: list[str] = []
        for k in order:
            demonstration, plan = plans[k]
            reason = self._first_fault(plan)
            if not reason:
                self._rows = demonstration.rows
                self._hands = [
                    _Hand(self._carriers[way.robot, way.arm], way, list(way.segments)) for way in demonstration.hands
                ]
                return
            reasons.append(reason)
        reason = max(set(reasons), key=reasons.count) if reasons else "no_demonstration"
        detail = f"none of {len(demonstrations)} demonstrations can be transferred: {', '.join(sorted(set(reasons)))}"
        self.failure = Failure(stage=FunnelStage.REACH, reason=reason, detail=detail)

    def _foreseen(self, demonstration: Demonstration) -> list[tuple[HandWay, WaySegment, Array]]:
        """Return the transfer of each segment, in order of their start, assuming that all goes as demonstrated."""
        moved = {name: self._scene.object_pose(name) @ invert_pose(T) for name, T in demonstration.start_poses.items()}
        parts = [(way, segment) for way in demonstration.hands for segment in way.segments]
        plan = []
        for way, segment in sorted(parts, key=lambda part: part[1].start):
            T = moved[segment.object] @ segment.T_world_object if segment.object else np.eye(4)
            X = self._transform(self._carriers[way.robot, way.arm], way, segment, T)
            plan.append((way, segment, X))
            if segment.held:
                moved[segment.held] = X
        return plan

    def _cost(self, plan: Sequence[tuple[HandWay, WaySegment, Array]]) -> float:
        """Return the cost of shifting and rotating the paths [m]."""
        cost = 0.0
        for way, segment, X in plan:
            T = way.T_world_tcp[min(segment.contact, segment.stop - 1)]
            T_base = self._carriers[way.robot, way.arm].arm.T_world_base
            now, then = invert_pose(T_base) @ X @ T, invert_pose(way.T_world_base) @ T
            off, turn = pose_error(now, then)
            cost += float(off + METRES_PER_RADIAN * turn)
        return cost

    def _first_fault(self, plan: Sequence[tuple[HandWay, WaySegment, Array]]) -> str:
        """Return why a plan cannot be executed; empty if it can."""
        joints = {key: self._scene.world.data.ctrl[c.arm.ctrl_index].copy() for key, c in self._carriers.items()}
        for way, segment, X in plan:
            key = (way.robot, way.arm)
            carried = self._carriers[key].carried(way, segment, X, joints[key])
            if isinstance(carried, str):
                return carried
            joints[key] = carried.joints[-1]
        return ""
