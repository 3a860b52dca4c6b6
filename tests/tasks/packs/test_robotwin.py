"""The RoboTwin pack: fifty deeds that four robots with two arms do."""

import pytest

from handloom.bench.tasks import attempt_task
from handloom.tasks import load_task
from handloom.tasks.config.packs import load_pack

PACK = load_pack("robotwin")
ROBOTS = ("lift2", "split_aloha", "genie1", "fr3_pair")
MEANS = {"lift2": 74.2, "split_aloha": 25.1, "fr3_pair": 67.2}
"""Published means of the robots that come nearest to ours [%]."""
IN_PHYSICS = (
    ("adjust_bottle", "lift2"),
    ("click_bell", "split_aloha"),
    ("place_phone_stand", "split_aloha"),
    ("place_shoe", "lift2"),
    ("place_empty_cup", "fr3_pair"),
    ("stamp_seal", "lift2"),
    ("turn_switch", "split_aloha"),
)
"""A selection that takes each kind of deed once."""


def test_the_pack_has_fifty_deeds_and_a_published_rate_for_each() -> None:
    published = PACK.config.published
    assert published is not None
    assert len(PACK.tasks) == 50
    assert set(published.rates) == set(PACK.tasks)
    assert PACK.config.robots == ROBOTS
    for robot, mean in MEANS.items():
        rates = [PACK.published(task, robot) for task in PACK.tasks]
        assert sum(rate for rate in rates if rate is not None) / len(rates) == pytest.approx(mean, abs=0.1)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", sorted(PACK.tasks))
def test_every_deed_loads_for_every_robot(name: str, robot: str) -> None:
    task = load_task(f"robotwin/{name}", robot=robot)
    assert [entry.name for entry in task.config.robots], "the robot brings its workplace"
    words = (task.config.data.language_instruction, *task.config.data.paraphrases)
    assert len(set(words)) >= 6, "one sentence and five more that say the same"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "robot"), IN_PHYSICS)
def test_a_selection_succeeds_in_physics(name: str, robot: str) -> None:
    task = load_task(f"robotwin/{name}", robot=robot)
    outcomes = [attempt_task(task, 5, episode).receipt for episode in range(2)]
    assert any(outcome.success for outcome in outcomes), [outcome.reason for outcome in outcomes]
