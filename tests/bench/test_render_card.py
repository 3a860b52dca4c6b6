"""The benchmark of cards, with what stands in for one."""

import sys
from pathlib import Path

import pytest

from handloom.bench import render_card
from handloom.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "render" / "cuda"))
from lanes import COMPILER, Lanes


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_every_row_says_how_fast_and_that_the_pictures_agree(monkeypatch):
    for name, value in (("FRAMES", 2), ("COMPARED", 2), ("ROUNDS", 1), ("SCENES", 1), ("LEAST", 0.1)):
        monkeypatch.setattr(render_card, name, value)
    rows = render_card.run(frames=2, machine=Lanes(), size=32).rows
    assert len(rows) == 12
    assert all(row["fps"] > 0 for row in rows)
    compared = [row for row in rows if "ids_equal_percent" in row]
    assert [row["ids_equal_percent"] for row in compared] == [100.0] * 7
    assert [row["mean_color_error"] for row in compared] == [0.0] * 7


@pytest.mark.parametrize(
    "words", [["render", "--backend", "cuda"], ["ik", "--device", "cuda"], ["plan", "--device", "cuda"]]
)
def test_without_a_card_the_benchmarks_say_what_to_install(words, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main(["bench", *words]) != 0
    assert "pip install 'handloom[gpu]'" in capsys.readouterr().err
