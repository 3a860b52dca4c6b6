"""The errors of a scene that cannot be sampled."""

from handloom.errors import HandloomError
from handloom.values import Failure, FunnelStage


class SamplingError(HandloomError):
    """A scene could not be sampled; carries the typed reason for the funnel.

    Args:
        reason: One word for the funnel.
        detail: What happened; recorded, so it names no file.
        where: File, line and key to change; for messages only.
    """

    def __init__(self, reason: str, detail: str, *, where: str = "") -> None:
        super().__init__(f"{where}: {reason}: {detail}" if where else f"{reason}: {detail}")
        self.failure = Failure(stage=FunnelStage.SAMPLE, reason=reason, detail=detail)


class NoPlaceError(HandloomError):
    """One layout did not work out; the next one may."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")
        self.name = name
        self.why = why
