"""Converts tactile measurements of a robot to operator feedback: powers per finger, or pulses."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import ComputeContext, RetargeterIO, RetargeterIOType
from handloom.retarget.graph.groups import TensorGroupType
from handloom.retarget.graph.parameter_spec import FloatParameter
from handloom.retarget.graph.parameter_state import ParameterState
from handloom.retarget.graph.retargeter import BaseRetargeter
from handloom.retarget.haptics.haptic_device import (
    NUM_HAPTIC_FINGERS,
    ControllerHapticPulse,
    FingerPowerVector,
    TactileHeatmap,
    TactileVector,
)

Floats = NDArray[np.float32]
REDUCTIONS: dict[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "sum": np.sum}
CEILINGS = {
    "gain": 100.0,
    "deadband": 10.0,
    "saturation": 1.0,
    "smoothing": 1.0,
    "frequency_hz": 1e3,
    "duration_s": 10.0,
}
"""Upper bound of each tunable number; the lower bound is 0."""


class Feeling(BaseRetargeter):
    """Reduces measurements to one strength per output: zero below ``deadband``, ``gain`` times the excess above it.

    The strengths are between 0 and ``saturation``. All settings are tunable.

    Args:
        name: Name of the node.
        measured: Type of the input.
        felt: Type of the output.
        reduction: ``max``, ``mean`` or ``sum`` of the values of one output.
        settings: Numbers by name, see ``CEILINGS``.
    """

    INPUT: ClassVar[str]
    OUTPUT: ClassVar[str]

    def __init__(
        self, name: str, measured: TensorGroupType, felt: TensorGroupType, reduction: str, settings: dict[str, float]
    ) -> None:
        if reduction not in REDUCTIONS:
            raise InputError(
                f"{type(self).__name__} {name!r}: unknown reduction {reduction!r}; {suggest(reduction, REDUCTIONS)}"
            )
        self._measured, self._felt = measured, felt
        self._reduce = REDUCTIONS[reduction]
        self._settings = dict(settings)
        super().__init__(name, ParameterState(name, [self._tunable(key) for key in settings]))

    def _tunable(self, key: str) -> FloatParameter:
        def tune(value: float) -> None:
            self._settings[key] = float(value)

        return FloatParameter(
            name=key,
            description=f"{key} of {type(self).__name__}",
            default_value=self._settings[key],
            min_value=0.0,
            max_value=CEILINGS[key],
            sync_fn=tune,
        )

    def input_spec(self) -> RetargeterIOType:
        """Return what is measured."""
        return {self.INPUT: self._measured}

    def output_spec(self) -> RetargeterIOType:
        """Return what is felt."""
        return {self.OUTPUT: self._felt}

    def _reduced(self, values: Floats) -> Floats:
        """Return one value per output."""
        return np.array([self._reduce(values)], dtype=np.float32)

    def _strength(self, inputs: RetargeterIO) -> Floats:
        given = self._settings
        values = self._reduced(np.asarray(inputs[self.INPUT][0], dtype=np.float32))
        return np.clip(given["gain"] * np.maximum(values - given["deadband"], 0.0), 0.0, given["saturation"]).astype(
            np.float32
        )


class PowerFeeling(Feeling):
    """Outputs strengths as powers 0 to 1, as a running mean in which a new frame has the weight ``smoothing``."""

    def __init__(self, *args: Any) -> None:
        self._smoothed: Floats | None = None
        super().__init__(*args)

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        new, weight = self._strength(inputs), self._settings["smoothing"]
        old = new if self._smoothed is None or context.execution_events.reset else self._smoothed
        self._smoothed = (weight * new + (1.0 - weight) * old).astype(np.float32)
        outputs[self.OUTPUT][0] = self._smoothed.copy()


class PulseFeeling(Feeling):
    """Outputs a strength as the amplitude of a pulse of constant frequency and duration, without smoothing."""

    OUTPUT = OUTPUT_PULSE = "pulse"
    stateful = False

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        amplitude = self._strength(inputs)[0]
        pulse = (amplitude, self._settings["frequency_hz"], self._settings["duration_s"])
        outputs[self.OUTPUT][0] = np.array(pulse, dtype=np.float32)


class TactileVectorToFingerPower(PowerFeeling):
    """Converts taxels ``tactile`` to ``powers``.

    Args:
        name: Name of the node.
        num_taxels: Number of input values.
        finger_groups: Taxels of each finger; one each if not given.
        num_fingers: Number of output powers.
        reduction: ``max``, ``mean`` or ``sum`` of a finger's taxels.
        gain: See ``Feeling``.
        deadband: See ``Feeling``.
        saturation: See ``Feeling``.
        smoothing: Weight of a new frame; 1 means no smoothing.
    """

    INPUT = INPUT_TACTILE = "tactile"
    OUTPUT = OUTPUT_POWERS = "powers"

    def __init__(
        self,
        name: str,
        num_taxels: int,
        finger_groups: Sequence[Sequence[int]] | None = None,
        num_fingers: int = NUM_HAPTIC_FINGERS,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        smoothing: float = 1.0,
    ) -> None:
        where = f"TactileVectorToFingerPower {name!r}"
        at_least_one(where, num_taxels=num_taxels)
        if finger_groups is None and num_taxels != num_fingers:
            raise InputError(
                f"{where}: finger_groups is required, for {num_taxels} taxels are not {num_fingers} fingers"
            )
        self._groups = [list(group) for group in finger_groups or [[index] for index in range(num_fingers)]]
        if len(self._groups) != num_fingers:
            raise InputError(f"{where}: finger_groups has {len(self._groups)} entries for {num_fingers} fingers")
        outside = [taxel for group in self._groups for taxel in group if not 0 <= taxel < num_taxels]
        if outside:
            raise InputError(f"{where}: finger_groups names taxels {outside} outside 0 to {num_taxels - 1}")
        settings = {"gain": gain, "deadband": deadband, "saturation": saturation, "smoothing": smoothing}
        super().__init__(name, TactileVector(num_taxels), FingerPowerVector(num_fingers), reduction, settings)

    def _reduced(self, values: Floats) -> Floats:
        return np.array([self._reduce(values[g]) if g else 0.0 for g in self._groups], dtype=np.float32)


class TactileHeatmapToFingerPower(PowerFeeling):
    """Converts pads ``heatmap`` (num_pads, rows, cols) to ``powers``, one per pad; settings as for the other nodes."""

    INPUT = INPUT_HEATMAP = "heatmap"
    OUTPUT = OUTPUT_POWERS = "powers"

    def __init__(
        self,
        name: str,
        rows: int,
        cols: int,
        num_pads: int = NUM_HAPTIC_FINGERS,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        smoothing: float = 1.0,
    ) -> None:
        at_least_one(f"TactileHeatmapToFingerPower {name!r}", rows=rows, cols=cols, num_pads=num_pads)
        settings = {"gain": gain, "deadband": deadband, "saturation": saturation, "smoothing": smoothing}
        super().__init__(name, TactileHeatmap(rows, cols, num_pads), FingerPowerVector(num_pads), reduction, settings)

    def _reduced(self, values: Floats) -> Floats:
        return self._reduce(values, axis=(1, 2)).astype(np.float32)


class TactileHeatmapToWristPulse(PowerFeeling):
    """Converts pads ``heatmap`` (num_pads, rows, cols) to one ``power`` (1,); settings as for the other nodes."""

    INPUT = INPUT_HEATMAP = "heatmap"
    OUTPUT = OUTPUT_POWER = "power"

    def __init__(
        self,
        name: str,
        rows: int,
        cols: int,
        num_pads: int = 1,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        smoothing: float = 1.0,
    ) -> None:
        at_least_one(f"TactileHeatmapToWristPulse {name!r}", rows=rows, cols=cols, num_pads=num_pads)
        settings = {"gain": gain, "deadband": deadband, "saturation": saturation, "smoothing": smoothing}
        super().__init__(name, TactileHeatmap(rows, cols, num_pads), FingerPowerVector(1), reduction, settings)


class TactileVectorToControllerPulse(PulseFeeling):
    """Converts taxels ``tactile`` to a ``pulse``; settings as for the other nodes."""

    INPUT = INPUT_TACTILE = "tactile"

    def __init__(
        self,
        name: str,
        num_taxels: int,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        frequency_hz: float = 0.0,
        duration_s: float = 0.0,
    ) -> None:
        at_least_one(f"TactileVectorToControllerPulse {name!r}", num_taxels=num_taxels)
        settings = pulse_settings(gain, deadband, saturation, frequency_hz, duration_s)
        super().__init__(name, TactileVector(num_taxels), ControllerHapticPulse(), reduction, settings)


class TactileHeatmapToControllerPulse(PulseFeeling):
    """Converts pads ``heatmap`` (num_pads, rows, cols) to a ``pulse``; settings as for the other nodes."""

    INPUT = INPUT_HEATMAP = "heatmap"

    def __init__(
        self,
        name: str,
        rows: int,
        cols: int,
        num_pads: int = 1,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        frequency_hz: float = 0.0,
        duration_s: float = 0.0,
    ) -> None:
        at_least_one(f"TactileHeatmapToControllerPulse {name!r}", rows=rows, cols=cols, num_pads=num_pads)
        settings = pulse_settings(gain, deadband, saturation, frequency_hz, duration_s)
        super().__init__(name, TactileHeatmap(rows, cols, num_pads), ControllerHapticPulse(), reduction, settings)


class FingerPowerToControllerPulse(PulseFeeling):
    """Converts a glove's ``powers`` to a ``pulse`` for a controller; settings as for the other nodes."""

    INPUT = INPUT_POWERS = "powers"

    def __init__(
        self,
        name: str,
        num_fingers: int = NUM_HAPTIC_FINGERS,
        reduction: str = "max",
        gain: float = 1.0,
        deadband: float = 0.0,
        saturation: float = 1.0,
        frequency_hz: float = 0.0,
        duration_s: float = 0.0,
    ) -> None:
        at_least_one(f"FingerPowerToControllerPulse {name!r}", num_fingers=num_fingers)
        settings = pulse_settings(gain, deadband, saturation, frequency_hz, duration_s)
        super().__init__(name, FingerPowerVector(num_fingers), ControllerHapticPulse(), reduction, settings)


def pulse_settings(
    gain: float, deadband: float, saturation: float, frequency_hz: float, duration_s: float
) -> dict[str, float]:
    """Return the settings of a pulse by name."""
    return {
        "gain": gain,
        "deadband": deadband,
        "saturation": saturation,
        "frequency_hz": frequency_hz,
        "duration_s": duration_s,
    }


def at_least_one(where: str, **counts: int) -> None:
    """Reject counts below 1.

    Raises:
        InputError: With the name of the count.
    """
    for name, count in counts.items():
        if count < 1:
            raise InputError(f"{where}: {name} must be at least 1, got {count}")
