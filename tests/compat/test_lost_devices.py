"""Lost devices and broken values: the same as published, or declared with the reason."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.compat.lost_devices import NODES, cases

from handloom.compat.isaacteleop.lost_devices import LOST_DEVICES

PUBLISHED: dict[str, list[Any]] = json.loads((Path(__file__).parent / "lost_devices.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ours() -> dict[str, list[Any]]:
    return cases("handloom.compat.isaacteleop")


def is_same(ours: Any, published: Any) -> bool:
    if isinstance(ours, dict) and isinstance(published, dict):
        return ours.keys() == published.keys() and all(is_same(ours[key], published[key]) for key in ours)
    if isinstance(ours, list) and isinstance(published, list):
        return len(ours) == len(published) and all(map(is_same, ours, published))
    if isinstance(ours, float) and isinstance(published, float | int):
        return ours == pytest.approx(published, rel=1e-5, abs=1e-5)
    return type(ours) is type(published) and ours == published


def declared(case: str) -> tuple[str, str]:
    """Return the row that a case belongs to."""
    label, _, rest = case.partition(": ")
    if label == "state":
        return "DefaultTeleopStateManager", rest.partition(",")[0]
    return NODES[label][0], rest.removesuffix(" at the start").removesuffix(" in between")


def test_every_case_is_the_same_as_published_or_declared(ours: dict[str, list[Any]]) -> None:
    assert ours.keys() == PUBLISHED.keys()
    assert len([case for case in ours if not case.startswith("state")]) == 84
    different = {case for case in ours if not is_same(ours[case], PUBLISHED[case])}
    assert {declared(case) for case in different} == set(LOST_DEVICES)


def test_nothing_broken_is_ever_commanded(ours: dict[str, list[Any]]) -> None:
    said = json.dumps(ours)
    assert "not finite" not in said
    assert "error" not in said
    assert "e+" not in said
