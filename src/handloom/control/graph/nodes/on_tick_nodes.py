"""Start execution once per frame."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.control.graph.graph_context import GraphContext
from handloom.control.graph.node import EventNode, NodeResult, done
from handloom.control.graph.port import port


class OnPlaybackTickNode(EventNode):
    """Fires on every frame while the timeline plays."""

    TYPE = "omni.graph.action.OnPlaybackTick"
    EVENT: ClassVar[str] = "tick"
    OUTPUTS = (
        port("tick", "execution"),
        port("deltaSeconds", "double"),
        port("frame", "double"),
        port("time", "double"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Report the time of the frame."""
        if not context.playing:
            return done()
        return done("tick", deltaSeconds=context.delta_seconds, frame=float(context.frame), time=context.time)


class OnTickNode(EventNode):
    """Fires on every frame, or on every (framePeriod + 1)-th."""

    TYPE = "omni.graph.action.OnTick"
    EVENT: ClassVar[str] = "tick"
    INPUTS = (port("framePeriod", "uint"), port("onlyPlayback", "bool", True))
    OUTPUTS = (
        port("tick", "execution"),
        port("deltaSeconds", "double"),
        port("frame", "double"),
        port("isPlaying", "bool"),
        port("time", "double"),
    )

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start counting frames anew."""
        self._waited = 0
        self._elapsed = 0.0

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Count frames; fire when the period is over."""
        if given["onlyPlayback"] and not context.playing:
            return done()
        self._elapsed += context.delta_seconds
        self._waited += 1
        if self._waited <= given["framePeriod"]:
            return done()
        elapsed, self._waited, self._elapsed = self._elapsed, 0, 0.0
        return done(
            "tick", deltaSeconds=elapsed, frame=float(context.frame), isPlaying=context.playing, time=context.time
        )
