"""Contact sheets and PNG files."""

import numpy as np
import pytest
from PIL import Image

from handloom.errors import FileError, InputError
from handloom.render import contact_sheet, write_png


def test_a_contact_sheet_shows_every_picture_unchanged():
    images = [np.full((20, 30, 3), 40 * k, np.uint8) for k in range(1, 6)]
    sheet = contact_sheet(images, [f"picture {k}" for k in range(5)], columns=3)
    for image in images:
        assert np.sum(np.all(sheet == image[0, 0], axis=-1)) >= 20 * 30
    assert sheet.shape[2] == 3


def test_a_contact_sheet_needs_pictures_and_matching_labels():
    with pytest.raises(InputError, match="at least one image"):
        contact_sheet([])
    with pytest.raises(InputError, match="one label per image, got 1 and 2"):
        contact_sheet([np.zeros((4, 4, 3), np.uint8)], ["a", "b"])


def test_a_png_comes_back_as_it_was_written(tmp_path):
    image = np.random.default_rng(0).integers(0, 256, (13, 17, 3), dtype=np.uint8)
    path = write_png(tmp_path / "new" / "folder" / "a.png", image)
    assert np.array_equal(np.asarray(Image.open(path)), image)


def test_a_path_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="cannot write the image"):
        write_png(tmp_path / "file" / "a.png", np.zeros((2, 2, 3), np.uint8))


def test_images_of_different_sizes_get_one_height_in_a_sheet() -> None:
    small, large = np.full((20, 20, 3), 200, np.uint8), np.full((60, 100, 3), 90, np.uint8)
    sheet = contact_sheet([small, large, small, large], columns=2)
    assert sheet.shape == (2 * 60 + 3 * 6, 60 + 100 + 3 * 6, 3)
    assert (sheet[6:66, 6:66] == 200).all()


def test_a_long_caption_continues_on_the_next_line_within_its_own_picture():
    images = [np.zeros((60, 150, 3), np.uint8)] * 2
    long = "episode 0  front  not_lasting_carried_by: the mug no longer rests on the coaster and lies beside it"
    short, wrapped = (contact_sheet(images, labels, columns=2) for labels in (["one", "two"], [long, ""]))
    assert wrapped.shape[0] > short.shape[0]
    assert wrapped.shape[1] == short.shape[1]
    paper = wrapped[0, 0]
    assert np.all(wrapped[70:, 160:] == paper), "nothing is written below the second picture"
    assert np.any(wrapped[88:, :156] != paper), "the caption has several lines"
    whole = contact_sheet(images, ["word " * 400, ""], columns=2)
    assert whole.shape[0] < 200, "very long captions are cut"
