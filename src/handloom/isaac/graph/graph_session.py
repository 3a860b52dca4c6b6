"""Runs a graph together with a world: physics steps, ticks, stop."""

from collections.abc import Mapping

from handloom.errors import InputError, StateError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.graph.graph import Evaluation, Graph
from handloom.isaac.graph.node import GraphContext
from handloom.scene.surface_gripper import SurfaceGripper
from handloom.sim import World


class GraphSession:
    """Runs a graph along with the physics: ``physics`` before every step, ``tick`` once per frame.

    Args:
        graph: The graph.
        world: The world it acts on.
        robots: Path or name used in the graph > initialised robot.
        steps_per_frame: Physics steps per frame, >= 1.
        surface_grippers: Path or name used in the graph > surface gripper.
    """

    def __init__(
        self,
        graph: Graph,
        world: World,
        robots: Mapping[str, SingleArticulation],
        *,
        steps_per_frame: int = 8,
        surface_grippers: Mapping[str, SurfaceGripper] | None = None,
    ) -> None:
        if steps_per_frame < 1:
            raise InputError(f"steps_per_frame must be >= 1, got {steps_per_frame}")
        self.graph = graph
        self._world = world
        self._robots = dict(robots)
        self._surface_grippers = dict(surface_grippers or {})
        self._steps = steps_per_frame
        self._frame = 0
        self._playing = False

    @property
    def playing(self) -> bool:
        """Whether ``play`` was called since the last ``stop``."""
        return self._playing

    def play(self) -> None:
        """Start or resume."""
        self._playing = True
        for robot in self._robots.values():
            robot.get_articulation_controller().stopped = False

    def frame(self) -> Evaluation:
        """Advance by one frame: a tick, then its physics steps.

        Returns:
            What the tick did. Its failures include those in the physics events of the frame.

        Raises:
            StateError: The session is not playing.
        """
        if not self._playing:
            raise StateError("the graph is not playing; call play() first")
        step = self._world.timestep
        tick = self.graph.evaluate(self._context(step * self._steps), "tick")
        computed, failures = list(tick.computed), dict(tick.failures)
        if any(placed.event == "physics" for placed in self.graph.nodes.values()):
            for _ in range(self._steps):
                physics = self.graph.evaluate(self._context(step), "physics")
                computed += physics.computed
                failures.update(physics.failures)
                self._world.step()
        else:
            self._world.step(self._steps)
        self._frame += 1
        return Evaluation(computed=tuple(computed), failures=failures)

    def stop(self) -> None:
        """Stop: the graph is reset, and robots return to their default state."""
        self._playing = False
        self._frame = 0
        self.graph.stop()
        for robot in self._robots.values():
            robot.post_reset()
            robot.get_articulation_controller().stopped = True
        for gripper in self._surface_grippers.values():
            gripper.open()

    def _context(self, delta: float) -> GraphContext:
        return GraphContext(
            robots=self._robots,
            surface_grippers=self._surface_grippers,
            world=self._world,
            time=self._world.time,
            delta_seconds=delta,
            frame=self._frame,
            playing=self._playing,
        )
