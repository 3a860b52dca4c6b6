"""A command source for episodes that plays a recorded operator."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.judging.wording.words import in_words
from handloom.retarget.graph.execution import GraphExecutable
from handloom.retarget.graph.groups import TensorGroup, group_of
from handloom.retarget.inputs import TransformMatrix
from handloom.retarget.nodes.so101_clutch import SO101PositionClutchRetargeter
from handloom.retarget.recording import DeviceRecording
from handloom.retarget.so101.hand_motion import STACK_CUBE_ANCHOR
from handloom.retarget.so101.so101_action import ACTION_OUTPUT, ANCHOR_INPUT, SO101ActionController, so101_action_graph
from handloom.retarget.sources.device_sources import device_inputs
from handloom.retarget.transforms import checked_transform
from handloom.scene import Scene
from handloom.values import Check, Failure, FunnelStage, SkillSpan


class TeleopSource:
    """Plays device frames through a graph and a controller, by time, until the recording ends.

    Like every command source, it provides actuator targets frame by frame. The result depends only on the scene and the
    recording, so a recorded operator is as repeatable as a script.

    Args:
        scene: The scene to act in.
        recording: Samples of the operator's devices.
        controller: The arm to drive; the default is the first arm of the first robot.
        graph: Graph with the leaves and the output of ``so101_action_graph``; the default is a new one.
        world_T_anchor: Pose (4, 4) of the device's frame in the world; the default is the published anchor.
        checks: Additional success terms that must hold when the recording ends, besides those of a task.
        holds: Judges a success term in the current state of the scene; required if there are any.
    """

    def __init__(
        self,
        scene: Scene,
        recording: DeviceRecording,
        *,
        controller: SO101ActionController | None = None,
        graph: GraphExecutable | None = None,
        world_T_anchor: ArrayLike | None = None,
        checks: Sequence[Check] = (),
        holds: Callable[[Scene, Check], bool] | None = None,
    ) -> None:
        if not len(recording):
            raise InputError("the recording has no frames, so there is nothing to play")
        if checks and holds is None:
            raise InputError("success terms were given, but no function to judge them; pass holds=")
        self._scene, self._recording = scene, recording
        self._controller = controller or SO101ActionController(next(iter(scene.robots.values())).arms[0])
        self._graph = graph or so101_action_graph()
        T = STACK_CUBE_ANCHOR if world_T_anchor is None else checked_transform(world_T_anchor, what="world_T_anchor")
        self._anchor = _matrix(T)
        self._checks, self._holds = tuple(checks), holds
        self._timeline: tuple[SkillSpan, ...] = ()
        self._failure: Failure | None = None

    @property
    def failure(self) -> Failure | None:
        """Reason why the task failed; None while it runs and after success."""
        return self._failure

    @property
    def timeline(self) -> Sequence[SkillSpan]:
        """One span over the whole recording, once it has ended, if the source has its own terms."""
        return self._timeline

    @property
    def recording(self) -> bool:
        """True: everything that a person does belongs to the demonstration."""
        return True

    def next(self, frame: int) -> Array | None:
        """Return targets (controls,) [rad], NaN where nothing is commanded; None once the recording has ended.

        Args:
            frame: Number of frames executed so far; the scene is in the state after them.
        """
        sample = self._recording.at(round(frame * 1_000_000_000 / self._scene.instance.fps))
        if sample is None:
            self._finish(frame)
            return None
        inputs = device_inputs(self._graph, sample)
        inputs[ANCHOR_INPUT] = {"value": self._anchor}
        inputs[SO101PositionClutchRetargeter.ROBOT_EE_POS_INPUT] = {"value": _matrix(self._controller.T_world_tool)}
        inputs[SO101PositionClutchRetargeter.ROBOT_BASE_POS_INPUT] = {"value": _matrix(self._controller.T_world_base)}
        action = self._graph.execute_pipeline(inputs, sample.context)[ACTION_OUTPUT][0]
        return self._controller.targets(action)

    def _finish(self, frame: int) -> None:
        """Judge the current state by the source's own terms and close the timeline."""
        if not self._checks:
            return
        broken = [check for check in self._checks if self._holds is not None and not self._holds(self._scene, check)]
        if broken:
            terms = "; ".join(in_words(check) for check in broken)
            self._failure = Failure(
                stage=FunnelStage.SUCCESS,
                reason=f"not_{broken[0].name}",
                detail=f"when the recording ended after {frame} frames this did not hold: {terms}",
                skill="teleop",
            )
        arm = self._controller.arm
        span = SkillSpan(
            robot=arm.robot_name,
            arm=arm.name,
            skill="teleop",
            objects=(),
            start=0,
            end=frame,
            success=not broken,
            instruction=self._scene.instance.instruction,
            checks=() if broken else self._checks,
        )
        self._timeline = (span,)


def _matrix(T: Array) -> TensorGroup:
    return group_of(TransformMatrix(), T.astype(np.float32))
