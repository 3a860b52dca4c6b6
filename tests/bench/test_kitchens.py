"""The benchmark of kitchens counts what is wrong with them, and times their pictures."""

import pytest

from handloom.bench.worlds.kitchens import run
from handloom.errors import InputError


@pytest.mark.slow
def test_sampled_kitchens_fit_rest_and_replay() -> None:
    kitchens, fast = run(("fast",), seeds=12, seed=4).rows
    assert kitchens["kitchens"] == 12
    assert (kitchens["overlapping"], kitchens["blocked_joints"], kitchens["restless"]) == (0, 0, 0)
    assert kitchens["replayed"] == 1.0
    assert kitchens["objects_median"] > 45
    assert fast["fps_per_core"] > 0.0


def test_no_kitchens_cannot_be_measured() -> None:
    with pytest.raises(InputError, match="at least 1"):
        run(seeds=0)
