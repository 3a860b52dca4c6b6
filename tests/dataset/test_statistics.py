"""Statistics agree with NumPy over all frames together."""

import numpy as np
import pytest

from handloom.dataset.lerobot.statistics import QUANTILES, ImageHistogram, column_statistics


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_columns_agree_with_numpy(dtype: str) -> None:
    values = (np.random.default_rng(0).normal(size=(313, 3)) * 5).astype(dtype)
    statistics = column_statistics(values)
    wide = values.astype(np.float64)
    np.testing.assert_array_equal(statistics.min, wide.min(axis=0))
    np.testing.assert_array_equal(statistics.max, wide.max(axis=0))
    np.testing.assert_allclose(statistics.mean, wide.mean(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(statistics.std, wide.std(axis=0), rtol=1e-12)
    for name, level in QUANTILES.items():
        np.testing.assert_array_equal(statistics.quantiles[name], np.quantile(wide, level, axis=0))
    assert statistics.count == 313


def test_a_constant_column_has_no_deviation() -> None:
    statistics = column_statistics(np.full((1000, 1), 0.1, np.float32))
    assert statistics.std[0] == 0.0
    assert statistics.mean[0] == np.float64(np.float32(0.1))


def test_histograms_give_the_quantiles_of_all_counted_pixels() -> None:
    rng = np.random.default_rng(1)
    images = [np.clip(rng.normal(120 + 30 * k, 40, (20, 30, 3)), 0, 255).astype(np.uint8) for k in range(4)]
    parts = []
    for group in (images[:1], images[1:]):
        part = ImageHistogram(channels=3)
        for image in group:
            for _ in range(ImageHistogram.FRAME_STEP):
                part.add(image)
        parts.append(ImageHistogram.from_json(part.to_json()))
    parts[0].merge(parts[1])
    statistics = parts[0].statistics(np.arange(256) / 255)
    step = ImageHistogram.PIXEL_STEP
    pixels = np.concatenate([image[::step, ::step].reshape(-1, 3) for image in images]) / 255
    np.testing.assert_array_equal(statistics.min, pixels.min(axis=0))
    np.testing.assert_array_equal(statistics.max, pixels.max(axis=0))
    np.testing.assert_allclose(statistics.mean, pixels.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(statistics.std, pixels.std(axis=0), rtol=1e-12)
    for name, level in QUANTILES.items():
        np.testing.assert_allclose(statistics.quantiles[name], np.quantile(pixels, level, axis=0), rtol=1e-12)
    assert statistics.count == 4
    assert np.shape(statistics.as_lists(image=True)["q50"]) == (3, 1, 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 2), (7, 1), (8191, 8), (8192, 2), (20001, 7), (30000, 1)])
def test_statistics_have_the_bits_of_the_plain_formulas(shape: tuple[int, int], dtype: str) -> None:
    values = (100 * np.random.default_rng(3).normal(size=shape)).astype(dtype)
    numbers = values.astype(np.int64) if dtype == "bool" else values
    centred = numbers.astype(np.float64) - numbers.min(axis=0).astype(np.float64)
    mean = centred.mean(axis=0)
    found = column_statistics(values)
    assert np.array_equal(found.mean, mean + numbers.min(axis=0))
    assert np.array_equal(found.std, np.sqrt(np.square(centred - mean).mean(axis=0)))
    for name, level in QUANTILES.items():
        assert np.array_equal(found.quantiles[name], np.quantile(numbers.astype(np.float64), level, axis=0))
