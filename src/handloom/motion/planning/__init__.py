"""Planning: paths that are exactly free, or the reason why there is none."""

from handloom.motion.planning.arm_planner import ArmPlanner
from handloom.motion.planning.free_ik import FreeIkResult
from handloom.motion.planning.hold import Hold
from handloom.motion.planning.plan_result import CandidateCounts, PlanResult, PlanStatus
from handloom.motion.planning.planner_options import PlannerOptions
from handloom.motion.planning.stage import Stage

__all__ = [
    "ArmPlanner",
    "CandidateCounts",
    "FreeIkResult",
    "Hold",
    "PlanResult",
    "PlanStatus",
    "PlannerOptions",
    "Stage",
]
