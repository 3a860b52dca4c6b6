"""Measured forces as vectors: transformed, summed, reduced to one number."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.parameter_spec import VectorParameter
from handloom.retarget.graph.parameter_state import ParameterState
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.haptics.haptic_device import TactileVector
from handloom.retarget.inputs import TransformMatrix

Floats = NDArray[np.float32]
AXES = ("axis_x", "axis_y", "axis_z")


class Vector3FrameTransform(BaseRetargeter):
    """Rotates a force or a torque ``vec`` (3,) by the rotation of ``transform``; the translation has no effect."""

    INPUT_VEC = OUTPUT_VEC = "vec"
    INPUT_TRANSFORM = "transform"
    stateful = False

    def input_spec(self) -> RetargeterIOType:
        """Return the vector and the transform."""
        return {self.INPUT_VEC: TactileVector(3), self.INPUT_TRANSFORM: TransformMatrix()}

    def output_spec(self) -> RetargeterIOType:
        """Return the vector in the other frame."""
        return {self.OUTPUT_VEC: TactileVector(3)}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        R = np.asarray(inputs[self.INPUT_TRANSFORM][0])[:3, :3]
        outputs[self.OUTPUT_VEC][0] = (R @ inputs[self.INPUT_VEC][0]).astype(np.float32)


class WorldForceAccumulator(BaseRetargeter):
    """Sums weighted vectors ``in_0``, ``in_1``, ... (3,) in a common frame to ``vec``.

    Args:
        name: Name of the node.
        num_inputs: How many vectors.
        weights: One number per vector, all 1 if not given; tunable.
    """

    OUTPUT_VEC = "vec"
    stateful = False

    def __init__(self, name: str, num_inputs: int, weights: ArrayLike | None = None) -> None:
        if num_inputs < 1:
            raise InputError(f"WorldForceAccumulator {name!r}: num_inputs must be at least 1, got {num_inputs}")
        given = np.ones(num_inputs) if weights is None else np.asarray(weights).ravel()
        if len(given) != num_inputs:
            raise InputError(f"WorldForceAccumulator {name!r}: weights length {len(given)} is not {num_inputs}")
        self._ports = [f"in_{index}" for index in range(num_inputs)]
        self._weights: Floats = given.astype(np.float32)
        tunable = VectorParameter(
            name="weights",
            description="weight of each vector",
            element_names=self._ports,
            default_value=self._weights,
            sync_fn=self._weigh,
        )
        super().__init__(name, ParameterState(name, [tunable]))

    def _weigh(self, weights: ArrayLike) -> None:
        self._weights = np.asarray(weights, dtype=np.float32)

    def input_spec(self) -> RetargeterIOType:
        """Return the vectors."""
        return {port: TactileVector(3) for port in self._ports}

    def output_spec(self) -> RetargeterIOType:
        """Return their sum."""
        return {self.OUTPUT_VEC: TactileVector(3)}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        vectors = np.array([inputs[port][0] for port in self._ports], dtype=np.float32)
        outputs[self.OUTPUT_VEC][0] = (self._weights @ vectors).astype(np.float32)


class MagnitudeReducer(BaseRetargeter):
    """Reduces a vector ``vec`` (3,) to one number ``scalar`` (1,).

    Args:
        name: Name of the node.
        mode: ``norm`` for its length; ``axis_x``, ``axis_y`` or ``axis_z`` for the absolute value of one component.
    """

    INPUT_VEC, OUTPUT_SCALAR = "vec", "scalar"
    stateful = False

    def __init__(self, name: str, mode: str = "norm") -> None:
        if mode not in ("norm", *AXES):
            raise InputError(f"MagnitudeReducer {name!r}: unknown mode {mode!r}; {suggest(mode, ('norm', *AXES))}")
        self._axis = AXES.index(mode) if mode in AXES else None
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the vector."""
        return {self.INPUT_VEC: TactileVector(3)}

    def output_spec(self) -> RetargeterIOType:
        """Return the number."""
        return {self.OUTPUT_SCALAR: TactileVector(1)}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        vec = np.asarray(inputs[self.INPUT_VEC][0], dtype=np.float32)
        size = np.linalg.norm(vec) if self._axis is None else abs(vec[self._axis])
        outputs[self.OUTPUT_SCALAR][0] = np.array([size], dtype=np.float32)
