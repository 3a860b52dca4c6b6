"""Poses of a hand that bring its held object to a place."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.scene.measures import local_box, world_box
from handloom.scene.named_points import LEAN, SIDES, front_axis, heading, long_axis, named_axis, point_of
from handloom.skills.arms.held_parts import Held, HeldAxis, HeldParts
from handloom.skills.arms.orientations import Alignment, direction_mask, sample_orientations
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.company import FREE, Company, Spot, shared_spots
from handloom.skills.placing.footing import steady_shifts
from handloom.skills.placing.foresight import FORESEEN, ways_to_places
from handloom.skills.placing.landing import (
    BESIDE,
    HeldSize,
    asked_alignment,
    headed,
    keeps_heading,
    leaning,
    must_stand,
    place_points,
    stood_up,
    turned_by,
    unit,
)
from handloom.skills.placing.leaving import Releases, covered
from handloom.skills.placing.place_in import Entry, NoCavityError, depth_from_above, entries_into, inserted_depth
from handloom.skills.placing.spots import on_whole_foot, origins_at, reach_of, shift_beside_others, way_of_point
from handloom.spatial import invert_pose, make_pose, translation
from handloom.values import Failure, FunnelStage

ON = frozenset(("on", "stack_on"))
"""Relations in which the target carries the object."""
CANDIDATES = 32
"""Poses tested; published: 20."""
ANGLE = float(np.deg2rad(0.5))
"""Tolerance of the hand's approach axis for arms of five joints if no axis is aligned [rad]."""
HELD_ANGLE = 0.05
"""Tolerance of ``hold_obj_axis`` at the place if no axis is aligned [rad]."""
DOWN = float(np.deg2rad(15.0))
"""Largest deviation from straight down of a point that goes down [rad]."""
OVER_RIM = (0.05, 0.015)
"""Minimum height above a holder of an object's lower end, before and at the place [m]."""
FINGER = 0.012
"""Half the height of fingertips: their height above a holder's rim when the object is at the bottom [m]."""
CLEAR = 0.02
"""Distance between fingertips and object after the hand has drawn back [m]."""
TILTED_FINGER = 0.03
"""The same for a tilted hand that lowers the object to the bottom: a dropped one would pierce a thin floor [m]."""
UPPERMOST = 0.75
"""Grasp height on a short object in that case."""
UPPER = 0.6
"""Grasp height on a short object instead: a fraction of its height."""


class PlacePoses(Releases[PlaceConfig]):
    """The candidates of a place: orientations that pass its filters, at random points above its target."""

    Config: ClassVar = PlaceConfig
    _entries: list[Entry] | None = None
    """Ways into the cavities of the target; None until requested."""
    _entry: Entry | None = None
    _near: float = np.inf
    """Mode ``beside``: largest distance between the origins, seen from above [m]."""
    company: Company = Company()
    """The other objects that the task puts on or in the same target."""
    _shared: tuple[Spot, ...] | None = None
    """Spots that leave room for them; None until requested."""
    _spot: Spot | None = None
    """The one of these that is tried; None: wherever there is room."""

    def spots_beside_others(self) -> tuple[Spot, ...]:
        """Return where to put the object so that all objects that share its target find room, best first."""
        if not self.company or self._enters_a_front():
            return ()
        if self._shared is None:
            shoulder = self.controller.arm.T_world_base[:2, 3]
            self._shared = shared_spots(self.scene, self.config, self.company, self._target_box(), shoulder)
        return self._shared

    def _enter(self) -> Entry | None:
        """Determine how the object enters a cavity, if its place is in one, and change the config accordingly.

        Raises:
            NoCavityError: No cavity is open and wide enough.
        """
        if self._entries is None and self.config.relation == "in":
            self._entries = entries_into(self.scene, self.config)
            self._entry = self._entries[0]
            self.config = self.config.model_copy(update=self._entry.keys)
        return self._entry

    def through_a_front(self) -> bool:
        """Return whether the object enters through a front, not from above."""
        try:
            entry = self._enter()
        except NoCavityError:
            return False
        return entry is not None and not entry.from_above

    def _enters_a_front(self) -> bool:
        """Return whether the entry that is tried leads through a front."""
        return self._entry is not None and not self._entry.from_above

    def stays_level(self) -> bool:
        """Return whether the object must stay level: an open container that goes in through a front, and must stand.

        Released at an angle, a bowl rolls over the edge of its foot and leans on the wall.
        """
        holds = self.scene.assets[self.config.objects[0]].holds > 0.0
        return holds and self._enters_a_front() and bool(must_stand(self.scene, self.config))

    def level_after(self, T_base_tool: Array, q: Array) -> bool:
        """Return whether a grasp leads to a place through a front at which an object that must stand is level.

        Also True for an object that need not stand, or that enters from above.

        Args:
            T_base_tool: The grasp (1, 4, 4) of the object in its current pose.
            q: Joints (m,) at the grasp.
        """
        if not must_stand(self.scene, self.config) or not self.through_a_front():
            return True
        asked, first = self.config, self._entry
        try:
            for entry in self._entries or ():
                self._entry, self.config = entry, asked.model_copy(update=entry.keys)
                if np.isfinite(self.ways_after(T_base_tool, q)).any():
                    return True
            return False
        finally:
            self._entry, self.config = first, asked

    def _stands_in(self) -> bool:
        """Return whether the held object or its target is a stand-in: heights then belong to other sizes."""
        return any(self.scene.assets[name].stands_in for name in self.config.objects[:2] if name in self.scene.assets)

    def _places(
        self, T_base_world: Array, T_tool_object: Array, R_start: Array, kept: Held | None
    ) -> tuple[Array, Array] | None:
        """Return poses of the hand before and at the place, T_base_tool (n, 4, 4) each; None after recording why.

        Args:
            T_base_world: Pose of the world in the arm's base.
            T_tool_object: Pose of the object in the hand.
            R_start: Initial orientation of the hand; small rotations come first.
            kept: Parts of the hand's pose that the path to the place must keep.
        """
        config = self.config
        R = self._orientations(T_base_world, T_tool_object, R_start, kept)
        if len(R) == 0:
            detail = "no random orientation passes filter_x/y/z_dir and align_obj_tol; widen them"
            self.fail(FunnelStage.REACH, "filters_leave_nothing", detail)
            return None
        faces = T_tool_object[:3, :3] @ front_axis(self.scene.assets[config.objects[0]])
        turns = (faces, T_base_world[:3, :3].T, heading(self.scene, config.facing or 0.0))
        R = R if config.facing is None else headed(R, *turns)
        if self._spot is not None and self._spot.turn is not None:
            R = turned_by(R, T_tool_object[:3, :3], T_base_world[:3, :3].T, self._spot.turn, own=R_start)
        box = self._target_box()
        R_target = self.scene.object_pose(config.objects[1])[:3, :3]
        reach = float(np.linalg.norm(T_tool_object[:3, 3]))
        own = world_box(self.scene, config.objects[0])
        rise: float | Array = float(self.scene.object_pose(config.objects[0])[2, 3] - own[0, 2])
        R_world_object = T_base_world[:3, :3].T @ R @ T_tool_object[:3, :3]
        stands = self._stood_up(T_base_world, T_tool_object, R_start)
        if config.lean or stands is not None or config.point_down is not None:
            rise = -reach_of(self.scene, config.objects[0], R_world_object)[:, 0, 2]
        held = HeldSize(rise=rise, half_width=float(own[1, 0] - own[0, 0]) / 2.0)
        named = any(key is not None for key in (config.aim, config.at, config.at_point)) or config.relation in SIDES
        spot = origins_at(self.scene, config, R_world_object, self.rng) if named else None
        if self._spot is not None:
            spot = self._spot.at - reach_of(self.scene, config.objects[0], R_world_object).mean(axis=1)[:, :2]
        points = place_points(config, box, R_target, len(R), self.rng, hand_to_object=reach, held=held, spot=spot)
        if not named and self._spot is None and config.place_direction == "vertical":
            points = tuple(on_whole_foot(self.scene, config, p, R_world_object, box) for p in points)
        if config.point_down is not None:
            # The end that goes in first must meet the opening; the object may lean.
            end = np.asarray(
                point_of(self.scene.assets[config.objects[0]], config.objects[0], config.point_down).position
            )
            for p in points:
                p[:, :2] -= (R_world_object @ end)[:, :2]
        if self.is_particular:
            # A task's heights suit its intended object; an arm may not reach as high with another one.
            lowest = box[1, 2] - reach_of(self.scene, config.objects[0], R_world_object)[:, 0, 2]
            for p, above in zip(points, OVER_RIM, strict=True):
                p[:, 2] = np.minimum(p[:, 2], lowest + above)
        self._near = float(np.linalg.norm(box[1, :2] - box[0, :2])) / 2.0 + 2.0 * (held.half_width + BESIDE[1])
        pre, place = (self._hand_poses(T_base_world, R, p, T_tool_object) for p in points)
        pre, place = self._attainable(pre, place, T_base_world, T_tool_object, stands)
        if config.facing is not None:
            kept_heading = keeps_heading(place[:, :3, :3], *turns)
            pre, place = pre[kept_heading], place[kept_heading]
        if len(place) == 0:
            detail = f"none of {len(R)} poses over {config.objects[1]} is reachable with the joints of this arm"
            detail += f", facing {config.facing}" if config.facing is not None else ""
            self.fail(FunnelStage.REACH, "goal_unreachable", detail, given=len(R))
            return None
        return pre, place

    @property
    def is_particular(self) -> bool:
        """Whether an object is stood in a holder: the hand must hold it high enough."""
        return inserted_depth(self.scene, self.config) is not None

    def suits(self, T_base_tool: Array) -> NDArray[np.bool_]:
        """Return which grasps (n, 4, 4) hold an object high enough for it to reach the bottom of a holder."""
        config, name, arm = self.config, self.config.objects[0], self.controller.arm
        depth, axis = inserted_depth(self.scene, config), config.align_pick_obj_axis
        finger, upper = FINGER, UPPER
        if config.point_down is not None:
            axis = -way_of_point(self.scene, name, config.point_down)
            depth = depth_from_above(self.scene, config.objects[1])
            finger, upper = TILTED_FINGER, UPPERMOST
        if depth is None or axis is None:
            return super().suits(T_base_tool)
        T_object_base = invert_pose(self.scene.object_pose(name)) @ arm.T_world_base
        low, high = local_box(self.scene, name)[0]
        half, middle = 0.5 * float(np.abs(unit(axis)) @ (high - low)), 0.5 * float(unit(axis) @ (high + low))
        fingers = (T_object_base @ T_base_tool @ arm.spec.T_tool_tcp)[:, :3, 3] @ unit(axis)
        return fingers - (middle - half) >= min(depth + finger, upper * 2.0 * half)

    def ways_after(self, T_base_tool: Array, q: Array) -> Array:
        """Return the joint motion from each grasp (n,) of the object to the nearest place.

        Places without a straight path down are excluded; infinite if none is left.
        """
        try:
            self._enter()
        except NoCavityError:  # The target may be open by then.
            return np.ones(len(T_base_tool))
        for spot in self.spots_beside_others():
            self._spot = spot
            ways = self._ways_now(T_base_tool, q)
            if np.isfinite(ways).any():
                return ways
        self._spot = None
        return self._ways_now(T_base_tool, q)

    def _ways_now(self, T_base_tool: Array, q: Array) -> Array:
        """Return the joint motion from each grasp (n,) to the nearest place at the spot that is tried."""
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        T_base_object = T_base_world @ self.scene.object_pose(self.config.objects[0])
        places = []
        for grasp in T_base_tool:
            T_tool_object = invert_pose(grasp) @ T_base_object
            places.append(self._places(T_base_world, T_tool_object, grasp[:3, :3], self._kept(T_tool_object)))
        ignore = (*self.controller.obstacles_of(self.config.objects[0]), *self.config.ignore_substring)
        # Few orientations work at the end of an arm's reach, perhaps not those that turn the hand least.
        count = CANDIDATES + 1 if self.is_particular else FORESEEN
        return ways_to_places(self.controller, places, q, ignore, count=count)

    def _orientations(self, T_base_world: Array, T_tool_object: Array, R_start: Array, kept: Held | None) -> Array:
        """Return orientations R_base_tool (n, 3, 3) that pass the config's filters."""
        config = self.config
        R_base_target = T_base_world[:3, :3] @ self.scene.object_pose(config.objects[1])[:3, :3]
        if config.lean:
            asset, normal = self.scene.assets[config.objects[0]], named_axis(self.scene, config.objects[1], LEAN)
            R_world_object = leaning(np.asarray(asset.up, float), long_axis(asset), normal)
            return T_base_world[:3, :3] @ R_world_object @ T_tool_object[:3, :3].T
        stands = self._stood_up(T_base_world, T_tool_object, R_start)
        up = T_base_world[:3, 2]
        alignment = asked_alignment(config, up, T_tool_object[:3, :3], R_base_target, R_start, stands=stands)
        if config.point_down is not None:
            pointing = T_tool_object[:3, :3] @ way_of_point(self.scene, config.objects[0], config.point_down)
            alignment = Alignment(axis_tool=pointing, axis_base=-up, tolerance=DOWN)
        if isinstance(kept, HeldAxis) and alignment is None:
            axis = np.asarray(kept.axis_tool)
            alignment = Alignment(axis_tool=axis, axis_base=R_start @ axis, tolerance=HELD_ANGLE)
        drawn = partial(kept.orientations, R_start) if isinstance(kept, HeldParts) else None
        axis = self.controller.arm.spec.approach
        sampled = sample_orientations(self.rng, CANDIDATES, config, alignment, approach_axis=axis, up=up, drawn=drawn)
        # The hand need only turn far enough to bring the object upright.
        unturned = R_start[None] if alignment is None else alignment.exact(R_start)[None]
        fits = direction_mask(make_pose(unturned, np.zeros((1, 3))), config, axis, up)
        # Then small rotations first: the published priority is the joint distance, which mostly agrees.
        turn = np.einsum("nij,ij->n", sampled, R_start)
        return np.concatenate([unturned[fits], sampled[np.argsort(-turn, kind="stable")]])

    def _stood_up(self, T_base_world: Array, T_tool_object: Array, R_start: Array) -> Array | None:
        """Return the axis, in the hand (3,), of a lying object that must stand; None if it keeps its orientation."""
        config = self.config
        up = np.asarray(self.scene.assets[config.objects[0]].up, float)
        # A published place keeps its own orientations; only one in words, or with the key, stands anything up.
        needed = must_stand(self.scene, config) if config.relation is not None else config.upright or False
        return stood_up(needed, up, T_base_world[:3, 2], T_tool_object[:3, :3], R_start)

    def _unable_to_stand(self, failure: Failure) -> Failure:
        """Return why no place was found, naming that the object had to be stood up, or stay level, if that is so."""
        if self.stays_level():
            name, target = self.config.objects[:2]
            hint = f"{name} must stay level on its way into {target}, with the hand under the roof"
            return replace(
                failure, detail=f"{failure.detail}; {hint}: make it lower or narrower, or let it lie, upright: false"
            )
        name, T_base_world = self.config.objects[0], invert_pose(self.controller.arm.T_world_base)
        T_tool_object = invert_pose(self.controller.tool_pose()) @ T_base_world @ self.scene.object_pose(name)
        if self._stood_up(T_base_world, T_tool_object, self.controller.commanded_pose[:3, :3]) is None:
            return failure
        hint = f"{name} lies in the hand and must end upright, and the hand cannot stand it up here"
        return replace(failure, detail=f"{failure.detail}; {hint}: place it elsewhere, or let it lie, upright: false")

    def _kept(self, T_tool_object: Array) -> Held | None:
        """Return the parts of the hand's pose that the path to the place must keep."""
        config = self.config
        if config.hold_obj_axis is None:
            return HeldParts.given(config.pre_place_hold_vec_weight)
        x, y, z = (T_tool_object[:3, :3] @ unit(config.hold_obj_axis)).tolist()
        return HeldAxis((x, y, z))

    def _attainable(
        self, pre: Array, place: Array, T_base_world: Array, T_tool_object: Array, stands: Array | None
    ) -> tuple[Array, Array]:
        """Replace poses that an arm of five joints cannot take by reachable ones: same object position, other yaw."""
        config = self.config
        point = np.zeros(3) if config.position_constraint == "gripper" else T_tool_object[:3, 3]
        axis = config.align_pick_obj_axis
        axis_tool = self.controller.arm.spec.approach if axis is None else T_tool_object[:3, :3] @ unit(axis)
        # The sampled orientations fill the tolerance already; half of it again leaves an upright object upright.
        angle = np.deg2rad(0.5 * config.align_obj_tol) if axis is not None and config.align_obj_tol else ANGLE
        if config.keep_upright is not None:
            held_up = self.controller.commanded_pose[:3, :3].T @ T_base_world[:3, 2]
            axis_tool = held_up if stands is None else stands
            angle = np.deg2rad(0.5 * config.keep_upright)
        taken, found = self.controller.attainable(place, point_tool=point, axis_tool=axis_tool, angle=float(angle))
        before = taken.copy()
        before[:, :3, 3] += pre[:, :3, 3] - place[:, :3, 3]
        return before[found], taken[found]

    def _retreats(self, T_tool_object: Array) -> Iterator[Array | None]:
        """Yield how the hand may draw back, in its own frame (3,) [m], first until it is clear; None when it stays."""
        config, approach = self.config, self.controller.arm.spec.approach
        if config.retreat is None:
            yield None if config.post_place_vector is None else np.array(config.post_place_vector)
            return
        if config.retreat_widest is not None:
            clear = covered(self.scene, config.objects[0], self.controller.arm.spec, T_tool_object) + CLEAR
            if clear > config.retreat:
                yield -min(clear, config.retreat_widest) * approach
        yield -config.retreat * approach

    def _on_steady_ground(
        self, pre: Array, place: Array, T_base_world: Array, T_tool_object: Array
    ) -> tuple[Array, Array]:
        """Return the poses (n, 4, 4) before and at a named spot, shifted to where the object stands without tipping.

        None are left where it would tip over everywhere near the spot.
        """
        config = self.config
        name, target = config.objects[:2]
        if self._spot is not None:
            return pre, place
        if config.relation in FREE and not self._is_named():
            first = invert_pose(T_base_world) @ place[0] @ T_tool_object
            shift = shift_beside_others(self.scene, config, first, self._target_box())
            level = translation(T_base_world[:3, :2] @ shift)
            return (level @ pre, level @ place) if shift.any() else (pre, place)
        if config.relation not in ON or config.at is None or config.lean:
            return pre, place
        shifts, steady = steady_shifts(self.scene, name, invert_pose(T_base_world) @ place @ T_tool_object)
        if not steady.any():
            detail = f"{name} would tip over at {list(config.at)} on {target}: an edge or another object is in the way"
            self.fail(FunnelStage.PLAN, "no_footing", f"{detail}; choose another spot, or omit at")
            return pre[:0], place[:0]
        level = translation(np.column_stack([shifts, np.zeros(len(shifts))]) @ T_base_world[:3, :3].T)
        return (level @ pre)[steady], (level @ place)[steady]

    def _target_box(self) -> Array:
        """Return the world box of the target, or of the cavity that is entered (2, 3) [m]."""
        if self._entry is not None:
            return self._entry.box
        return world_box(self.scene, self.config.objects[1], self.config.place_part_prim_path)

    def _is_named(self) -> bool:
        """Return whether the spot or the way in is given, so that the object cannot be put down anywhere else."""
        config = self.config
        given = (config.aim, config.at, config.at_point, config.point_down)
        return any(key is not None for key in given) or config.lean or self._enters_a_front()

    def _hand_poses(self, T_base_world: Array, R_base_tool: Array, p_world: Array, T_tool_object: Array) -> Array:
        """Return T_base_tool (n, 4, 4) that bring the hand, or the origin of the object, to points (n, 3)."""
        p_base = p_world @ T_base_world[:3, :3].T + T_base_world[:3, 3]
        if self.config.position_constraint == "gripper":
            return make_pose(R_base_tool, p_base)
        T_base_object = make_pose(R_base_tool @ T_tool_object[:3, :3], p_base)
        return T_base_object @ invert_pose(T_tool_object)
