"""Put a held object on, in or beside another one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.judging.overhang import Overhang, overhang
from handloom.motion.planning import Move
from handloom.scene.measures import world_box
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.arms.held_parts import Held, HeldAxis, HeldParts
from handloom.skills.placing.company import Spot
from handloom.skills.placing.descent import LOWERED, NEARLY, SWAY, deeper_places, deepest, drop_height, lowered
from handloom.skills.placing.landing import XY_MARGIN, attitude_checks, outcome_checks, relation_checks
from handloom.skills.placing.leaving import WayOut, further_retreat, way_out
from handloom.skills.placing.opening import release
from handloom.skills.placing.place_in import NoCavityError, hollow_from_above, in_section, sinks_into
from handloom.skills.placing.place_poses import ON, PlacePoses
from handloom.skills.placing.spots import asked_spot, deeper_than
from handloom.skills.skill import Phase, command_at
from handloom.spatial import invert_pose, translation
from handloom.values import Check, Command, Failure, FunnelStage

WIDER = 3
"""Steps in which ``keep_upright`` is widened."""
AGAIN = 4
"""Factor on the number of poses drawn at the widest: few of them work at the end of an arm's reach."""
RAISED = (0.04, 0.04)
"""Extra release heights of a stand-in if the hand does not fit, tried in this order [m]."""
LOST = 3
"""Frames in a row without hold after which an object counts as lost."""
SETTLES = frozenset(
    (
        *("calm", "carried_by", "in_cavity", "inserted", "let_go", "lower_than", "lying_still", "over_box"),
        *("overlapping", "released", "touches"),
    )
)
"""Terms that become true by themselves once a falling, rolling or swinging object comes to rest."""
SPARE_OVER = 0.05
"""Extra fraction of an object that a place puts above its target, beyond the check: it moves a little on release."""
DEEP = 0.03
"""Drop from the given place above which the target counts as a container, with poses searched deeper [m]."""
SPARE = 0.01
"""Clearance above the bottom during the search for poses [m]; the chosen pose is lowered the rest of the way."""
HEIGHT_DROP = 0.4
"""Success mode ``height``: how far below the commanded height of the hand the object must end [m]; published value."""


class Place(PlacePoses):
    """The published place: random poses above the target, filters, plan, lower, open, retreat."""

    _way_out: WayOut | None = None

    def simple_generate_manip_cmds(self) -> None:
        """Choose place and orientation of the object, and write the commands."""
        asked = self.config
        try:
            entries = [self._enter(), *(self._entries or ())[1:]]
        except NoCavityError as error:
            self.fail(FunnelStage.PLAN, "no_cavity", str(error))
            return
        first: Failure | None = None
        for entry in entries:
            if entry is not None and entry is not self._entry:
                self._entry, self.config = entry, asked.model_copy(update=entry.keys)
            self._choose_or_concede()
            if self.manip_list:
                return
            first = first or self.failure
        self.failure = first if first is None else self._unable_to_stand(first)

    def _choose_or_concede(self) -> None:
        """Write the commands of a place, relaxing the request if there is no other."""
        asked = self.config
        for keys, spot in self._wishes():
            self._spot, self.failure = spot, None
            self.config = asked.model_copy(update=keys) if keys else asked
            self._choose()
            if self.manip_list:
                return

    def _wishes(self) -> Iterator[tuple[dict[str, Any], Spot | None]]:
        """Yield changes of the config, and the spot beside other objects, in the order in which they are tried."""
        spots, concessions = self.spots_beside_others(), [*self._concessions()]
        # At another heading than planned, it may still fit.
        anyhow = [replace(spot, turn=None) for spot in spots if spot.turn is not None]
        yield from (({}, spot) for spot in (*spots, *anyhow))
        for spot in (*(anyhow or spots)[:1], None):
            keys: dict[str, Any] = {}
            if spot is None:
                yield keys, None
            for easier in concessions:
                keys = {**keys, **easier}
                yield keys, spot

    def _concessions(self) -> Iterator[dict[str, Any]]:
        """Yield the relaxations to try if no place is possible: position, tilt, height."""
        config = self.config
        if config.aim is not None:
            yield {"aim": None}
        if config.ratio_widest is not None:
            yield {"x_ratio_range": config.ratio_widest, "y_ratio_range": config.ratio_widest}
        level = self.stays_level()
        if config.keep_upright is not None and config.keep_upright_widest is not None and not level:
            for angle in np.linspace(config.keep_upright, config.keep_upright_widest, WIDER + 1)[1:].tolist():
                yield {"keep_upright": angle}
            yield from ({"keep_upright": config.keep_upright_widest} for _ in range(AGAIN))
        for rise in np.cumsum(RAISED).tolist() if self._stands_in() else ():
            yield {"place_z_offset": config.place_z_offset + rise}

    def _choose(self) -> None:
        """Write the commands of the first place whose moves are all possible, or say why there is none."""
        config = self.config
        self._place_z, self._near, self._lost, self._settled = np.inf, np.inf, 0, 0
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        T_base_object = T_base_world @ self.scene.object_pose(config.objects[0])
        T_tool_object = invert_pose(self.controller.tool_pose()) @ T_base_object
        kept = self._kept(T_tool_object)
        places = self._places(T_base_world, T_tool_object, self.controller.commanded_pose[:3, :3], kept)
        if places is None:
            return
        pre, place = places
        if self._entry is not None and in_section(self.scene, config):
            fits = deepest(self.scene, config.objects[0], invert_pose(T_base_world) @ place @ T_tool_object)
            pre, place = pre[fits], place[fits]
        pre, place = self._on_steady_ground(pre, place, T_base_world, T_tool_object)
        if len(place) == 0:
            return
        self.controller.ignored = config.ignore_substring
        for retreat in self._retreats(T_tool_object):
            self._retreat = retreat
            if self._choose_among(pre, place, kept, T_base_world, T_tool_object):
                return

    def _choose_among(
        self, pre: Array, place: Array, kept: Held | None, T_base_world: Array, T_tool_object: Array
    ) -> bool:
        """Write the commands of the first place whose moves are all possible; return whether there is one."""
        for before, at in self._by_depth(pre, place, T_base_world, T_tool_object):
            for parts in self._kept_parts(kept):
                for down in self._depths(at, T_base_world, T_tool_object) if not any(parts) else (0.0,):
                    self.failure, lower = None, at.copy()
                    lower[:, :3, 3] -= down * T_base_world[:3, 2]
                    chosen = choose(self, self._moves(before, lower), test_mode=self.config.test_mode, holds=parts)
                    if chosen is not None:
                        goals = self._over_more(before, lower, chosen, parts, T_base_world, T_tool_object)
                        self._write(*goals, kept, T_tool_object)
                        return True
        return False

    def _over_more(
        self,
        pre: Array,
        place: Array,
        chosen: Chosen,
        parts: list[Held | None],
        T_base_world: Array,
        T_tool_object: Array,
    ) -> tuple[Array, Array, Chosen]:
        """Return the chosen poses (4, 4) before and at the place, or others: it would overhang, or land on a wall.

        Those at which most of it is above the target come first, then those moved to the target's middle.
        """
        config, entry = self.config, self._entry
        T_world_object = invert_pose(T_base_world) @ place @ T_tool_object
        if config.relation == "in" and entry is not None and entry.from_above:
            well = deeper_than(self.scene, config.objects[0], T_world_object, chosen.index, float(entry.box[0, 2]))
            if well is not None:
                again = choose(self, self._moves(pre[well], place[well]), test_mode=config.test_mode, holds=parts)
                if again is not None:
                    return pre[well][again.index], place[well][again.index], again
                self.failure = None
        elsewhere = self._spot is not None or asked_spot(self.scene, config) is not None
        if config.relation not in ON or config.lean or elsewhere:
            return pre[chosen.index], place[chosen.index], chosen

        def most_over(place: Array) -> Overhang:
            T_world_object, part = invert_pose(T_base_world) @ place @ T_tool_object, config.place_part_prim_path
            held, target = config.objects[:2]
            return overhang(self.scene, held, target, T_world_object, part, spare=SPARE_OVER)

        if most_over(place[chosen.index][None]).most_over[0]:
            return pre[chosen.index], place[chosen.index], chosen
        found = most_over(place)
        level = translation(found.to_middle @ T_base_world[:3, :3].T)
        middle = level @ place
        for before, at, well in (
            (pre, place, found.most_over),
            (level @ pre, middle, most_over(middle).most_over),
        ):
            if well.any():
                again = choose(self, self._moves(before[well], at[well]), test_mode=config.test_mode, holds=parts)
                if again is not None:
                    return before[well][again.index], at[well][again.index], again
        self.failure = None
        return pre[chosen.index], place[chosen.index], chosen

    def _kept_parts(self, kept: Held | None) -> Iterator[list[Held | None]]:
        """Yield the pose constraints of each move, as configured first, then as relaxed for a stand-in.

        The retreat leaves the object behind, so it needs no constraint. The path down is straight, which keeps as much
        as possible; weights on the direction of the path itself belong to another hand or another grasp.
        """
        after = HeldParts.given(self.config.post_place_hold_vec_weight)
        count = 2 if self._retreat is None else 3
        yield [kept, after, None][:count]
        if after is not None and self._stands_in():
            yield [kept, None, None][:count]

    def _write(self, pre: Array, goal: Array, chosen: Chosen, kept: Held | None, T_tool_object: Array) -> None:
        """Write the commands of a chosen place (4, 4), with the object lowered as far as possible if required."""
        # Among the walls of a container, the next move of the joints would take it along.
        self._rises = not self.config.until_contact and self._until_contact() and self._retreat is None
        if self._until_contact():
            goal, chosen = lowered(self, goal, chosen, T_tool_object, self._retreat)
        self._place_z = float(goal[2, 3])
        inside = self._entry is not None and self._retreat is not None
        self._way_out = way_out(self, self._entry, chosen.paths[-1]) if inside else None
        if self._way_out is None and self._retreat is not None:
            T_world_object = self.controller.arm.T_world_base @ goal @ T_tool_object
            further = further_retreat(self, chosen.paths[1:], T_world_object, self._retreat)
            if further is not None:
                self._retreat, path = further
                chosen = Chosen(index=chosen.index, paths=(*chosen.paths[:2], path))
        self.manip_list = self._commands(pre, goal, chosen, kept)

    def _by_depth(
        self, pre: Array, place: Array, T_base_world: Array, T_tool_object: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield poses (n, 4, 4) before and at the place; for a stand-in, those at which the object sinks in come first.

        The ratios of a task are those of another container: on a stand-in they may mean its rim, its handle or the
        wall between two cups.
        """
        config = self.config
        if not sinks_into(self.scene, config):
            yield pre, place
            return
        box = world_box(self.scene, config.objects[1], config.place_part_prim_path)[:, :2]
        within = box + np.array([[XY_MARGIN], [-XY_MARGIN]])
        hollow = hollow_from_above(self.scene, config.objects[1])
        T_world_object = invert_pose(T_base_world) @ place @ T_tool_object
        shifts, depths = deeper_places(self.scene, config.objects[0], T_world_object, within, hollow)
        level = np.concatenate([shifts, np.zeros((len(shifts), 1))], axis=1) @ T_base_world[:3, :3].T
        moved_pre, moved = pre.copy(), place.copy()
        moved_pre[:, :3, 3] += level
        moved[:, :3, 3] += level
        fits = depths >= depths.max() - NEARLY
        yield moved_pre[fits], moved[fits]
        if not fits.all():
            yield moved_pre[~fits], moved[~fits]

    def _until_contact(self) -> bool:
        """Return whether the object is lowered: as configured, or if a stand-in differs in size."""
        return self.config.until_contact or (self._stands_in() and self.config.success_mode != "height")

    def _depths(self, place: Array, T_base_world: Array, T_tool_object: Array) -> tuple[float, ...]:
        """Return how far below the given poses (n, 4, 4) to look first: in a container, as deep as the hand fits."""
        if not self._until_contact():
            return (0.0,)
        drop = drop_height(self.scene, self.config.objects[0], invert_pose(T_base_world) @ place[0] @ T_tool_object)
        spare = SPARE + (SWAY if self.config.target_held else 0.0)
        return (*(share * (drop - spare) for share in LOWERED), 0.0) if drop > DEEP else (0.0,)

    def _moves(self, pre: Array, place: Array) -> list[Move]:
        """Return the moves to poses (n, 4, 4) before and at the place, and away from it."""
        moves = [Move(T_base_tool=pre), Move(T_base_tool=place, straight=True)]
        if self._retreat is not None:
            # The retreat is also tested: an arm that cannot get away again has not placed anything. By then the object
            # is released; moved along in the test, it would hit the hole it was put into.
            left = self.controller.obstacles_of(self.config.objects[0])
            away = place @ translation(self._retreat)
            moves.append(Move(T_base_tool=away, straight=True, released=left))
        return moves

    def has_terms(self) -> bool:
        """Return whether the reference of the success mode is known; most modes need no plan."""
        needed = {"height": self._place_z, "beside": self._near}
        return bool(np.isfinite(needed.get(self.config.success_mode, 0.0)))

    def is_done(self) -> bool:
        """Return whether the skill is finished; a released object has one second to come to rest."""
        if not super().is_done():
            return False
        unfulfilled = {check.name for check in self.checks() if not self.fulfilled(check)}
        if self._settled >= self.scene.instance.fps or not unfulfilled or unfulfilled - SETTLES:
            return True
        self._settled += 1
        self.manip_list = [self.stay("open_gripper", **self.controller.partly_open)]
        return False

    def released(self) -> tuple[str, ...]:
        """Return the objects that must not be between the fingers in the end; a hand without a retreat stays."""
        held, target = self.config.objects[:2]
        loose = [o.name for o in self.scene.instance.objects if o.name == target and not o.fixed]
        return () if self._retreat is None else (held,) if self.config.target_held else (held, *loose)

    @property
    def phase(self) -> Phase:
        """Return the phase: on the way with the object until it is lowered."""
        first = self.manip_list[0] if self.manip_list else None
        return "carry" if first and first.function == "close_gripper" and not first.params.get("straight") else ""

    def is_upset(self) -> bool:
        """Return whether the fingers have lost the object before its release."""
        arm, held = self.controller.arm, self.config.objects[0]
        if not self.manip_list or self.manip_list[0].function != "close_gripper":
            return False
        arguments = {"robot": arm.robot_name, "arm": arm.name, "object": held}
        self._lost = 0 if holds(self.scene, Check(name="grasped", arguments=arguments)) else self._lost + 1
        return self._lost >= LOST

    def checks(self) -> tuple[Check, ...]:
        """Return the terms of the success mode, and that robot and object are at rest."""
        config, arm = self.config, self.controller.arm
        side = {"robot": arm.robot_name, "arm": arm.name, "object": config.objects[0]}
        outcome = outcome_checks(config, side, below=self._place_z - HEIGHT_DROP, near=self._near)
        if config.success_mode == "relation":
            outcome = (*relation_checks(self.scene, config), *outcome)
        calm = (self.calm(config.objects[0]),) if config.process_valid else ()
        return (*outcome, *attitude_checks(config), *calm)

    def possible_after(self, T_base_tool: Array, q: Array) -> bool:
        """Return whether a grasp (n, 4, 4) leads to a place, with all relaxations of the skill.

        Args:
            T_base_tool: Grasps of the object in its current pose.
            q: Joints (m,) at the grasp.

        Raises:
            NoCavityError: No cavity is open and wide enough for it.
        """
        asked = self.config
        entries = [self._enter(), *(self._entries or ())[1:]]
        for entry in entries:
            if entry is not None:
                self._entry, self.config = entry, asked.model_copy(update=entry.keys)
            for easier in ({}, *self._concessions()):
                self.config = self.config.model_copy(update=easier)
                if np.isfinite(self.ways_after(T_base_tool, q)).any():
                    return True
        return False

    def _commands(self, pre: Array, place: Array, chosen: Chosen, kept: Held | None) -> list[Command]:
        """Return the published sequence; a tested path goes with both moves."""
        config, name = self.config, self.config.objects[0]
        commands = [self.stay("update_pose_cost_metric")]
        commands.append(self.stay("update_specific", ignore_substring=config.ignore_substring))
        after = config.post_place_hold_vec_weight
        if kept is not None:
            params = {"hold_axis": kept.axis_tool} if isinstance(kept, HeldAxis) else {"hold_vec_weight": kept.weights}
            commands.append(self.stay("update_pose_cost_metric", **params))
        commands.append(command_at(pre, "close_gripper", **chosen.params(0)))
        if after is not None:
            commands.append(command_at(pre, "update_pose_cost_metric", hold_vec_weight=after))
        lower = command_at(place, "close_gripper", straight=True, **chosen.params(1))
        commands += [lower, *[command_at(place, "close_gripper")] * self.frames(config.hesitate_steps)]
        out = self._way_out
        opened = release(self, self._entry, *chosen.paths[1:], None if out is None else out.path)
        commands += [command_at(place, "open_gripper", until_still=True, **opened)] * self.frames(
            config.gripper_change_steps
        )
        commands.append(command_at(place, "detach_obj"))
        commands.append(command_at(place, "update_specific", ignore_substring=()))
        if self._retreat is not None:
            without = self.controller.obstacles_of(name)
            commands.append(command_at(place, "update_specific", ignore_substring=without))
            retreat = place @ translation(self._retreat)
            commands.append(command_at(retreat, "open_gripper", straight=True, **chosen.params(2), **opened))
            if out is not None:
                commands.append(command_at(out.T_base_tool, "open_gripper", straight=True, path=out.path, **opened))
        elif self._rises and chosen.paths[1] is not None:
            commands.append(command_at(place, "update_specific", ignore_substring=self.controller.obstacles_of(name)))
            back = chosen.paths[1][::-1]
            commands.append(command_at(pre, "open_gripper", straight=True, path=back, **opened))
        return commands
