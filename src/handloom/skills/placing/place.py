"""Put a held object on, in or by another."""

from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.motion.planning import Move
from handloom.scene.measures import world_box
from handloom.scene.named_points import LEAN, SIDES, front_axis, heading, long_axis, named_axis
from handloom.skills.arms.candidates import Chosen, choose
from handloom.skills.arms.held_parts import Held, HeldAxis, HeldParts
from handloom.skills.arms.orientations import Alignment, direction_mask, sample_orientations
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.picking.grasp_poses import Preshape, gripper_of
from handloom.skills.placing.foresight import ways_to_places
from handloom.skills.placing.landing import (
    BESIDE,
    HeldSize,
    asked_alignment,
    attitude_checks,
    drop_height,
    headed,
    keeps_heading,
    leaning,
    outcome_checks,
    place_points,
    relation_checks,
    stood_up,
    unit,
)
from handloom.skills.placing.place_in import Entry, NoCavityError, deepest, entries_into, in_section
from handloom.skills.placing.spots import origins_at, reach_of, way_of_point
from handloom.skills.skill import Phase, Skill, command_at
from handloom.spatial import invert_pose, make_pose, translation
from handloom.values import Check, Command, Failure, FunnelStage

CANDIDATES = 32
"""Poses tested; published: 20."""
WIDER = 3
"""Steps in which ``keep_upright`` is widened."""
AGAIN = 4
"""How many times more poses are drawn at its widest: at the end of an arm's reach few of them do."""
RAISED = (0.04, 0.04)
"""How much higher a stand-in is let go, one after another, where the hand does not fit [m]."""
LOST = 3
"""Frames in a row without hold after which an object counts as lost."""
SETTLES = frozenset({"calm", "carried_by", "in_cavity", "let_go", "lying_still", "released", "touches"})
"""Terms that come true by themselves when what rolls or swings comes to rest."""
ANGLE = float(np.deg2rad(0.5))
"""Tolerance of the hand's approach axis for arms of five joints, where no axis is aligned [rad]."""
HELD_ANGLE = 0.05
"""Tolerance of ``hold_obj_axis`` at the place where no axis is aligned [rad]."""
DOWN = float(np.deg2rad(15.0))
"""How far from straight down a point that goes down may point [rad]."""
LOWERED = (1.0, 0.75, 0.5, 0.25)
"""Fractions of the way down to contact, tried in this order."""
DEEP = 0.03
"""A fall from the given place that is farther than this is into a container: poses for it are sought deeper [m]."""
SPARE = 0.01
"""Room that is left above the bottom while poses are sought [m]; the last of the way is found for the chosen one."""
SWAY = 0.009
"""How far above the bottom of a container in another hand an object is let go [m]: hand and container sway a little."""
HEIGHT_DROP = 0.4
"""Success mode ``height``: how far below the commanded height of the hand the object must end [m]; published value."""


class Place(Skill[PlaceConfig]):
    """The published place: random poses over the target, filters, plan, lower, open, retreat."""

    Config: ClassVar = PlaceConfig
    _entries: list[Entry] | None = None
    """Ways into the cavities of the target; None before they are asked for."""
    _entry: Entry | None = None

    def simple_generate_manip_cmds(self) -> None:
        """Choose where and how the object is put down, and write the commands."""
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
        self.failure = first

    def _choose_or_concede(self) -> None:
        """Write the commands of a place, an easier one where there is no other."""
        self.failure = None
        self._choose()
        for easier in self._concessions():
            if self.manip_list:
                return
            self.failure, self.config = None, self.config.model_copy(update=easier)
            self._choose()

    def _enter(self) -> Entry | None:
        """Find out how the object gets into a cavity, where it is to be in one; the config is changed to that.

        Raises:
            NoCavityError: There is none that is open and wide enough.
        """
        if self._entries is None and self.config.relation == "in":
            self._entries = entries_into(self.scene, self.config)
            self._entry = self._entries[0]
            self.config = self.config.model_copy(update=self._entry.keys)
        return self._entry

    def through_a_front(self) -> bool:
        """Return whether the object goes in through the front of something, not from above."""
        try:
            entry = self._enter()
        except NoCavityError:
            return False
        return entry is not None and not entry.from_above

    def _concessions(self) -> Iterator[dict[str, Any]]:
        """Yield the relaxations to try if no place is possible: position, tilt, height."""
        config = self.config
        if config.aim is not None:
            yield {"aim": None}
        if config.ratio_widest is not None:
            yield {"x_ratio_range": config.ratio_widest, "y_ratio_range": config.ratio_widest}
        if config.keep_upright is not None and config.keep_upright_widest is not None:
            for angle in np.linspace(config.keep_upright, config.keep_upright_widest, WIDER + 1)[1:].tolist():
                yield {"keep_upright": angle}
            yield from ({"keep_upright": config.keep_upright_widest} for _ in range(AGAIN))
        for rise in np.cumsum(RAISED).tolist() if self._stands_in() else ():
            yield {"place_z_offset": config.place_z_offset + rise}

    def _stands_in(self) -> bool:
        """Return whether what is held or what it goes to stands in for an asset: heights belong to sizes of others."""
        return any(self.scene.assets[name].stands_in for name in self.config.objects[:2] if name in self.scene.assets)

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
        self.controller.ignored = config.ignore_substring
        self._retreat = self._retreat_vector()
        # The retreat leaves the object behind, so nothing has to be held any more.
        holds = [kept, HeldParts.given(config.post_place_hold_vec_weight), None][: 2 if self._retreat is None else 3]
        for down in self._depths(place, T_base_world, T_tool_object) if not any(holds) else (0.0,):
            self.failure, lower = None, place.copy()
            lower[:, :3, 3] -= down * T_base_world[:3, 2]
            chosen = choose(self, self._moves(pre, lower), test_mode=config.test_mode, holds=holds)
            if chosen is not None:
                goal = lower[chosen.index]
                # Among the walls of a container, the next move of the joints would take it along.
                self._rises = not config.until_contact and self._until_contact() and self._retreat is None
                if self._until_contact():
                    goal, chosen = self._lowered(goal, chosen, T_base_world, T_tool_object)
                self._place_z = float(goal[2, 3])
                self.manip_list = self._commands(pre[chosen.index], goal, chosen, kept)
                return

    def _until_contact(self) -> bool:
        """Return whether the object is lowered: as the config says, or where a stand-in has another size than meant."""
        return self.config.until_contact or (self._stands_in() and self.config.success_mode != "height")

    def _depths(self, place: Array, T_base_world: Array, T_tool_object: Array) -> tuple[float, ...]:
        """Return how far below the given poses (n, 4, 4) to look first: into a container, as deep as the hand fits."""
        if not self._until_contact():
            return (0.0,)
        drop = drop_height(self.scene, self.config.objects[0], invert_pose(T_base_world) @ place[0] @ T_tool_object)
        spare = SPARE + (SWAY if self.config.target_held else 0.0)
        return (*(share * (drop - spare) for share in LOWERED), 0.0) if drop > DEEP else (0.0,)

    def _moves(self, pre: Array, place: Array) -> list[Move]:
        """Return the moves to poses (n, 4, 4) before and at the place, and away from it."""
        moves = [Move(T_base_tool=pre), Move(T_base_tool=place, straight=True)]
        if self._retreat is not None:
            # The retreat is tested too: an arm that cannot get away again has not placed anything. By then the object
            # is let go; carried along in the test, it would hit the hole it was put into.
            left = self.controller.obstacles_of(self.config.objects[0])
            away = place @ translation(self._retreat)
            moves.append(Move(T_base_tool=away, straight=True, released=left))
        return moves

    def has_terms(self) -> bool:
        """Return whether what the success mode compares with is known; most modes need no plan."""
        needed = {"height": self._place_z, "beside": self._near}
        return bool(np.isfinite(needed.get(self.config.success_mode, 0.0)))

    def is_done(self) -> bool:
        """Return whether the skill is finished; a released object gets one second to come to rest."""
        if not super().is_done():
            return False
        unfulfilled = {check.name for check in self.checks() if not self.fulfilled(check)}
        if self._settled >= self.scene.instance.fps or not unfulfilled or unfulfilled - SETTLES:
            return True
        self._settled += 1
        self.manip_list = [self.stay("open_gripper", **self.controller.partly_open)]
        return False

    @property
    def phase(self) -> Phase:
        """On its way with the object until it is lowered."""
        first = self.manip_list[0] if self.manip_list else None
        return "carry" if first and first.function == "close_gripper" and not first.params.get("straight") else ""

    def is_upset(self) -> bool:
        """Return whether the fingers have lost the object before they were to let it go."""
        arm, held = self.controller.arm, self.config.objects[0]
        if not self.manip_list or self.manip_list[0].function != "close_gripper":
            return False
        arguments = {"robot": arm.robot_name, "arm": arm.name, "object": held}
        self._lost = 0 if holds(self.scene, Check(name="grasped", arguments=arguments)) else self._lost + 1
        return self._lost >= LOST

    def checks(self) -> tuple[Check, ...]:
        """Return the terms of the success mode, and that robot and object are calm."""
        config, arm = self.config, self.controller.arm
        side = {"robot": arm.robot_name, "arm": arm.name, "object": config.objects[0]}
        outcome = outcome_checks(config, side, below=self._place_z - HEIGHT_DROP, near=self._near)
        if config.success_mode == "relation":
            outcome = (*relation_checks(self.scene, config), *outcome)
        calm = (self.calm(config.objects[0]),) if config.process_valid else ()
        return (*outcome, *attitude_checks(config), *calm)

    def _places(
        self, T_base_world: Array, T_tool_object: Array, R_start: Array, kept: Held | None
    ) -> tuple[Array, Array] | None:
        """Return poses of the hand before and at the place, T_base_tool (n, 4, 4) each; None after saying why not.

        Args:
            T_base_world: Pose of the world in the arm's base.
            T_tool_object: How the object is held.
            R_start: Orientation of the hand from where it sets out; little turning comes first.
            kept: What the way to the place must keep of the hand's pose.
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
        target, part = config.objects[1], config.place_part_prim_path
        box = world_box(self.scene, target, part) if self._entry is None else self._entry.box
        R_target = self.scene.object_pose(config.objects[1])[:3, :3]
        reach = float(np.linalg.norm(T_tool_object[:3, 3]))
        own = world_box(self.scene, config.objects[0])
        rise: float | Array = float(self.scene.object_pose(config.objects[0])[2, 3] - own[0, 2])
        R_world_object = T_base_world[:3, :3].T @ R @ T_tool_object[:3, :3]
        turned = config.lean or self._stood_up(T_base_world, T_tool_object, R_start) is not None
        if turned or config.point_down is not None:
            rise = -reach_of(self.scene, config.objects[0], R_world_object)[:, 0, 2]
        held = HeldSize(rise=rise, half_width=float(own[1, 0] - own[0, 0]) / 2.0)
        named = any(key is not None for key in (config.aim, config.at, config.at_point)) or config.relation in SIDES
        spot = origins_at(self.scene, config, R_world_object, self.rng) if named else None
        points = place_points(config, box, R_target, len(R), self.rng, hand_to_object=reach, held=held, spot=spot)
        self._near = float(np.linalg.norm(box[1, :2] - box[0, :2])) / 2.0 + 2.0 * (held.half_width + BESIDE[1])
        pre, place = (self._hand_poses(T_base_world, R, p, T_tool_object) for p in points)
        pre, place = self._attainable(pre, place, T_base_world, T_tool_object)
        if config.facing is not None:
            kept_heading = keeps_heading(place[:, :3, :3], *turns)
            pre, place = pre[kept_heading], place[kept_heading]
        if len(place) == 0:
            detail = f"none of {len(R)} poses over {config.objects[1]} is reachable with the joints of this arm"
            detail += f", facing {config.facing}" if config.facing is not None else ""
            self.fail(FunnelStage.REACH, "goal_unreachable", detail, given=len(R))
            return None
        return pre, place

    def ways_after(self, T_base_tool: Array, q: Array) -> Array:
        """Return how far the joints go from the grasp to the nearest place, per grasp (n,) of the object to be placed.

        Places without a straight path down are excluded; infinite if none is left.
        """
        try:
            self._enter()
        except NoCavityError:  # It may be open by then.
            return np.ones(len(T_base_tool))
        T_base_world = invert_pose(self.controller.arm.T_world_base)
        T_base_object = T_base_world @ self.scene.object_pose(self.config.objects[0])
        places = []
        for grasp in T_base_tool:
            T_tool_object = invert_pose(grasp) @ T_base_object
            places.append(self._places(T_base_world, T_tool_object, grasp[:3, :3], self._kept(T_tool_object)))
        ignore = (*self.controller.obstacles_of(self.config.objects[0]), *self.config.ignore_substring)
        return ways_to_places(self.controller, places, q, ignore)

    def possible_after(self, T_base_tool: Array, q: Array) -> bool:
        """Return whether a grasp (n, 4, 4) leads to a place, with all that the skill would concede.

        Args:
            T_base_tool: Grasps of the object where it is now.
            q: Joints (m,) at the grasp.

        Raises:
            NoCavityError: There is nothing open and wide enough to put it into.
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
        sampled = sample_orientations(self.rng, CANDIDATES, config, alignment, approach_axis=axis, drawn=drawn)
        # The hand need not turn further than it takes to bring the object upright.
        unturned = R_start[None] if alignment is None else alignment.exact(R_start)[None]
        fits = direction_mask(make_pose(unturned, np.zeros((1, 3))), config, axis)
        # Then little turning first: published priority is the way of the joints, which mostly is the same.
        turn = np.einsum("nij,ij->n", sampled, R_start)
        return np.concatenate([unturned[fits], sampled[np.argsort(-turn, kind="stable")]])

    def _stood_up(self, T_base_world: Array, T_tool_object: Array, R_start: Array) -> Array | None:
        """Return the axis of a lying object that is to stand, in the hand (3,); None if it stays as it is."""
        up = np.asarray(self.scene.assets[self.config.objects[0]].up, float)
        return stood_up(self.config, up, T_base_world[:3, 2], T_tool_object[:3, :3], R_start)

    def _kept(self, T_tool_object: Array) -> Held | None:
        """Return what the way to the place must keep of the hand's pose."""
        config = self.config
        if config.hold_obj_axis is None:
            return HeldParts.given(config.pre_place_hold_vec_weight)
        x, y, z = (T_tool_object[:3, :3] @ unit(config.hold_obj_axis)).tolist()
        return HeldAxis((x, y, z))

    def _retreat_vector(self) -> Array | None:
        """Return how the hand draws back, in its own frame (3,) [m]; None when it stays."""
        if self.config.retreat is not None:
            return -self.config.retreat * self.controller.arm.spec.approach
        return None if self.config.post_place_vector is None else np.array(self.config.post_place_vector)

    def _attainable(self, pre: Array, place: Array, T_base_world: Array, T_tool_object: Array) -> tuple[Array, Array]:
        """Replace poses that an arm of five joints cannot take by reachable ones: same object position, other yaw."""
        config = self.config
        point = np.zeros(3) if config.position_constraint == "gripper" else T_tool_object[:3, 3]
        axis = config.align_pick_obj_axis
        axis_tool = self.controller.arm.spec.approach if axis is None else T_tool_object[:3, :3] @ unit(axis)
        # The sampled orientations fill the tolerance already; half of it again leaves an upright object upright.
        angle = np.deg2rad(0.5 * config.align_obj_tol) if axis is not None and config.align_obj_tol else ANGLE
        if config.keep_upright is not None:
            axis_tool = self.controller.commanded_pose[:3, :3].T @ T_base_world[:3, 2]
            angle = np.deg2rad(0.5 * config.keep_upright)
        taken, found = self.controller.attainable(place, point_tool=point, axis_tool=axis_tool, angle=float(angle))
        before = taken.copy()
        before[:, :3, 3] += pre[:, :3, 3] - place[:, :3, 3]
        return before[found], taken[found]

    def _hand_poses(self, T_base_world: Array, R_base_tool: Array, p_world: Array, T_tool_object: Array) -> Array:
        """Return T_base_tool (n, 4, 4) that bring the hand, or the origin of the object, to points (n, 3)."""
        p_base = p_world @ T_base_world[:3, :3].T + T_base_world[:3, 3]
        if self.config.position_constraint == "gripper":
            return make_pose(R_base_tool, p_base)
        T_base_object = make_pose(R_base_tool @ T_tool_object[:3, :3], p_base)
        return T_base_object @ invert_pose(T_tool_object)

    def _lowered(self, place: Array, chosen: Chosen, T_base_world: Array, T_tool_object: Array) -> tuple[Array, Chosen]:
        """Return the place (4, 4) and its paths with the object lowered to what is below, as far as the hand can go."""
        if chosen.paths[0] is None:
            return place, chosen
        drop = drop_height(self.scene, self.config.objects[0], invert_pose(T_base_world) @ place @ T_tool_object)
        if self.config.target_held:
            drop = max(drop - SWAY, 0.0)
        for share in LOWERED:
            goal = place.copy()
            goal[:3, 3] -= share * drop * T_base_world[:3, 2]
            paths = self._landing(chosen.paths[0], goal)
            if paths is not None:
                return goal, Chosen(index=chosen.index, paths=paths)
        return place, chosen

    def _landing(self, before: Array, goal: Array) -> tuple[Array, ...] | None:
        """Return the paths to and away from a place (4, 4) that was lowered; None if the hand does not fit."""
        config, planner, ignore = self.config, self.controller.planner, self.controller.ignored
        down = planner.plan_straight(before[-1], goal, ignore=ignore)
        if not down.ok:
            return None
        if self._retreat is None:
            return before, down.path
        away = goal @ translation(self._retreat)
        left = self.controller.obstacles_of(config.objects[0])
        retreat = planner.plan_straight(down.path[-1], away, ignore=ignore, released=left)
        return (before, down.path, retreat.path) if retreat.ok else None

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
        opened = self._let_go()
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
        elif self._rises and chosen.paths[1] is not None:
            commands.append(command_at(place, "update_specific", ignore_substring=self.controller.obstacles_of(name)))
            back = chosen.paths[1][::-1]
            commands.append(command_at(pre, "open_gripper", straight=True, path=back, **opened))
        return commands

    def _let_go(self) -> dict[str, Array]:
        """Return how far the fingers open: fully, but little at a rim, and no further than needed where that is enough.

        It is with a single jaw, and in a container that another hand holds: opened wide, they would push its wall away.
        """
        gripper = gripper_of(self)
        if self.config.rim or self.controller.by_rim:
            return {"drive": Preshape.for_rims(gripper).drive}
        if gripper.symmetric and not self.config.target_held:
            return {}
        return {"drive": Preshape.to_let_go(gripper, self.controller.arm.gripper_positions).drive}
