"""The maker of the table of worth lets the right job in first, and does not do what is done."""

import json
import re
import sys
import threading
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "train"


@pytest.fixture(scope="module")
def worth():
    if str(EXAMPLE) not in sys.path:
        sys.path.insert(0, str(EXAMPLE))
    import worth

    return worth


def test_the_lowest_rank_that_waits_is_next(worth) -> None:
    queue, served = worth.Queue(1), []

    def job(rank: int) -> None:
        with queue.place(rank):
            served.append(rank)

    with queue.place(0):
        threads = [threading.Thread(target=job, args=(rank,)) for rank in (2, 1, 0)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 5.0
        while len(queue._waiting) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert served == [0, 1, 2]


def test_a_row_that_is_known_is_not_made_again(worth, tmp_path: Path) -> None:
    recipe = worth.Recipe(demonstrations=(5,), see=("pictures",))

    def workshop():
        return worth.Workshop(recipe, tmp_path, workers=1, jobs=1, trainings=1, until=time.monotonic(), keep=True)

    first = workshop()
    row = first._row("no_such_task", 0.02, 5, "pictures")
    first._add(row | {"successes": 1, "scenes": 1, "failure_reasons": {}})
    second = workshop()
    second.until = time.monotonic() + 60.0
    second.task("no_such_task")  # It would fail to make demonstrations.
    assert [known["recipe"] for known in second.table] == [row["recipe"]]
    assert not (tmp_path / "no_such_task" / "log.txt").exists()


def test_a_task_that_fails_does_not_stop_the_others(worth, tmp_path: Path) -> None:
    recipe = worth.Recipe(demonstrations=(1,), see=("pictures",))
    made = worth.Workshop(recipe, tmp_path, workers=1, jobs=1, trainings=1, until=time.monotonic() + 60.0, keep=True)
    made.task("no_such_task")
    assert made.table == []
    assert "no_such_task" in (tmp_path / "no_such_task" / "log.txt").read_text()


def test_less_room_means_smaller_disturbances(worth) -> None:
    def suited(task: str) -> float:
        return next(push for name, push in worth.DISTURB.items() if task.startswith(name))

    assert suited("so101_put_in_tray") < suited("fr3_pick_place")


def test_the_choices_differ_in_their_words_and_not_in_their_scenes(worth) -> None:
    from handloom.tasks import load_task, sample_task

    scenes, sentences = [], set()
    files = sorted((EXAMPLE / "choices").glob("*/choose.yaml"))
    for file in files:
        instance = sample_task(load_task(str(file)), seed=5, episode=0)
        scenes.append([(obj.name, tuple(obj.position)) for obj in instance.objects])
        sentences.add(instance.instruction)
    assert len(files) == len(sentences) == 4
    assert all(scene == scenes[0] for scene in scenes)


def test_unseen_sentences_are_not_among_those_of_the_task(worth) -> None:
    from handloom.tasks import load_task

    for task, sentences in json.loads((EXAMPLE / "unseen.json").read_text()).items():
        config = load_task(str(EXAMPLE / task) if task.endswith(".yaml") else task).config
        known = {config.data.language_instruction, *config.data.paraphrases}
        assert len(set(sentences)) >= 3
        assert not known & set(sentences), task
        for sentence in sentences:
            assert set(re.findall(r"{(\w+)}", sentence)) <= {obj.name for obj in config.objects}
