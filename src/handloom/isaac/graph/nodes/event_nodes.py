"""Nodes for time: start execution per frame or physics step, gate it, read the simulated time."""

from collections.abc import Mapping
from typing import Any, ClassVar

from handloom.isaac.graph.node import EventNode, GraphContext, Node, NodeResult, done
from handloom.isaac.graph.port import port


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
        """Start counting frames again."""
        self._waited = 0
        self._elapsed = 0.0

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Count frames; fire at the end of each period."""
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


class OnPhysicsStepNode(EventNode):
    """Fires before every physics step."""

    TYPE = "isaacsim.core.nodes.OnPhysicsStep"
    EVENT: ClassVar[str] = "physics"
    OUTPUTS = (
        port("step", "execution"),
        port("deltaSimulationTime", "double"),
        port("deltaSystemTime", "double"),
    )

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Report the length of the step; system time is simulated time, so that runs are repeatable."""
        return done("step", deltaSimulationTime=context.delta_seconds, deltaSystemTime=context.delta_seconds)


class SimulationGateNode(Node):
    """Passes the first pulse, then every ``step``-th."""

    TYPE = "isaacsim.core.nodes.IsaacSimulationGate"
    INPUTS = (port("execIn", "execution"), port("step", "uint", 1))
    OUTPUTS = (port("execOut", "execution"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Let the next pulse through."""
        self._count = 0

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Count pulses."""
        through = self._count % max(1, given["step"]) == 0
        self._count += 1
        return done("execOut") if through else done()


class ReadSimulationTimeNode(Node):
    """Time since play, or, if ``resetOnStop`` is off, since the start of the world.

    A reference time, given as a fraction with a nonzero denominator, is returned unchanged: the time of a recorded
    frame. ``swhFrameNumber``, from older releases, has no effect.
    """

    TYPE = "isaacsim.core.nodes.IsaacReadSimulationTime"
    INPUTS = (
        port("resetOnStop", "bool", True),
        port("referenceTimeNumerator", "int"),
        port("referenceTimeDenominator", "int"),
        port("swhFrameNumber", "int"),
    )
    OUTPUTS = (port("simulationTime", "double"),)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start the clock at the next compute."""
        self._start: float | None = None

    def compute(self, given: Mapping[str, Any], context: GraphContext, pulse: str) -> NodeResult:
        """Read the clock [s]."""
        if given["referenceTimeDenominator"]:
            return done(simulationTime=given["referenceTimeNumerator"] / given["referenceTimeDenominator"])
        if self._start is None:
            self._start = context.time
        return done(simulationTime=context.time - (self._start if given["resetOnStop"] else 0.0))
