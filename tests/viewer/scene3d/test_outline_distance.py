"""The measure of outlines can fail."""

import numpy as np
from silhouettes import FAR, outline_distance


def test_a_square_that_is_shifted_by_three_pixels_is_three_pixels_away() -> None:
    first, second = np.zeros((2, 40, 40), np.int32)
    first[10:20, 10:20], second[13:23, 10:20] = 1, 1
    assert outline_distance(first, second)[1] == 3


def test_an_object_that_only_one_of_them_shows_is_far_away() -> None:
    first, second = np.zeros((2, 40, 40), np.int32)
    first[10:12, 10:12] = 5
    assert outline_distance(first, second)[5] == FAR


def test_a_single_pixel_is_no_outline() -> None:
    first, second = np.zeros((2, 40, 40), np.int32)
    first[10, 10] = 5
    assert outline_distance(first, second)[5] == 0
