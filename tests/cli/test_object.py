"""`handloom object show` writes a sheet of variants; `handloom list objects` says what there is."""

import numpy as np
from PIL import Image

from handloom.cli.main import BAD_INPUT, DONE, main
from handloom.objects import object_categories


def test_show_writes_a_sheet_of_variants_and_names_it(tmp_path, capsys):
    file = tmp_path / "pictures" / "mug.png"
    assert main(["object", "show", "mug", "-o", str(file), "--count", "3", "--size", "64"]) == DONE
    assert capsys.readouterr().out.strip() == str(file)
    picture = np.asarray(Image.open(file))
    assert picture.shape[1] > 2 * 64
    assert picture.std() > 10


def test_other_seeds_show_other_variants(tmp_path):
    files = [tmp_path / f"{seed}.png" for seed in (0, 1)]
    for seed, file in enumerate(files):
        main(["object", "show", "apple", "-o", str(file), "--count", "1", "--size", "48", "--seed", str(seed)])
    assert files[0].read_bytes() != files[1].read_bytes()


def test_an_unknown_object_is_bad_input(capsys):
    assert main(["object", "show", "mugg"]) == BAD_INPUT
    assert "did you mean 'mug'?" in capsys.readouterr().err


def test_list_objects_names_every_category_with_its_words(capsys):
    assert main(["list", "objects"]) == DONE
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(object_categories())
    assert any("joints: door" in line for line in lines)
