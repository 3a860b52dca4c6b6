"""Success rates of each deed of the library on each robot, from the latest ``handloom bench deeds``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from handloom.tasks.config.loading import shipped

RATES = "deed_rates.json"
"""File in the folder of the library; a copy of the record of ``handloom bench deeds``."""
ENOUGH = 20
"""Minimum number of attempts for a meaningful rate of a cell."""
OUT_OF_REACH = "out_of_reach"
"""Reason given for a scene in which no region is within reach."""


@dataclass(frozen=True, kw_only=True)
class DeedRates:
    """Outcomes of attempts, by deed and robot."""

    seed: int | None = None
    """Seed of the measurement; None: there was none."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Deed and robot > why the robot cannot do it."""
    cells: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Deed and robot > attempt > reason of its failure, empty for a success."""
    about: str = ""
    """Further remarks on the measurement."""

    def rate(self, deed: str, robot: str) -> float | None:
        """Return the fraction of attempts that succeeded [%]; None if out of reach or not measured."""
        outcomes = self.cells.get(f"{deed} {robot}", {})
        if not outcomes or self.beyond(deed, robot):
            return None
        return 100.0 * sum(not reason for reason in outcomes.values()) / len(outcomes)

    def beyond(self, deed: str, robot: str) -> bool:
        """Return whether no attempt found a scene within reach of the robot."""
        outcomes = self.cells.get(f"{deed} {robot}", {})
        return bool(outcomes) and all(reason == OUT_OF_REACH for reason in outcomes.values())

    def word(self, deed: str, robot: str) -> str:
        """Return the successes of a cell as shown in tables, with their count: 3/3 is not 50/50."""
        if f"{deed} {robot}" in self.refused:
            return "one arm"
        if self.beyond(deed, robot):
            return "out of reach"
        outcomes = self.cells.get(f"{deed} {robot}", {}).values()
        if len(outcomes) == 1:
            return "fail" if any(outcomes) else "ok"
        return f"{sum(not reason for reason in outcomes)}/{len(outcomes)}" if outcomes else "?"

    def note(self) -> str:
        """Return the source of the rates."""
        if self.seed is None:
            return "nothing was measured yet: handloom bench deeds"
        tried = sorted(len(outcomes) for outcomes in self.cells.values())
        good = sum(not reason for outcomes in self.cells.values() for reason in outcomes.values())
        each = f"{tried[0]}" if tried[0] == tried[-1] else f"{tried[0]} to {tried[-1]}"
        few = "; too few for a rate, handloom bench deeds --attempts 50 measures one" if tried[-1] < ENOUGH else ""
        few += "; ok or fail: one attempt, which succeeded or failed; check TASK --robot ROBOT makes up to eight"
        about = f"; {self.about}" if self.about else ""
        return f"{good} of {sum(tried)} attempts, {each} per cell, seed {self.seed}{few}{about}"


@cache
def deed_rates(file: Path | None = None) -> DeedRates:
    """Return the measured rates that ship, or those of another record."""
    path = file or shipped() / RATES
    if not path.is_file():
        return DeedRates()
    values = json.loads(path.read_text(encoding="utf-8"))
    return DeedRates(
        seed=values["seed"], refused=values["refused"], cells=values["cells"], about=values.get("about", "")
    )
