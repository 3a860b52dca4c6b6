"""Take an object with both hands, carry it level and put it down."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.judging.checks import holds
from handloom.motion.planning import Hold, Move
from handloom.scene.measures import world_box
from handloom.scene.named_points import named_point
from handloom.skills.arms.arm_controller import INSTANT, ArmController
from handloom.skills.arms.arm_pair import ArmPair
from handloom.skills.configs.places import CarryConfig
from handloom.skills.picking.grasp_poses import (
    Preshape,
    Source,
    annotated_grasps,
    clear_grasps,
    filtered,
    gripper_of,
)
from handloom.skills.placing.descent import drop_height
from handloom.skills.skill import Skill, between, command_at, plan_failure
from handloom.spatial import invert_pose, translation
from handloom.values import Check, Command, Failure, FunnelStage

TESTED = 48
"""Maximum number of pairs of grasps that are tested."""
LOWERING = 0.6
"""Pace at which the object is put down, as a fraction of the carrying pace."""
HELD_SHARE = 0.3
"""Fraction of the skill's frames in which each hand must hold the object, and in which it must be lifted."""
THICKNESS = 0.002
"""Objects that stand on another object are at least this much higher than it [m]."""
RAISED = 0.03
"""Lift above which an object counts as carried and not pushed [m]."""
AT_POINT = 0.05
"""Largest distance of a grasp from its named point [m]."""
KEPT_TILT = 0.4
"""Fraction of the allowed tilt that a path around obstacles may use; the hands and their grasp also yield a little."""


class Carry(Skill[CarryConfig]):
    """Both hands take opposite sides of an object, lift it, carry it level to a target and put it down.

    The grasps are chosen together with the path to the target. The pose of the object in the hands is measured once
    they have closed, and from there the path is planned as one chain of both arms: straight up, straight over and
    straight down, or around obstacles.
    """

    Config: ClassVar = CarryConfig
    loosened_by: ClassVar = {"points_up": "a larger tilt allows more"}
    _source: Source = "rim"

    @staticmethod
    def throughout(config: CarryConfig) -> tuple[Check, ...]:
        """Return the term that must hold in every frame of the skill: the object is level."""
        up = {"object": config.objects[0], "axis": [0.0, 0.0, 1.0], "angle": float(np.deg2rad(config.tilt))}
        return (Check(name="points_up", arguments=up, share=1.0),)

    def simple_generate_manip_cmds(self) -> None:
        """Choose a grasp for each hand, and write the commands until the hands have closed."""
        first: Failure | None = None
        for source in self._sources():
            self.failure, self._source = None, source
            self._begin()
            if self.manip_list:
                return
            first = first or self.failure
        self.failure = first

    def _sources(self) -> tuple[Source, ...]:
        """Return the grasps that are tried in turn: at named points those of anything, or else of the rim."""
        # Wide hands on the rim of a narrow pot would collide; its lugs are further apart.
        return ("any", "rim") if self.config.points else ("rim",)

    def _begin(self) -> None:
        """Write the commands until the hands have closed, with the current source of grasps."""
        config = self.config
        self._held = False
        self._T_from = self.scene.object_pose(config.objects[0])
        self._loads = self._objects_on(config.objects[0])
        self._pair = ArmPair(self.scene, *self.controllers)
        self._pair.ignore(config.ignore_substring)
        self._T_goal = self._place()
        hands = self._grasps()
        if hands is None:
            return
        moves = self._moves(hands)
        plan = self._pair.plan(moves)
        if not plan.ok:
            # If the straight path is blocked, another one may be free; it is planned once the object is held.
            plan = self._pair.plan(moves[:3])
        self._preshaped(on=False)
        if not plan.ok:
            self.failure = plan_failure(plan)
            return
        pre, grasp = (np.asarray(move.T_base_tool)[plan.goal] for move in moves[:2])
        drive = self._preshape.drive
        self.manip_list = [
            self._command(pre, "open_gripper", plan.segments[0], drive=drive),
            self._command(grasp, "open_gripper", plan.segments[1], straight=True, drive=drive),
            *[self._command(grasp, "close_gripper", until_still=True)] * self.frames(config.gripper_change_steps),
        ]

    def has_terms(self) -> bool:
        """Return True: the terms need no plan."""
        return True

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: it was held by both hands, lifted and level all the way, and lies on the target, released.

        Objects that stood on it still do.
        """
        config, (name, target) = self.config, self.config.objects[:2]
        arms = [{"robot": c.arm.robot_name, "arm": c.arm.name, "object": name} for c in self.controllers]
        lifted = {"object": name, "from_z": float(self._T_from[2, 3]), "by": RAISED}
        return (
            *self.throughout(config),
            *(Check(name="grasped", arguments=arm, share=HELD_SHARE) for arm in arms),
            Check(name="lifted", arguments=lifted, share=HELD_SHARE),
            Check(name="over_box", arguments={"object": name, "target": target, "margin": 0.0}),
            Check(name="touches", arguments={"object": name, "target": target}),
            *(Check(name="released", arguments=arm) for arm in arms),
            *(
                Check(name="over_box", arguments={"object": load, "target": name, "margin": 0.0})
                for load in self._loads
            ),
            *(Check(name="touches", arguments={"object": load, "target": name}) for load in self._loads),
            *((Check(name="calm", arguments={"object": name}),) if config.process_valid else ()),
        )

    def is_done(self) -> bool:
        """Drop the first command if it is done; plan the path to the target once the hands have closed."""
        done = super().is_done()
        if done and not self._held:
            self._held = True
            self._carry()
            return not self.manip_list
        return done

    def is_subtask_done(self, t_eps: float = 1e-3, o_eps: float = 5e-3) -> bool:
        """Return whether both arms have reached the first command, or their paths ended long enough ago."""
        command = self.manip_list[0]
        if command.function in INSTANT:
            return True
        parts = zip(self.controllers, (command, command.params["partner"]), strict=True)
        return all(c.reached(part, t_eps, o_eps) or c.num_last_cmd > self.patience for c, part in parts)

    def _waited_enough(self, command: Command) -> bool:
        return bool(command.params.get("until_still")) and all(c.gripper_still for c in self.controllers)

    def _objects_on(self, name: str) -> tuple[str, ...]:
        """Return the objects that stand on or in another one: they are carried along."""
        loose = [obj.name for obj in self.scene.instance.objects if not obj.fixed and obj.solid and obj.name != name]
        bottom = world_box(self.scene, name)[0, 2]
        return tuple(
            other
            for other in loose
            if world_box(self.scene, other)[0, 2] > bottom + THICKNESS
            and holds(self.scene, Check(name="touches", arguments={"object": other, "target": name}))
        )

    def _carried(self) -> tuple[str, ...]:
        """Return the planner's names of the carried solids: the object and everything that stands on it."""
        names = (self.config.objects[0], *self._loads)
        return tuple(solid for name in names for solid in self.controller.obstacles_of(name))

    def _place(self) -> Array:
        """Return T_world_object (4, 4) at the target: in its current orientation, above the top of the target."""
        config = self.config
        own, box = (world_box(self.scene, name) for name in config.objects[:2])
        ranges = np.array([config.x_ratio_range, config.y_ratio_range], float)
        T = self._T_from.copy()
        middle = box[0, :2] + between(self.rng, ranges[:, 0], ranges[:, 1], (2,)) * (box[1, :2] - box[0, :2])
        T[:2, 3] += middle - own.mean(axis=0)[:2]
        T[2, 3] += box[1, 2] - own[0, 2]
        return T

    def _moved(self, T_base_tool: Array, T_world_object: Array, T_world_now: Array) -> Array:
        """Return tool poses (..., 2, 4, 4) moved along with the object from its current pose to another."""
        T_world_base = np.stack([c.arm.T_world_base for c in self.controllers])
        return _taken_along(T_base_tool, T_world_base, T_world_object @ invert_pose(T_world_now))

    def _raised(self, T_world_object: Array) -> Array:
        return translation([0.0, 0.0, self.config.lift]) @ T_world_object

    def _moves(self, hands: Array) -> list[Move]:
        """Return the moves for candidate grasps (n, 2, 4, 4): before, at, up, over, down, away."""
        config, now, goal = self.config, self._T_from, self._T_goal
        itself, carried_along = self.controller.obstacles_of(config.objects[0]), self._carried()
        back, away = self._back(config.pre_grasp_offset), self._back(config.retreat)
        carried = [self._moved(hands, T, now) for T in (self._raised(now), self._raised(goal), goal)]
        return [
            Move(T_base_tool=hands @ back),
            Move(T_base_tool=hands, straight=True, ignore=itself),
            *(Move(T_base_tool=T, straight=True, together=True, ignore=carried_along) for T in carried),
            Move(T_base_tool=carried[-1] @ away, straight=True, ignore=carried_along),
        ]

    def _back(self, distance: float) -> Array:
        """Return how each hand draws back by a distance [m], in its own frame (2, 4, 4)."""
        return np.stack([translation(-distance * c.arm.spec.approach) for c in self.controllers])

    def _grasps(self) -> Array | None:
        """Return pairs of grasps T_base_tool (n, 2, 4, 4) of opposite sides, best first; None after :meth:`fail`.

        The middle between the hands is near the middle of the object, so that both carry the same share, and the hands
        are far apart, each on the side of its own arm.
        """
        arms = self.controllers
        self._preshape = Preshape.for_rims(gripper_of(self))
        self._preshaped(on=True)
        both = [self._grasps_of(controller) for controller in arms]
        if any(len(grasps) == 0 for grasps in both):
            return None
        bases = [controller.arm.T_world_base for controller in arms]
        p, r = ((T_world_base @ grasps)[:, :3, 3] for T_world_base, grasps in zip(bases, both, strict=True))
        middle = world_box(self.scene, self.config.objects[0]).mean(axis=0)[:2]
        apart = p[:, None, :2] - r[None, :, :2]
        off = np.linalg.norm(0.5 * (p[:, None, :2] + r[None, :, :2]) - middle, axis=2)
        width = np.linalg.norm(apart, axis=2)
        roots = self.scene.robot(self.controller.arm.robot_name).roots
        first, second = (roots[controller.arm.name][:2] for controller in arms)
        own_side = apart @ (first - second) > 0.0
        cost = np.where(own_side, off - 0.5 * width, np.inf)
        order = np.argsort(cost, axis=None, kind="stable")[:TESTED]
        i, j = np.unravel_index(order, cost.shape)
        kept = np.isfinite(cost[i, j])
        if not kept.any():
            detail = f"no two grasps of {self.config.objects[0]} keep each hand on the side of its own arm"
            self.fail(FunnelStage.GRASP, "no_pair_of_grasps", detail)
            return None
        return np.stack([both[0][i[kept]], both[1][j[kept]]], axis=1)

    def _grasps_of(self, controller: ArmController) -> Array:
        """Return grasps T_base_tool (n, 4, 4) of one arm that pass the filters and touch nothing around the object."""
        one = Carry(self.scene, controller, self.config, self.rng)
        name, config = self.config.objects[0], self.config
        if self._source != "rim":
            self._preshape = Preshape.at(gripper := gripper_of(self), len(gripper.position) - 1)
            self._preshaped(on=True)
        T, score, *_ = annotated_grasps(one, name, source=self._source)
        if len(T):
            passing = filtered(T, config, controller.arm, None, 0.0)
            passing = passing & self._at_points(controller, T) if config.points else passing
            kept = clear_grasps(one, name, T, passing, config.pre_grasp_offset, self._preshape.level)
            T = self._reachable(controller, T[kept[np.argsort(score[kept], kind="stable")]])
            if not len(T) and (len(kept) or config.points):
                where = f" at {' or '.join(config.points)}" if config.points else ""
                detail = (
                    f"the {controller.arm.name} hand reaches none of {len(kept)} grasps of {name}{where} along the "
                    "whole path"
                )
                self.fail(FunnelStage.REACH, "goal_unreachable", detail, given=len(kept))
        self.failure = self.failure or one.failure
        return T

    def _at_points(self, controller: ArmController, T_base_tool: Array) -> NDArray[np.bool_]:
        """Return which grasps (n, 4, 4) are at one of the named points."""
        tip = controller.arm.spec.T_tool_tcp[:3, 3]
        at = (controller.arm.T_world_base @ T_base_tool) @ np.array([*tip, 1.0])
        points = np.stack([named_point(self.scene, self.config.objects[0], name) for name in self.config.points])
        return np.linalg.norm(at[:, None, :3] - points[None], axis=2).min(axis=1) < AT_POINT

    def _reachable(self, controller: ArmController, T_base_tool: Array) -> Array:
        """Return the grasps (n, 4, 4) that an arm can reach at the pick and along the whole carrying path."""
        base, now, goal = controller.arm.T_world_base, self._T_from, self._T_goal
        back = translation(-self.config.pre_grasp_offset * controller.arm.spec.approach)
        for T in (goal, self._raised(goal), self._raised(now), now):
            along = _taken_along(T_base_tool, base, T @ invert_pose(now))
            T_base_tool = T_base_tool[controller.reachable(Move(T_base_tool=along, ignore=self._carried())).reachable]
            if len(T_base_tool) == 0:
                return T_base_tool
        return T_base_tool[controller.reachable(Move(T_base_tool=T_base_tool @ back)).free]

    def _preshaped(self, *, on: bool) -> None:
        """Let plans assume the fingers of both hands opened as for a rim, or at their current positions."""
        for controller in self.controllers:
            controller.fingers = self._preshape.joints if on else {}

    def _taken(self, name: str) -> tuple[ArmPair, Array] | None:
        """Return the arms, which now carry the object, and T_world_object; None if a hand does not hold it."""
        for controller in self.controllers:
            arm = {"robot": controller.arm.robot_name, "arm": controller.arm.name, "object": name}
            if not holds(self.scene, Check(name="grasped", arguments=arm)):
                detail = f"the {controller.arm.name} hand closed and does not hold {name}"
                self.fail(FunnelStage.EXECUTE, "not_grasped", detail)
                return None
        self._pair.take(self._carried())
        return self._pair, self.scene.object_pose(name)

    def _carry(self) -> None:
        """Plan from the current grasps of both hands, and write the commands, or record why there is no path."""
        config, name = self.config, self.config.objects[0]
        if (taken := self._taken(name)) is None:
            return
        pair, now = taken
        start = pair.tools(pair.target)
        tools = [self._moved(start, T, now) for T in self._way(now)]
        back = self._back(config.retreat)
        x, y, z = (self.controller.arm.T_world_base @ start[0])[2, :3].tolist()  # Up, in the first tool.
        hold = Hold(tool_axis=(x, y, z), tolerance=float(np.deg2rad(KEPT_TILT * config.tilt)))
        plans = [pair.plan_carry(pair.target, tools[0])]
        for plan in (
            lambda q: pair.plan_carry(q, tools[1], hold),
            lambda q: pair.plan_carry(q, tools[2], meets=self.controller.obstacles_of(config.objects[1])),
            lambda q: pair.plan_away(q, tools[2] @ back),
        ):
            if not plans[-1].ok:
                break
            plans.append(plan(plans[-1].path[-1]))
        if not plans[-1].ok:
            self.manip_list, self.failure = [], plan_failure(plans[-1])
            return
        self.manip_list = self._put_down(tools, tools[2] @ back, [plan.path for plan in plans])

    def _way(self, now: Array) -> tuple[Array, Array, Array]:
        """Return T_world_object (4, 4) above its current place, above the target, and on it."""
        over = self._raised(self._T_goal)
        over[:3, :3] = now[:3, :3]
        on = over.copy()
        on[2, 3] -= drop_height(self.scene, self.config.objects[0], over)
        return self._raised(now), over, on

    def _put_down(self, tools: list[Array], away: Array, paths: list[Array]) -> list[Command]:
        """Return the commands after the grasp: up and over in one motion, down, release, retreat."""
        config, drive = self.config, self._preshape.drive
        lift, across, down, back = paths
        carried = np.concatenate([lift, across[1:]])
        return [
            self._command(tools[1], "close_gripper", carried, pace=config.pace, together=True),
            self._command(tools[2], "close_gripper", down, pace=LOWERING * config.pace, together=True),
            *[self._command(tools[2], "open_gripper", until_still=True, drive=drive)]
            * self.frames(config.gripper_change_steps),
            self._command(away, "open_gripper", back, straight=True, drive=drive),
        ]

    def _command(
        self, T_base_tool: Array, function: str, path: Array | None = None, *, pace: float = 1.0, **params: Any
    ) -> Command:
        """Return a command for both arms at tool poses (2, 4, 4), along a path (m, n) of both."""
        frames = ({}, {}) if path is None else [{"frames": f} for f in self._pair.frames(path, pace=pace)]
        partner = command_at(T_base_tool[1], function, **params, **frames[1])
        return command_at(T_base_tool[0], function, **params, **frames[0], partner=partner)


def _taken_along(T_base_tool: Array, T_world_base: Array, T_world_motion: Array) -> Array:
    """Return tool poses (..., 4, 4) after a motion (4, 4) of the world."""
    return invert_pose(T_world_base) @ T_world_motion @ T_world_base @ T_base_tool
