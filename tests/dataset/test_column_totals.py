"""Totals of columns: the same bits however episodes are cut, and quantiles to a fixed fraction of the value."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from handloom.dataset.lerobot.statistics import QUANTILES, column_statistics
from handloom.dataset.merging.column_totals import ColumnTotals
from handloom.errors import FileError

DTYPES = {"action": "float32", "wide": "float64", "index": "int64", "flag": "bool", "still": "float32"}
WIDTHS = {"action": 4, "wide": 2, "index": 1, "flag": 2, "still": 1}


def episode(number: int) -> dict[str, NDArray[Any]]:
    rng, frames = np.random.default_rng(number), 20 + number % 7
    return {
        "action": np.cumsum(rng.normal(size=(frames, 4)), axis=0).astype(np.float32) * 0.05,
        "wide": rng.normal(size=(frames, 2)) * 10.0 ** rng.integers(-9, 9, size=(1, 2)),
        "index": np.arange(frames)[:, None] + 30 * number - 500,
        "flag": rng.random((frames, 2)) < 0.3,
        "still": np.full((frames, 1), 0.1, np.float32),
    }


def added(totals: ColumnTotals, numbers: range) -> ColumnTotals:
    for number in numbers:
        values = episode(number)
        totals.add({name: column_statistics(value).as_lists() for name, value in values.items()})
        totals.tally(values)
    return totals


@pytest.fixture(scope="module")
def whole() -> ColumnTotals:
    return added(ColumnTotals(DTYPES, WIDTHS), range(60))


def test_quantiles_are_true_to_a_512th_of_the_value(whole: ColumnTotals) -> None:
    for name, found in whole.statistics().items():
        values = np.concatenate([episode(number)[name] for number in range(60)])
        exact = column_statistics(values)
        np.testing.assert_array_equal(found.min, exact.min)
        np.testing.assert_array_equal(found.max, exact.max)
        np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found.std, exact.std, rtol=1e-11)
        assert found.count == exact.count
        for level in QUANTILES:
            np.testing.assert_allclose(found.quantiles[level], exact.quantiles[level], rtol=1 / 512, atol=2**-20)


def test_a_constant_has_its_own_mean_and_no_deviation(whole: ColumnTotals) -> None:
    found = whole.statistics()["still"]
    value = float(np.float32(0.1))
    assert (found.mean[0], found.std[0]) == (value, 0.0)
    assert all(level[0] == value for level in found.quantiles.values())


@pytest.mark.parametrize("cut", [1, 17, 59])
def test_totals_that_were_stored_and_continued_have_the_same_bytes(
    whole: ColumnTotals, tmp_path: Path, cut: int
) -> None:
    added(ColumnTotals(DTYPES, WIDTHS), range(cut)).write(tmp_path / "part.parquet")
    added(ColumnTotals.read(tmp_path / "part.parquet"), range(cut, 60)).write(tmp_path / "all.parquet")
    whole.write(tmp_path / "whole.parquet")
    assert (tmp_path / "all.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_totals_of_parts_add_up(whole: ColumnTotals) -> None:
    first = added(ColumnTotals(DTYPES, WIDTHS), range(25))
    first.merge(added(ColumnTotals(DTYPES, WIDTHS), range(25, 60)))
    assert not list(first.differs_from(whole))
    for name, found in first.statistics().items():
        wanted = whole.statistics()[name]
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found.std, wanted.std, rtol=1e-12)
        assert all(np.array_equal(found.quantiles[level], wanted.quantiles[level]) for level in QUANTILES)
    joined = ColumnTotals.of_parts({"index": whole, "action": first})
    assert list(joined.statistics()) == ["index", "action"]
    assert np.array_equal(joined.statistics()["index"].max, whole.statistics()["index"].max)


def test_numbers_that_are_not_finite_are_refused() -> None:
    totals, values = ColumnTotals({"a": "float32"}, {"a": 1}), np.array([[1.0], [np.nan]], np.float32)
    totals.tally({"a": values})
    with pytest.raises(FileError, match="'a' contains numbers that are not finite"):
        totals.statistics()
