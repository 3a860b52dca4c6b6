"""Push an object across a table by contact alone, stroke after stroke, until it is at its goal."""

from itertools import product
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.judging.relations import relation_terms, upright_terms
from handloom.motion.planning import Move
from handloom.scene import Scene
from handloom.scene.assets import outline_of
from handloom.scene.measures import world_box
from handloom.scene.named_points import way_to, work_spot
from handloom.skills.configs.contacts import PushConfig
from handloom.skills.configs.parts import Filters
from handloom.skills.contacts.point_poses import choose_closed, pointing
from handloom.skills.picking.grasp_poses import gripper_of
from handloom.skills.placing.spots import GAP
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose
from handloom.values import Check, FunnelStage

CLEAR = 0.012
"""Distance behind the object at which the fingertips come down [m]."""
SPARES = (0.0, 0.02)
"""Extra distance behind the object if the hand is too wide [m]."""
HIGHEST, LOWEST = 0.03, 0.003
"""Bounds of the height of the fingertips above the ground [m]."""
CLOSE_FRAMES = 12
"""Frames for the fingers to close."""
ENOUGH = 0.012
"""Distance from the goal below which the hand stops pushing [m]."""
ACROSS = 0.5
"""Cosine between push direction and closing line of the fingers above which a hand rotation is tried later."""
TURNED = 0.6
"""Largest deviation from the straight push if the hand does not fit behind the object [rad]."""
_ANY = Filters()


def goal_spot(scene: Scene, config: PushConfig) -> Array:
    """Return the goal of the middle of the object's box, seen from above (2,), in the world [m]."""
    name = config.objects[0]
    own = world_box(scene, name)
    if config.to is not None:
        return work_spot(scene, config.to)
    if config.by is not None:
        right, away = (way_to(scene, side) for side in ("right_of", "behind"))
        return own.mean(axis=0)[:2] + config.by[0] * right + config.by[1] * away
    box, way = world_box(scene, config.objects[1]), way_to(scene, str(config.relation))
    half = 0.5 * ((own[1] - own[0]) + (box[1] - box[0]))[:2]
    k = int(np.argmax(np.abs(way)))
    return box.mean(axis=0)[:2] + way * (half[k] + 0.5 * sum(config.gap or GAP))


def push_terms(scene: Scene, config: PushConfig) -> tuple[Check, ...]:
    """Return the goal term: the object at its spot or on its side of the other, released, upright if it was so."""
    name = config.objects[0]
    if config.relation is not None:
        return relation_terms(scene, name, config.relation, config.objects[1], gap=config.gap)
    spot = goal_spot(scene, config)
    near = {"low": (spot - config.within).tolist(), "high": (spot + config.within).tolist()}
    return (
        Check(name="placed_at", arguments={"object": name, **near}),
        *upright_terms(scene, name, None),
        Check(name="let_go", arguments={"object": name}),
    )


class Push(Skill[PushConfig]):
    """Closed fingers come down behind the object and push it straight; the rest is pushed in further strokes."""

    Config: ClassVar = PushConfig

    @staticmethod
    def deeds(scene: Scene, config: PushConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the object is at the goal of the push."""
        return push_terms(scene, config)

    def simple_generate_manip_cmds(self) -> None:
        """Write the commands of the first stroke."""
        self._terms, self._goal = push_terms(self.scene, self.config), goal_spot(self.scene, self.config)
        self._strokes = 0
        self._stroke()

    def is_done(self) -> bool:
        """Return whether nothing is left to do; an object that is not yet at its goal is pushed again."""
        if not super().is_done():
            return False
        off = float(np.linalg.norm(self._goal - world_box(self.scene, self.config.objects[0]).mean(axis=0)[:2]))
        if off <= ENOUGH or self._strokes >= self.config.strokes or self.failure is not None:
            return True
        self._stroke()
        if not self.manip_list and self.is_success():
            self.failure = None  # It is near enough, and the hand no longer fits behind it.
        return not self.manip_list

    def checks(self) -> tuple[Check, ...]:
        """Return the terms: the object is at the goal of the push."""
        return self._terms

    def _stroke(self) -> None:
        """Write the commands of one stroke from the object's current pose."""
        config, controller = self.config, self.controller
        self._strokes += 1
        box = world_box(self.scene, config.objects[0])
        left = self._goal - box.mean(axis=0)[:2]
        straight = float(np.arctan2(left[1], left[0]))
        itself = controller.obstacles_of(config.objects[0])
        controller.ignored = config.ignore_substring
        for turn, spare in product((0.0, TURNED, -TURNED), SPARES):
            way = np.array([np.cos(straight + turn), np.sin(straight + turn)])
            length = float(left @ way)
            above, behind, end = self._poses(box, way, length, spare)
            if len(behind) == 0:
                continue
            self.failure = None
            moves = [Move(T_base_tool=above), Move(T_base_tool=behind, straight=True)]
            moves += [Move(T_base_tool=end, straight=True, ignore=itself)]
            chosen, coming = choose_closed(self, moves)
            if chosen is not None:
                break
        else:
            if self.failure is None:
                detail = f"the hand cannot point down behind {config.objects[0]}; a larger tilt may help"
                self.fail(FunnelStage.REACH, "filters_leave_nothing", detail)
            return
        above, behind, end = (T[chosen.index] for T in (above, behind, end))
        away = end.copy()
        away[:3, 3] += above[:3, 3] - behind[:3, 3]
        own, without = config.ignore_substring, (*config.ignore_substring, *itself)
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=own),
            command_at(above, coming, **chosen.params(0)),
            *[command_at(above, "close_gripper", until_still=True)] * self.frames(CLOSE_FRAMES),
            command_at(behind, "close_gripper", straight=True, **chosen.params(1)),
            command_at(behind, "update_specific", ignore_substring=without),
            command_at(end, "close_gripper", straight=True, pace=config.pace, **chosen.params(2)),
            command_at(away, "close_gripper", straight=True),
            command_at(away, "update_specific", ignore_substring=own),
        ]

    def _poses(self, box: Array, way: Array, length: float, spare: float) -> tuple[Array, Array, Array]:
        """Return poses of the hand (n, 4, 4) above and at the start behind the object, and at the end of the stroke.

        Args:
            box: Box of the object (2, 3) [m].
            way: Unit vector of the push (2,).
            length: Length of the push [m].
            spare: Extra distance behind the object at which the hand comes down [m]; a fifth of it is added to the
                height.
        """
        config, arm = self.config, self.controller.arm
        middle, half = box.mean(axis=0), 0.5 * (box[1] - box[0])[:2]
        reach = self._support(way)
        z = box[0, 2] + float(np.clip(config.height * (box[1, 2] - box[0, 2]), LOWEST, HIGHEST)) + 0.2 * spare
        gripper = gripper_of(self)
        thick = max(gripper.finger_thickness(0), 0.006)
        start = np.array([*(middle[:2] - way * (min(reach, float(np.hypot(*half))) + thick + CLEAR + spare)), z])
        down = np.array([0.0, 0.0, -1.0])
        behind = pointing(self, _ANY, start, down, float(np.deg2rad(config.tilt)))
        if len(behind) == 0:
            return behind, behind, behind
        # Try the broad side of the closed fingers first: it turns the object less.
        R_world = arm.T_world_base[:3, :3]
        closing = (R_world @ behind[:, :3, :3] @ arm.spec.R_ee_graspnet[:, 1])[:, :2] @ way
        order = np.argsort(np.abs(closing) > ACROSS, kind="stable")
        behind = behind[order]
        R_base = invert_pose(arm.T_world_base)[:3, :3]
        above, end = behind.copy(), behind.copy()
        above[:, :3, 3] += R_base @ np.array([0.0, 0.0, config.lift + float(box[1, 2] - box[0, 2])])
        end[:, :3, 3] += R_base @ np.array([*(way * (length + CLEAR + spare)), 0.0])
        return above, behind, end

    def _support(self, way: Array) -> float:
        """Return how far the object extends from its middle against the push direction (2,) [m]."""
        points = _outline(self.scene, self.config.objects[0])
        return float((-(points - world_box(self.scene, self.config.objects[0]).mean(axis=0)[:2]) @ way).max())


def _outline(scene: Scene, name: str) -> Array:
    """Return points (n, 2) that bound an object at its current pose, seen from above [m]."""
    obj = next(obj for obj in scene.instance.objects if obj.name == name)
    T = scene.object_pose(name)
    return (outline_of(obj) @ T[:3, :3].T + T[:3, 3])[:, :2]
