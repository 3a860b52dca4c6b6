"""Judge a straight move: did the arm follow, and is the way clear?"""

from handloom.arrays import Array
from handloom.motion.planning.cartesian_line import LineResult
from handloom.motion.planning.plan_context import PlanContext
from handloom.motion.planning.plan_result import PlanResult, PlanStatus


def judge_line(context: PlanContext, line: LineResult) -> Array | PlanResult:
    """Return the joint path of a straight move (m, n), or the failure.

    Lines are checked exactly and without padding. Contacts at their start are tolerated as deep as they are, up to
    the planner's contact tolerance.
    """
    options = context.options
    if not line.arrived:
        status = PlanStatus.LINE_JUMPS if line.jumped else PlanStatus.LINE_UNREACHABLE
        why = "the arm would have to jump to another configuration" if line.jumped else "no configuration reaches on"
        return context.fail(
            status, f"the straight move ends after {100 * line.fraction:.0f} %: {why}", fraction=line.fraction
        )
    at_start = context.scene.exact.touches(line.path[0])
    allowed = {frozenset((t.part, t.other)): t.depth + 1e-4 for t in at_start if t.depth <= options.contact_tolerance}
    hit = context.scene.first_collision(line.path, step=options.exact_step, allowed=allowed)
    if hit is None:
        return line.path
    fraction = (hit.segment + hit.fraction) / max(1, len(line.path) - 1)
    return context.fail(
        PlanStatus.LINE_IN_COLLISION,
        f"the straight move collides after {100 * fraction:.0f} %: {hit.touch}",
        touches=(hit.touch,),
        fraction=fraction,
    )
