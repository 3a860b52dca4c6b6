"""Planning: exactly verified collision-free paths, or the reason why there is none."""

from handloom.motion.planning.arm_planner import ArmPlanner
from handloom.motion.planning.batch.batch_planner import BatchCounts, BatchPlanner, PlanProblem
from handloom.motion.planning.free_ik import FreeIkResult
from handloom.motion.planning.moves import Hold, Move, PointAndAxis
from handloom.motion.planning.plan_result import CandidateCounts, PlanResult, PlanStatus
from handloom.motion.planning.planner_options import PlannerOptions

__all__ = [
    "ArmPlanner",
    "BatchCounts",
    "BatchPlanner",
    "CandidateCounts",
    "FreeIkResult",
    "Hold",
    "Move",
    "PlanProblem",
    "PlanResult",
    "PlanStatus",
    "PlannerOptions",
    "PointAndAxis",
]
