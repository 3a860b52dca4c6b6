"""`handloom object show` writes a sheet of variants; `handloom list objects` says what there is."""

import re

import numpy as np
import pytest
from PIL import Image

from handloom.cli.main import BAD_INPUT, DONE, main
from handloom.objects import category_ranges, make_object, object_categories


def test_show_writes_a_sheet_of_variants_and_names_it(tmp_path, capsys):
    file = tmp_path / "pictures" / "mug.png"
    assert main(["object", "show", "mug", "-o", str(file), "--count", "3", "--size", "64"]) == DONE
    assert capsys.readouterr().out.splitlines()[-1] == str(file)
    picture = np.asarray(Image.open(file))
    assert picture.shape[1] > 2 * 64
    assert picture.std() > 10


def test_show_prints_what_a_task_can_choose_how_large_it_gets_and_whether_it_can_be_grasped(tmp_path, capsys):
    sheet = ["--count", "1", "--size", "48", "-o", str(tmp_path / "sheet.png")]
    assert main(["object", "show", "cube", *sheet]) == DONE
    printed = capsys.readouterr().out
    edge = next(line.split() for line in printed.splitlines() if line.split()[0] == "edge")
    low, high = float(edge[1]), float(edge[3])
    assert make_object("cube", rng=np.random.default_rng(0), parameters={"edge": low}).extent[0] == pytest.approx(
        low, abs=2e-3
    )
    assert low < high < 0.2
    assert re.search(r"^  color +.*red", printed, re.MULTILINE)
    sizes = re.search(r"^size: +(\d+)-(\d+) x", printed, re.MULTILINE)
    assert sizes is not None
    assert 1000 * low - 2 <= int(sizes[1]) <= int(sizes[2]) <= 1000 * high + 2
    assert re.search(r"^grasps: +\d+ by fr3 \(opens 80 mm\)$", printed, re.MULTILINE)
    assert main(["object", "show", "drawer_cabinet", *sheet]) == DONE
    printed = capsys.readouterr().out
    assert "joints drawer_" in printed
    assert "grasps:  none by fr3 (opens 80 mm): it cannot be picked" in printed
    assert main(["object", "show", "bowl", "--robot", "split_aloha", *sheet]) == DONE
    printed = capsys.readouterr().out
    assert re.search(
        r"^grasps: +none across it by split_aloha \(opens 100 mm\); \d+ of its rim,", printed, re.MULTILINE
    )


def test_every_category_says_what_its_parameters_are_drawn_from():
    for category in object_categories():
        ranges = category_ranges(category, draws=2)
        taken = make_object(category, rng=np.random.default_rng(0)).parameters
        assert set(taken) - {"scale", "up"} <= set(ranges.parameters), category
        for name, offer in ranges.parameters.items():
            assert offer.words or offer.low <= offer.high, (category, name)
            if name in taken and not offer.words:
                assert offer.low - 1e-3 <= float(taken[name]) <= offer.high + 1e-3, (category, name)
        assert np.all(ranges.smallest > 0), category


def test_show_with_joints_draws_and_prints_the_keypoints(tmp_path, capsys):
    plain, marked = tmp_path / "plain.png", tmp_path / "marked.png"
    sheet = ["object", "show", "drawer_cabinet", "--count", "1", "--size", "64"]
    assert main([*sheet, "--output", str(plain)]) == DONE
    assert main([*sheet, "--joints", "--output", str(marked)]) == DONE
    assert plain.read_bytes() != marked.read_bytes()
    printed = capsys.readouterr().out
    assert "slide, 0 to" in printed
    assert "contact axis" in printed
    assert main(["object", "show", "mug", "--joints", "--output", str(plain)]) == BAD_INPUT
    assert "mug has no joints" in capsys.readouterr().err


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


def test_import_reports_what_became_of_a_file_and_draws_it(tmp_path, capsys):
    file = tmp_path / "stool.xml"
    file.write_text(
        "<mujoco><worldbody><light pos='0 0 1'/><body name='stool'>"
        "<geom type='cylinder' size='.15 .01' pos='0 0 .3'/><geom type='cylinder' size='.03 .15' pos='0 0 .15'/>"
        "</body></worldbody></mujoco>"
    )
    picture = tmp_path / "stool.png"
    assert main(["object", "import", str(file), "--scale", "0.5", "-o", str(picture), "--size", "48"]) == DONE
    out = capsys.readouterr().out
    assert "dropped    1 light" in out
    assert "stool: 150 x 150 x 155 mm" in out
    assert np.asarray(Image.open(picture)).shape == (48, 48, 3)


def test_importing_a_missing_file_is_bad_input(tmp_path, capsys):
    assert main(["object", "import", str(tmp_path / "nothing.obj")]) == BAD_INPUT
    assert "no asset file 'nothing.obj'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("category", "said"),
    [("mug", "its x axis, as it has no front: the side of its handle"), ("cube", "its x axis, as it has no front")],
)
def test_show_says_which_side_facing_turns(category, said, tmp_path, capsys):
    assert main(["object", "show", category, "--count", "1", "--size", "48", "-o", str(tmp_path / "sheet.png")]) == DONE
    assert f"facing:  turns {said}\n" in capsys.readouterr().out
