"""Flags shared by the verbs that make runs: where attempts are made, what is written, which policy acts."""

from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from tyro.conf import arg

from handloom.cli.flags import (
    Backend,
    Codec,
    ColumnStyle,
    Labels,
    LerobotFeature,
    OptionalFile,
    OptionalNumber,
    Preset,
    Seconds,
)
from handloom.cli.verbs.doctor import cores
from handloom.config import own_code
from handloom.engine import Executor, InlineExecutor, ProcessExecutor
from handloom.engine.executors.executor import HANG_LIMIT
from handloom.engine.policy.policies import policy_source
from handloom.kernels import GENERATE
from handloom.render.backends import drawing_for


@dataclass(frozen=True, kw_only=True)
class WorkFlags:
    """Where attempts are made, and with which time limit.

    Attributes:
        workers: Worker processes; default one per core.
        executor: Where attempts run: in worker processes, or inline in this process.
        attempt_seconds: Wall time after which an attempt without a result is killed and retried, as for generate.
        skip_stuck: Count attempts as failed after they ran out of memory or time, or lost their worker, three times.
    """

    workers: OptionalNumber = None
    executor: Literal["process", "inline"] = "process"
    attempt_seconds: Seconds = HANG_LIMIT
    skip_stuck: bool = False

    def make_executor(self) -> Executor:
        """Return the executor that the flags select."""
        return local_executor(self.executor, self.workers, self.attempt_seconds)


def local_executor(name: str, workers: int | None, timeout: float) -> Executor:
    """Return an executor of this machine; by default with one worker per core.

    Args:
        name: ``process`` or ``inline``.
        workers: Worker processes.
        timeout: Wall time after which an attempt without a result is killed [s].
    """
    if name == "inline":
        return InlineExecutor()
    return ProcessExecutor(cores() if workers is None else workers, timeout=timeout)


def drawing(executor: Executor, backend: Backend, render: str = "now") -> AbstractContextManager[Any]:
    """Return the context in which the workers of an executor render."""
    workers = executor.workers if isinstance(executor, ProcessExecutor) and render == "now" else 0
    return drawing_for(backend, workers=workers)


@dataclass(frozen=True, kw_only=True)
class DatasetFlags:
    """What is rendered and written for each attempt.

    Attributes:
        render: Render the images now, later with `handloom render`, or not at all.
        preset: Image quality: fast, balanced or quality.
        backend: Renderer: cpu, or cuda for NVIDIA GPUs (extra gpu); the images are the same.
        codec: Video codec: h264 or av1.
        columns: Names of the columns: canonical (observation.state, action, poses), reference (states.*, actions.*,
            master_actions.*), detailed (velocities, efforts, object poses and more); several may be given.
        lerobot_features: Optional features to write: depth (a stream per camera, for LeRobot 0.6 and later),
            segmentation (instance ids per camera), language (sub-tasks in the frames, for LeRobot 0.6 and later).
        labels: Kinds of labels to write beside the archives, exact and per frame, or all; docs/reference/labels.md
            lists them. handloom label adds them later.
        keep_failures: Also write failed attempts, into a separate dataset with the reason and the frame in which each
            went wrong.
    """

    render: Literal["now", "later", "none"] = "now"
    preset: Preset = "balanced"
    backend: Backend = "cpu"
    codec: Codec = "h264"
    columns: tuple[ColumnStyle, ...] = ("canonical",)
    lerobot_features: Annotated[tuple[LerobotFeature, ...], arg(help_behavior_hint="")] = ()
    labels: Labels = ()
    keep_failures: bool = False

    def settings(self, *, keep_failures: bool = False) -> dict[str, Any]:
        """Return the run settings that these flags determine; another flag may also enable failures."""
        return {**asdict(self), "keep_failures": self.keep_failures or keep_failures}

    def kernels(self) -> tuple[str, ...] | None:
        """Return the steps of the warm-up that such a run needs; None means the usual ones."""
        return (*GENERATE, "labels") if self.labels else None


@dataclass(frozen=True, kw_only=True)
class PolicyFlags:
    """Which policy acts.

    Attributes:
        policy: Your own class, written my_module:MyPolicy, an ONNX file (extra policy), or the folder of a LeRobot
            checkpoint.
        weights: File to pass to the class.
        policy_python: Python interpreter that has LeRobot and runs the checkpoint; by default this one.
    """

    policy: Annotated[str, arg(metavar="POLICY")]
    weights: OptionalFile = None
    policy_python: OptionalFile = None

    def allow(self, *, code: bool) -> None:
        """Allow the code of the policy, which the user named; allow all other code only if requested."""
        own_code.allow_code(self.policy)
        if code:
            own_code.allow_code()

    def source(self) -> str:
        """Return the policy as a source of commands."""
        return policy_source(self.policy, self.weights, self.policy_python)


# No prefix: the flags appear beside those of the verb.
Work = Annotated[WorkFlags, arg(name="")]
Writing = Annotated[DatasetFlags, arg(name="")]
Acting = Annotated[PolicyFlags, arg(name="")]
USUAL_WORK, USUAL_WRITING = WorkFlags(), DatasetFlags()
