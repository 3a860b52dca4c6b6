"""Choice among candidate poses: the first whose whole chain of moves is possible."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from handloom.arrays import Array
from handloom.motion.planning import ArmPlanner, Move, PlanResult
from handloom.scene import SceneArm
from handloom.skills.arms.held_parts import Held
from handloom.skills.skill import Skill, command_at, plan_failure
from handloom.spatial import translation
from handloom.values import Failure, FunnelStage

BATCH = 16
"""Candidates per batch if only their end poses are tested: the first ones are mostly good."""
RETREAT = 0.1
"""How far the hand retreats from a placed object [m]; published value."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Chosen:
    """The candidate that won."""

    index: int
    paths: tuple[Array | None, ...]
    """Joint path of each move (m, n); None if only its end was tested, so that the controller plans it."""

    def params(self, move: int) -> dict[str, Array]:
        """Return the command parameters that make the controller play the tested path of a move."""
        path = self.paths[move]
        return {} if path is None else {"path": path}


def choose(
    skill: Skill, moves: Sequence[Move], *, test_mode: str = "forward", holds: Sequence[Held | None] = ()
) -> Chosen | None:
    """Return the first candidate that passes, or None after recording the reason in the skill.

    Each move is tested from the end of the previous one: testing all of them from the current joints, as published,
    accepts grasps that the arm cannot reach.

    Args:
        skill: The calling skill.
        moves: Poses (n, 4, 4) of each move, the same candidates in the same order.
        test_mode: ``forward`` plans the whole chain, ``ik`` only looks for free configurations at the poses.
        holds: Parts of the pose that each move must keep; empty for no constraint.
    """
    if any(holds):
        chosen, failure = _by_held_plan(skill, moves, holds)
    else:
        chosen, failure = _by_ik(skill, moves) if test_mode == "ik" else _by_plan(skill, moves)
    if failure is not None:
        skill.manip_list = []
        skill.failure = replace(failure, skill=skill.config.name, detail=f"{failure.detail}{_where(skill, failure)}")
    return chosen


def put_down(skill: Skill, middle: Array, goal: Array, *, open_frames: int) -> None:
    """Write the commands that move the held object to the first possible goal, release it and draw back.

    Args:
        skill: The calling skill; its failure is set if no candidate is possible.
        middle: Intermediate poses T_base_tool (n, 4, 4).
        goal: Poses T_base_tool (n, 4, 4) where the hand opens.
        open_frames: Frames for the fingers to open.
    """
    own, itself = skill.config.ignore_substring, skill.controller.obstacles_of(skill.config.objects[0])
    skill.controller.ignored = own
    away = goal @ translation(-RETREAT * skill.controller.arm.spec.approach)
    moves = [Move(T_base_tool=middle), Move(T_base_tool=goal), Move(T_base_tool=away, straight=True, ignore=itself)]
    chosen = choose(skill, moves)
    if chosen is None:
        return
    middle, goal, away = (T[chosen.index] for T in (middle, goal, away))
    skill.manip_list = [
        skill.stay("update_specific", ignore_substring=own),
        command_at(middle, "close_gripper", **chosen.params(0)),
        command_at(goal, "close_gripper", **chosen.params(1)),
        *[command_at(goal, "open_gripper")] * open_frames,
        command_at(goal, "detach_obj"),
        command_at(goal, "update_specific", ignore_substring=(*own, *itself)),
        command_at(away, "open_gripper", straight=True, **chosen.params(2)),
        command_at(away, "update_specific", ignore_substring=own),
    ]


def _where(skill: Skill, failure: Failure) -> str:
    """Return text about the position of the unreachable object."""
    if failure.reason not in {"goal_unreachable", "line_unreachable"} or not skill.config.objects:
        return ""
    name, arm = skill.config.objects[-1], skill.controller.arm
    x, y, z = (skill.scene.object_pose(name)[:3, 3] - arm.T_world_base[:3, 3]).tolist()
    return f"; {name} is {seen_from_base(arm, x, y, z)}"


def seen_from_base(arm: SceneArm, x: float, y: float, z: float) -> str:
    """Return a place relative to the base of an arm [m], in words."""
    height = f"{abs(z):.2f} m {'above' if z >= 0.0 else 'below'} it"
    return f"{np.hypot(x, y):.2f} m away from the base of {arm.robot_name}/{arm.name} and {height}"


def colliding(planner: ArmPlanner, q: Array) -> str:
    """Return text about the pair that collides most often, with its largest depth, at configurations (n, dof).

    The obstacles are those of the planner's last request.
    """
    deepest = [touches[0] for row in q if (touches := planner.scene.exact.touches(row))]
    pairs = Counter((touch.part, touch.other) for touch in deepest)
    if not pairs:
        return ""
    (pair, count), *_ = pairs.most_common(1)
    worst = min(touch for touch in deepest if (touch.part, touch.other) == pair)
    return f"in {count} of {len(q)} {worst} or less"


def _by_plan(skill: Skill, moves: Sequence[Move]) -> tuple[Chosen | None, Failure | None]:
    result = skill.controller.plan(moves)
    if not result.ok:
        return None, plan_failure(result)
    return Chosen(index=result.goal, paths=result.segments), None


def _by_held_plan(
    skill: Skill, moves: Sequence[Move], holds: Sequence[Held | None]
) -> tuple[Chosen | None, Failure | None]:
    """Plan the candidates one after another, each move from the end of the previous one."""
    last: PlanResult | None = None
    for index in range(len(np.asarray(moves[0].T_base_tool))):
        q, paths = skill.controller.target, []
        for move, parts in zip(moves, holds, strict=True):
            last = _one_move(skill, q, move, index, parts)
            if not last.ok:
                break
            paths.append(last.path)
            q = last.path[-1]
        else:
            return Chosen(index=index, paths=tuple(paths)), None
    if last is None:
        return None, Failure(stage=FunnelStage.PLAN, reason="invalid_request", detail="there is no candidate")
    counts = {"given": len(np.asarray(moves[0].T_base_tool))}
    return None, replace(plan_failure(last), counts=counts)


def _one_move(skill: Skill, q: Array, move: Move, index: int, parts: Held | None) -> PlanResult:
    """Plan one move of one candidate from joints (n,)."""
    controller, T = skill.controller, np.asarray(move.T_base_tool, float)[index]
    ignore = (*controller.ignored, *move.ignore)
    if parts is not None:
        return controller.plan_held(q, T, parts, ignore=move.ignore)
    controller.refresh()
    if move.straight:
        return controller.planner.plan_straight(q, T, ignore=ignore, released=move.released)
    return controller.planner.plan_chain(q, [Move(T_base_tool=T)], ignore=ignore)


def _by_ik(skill: Skill, moves: Sequence[Move]) -> tuple[Chosen | None, Failure | None]:
    count, reachable = len(np.asarray(moves[0].T_base_tool)), 0
    for start in range(0, count, BATCH):
        some = slice(start, start + BATCH)
        batch = [replace(move, T_base_tool=np.asarray(move.T_base_tool)[some]) for move in moves]
        tests = [skill.controller.reachable(move) for move in batch]
        free = np.all([test.free for test in tests], axis=0)
        if free.any():
            return Chosen(index=start + int(np.argmax(free)), paths=(None,) * len(moves)), None
        reachable += int(np.all([test.reachable for test in tests], axis=0).sum())
    counts = {"given": count, "reachable": reachable}
    detail = f"of {count} candidates {reachable} can be reached, none without collision"
    stage, reason = (FunnelStage.PLAN, "goal_in_collision") if reachable else (FunnelStage.REACH, "goal_unreachable")
    return None, Failure(stage=stage, reason=reason, detail=detail, counts=counts)
