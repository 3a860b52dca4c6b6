"""Lift an object with both hands and hold it."""

from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.point_terms import held_by_both
from handloom.judging.relations import upright_terms
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.configs.contacts import LiftConfig
from handloom.skills.configs.places import CarryConfig
from handloom.skills.held_objects.carry import Carry
from handloom.skills.picking.grasp_poses import (
    Preshape,
    Source,
    annotated_grasps,
    clear_grasps,
    filtered,
    gripper_of,
)
from handloom.skills.skill import plan_failure
from handloom.values import Check, FunnelStage

LIFTED = 0.7
"""Fraction of the requested height that counts as lifted."""
AT_SUPPORT = 0.05
"""Largest height of an object above its support [m]."""


def lift_terms(scene: Scene, config: LiftConfig) -> tuple[Check, ...]:
    """Return the goal terms: in both hands, lifted, and level."""
    name = config.objects[0]
    from_z = float(scene.object_pose(name)[2, 3])
    return (
        Check(name=held_by_both.__name__, arguments={"object": name}),
        Check(name="lifted", arguments={"object": name, "from_z": from_z, "by": LIFTED * config.lift}),
        *upright_terms(scene, name, config.tilt),
    )


class LiftTogether(Carry):
    """Both hands take opposite sides of an object, or its named points, lift it level and hold it there."""

    Config: ClassVar = LiftConfig
    config: LiftConfig

    @staticmethod
    def deeds(scene: Scene, config: LiftConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the object is in both hands, lifted and level."""
        return lift_terms(scene, config)

    @staticmethod
    def throughout(config: CarryConfig) -> tuple[Check, ...]:
        """Return nothing: it must be level at the end."""
        return ()

    def simple_generate_manip_cmds(self) -> None:
        """Choose a grasp for each hand, and write the commands until the hands have closed."""
        self._terms = lift_terms(self.scene, self.config)
        super().simple_generate_manip_cmds()

    def _sources(self) -> tuple[Source, ...]:
        return ("any", "rim") if self.config.points else ("rim", "any")

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: in both hands, lifted and level, at the end."""
        return self._terms

    def _place(self) -> Array:
        return self._T_from

    def _moves(self, hands: Array) -> list[Move]:
        return super()._moves(hands)[:3]

    def _grasps_of(self, controller: ArmController) -> Array:
        """Return grasps of one arm (n, 4, 4): of the rim, or of anything; at named points."""
        config, name = self.config, self.config.objects[0]
        one = Carry(self.scene, controller, config, self.rng)
        self._preshape = Preshape.for_rims(gripper_of(self)) if self._source == "rim" else self._wide()
        self._preshaped(on=True)
        T, score, *_ = annotated_grasps(one, name, source=self._source)
        if len(T):
            passing = filtered(T, config, controller.arm, None, 0.0)
            passing = passing & self._at_points(controller, T) if config.points else passing
            kept = clear_grasps(one, name, T, passing, config.pre_grasp_offset, self._preshape.level)
            T = self._reachable(controller, T[kept[np.argsort(score[kept], kind="stable")]])
        if len(T) == 0 and one.failure is None:
            where = f" at {' or '.join(config.points)}" if config.points else ""
            detail = f"the {controller.arm.name} hand cannot reach any grasp of {name}{where} before and after the lift"
            self.fail(FunnelStage.REACH, "goal_unreachable", detail)
        self.failure = self.failure or one.failure
        return T

    def _wide(self) -> Preshape:
        gripper = gripper_of(self)
        return Preshape.at(gripper, len(gripper.position) - 1)

    def _carry(self) -> None:
        """Plan straight up from the current grasps of both hands, and write the commands."""
        config, name = self.config, self.config.objects[0]
        if (taken := self._taken(name)) is None:
            return
        pair, now = taken
        up = self._moved(pair.tools(pair.target), self._raised(now), now)
        plan = pair.plan_carry(pair.target, up, meets=self._supports())
        if not plan.ok:
            self.manip_list, self.failure = [], plan_failure(plan)
            return
        self.manip_list = [
            self._command(up, "close_gripper", plan.path, pace=config.pace, together=True),
            *[self._command(up, "close_gripper")] * self.frames(config.hold_steps),
        ]

    def _supports(self) -> tuple[str, ...]:
        """Return the planner's names of the object's supports, which it touches as it is lifted."""
        low = float(world_box(self.scene, self.config.objects[0])[0, 2])
        fixed = [obj.name for obj in self.scene.instance.objects if obj.fixed and obj.solid]
        below = [name for name in fixed if abs(float(world_box(self.scene, name)[1, 2]) - low) < AT_SUPPORT]
        return tuple(solid for name in below for solid in self.controller.obstacles_of(name))
