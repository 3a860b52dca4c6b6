"""Press a named point of an object with closed fingers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import Move
from handloom.objects import ObjectAsset
from handloom.objects.blueprint import ROOT
from handloom.scene import Scene
from handloom.scene.named_points import known_points, named_point, point_of
from handloom.skills.arms.candidates import Chosen
from handloom.skills.configs.contacts import PressConfig
from handloom.skills.contacts.point_poses import choose_closed, pointing
from handloom.skills.skill import Skill, command_at
from handloom.spatial import invert_pose, matrix_from_rotvec
from handloom.values import Check, Command, FunnelStage

PRESSED = 2.0 / 3.0
"""Fraction of the requested travel that counts as pressed."""
BEYOND = 0.003
"""How far beyond the end of a joint's travel the fingertips aim [m]: hands yield to springs."""
DEEPER, REPEATS = 0.003, 2
"""How much deeper each repetition of a press goes that was not deep enough [m], and how many there are."""
BEFORE = 0.004
"""Distance of the fingertips in front of the point when the press begins [m]."""
CLOSE_FRAMES = 12
"""Frames for the fingers to close."""
FACES_IN = 0.3
"""Minimum cosine at which the motion of a joint counts as into the pressed surface."""
ALONG_DOWN, SIDEWAYS = 0.5, 85.0
"""Minimum cosine at which a press counts as downward, and largest tilt of the hand at any other press [deg]."""
SOMETIME = 1e-3
"""Fraction of a skill's frames that amounts to at least one frame."""
BUTTONS = ("button", "top")
"""Names of points that are pressed if a task names none."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Press:
    """The pressed point, and its travel."""

    point: str
    position: Array
    """Position of the point (3,), in the world [m]."""
    end: Array
    """Position of the point when pressed (3,) [m]."""
    way: Array
    """Unit vector (3,) of the initial press direction, in the world."""
    term: Check
    """Term that holds while it is pressed."""


def has_button(asset: ObjectAsset) -> bool:
    """Return whether an object has a point to press on a movable part."""
    return any(name in asset.keypoints and asset.keypoints[name].body != ROOT for name in BUTTONS)


def pressed_point(asset: ObjectAsset, given: str | None) -> str:
    """Return the point to press on an object: the given one, its button or top, or the head of its joint."""
    if given is not None:
        return given
    known = known_points(asset)
    moving = [name for name in BUTTONS if name in known and known[name].body != ROOT]
    return (*moving, *(link.name for link in asset.joints[:1]), "top")[0]


def press_of(scene: Scene, config: PressConfig) -> Press:
    """Return the press of an object in its current state.

    Raises:
        ConfigError: It has no such point.
    """
    name = config.objects[0]
    asset = scene.assets[name]
    point = pressed_point(asset, config.point)
    known, at = point_of(asset, name, point), named_point(scene, name, point)
    T = scene.world.body_pose(f"{name}/{known.body}")
    about = {"object": name, "point": point}
    link = next((link for link in asset.joints if link.name == known.body), None)
    if link is None:
        down = np.array([0.0, 0.0, -1.0])
        term = Check(
            name="pressed_at", arguments={**about, "way": (T[:3, :3].T @ down).tolist(), "force": config.force}
        )
        return Press(point=point, position=at, end=at + config.depth * down, way=down, term=term)
    axis, anchor = T[:3, :3] @ np.asarray(link.axis), T[:3, :3] @ np.asarray(link.anchor) + T[:3, 3]
    way = np.asarray(np.cross(axis, at - anchor) if link.kind == "hinge" else axis, float)
    way = way / np.linalg.norm(way)
    q, (low, high) = scene.world.joint_position(f"{name}/{link.joint}"), link.range
    inward = -float(way @ (T[:3, :3] @ np.asarray(link.normal)))
    up = inward > 0.0 if abs(inward) > FACES_IN else high - q >= q - low
    travel = config.amount * ((high if up else low) - q)
    off = at - anchor
    moved = matrix_from_rotvec(travel * axis) @ off - off if link.kind == "hinge" else travel * axis
    way = way if up else -way
    joint = {"joint": link.joint, "start": float(q), "travel": PRESSED * travel}
    term = Check(name="pressed_at", arguments={**about, "way": (T[:3, :3].T @ way).tolist(), **joint})
    return Press(point=point, position=at, end=at + moved + BEYOND * way, way=way, term=term)


class PressPoint(Skill[PressConfig]):
    """Closed fingers approach the point head-on, press it to its stop or with the given force, and retreat.

    If that was not deep enough, because a hand yields or its shapes end before its box, they press again, deeper.
    """

    Config: ClassVar = PressConfig

    @staticmethod
    def deeds(scene: Scene, config: PressConfig) -> tuple[Check, ...]:
        """Return its effect on the world: the point was pressed, by fingers, at some time."""
        term = press_of(scene, config).term
        return (Check(name=term.name, arguments=term.arguments, seconds=1.0 / scene.instance.fps),)

    def simple_generate_manip_cmds(self) -> None:
        """Choose the approach of the hand, and write the commands."""
        config, controller = self.config, self.controller
        self._press = press = press_of(self.scene, config)
        controller.ignored = config.ignore_substring
        # Fingers that point down also push a lever that moves sideways.
        lean = config.tilt if press.way[2] < -ALONG_DOWN else max(config.tilt, SIDEWAYS)
        touch = pointing(self, config, press.position - BEFORE * press.way, press.way, float(np.deg2rad(lean)))
        if len(touch) == 0:
            detail = f"no way to hold the hand at {config.objects[0]}.{press.point} suits this arm and its approach"
            self.fail(FunnelStage.REACH, "filters_leave_nothing", detail)
            return
        R = invert_pose(controller.arm.T_world_base)[:3, :3]
        before, down = touch.copy(), touch.copy()
        before[:, :3, 3] -= R @ (config.pre_distance * press.way)
        down[:, :3, 3] += R @ (press.end - press.position + BEFORE * press.way)
        itself = controller.obstacles_of(config.objects[0])
        moves = [Move(T_base_tool=before), Move(T_base_tool=touch, straight=True, ignore=itself)]
        moves.append(Move(T_base_tool=down, straight=True, ignore=itself))
        chosen, coming = choose_closed(self, moves)
        if chosen is None:
            return
        self._poses = tuple(T[chosen.index] for T in (before, touch, down))
        self._repeated = 0
        own = config.ignore_substring
        before = self._poses[0]
        self.manip_list = [
            self.stay("update_pose_cost_metric"),
            self.stay("update_specific", ignore_substring=own),
            command_at(before, coming, **chosen.params(0)),
            *[command_at(before, "close_gripper", until_still=True)] * self.frames(CLOSE_FRAMES),
            *self._pressing(self._poses, chosen),
        ]

    def is_done(self) -> bool:
        """Return whether nothing is left to do; a press that was not deep enough is repeated, deeper."""
        if not super().is_done():
            return False
        if self.failure is not None or self._repeated >= REPEATS or self.is_success():
            return True
        self._repeated += 1
        self._press_deeper()
        return not self.manip_list

    def _press_deeper(self) -> None:
        """Write the commands of another press, if there is a way for it."""
        before, touch, down = self._poses
        R = invert_pose(self.controller.arm.T_world_base)[:3, :3]
        down = down.copy()
        down[:3, 3] += R @ (DEEPER * self._repeated * self._press.way)
        itself = self.controller.obstacles_of(self.config.objects[0])
        moves = [Move(T_base_tool=before[None]), Move(T_base_tool=touch[None], straight=True, ignore=itself)]
        moves.append(Move(T_base_tool=down[None], straight=True, ignore=itself))
        chosen, _ = choose_closed(self, moves)
        if chosen is None:
            self.failure = None  # That the press was not deep enough is the failure, and its term says so.
            return
        self.manip_list = self._pressing((before, touch, down), chosen)

    def _pressing(self, poses: tuple[Array, ...], chosen: Chosen) -> list[Command]:
        """Return the commands from in front of the point to the press and back."""
        (before, touch, down), config = poses, self.config
        itself = self.controller.obstacles_of(config.objects[0])
        own, without = config.ignore_substring, (*config.ignore_substring, *itself)
        slow = {"straight": True, "pace": config.pace}
        return [
            command_at(before, "update_specific", ignore_substring=without),
            command_at(touch, "close_gripper", straight=True, **chosen.params(1)),
            command_at(down, "close_gripper", **slow, **chosen.params(2)),
            *[command_at(down, "close_gripper")] * self.frames(config.hold_steps),
            command_at(before, "close_gripper", straight=True),
            command_at(before, "update_specific", ignore_substring=own),
        ]

    def checks(self) -> tuple[Check, ...]:
        """Return the term that the point was pressed at some time."""
        term = self._press.term
        return (Check(name=term.name, arguments=term.arguments, share=SOMETIME),)
