"""Scenes in which crowded objects find a place, and the count of those in which they do not."""

import pytest

from handloom.cli.main import main
from handloom.tasks import SamplingError, layout_rehearsal, load_task, sample_task
from handloom.tasks.layout_rehearsal import ENOUGH, SCENES, Layouts, sampled_layouts

EGG = """robot: so101
objects:
  - {name: egg, category: egg}
  - {name: scale, category: kitchen_scale}
  - {name: egg_box, category: egg_box, parameters: {columns: 3}}
skills:
  - {pick: egg}
  - {place: egg, on: scale}
  - {pick: egg}
  - {place: egg, in: egg_box}
"""
CUBE = "robot: fr3\nobjects: [{name: cube, category: cube}]\nskills: [{pick: cube}]\n"


@pytest.fixture
def crowded(tmp_path):
    (file := tmp_path / "weigh_egg.yaml").write_text(EGG)
    return load_task(file)


@pytest.mark.parametrize("episode", [6, 7])
def test_objects_that_find_no_room_at_random_are_put_where_the_hands_reach_the_largest_first(crowded, episode):
    instance = sample_task(crowded, 0, episode)
    assert {"egg", "scale", "egg_box"} <= {obj.name for obj in instance.objects}
    assert instance == sample_task(crowded, 0, episode)


def test_the_message_about_a_missing_layout_fits_a_file_without_regions(tmp_path):
    many = "".join(f"  - {{name: scale_{i}, category: kitchen_scale}}\n" for i in range(6))
    skills = "".join(f"  - {{pick: egg}}\n  - {{place: egg, on: scale_{i}}}\n" for i in range(6))
    text = f"robot: so101\nobjects:\n  - {{name: egg, category: egg}}\n{many}skills:\n{skills}"
    (file := tmp_path / "many.yaml").write_text(text)
    with pytest.raises(SamplingError, match=r"many\.yaml:[3-9]: objects\.\d: no_layout: .*came too near") as caught:
        sample_task(load_task(file), 0, 0)
    assert "widen" not in str(caught.value)
    assert "give each a region of its own (handloom check proposes some)" in str(caught.value)


def fails_in(monkeypatch, scenes):
    def sampled(task, seed, episode):
        if episode in scenes:
            raise SamplingError("no_layout", "cube had no free or stable place", where="cube.yaml:2: objects.0")
        return sample_task(task, seed, episode)

    monkeypatch.setattr(layout_rehearsal, "sample_task", sampled)


def test_scenes_without_a_layout_are_counted_until_they_are_too_many(monkeypatch, tmp_path):
    (file := tmp_path / "cube.yaml").write_text(CUBE)
    task = load_task(file)
    assert sampled_layouts(task) == Layouts(SCENES, 0)
    fails_in(monkeypatch, {5, 9})
    assert sampled_layouts(task)[:2] == (SCENES, 2)
    fails_in(monkeypatch, range(10, 24))
    layouts = sampled_layouts(task)
    assert layouts[:2] == (10 + ENOUGH, ENOUGH)
    assert layouts.in_words() == [
        "cube.yaml:2: objects.0: in 7 of 17 scenes the objects find no place (no_layout): cube had no free or stable "
        "place"
    ]


@pytest.mark.parametrize(
    ("scenes", "called"), [((4,), "ok"), ((4, 8, 12, 16, 20, 21), "unsure"), (range(4, 24), "wrong")]
)
def test_check_counts_scenes_beyond_those_of_its_tries(scenes, called, monkeypatch, tmp_path, capsys):
    (file := tmp_path / "cube.yaml").write_text(CUBE)
    monkeypatch.setattr("handloom.cli.verbs.task._regions_that_do", lambda task, tries: ["these regions would work"])
    fails_in(monkeypatch, set(scenes))
    assert main(["check", str(file), "--tries", "0"]) == (2 if called == "wrong" else 0)
    said = capsys.readouterr().out
    assert said.startswith(f"{called} ")
    assert "scenes the objects find no place" in said
    assert ("these regions would work" in said) == (called != "ok")
