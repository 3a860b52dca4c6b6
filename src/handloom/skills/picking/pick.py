"""Grasp an object and lift it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.scene.measures import room_above
from handloom.skills.arms.orientations import widened
from handloom.skills.configs.picks import PickConfig
from handloom.skills.picking.grasp_moves import GraspMoves
from handloom.skills.picking.grasp_poses import (
    Grasps,
    Preshape,
    Source,
    annotated_grasps,
    attainable_grasps,
    clear_grasps,
    clear_of_hands,
    drawn_by_score,
    filtered,
    grasp_file,
    gripper_of,
    in_attitude,
    levers,
    side_in_name,
)
from handloom.skills.placing.place_in import INTO, narrowest
from handloom.skills.skill import Phase, Skill, between
from handloom.spatial import invert_pose, matrix_from_quat, pose_from_pos_quat, quat_normalize
from handloom.values import Check, FunnelStage

MOVED = 0.008
"""An object that moved further than this since the grasp was chosen is grasped again [m]."""
STILL = 0.05
"""Speed below which an object that was moved is grasped at its new place [m/s]."""
WIDER = 3
"""Steps in which an approach is widened."""
WIDER_FILTERS = (20.0, 25.0)
"""Steps by which the filters of a stand-in's grasps are widened [deg]: they were written for another object."""
TESTED = 128
"""Maximum number of candidates that are tested."""
FREE: tuple[Source, ...] = ("any", "lying", "as_it_lies")
"""Maximum number of grasps checked one by one against the next skill; ``ENOUGH`` of a kind are a choice."""
ENOUGH = 8
NEARER = 0.4
"""Fraction of the straight paths in and out that is kept if no grasp can be reached with all of them: at the end of its
reach, an arm has room for little more than the grasp."""
JUST_LIFTED = 0.008
"""Extra lift of such a grasp [m]."""
END_LIFTED = 0.03
"""The same if only a part of the object may be grasped: held by one end, it sags between the fingers [m]."""
RIM_WAY = 0.05
"""Length of the straight path to the rim of a stand-in [m]: hand-tuned places may need none."""


ROOF = 0.25
"""Free height above an object below which a hand cannot come from above and reaches in from the front [m]: in a
microwave, on a shelf; a hand is about this long."""
BELOW_ROOF = 0.03
"""Distance that a lift keeps from the roof [m]."""
WIDEST_INTO = 100.0
"""Largest deviation of the hand from that direction if nothing else is possible [deg]."""
BY_RIM_INTO = (INTO[0], 60.0)
"""Direction of a hand that holds an open container by its rim and puts it, level, through a front."""


class Pick(Skill[PickConfig]):
    """The published pick: candidates, filters, reach test, approach, close, lift."""

    Config: ClassVar = PickConfig

    def simple_generate_manip_cmds(self) -> None:
        """Choose a reachable grasp, and write the commands of approach, grasp and lift."""
        through_a_front = getattr(self.follower, "through_a_front", None)
        # A given approach direction refers to a grasp from above.
        name, room = self.config.objects[0], np.inf
        if self.config.approach_widest is not None:
            room = room_above(self.scene, name)
            if room < ROOF or (through_a_front is not None and through_a_front()):
                self.config = self.config.model_copy(update={"approach": INTO, "approach_widest": WIDEST_INTO})
        config = self.config
        self._from = self.scene.object_pose(name)[:3, 3].copy()
        lift = between(self.rng, config.post_grasp_offset_min, config.post_grasp_offset_max)
        lift = min(lift, max(room - BELOW_ROOF, config.lift_th + JUST_LIFTED))
        self._moves = self.moves(float(lift))
        self._choose_or_concede(name)
        self._keep_level_into_a_front(name, float(lift))
        if self.manip_list or self.failure is None or not self._may_come_from_nearer():
            return
        known, least = self.failure, config.lift_th + (JUST_LIFTED if config.constraints is None else END_LIFTED)
        self.config = config.model_copy(update={"pre_grasp_offset": NEARER * config.pre_grasp_offset})
        self._moves, self.failure = self.moves(min(float(lift), least)), None
        self._choose_or_concede(name)
        self.failure = None if self.manip_list else known

    def _keep_level_into_a_front(self, name: str, lift: float) -> None:
        """Grasp an open container by its rim instead if it can only so be put, level, through a front.

        Held from above, a bowl must be tilted with the hand to pass under a roof, and rolls over when it is released.
        """
        level_after = getattr(self.follower, "level_after", None)
        if level_after is None or self.config.approach_widest is None or not self.manip_list:
            return
        if self.controller.by_rim or self.scene.assets[name].holds <= 0.0:
            return
        if level_after(self._taken(), self.controller.target):
            return
        chosen, config, moves = self.manip_list, self.config, self._moves
        self.config = config.model_copy(update={"rim": True, "approach": BY_RIM_INTO})
        self._moves, self.manip_list = self.moves(lift), []
        self._choose(name)
        if not self.manip_list or not level_after(self._taken(), self.controller.target):
            self.manip_list, self.config, self._moves = chosen, config, moves
            self.controller.by_rim = False
        self.failure = None

    def _taken(self) -> Array:
        """Return the chosen grasp T_base_tool (1, 4, 4)."""
        first = next(command for command in self.manip_list if command.function == "close_gripper")
        return pose_from_pos_quat(first.p_base_tool, first.q_base_tool)[None]

    def _may_come_from_nearer(self) -> bool:
        """Return whether the approach may be shorter than configured: in short form, if no arm reaches a grasp."""
        short = self.config.approach_widest is not None and self.config.pre_grasp_offset > 0.0
        return short and self.failure is not None and self.failure.stage in (FunnelStage.REACH, FunnelStage.PLAN)

    def _choose_or_concede(self, name: str) -> None:
        """Write the commands of a grasp, relaxing the request if there is no other."""
        self._choose(name)
        for angle in self._wider():
            if self.manip_list:
                return
            self.failure, self.config = None, self.config.model_copy(update={"approach": angle})
            self._choose(name)
        for degrees in WIDER_FILTERS if self.scene.assets[name].stands_in else ():
            if self.manip_list or self.failure is None:
                return
            self.failure, self.config = None, widened(self.config, degrees)
            self._choose(name)
        if self.failure is not None and self._may_take_lying(name):
            # First try grasps of its first rest poses, then those of its current pose.
            self._take_lying(
                name, ("lying", "as_it_lies") if self.failure.stage is FunnelStage.REACH else ("as_it_lies",)
            )

    def _wider(self) -> list[tuple[str, float]]:
        """Return further approaches to try, each wider than the previous one."""
        given, widest = self.config.approach, self.config.approach_widest
        if given is None or isinstance(given, str) or widest is None or widest <= given[1]:
            return []
        return [(given[0], float(angle)) for angle in np.linspace(given[1], widest, WIDER + 1)[1:]]

    def _choose(self, name: str) -> None:
        """Write the commands of the first grasp whose moves are all possible, or say why there is none."""
        candidates = self.grasps(name)
        if len(candidates):
            self.manip_list = self._moves.commands(self, candidates, lambda: self._lying_grasps(name))

    def _lying_grasps(self, name: str) -> Array:
        """Return grasps T_base_tool (n, 4, 4) of the object in its resting pose, if the task allows them."""
        return self._candidates(name, "lying") if self._may_take_lying(name) else np.zeros((0, 4, 4))

    def _may_take_lying(self, name: str) -> bool:
        """Return whether the grasps so far were annotated in free space, and generated ones can be added."""
        suction = self.controller.arm.spec.suction is not None
        return not (suction or self.controller.by_rim or grasp_file(self.scene.assets[name], self.config) is not None)

    def _take_lying(self, name: str, sources: Sequence[Source]) -> None:
        """Consider grasps of the object in its resting pose: many more of them come from above."""
        failure = self.failure
        for source in sources:
            self.failure = None
            candidates = self._candidates(name, source)
            if len(candidates):
                self.manip_list = self._moves.commands(self, candidates)
            if self.manip_list:
                return
        nowhere = self.failure is not None and self.failure.reason == "no_grasp"
        if nowhere and self.config.approach_widest is not None and self._take_ring(name):
            return
        self.failure = failure
        across, opens = narrowest(self.scene, name), self.controller.arm.spec.gripper_max_width
        if nowhere and across > opens and failure is not None and failure.reason == "filters_leave_nothing":
            detail = (
                f"{name} is {across:.3f} m across as it lies and the gripper opens {opens:.3f} m: nothing to hold from "
                "above; give it a smaller size or scale, or rim: true if it has a rim or an edge"
            )
            self.fail(FunnelStage.GRASP, "no_grasp", detail)

    def _take_ring(self, name: str) -> bool:
        """Grasp a ring that is wider than the hand with one finger in its hole; return whether that is possible."""
        self.failure = None
        candidates = self._candidates(name, "ring")
        if len(candidates):
            moves = replace(self._moves, preshape=Preshape.for_rings(gripper_of(self)))
            self.manip_list = moves.commands(self, candidates)
            self.controller.by_ring = bool(self.manip_list)
        return bool(self.manip_list)

    def grasps(self, name: str) -> Array:
        """Return grasps T_base_tool (n, 4, 4) of an object that pass the filters and touch nothing around it.

        They are of the first kind that has any: annotated ones, grasps of the object in its pose, grasps of its rim.
        """
        if self._follower_is_particular(name):
            for kind in FREE:
                candidates = self._candidates(name, kind, only_suited=True)
                self.failure = None
                if len(candidates) >= ENOUGH:
                    self.controller.by_rim = False
                    return candidates
        source: Source = "rim" if self.config.rim or self._in_attitude_at_rim(name) else "any"
        candidates = self._candidates(name, source)
        nowhere = self.failure is not None and self.failure.reason == "no_grasp"
        while len(candidates) == 0 and (other := self._other_grasps(name, source, nowhere=nowhere)) is not None:
            self.failure, source = None, other
            candidates = self._candidates(name, source)
        self.controller.by_rim, self.controller.by_ring = source == "rim", False
        if source == "rim" and len(candidates):
            way = max(self._moves.pre_grasp_offset, RIM_WAY if self._in_attitude_at_rim(name) else 0.0)
            self._moves = replace(self._moves, preshape=Preshape.for_rims(gripper_of(self)), pre_grasp_offset=way)
        return candidates

    def _in_attitude_at_rim(self, name: str) -> bool:
        """Return whether the hand, in a given orientation, must grasp a rim as its annotation is missing."""
        asset = self.scene.assets[name]
        given = self.config.fixed_orientation is not None and asset.stands_in and asset.holds > 0.0
        return given and grasp_file(asset, self.config) is None

    def _follower_is_particular(self, name: str) -> bool:
        """Return whether the next skill needs a part of the object free, and generated grasps may be chosen for it.

        Few of an object's free-space grasps are possible in its current place, and even fewer suit.
        """
        own = self.scene.assets[name].stands_in and grasp_file(self.scene.assets[name], self.config) is None
        if not own or self.config.rim or self.follower is None or name not in self.follower.config.objects[:1]:
            return False
        return self.follower.is_particular

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the fingers hold the object, robot and object are at rest, and it was lifted."""
        config = self.config
        return self._moves.checks(
            self, from_z=float(self._from[2]), lift_th=config.lift_th, process_valid=config.process_valid
        )

    @property
    def phase(self) -> Phase:
        """Return the phase: on the way to the object until the fingers close."""
        return "reach" if self.manip_list and self.manip_list[0].function == "open_gripper" else ""

    def is_upset(self) -> bool:
        """Return whether the object has moved since the grasp was chosen, before the hand arrived."""
        name = self.config.objects[0]
        moved = np.linalg.norm(self.scene.object_pose(name)[:3, 3] - self._from)
        if self.phase != "reach" or moved < MOVED:
            return False
        return holds(self.scene, Check(name="lying_still", arguments={"objects": [name], "speed": STILL}))

    def moves(self, lift: float) -> GraspMoves:
        """Return how the object is approached, grasped and lifted by ``lift`` [m].

        ``approach`` is about the world, and so is the lift that follows; published picks lift along z of the arm base.
        """
        config = self.config
        x, y, z = (0.0, 0.0, 1.0) if config.approach is None else self.controller.arm.up.tolist()
        return GraspMoves(
            object=config.objects[0],
            pre_grasp_offset=config.pre_grasp_offset,
            close_steps=self.frames(config.gripper_change_steps),
            lift=lift,
            lift_axis=(x, y, z),
            final_state=config.final_gripper_state,
            hold=config.pre_grasp_hold_vec_weight,
            back=config.return_to_pregrasp,
            test_mode=config.test_mode,
        )

    def adjusted(self, T_base_tool: Array) -> Array:
        """Return grasps (n, 4, 4) after tuning; a pick takes them as they are."""
        return T_base_tool

    def varied(self, name: str, grasps: Grasps) -> Grasps:
        """Return the grasps to choose from; a pick takes them as they are."""
        return grasps

    def within_reach(self, name: str, T_base_tool: Array, kept: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which of the kept grasps (n, 4, 4) may be drawn; a pick draws from all of them."""
        return kept

    def _other_grasps(self, name: str, source: Source, *, nowhere: bool) -> Source | None:
        """Return the source of grasps to try after one that failed; None: the object has an annotation.

        Objects on the table are grasped in their resting pose; stand-ins by their own grasps, as the annotation may
        have been of a rim. A bowl with no room for an open hand is grasped by its rim with fingers less far apart.
        """
        asset = self.scene.assets[name]
        if source == "rim" or self.failure is None or grasp_file(asset, self.config) is not None:
            return None
        if source == "any" and (asset.stands_in or nowhere or self.failure.reason == "grasps_collide"):
            return "lying"
        return "rim" if asset.stands_in or nowhere else None

    def _candidates(self, name: str, source: Source, *, only_suited: bool = False) -> Array:
        """Return grasps T_base_tool (n, 4, 4) that pass the filters and touch nothing, mostly the best first.

        Those that suit the next skill are preferred, or are the only ones.
        """
        config = self.config
        grasps = annotated_grasps(self, name, config, source=source)
        if len(grasps.score) == 0:
            return grasps.T_base_tool
        grasps = self.varied(name, grasps)
        side = config.direction_to_obj
        if config.fixed_orientation is not None:
            R = matrix_from_quat(quat_normalize(config.fixed_orientation))
            if source == "rim":
                grasps, side = in_attitude(self, grasps, R), side or side_in_name(config.npy_name)
            else:
                grasps.T_base_tool[:, :3, :3] = R
        T_base_tool, taken = attainable_grasps(self, name, grasps)
        T_base_object = invert_pose(self.controller.arm.T_world_base) @ self.scene.object_pose(name)
        passing = taken & filtered(T_base_tool, config, self.controller.arm, side, T_base_object[1, 3])
        T_base_tool = self.adjusted(T_base_tool)
        if config.largest_lever is not None:
            turns = levers(self, name, T_base_tool) > config.largest_lever
            if passing.any() and not (passing & ~turns).any():
                detail = f"{name} would turn between the fingers of all {passing.sum()} grasps; raise largest_lever"
                self.fail(FunnelStage.GRASP, "levers_leave_nothing", detail, candidates=len(passing))
                return T_base_tool[:0]
            passing &= ~turns
        gripper = gripper_of(self)
        little = {"rim": Preshape.for_rims, "ring": Preshape.for_rings}.get(source)
        level = len(gripper.position) - 1.0 if little is None else little(gripper).level
        kept = clear_grasps(self, name, T_base_tool, passing, config.pre_grasp_offset, level)
        if config.handed:
            kept = clear_of_hands(self, grasps, T_base_tool, kept, config.pre_grasp_offset)
        if self.follower is not None and name in self.follower.config.objects[:1]:
            suited = self.follower.suits(T_base_tool[kept])
            kept = kept[suited] if suited.any() or only_suited else kept
        kept = self.within_reach(name, T_base_tool, kept)
        return T_base_tool[kept[drawn_by_score(self.rng, grasps.score[kept], TESTED)]]
