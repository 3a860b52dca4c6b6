"""Steps per second of tasks in Gymnasium."""

import pytest

pytest.importorskip("gymnasium")

from handloom.bench import environments
from handloom.errors import InputError


def test_every_kind_of_environment_is_stepped_in_one_process_and_on_all_cores(monkeypatch) -> None:
    monkeypatch.setattr(environments, "KINDS", {"poses": environments.KINDS["poses"]})
    monkeypatch.setattr(environments, "machine_facts", lambda: {"cores": 2})
    rows = environments.run(("fr3_pick_cube",), seeds=3).rows
    assert [row["num_envs"] for row in rows] == [1, 2]
    assert all(row["name"] == "handloom fr3_pick_cube, poses" and row["steps_per_s"] > 0.0 for row in rows)


def test_no_steps_are_refused() -> None:
    with pytest.raises(InputError, match="at least one step"):
        environments.run(seeds=0)
