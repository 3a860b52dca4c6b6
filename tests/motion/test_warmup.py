"""Warming up compiles everything and says what it is doing."""

from handloom.motion.warmup import warmup


def test_warmup_reports_every_step_and_ends_complete():
    steps = []
    warmup(on_step=lambda what, done, total: steps.append((what, done, total)))
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert steps[-1] == ("done", len(steps) - 1, len(steps) - 1)
