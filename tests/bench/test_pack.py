"""The benchmark of packs: which tasks, intervals, and going on from its record."""

import json
from pathlib import Path

import pytest

from handloom.bench.library.pack import chosen, interval, run
from handloom.errors import InputError, NotFoundError
from handloom.tasks.config.packs import load_pack

TASK = "pick_up_the_cream_cheese_and_place_it_in_the_basket"


def test_the_interval_of_a_rate_holds_it_and_shrinks_with_attempts() -> None:
    assert interval(10, 10)[1] == 100.0
    assert interval(10, 10)[0] == pytest.approx(72.2, abs=0.1)
    low, high = interval(90, 100)
    assert low < 90.0 < high
    assert high - low < interval(9, 10)[1] - interval(9, 10)[0]


def test_tasks_are_chosen_by_name_pattern_or_group() -> None:
    pack = load_pack("libero")
    assert chosen(pack, [f"libero/{TASK}"]) == [TASK]
    assert chosen(pack, ["*cream_cheese_and_place*"]) == [TASK]
    assert chosen(pack, []) == list(pack.tasks)
    with pytest.raises(NotFoundError, match="no task of the pack libero named 'KITCHEN_SCENE99_x'"):
        chosen(pack, ["KITCHEN_SCENE99_x"])


def test_one_pack_is_named() -> None:
    with pytest.raises(InputError, match=r"name one pack, one of: .*libero"):
        run()


def test_a_robot_that_a_task_is_not_for_gets_a_row_that_says_so() -> None:
    result = run(["libero"], robot="walker", tasks=[TASK], attempts=1, processes=1)
    assert result.rows[0]["attempts"] == 0
    assert result.rows[0]["failures"].startswith("refused: ")


@pytest.mark.slow
def test_a_measurement_goes_on_from_its_record(tmp_path: Path) -> None:
    record = tmp_path / "r.json"
    first = run(["libero"], tasks=[TASK], attempts=1, processes=1, record=record)
    stored = json.loads(record.read_text())
    stored["tasks"][TASK]["outcomes"][0]["cpu_s"] = 12345.0  # An attempt that is made again would not have it.
    record.write_text(json.dumps(stored))
    second = run(["libero"], tasks=[TASK], attempts=2, processes=1, record=record)
    assert first.rows[0]["attempts"] == 1
    assert second.rows[0]["attempts"] == 2
    assert second.rows[0]["cpu_s"] > 6000
    with pytest.raises(InputError, match="a record of pack libero, robot fr3, seed 0, not of"):
        run(["libero"], tasks=[TASK], seed=1, attempts=1, processes=1, record=record)
