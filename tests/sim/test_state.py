"""Saved states continue bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.sim import World

STEPS = 2000

CONTINUE = """
import sys
import numpy as np
from handloom.sim import World

xml, state, targets = sys.argv[1:]
world = World.from_xml_path(xml)
world.restore_state(np.load(state))
for target in np.load(targets):
    world.data.ctrl[0] = target
    world.step()
print(world.state_hash())
"""


def continue_run(world: World, targets: np.ndarray, *, asking: bool = False) -> list[str]:
    """Return the state hash of every 100th step."""
    hashes = []
    for index, target in enumerate(targets):
        world.data.ctrl[0] = target
        world.step()
        if asking:
            world.contacts()
            world.touching("arm", [f"box{i}" for i in range(6)])
            world.refresh()
        if index % 100 == 99:
            hashes.append(world.state_hash())
    return hashes


@pytest.fixture
def targets() -> np.ndarray:
    """An arm that keeps stirring the pile."""
    return -0.6 + 0.9 * np.sin(np.arange(STEPS) * 0.01)


def test_a_restored_run_continues_bit_for_bit_with_contacts(pile_xml: str, targets: np.ndarray) -> None:
    world = World.from_xml_string(pile_xml)
    world.step(300)
    state = world.save_state()
    hashes = continue_run(world, targets)
    touched = len(world.contacts())
    assert touched > 10
    # The same world, rewound, and a fresh one that never saw the first 300 steps.
    world.restore_state(state)
    assert continue_run(world, targets) == hashes
    fresh = World.from_xml_string(pile_xml)
    fresh.restore_state(state)
    assert continue_run(fresh, targets) == hashes


def test_a_run_continues_bit_for_bit_in_another_process(pile_xml: str, targets: np.ndarray, tmp_path: Path) -> None:
    world = World.from_xml_string(pile_xml)
    world.step(300)
    (tmp_path / "pile.xml").write_text(pile_xml)
    np.save(tmp_path / "state.npy", world.save_state())
    np.save(tmp_path / "targets.npy", targets)
    expected = continue_run(world, targets)[-1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    arguments = [str(tmp_path / name) for name in ("pile.xml", "state.npy", "targets.npy")]
    done = subprocess.run(
        [sys.executable, "-c", CONTINUE, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


def test_asking_questions_changes_no_bit(pile_xml: str, targets: np.ndarray) -> None:
    quiet, asked = World.from_xml_string(pile_xml), World.from_xml_string(pile_xml)
    assert continue_run(quiet, targets[:600]) == continue_run(asked, targets[:600], asking=True)


def test_a_restored_world_gives_the_same_answers(pile_xml: str) -> None:
    world, other = World.from_xml_string(pile_xml), World.from_xml_string(pile_xml)
    world.step(400)
    other.restore_state(world.save_state())
    np.testing.assert_array_equal(world.body_pose("box4"), other.body_pose("box4"))
    np.testing.assert_array_equal(world.body_velocity("box4"), other.body_velocity("box4"))
    assert len(world.contacts()) == len(other.contacts()) > 0
    for mine, theirs in zip(world.contacts(), other.contacts(), strict=True):
        assert (mine.body_a, mine.body_b, mine.distance) == (theirs.body_a, theirs.body_b, theirs.distance)
        np.testing.assert_array_equal(mine.force, theirs.force)


def test_the_hash_sees_every_part_of_the_state(pile_xml: str) -> None:
    world = World.from_xml_string(pile_xml)
    world.step(100)
    seen = {world.state_hash()}
    for field in ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied", "qacc_warmstart"):
        getattr(world.data, field).flat[0] += 1e-300 if field.endswith("applied") else 1e-9
        seen.add(world.state_hash())
    assert len(seen) == 7


def test_a_state_of_another_model_is_refused(pile_xml: str) -> None:
    world = World.from_xml_string(pile_xml)
    with pytest.raises(InputError, match="saved from another model"):
        world.restore_state(world.save_state()[:-1])
