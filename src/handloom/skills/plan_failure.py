"""Why a plan was not found, in the terms of the funnel."""

from handloom.motion.planning import PlanResult, PlanStatus
from handloom.values import Failure, FunnelStage


def plan_failure(result: PlanResult) -> Failure:
    """Return the typed failure of a plan: ``reach`` when the arm cannot get to any goal, ``plan`` otherwise."""
    stage = FunnelStage.REACH if result.status is PlanStatus.GOAL_UNREACHABLE else FunnelStage.PLAN
    counts = {name: value for name, value in vars(result.counts).items() if value}
    return Failure(stage=stage, reason=result.status.value.replace(" ", "_"), detail=result.reason, counts=counts)
