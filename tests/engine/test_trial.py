"""How many scenes ``check`` looks at, and when it calls a task wrong."""

from types import SimpleNamespace

import pytest

from handloom.engine import trial
from handloom.engine.trial import Try, better_than, fails, in_words, of_places, tries_of, verdict, verdict_of
from handloom.tasks import load_task
from handloom.values import Failure, FunnelStage

FAILURE = Failure(stage=FunnelStage.PLAN, reason="no_grasp", detail="")


@pytest.mark.parametrize(
    ("outcomes", "count", "called"),
    [
        ("+++++", 5, "ok"),  # Half of the attempts at a task that succeeds half of the time would do this in 3 %.
        ("---", 3, "wrong"),
        ("+-+" + "+++++", 8, "ok"),
        ("+++-" + "-++", 6, "unsure"),  # Two failures: not ok; four successes: not wrong, whatever follows.
        ("+--" + "---", 6, "wrong"),
        ("-+-+-+-+", 8, "unsure"),
        ("+++-" + "----", 8, "wrong"),  # The expert succeeds in 25 % of the attempts, but in the first three.
    ],
)
def test_scenes_are_looked_at_until_the_rest_could_not_change_the_verdict(monkeypatch, outcomes, count, called):
    def tried(task, seed, episode, **_):
        return Try(episode, None if outcomes[episode] == "+" else FAILURE)

    monkeypatch.setattr(trial, "_try", tried)
    tries = tries_of(None)  # type: ignore[arg-type]
    assert len(tries) == count
    assert verdict_of(tries) == called
    assert fails(tries) is (called == "wrong")


@pytest.mark.parametrize(
    ("good", "tries", "called"), [(1, 1, "unsure"), (3, 3, "ok"), (2, 3, "unsure"), (0, 1, "wrong")]
)
def test_few_tries_are_believed_less(good, tries, called):
    assert verdict(good, tries) == called


def test_every_try_is_told_with_how_many_there_may_be(monkeypatch):
    monkeypatch.setattr(trial, "_try", lambda task, seed, episode, **_: Try(episode, FAILURE if episode == 1 else None))
    told = []
    tries_of(None, on_try=lambda one, most: told.append((one.episode, most)))  # type: ignore[arg-type]
    assert told == [(episode, 8) for episode in range(8)]


@pytest.mark.parametrize(("outcomes", "best", "made", "good"), [("+++", 0, 3, 3), ("-++", 2, 1, 0), ("+-+", 1, 3, 2)])
def test_a_proposal_that_cannot_be_the_best_is_given_up(monkeypatch, outcomes, best, made, good):
    tried = []

    def one(task, seed, episode, **_):
        tried.append(episode)
        return Try(episode, None if outcomes[episode] == "+" else FAILURE)

    monkeypatch.setattr(trial, "_try", one)
    assert better_than(None, 3, best) == good  # type: ignore[arg-type]
    assert len(tried) == made


def test_other_regions_are_sought_where_most_failures_had_no_plan():
    dropped = Failure(stage=FunnelStage.EXECUTE, reason="not_held", detail="")
    assert of_places([Try(0, FAILURE), Try(1, dropped), Try(2, None)])
    assert not of_places([Try(0, FAILURE), Try(1, dropped), Try(2, dropped)])


def test_what_was_put_elsewhere_is_told():
    task = load_task("fr3_pick_cube")
    (line,) = in_words(task, [Try(0, None), Try(1, None)])
    assert line.startswith("the expert succeeded in 2 of 2 tries, so expect 34 to 100 % of the attempts of a run")
    _, told = in_words(task, [Try(0, None), Try(1, None, layout=2)])
    assert "regions: in 1 of 2 tries the objects were put elsewhere in their regions" in told


def test_other_regions_are_tried_without_putting_anything_elsewhere(monkeypatch):
    given = []

    def acted(task, seed, episode, watch, *, layouts):
        given.append(layouts)
        return None, SimpleNamespace(failure=None, instance=SimpleNamespace(layout=0))

    monkeypatch.setattr(trial, "simulate", acted)
    assert better_than(None, 2, 0) == 2  # type: ignore[arg-type]
    assert given == [1, 1]
