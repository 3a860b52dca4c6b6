"""How many scenes ``check`` looks at, and when it calls a task wrong."""

import pytest

from handloom.engine import trial
from handloom.engine.trial import Try, fails, tries_of
from handloom.values import Failure, FunnelStage

FAILURE = Failure(stage=FunnelStage.PLAN, reason="no_grasp", detail="")


@pytest.mark.parametrize(
    ("outcomes", "count", "wrong"),
    [
        ("+++", 3, False),
        ("---", 3, True),
        ("+-+" + "+++++" + "+", 9, False),  # Eight of twelve are enough, whatever follows.
        ("+--" + "---", 6, True),  # Five of twelve failed: the rest cannot make up for it.
        ("++-" + "-+-+-+-", 10, True),
    ],
)
def test_scenes_are_looked_at_until_the_rest_could_not_change_the_verdict(monkeypatch, outcomes, count, wrong):
    def tried(task, seed, episode):
        return Try(episode, None if outcomes[episode] == "+" else FAILURE)

    monkeypatch.setattr(trial, "_try", tried)
    tries = tries_of(None, 3)  # type: ignore[arg-type]
    assert len(tries) == count
    assert fails(tries) is wrong
