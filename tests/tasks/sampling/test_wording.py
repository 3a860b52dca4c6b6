"""The labels of sub-tasks name the objects of the episode."""

import numpy as np
import pytest

from handloom.skills import SKILLS
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.tasks.sampling.wording import WORDINGS, faults_of_sentence, told_apart, with_words
from handloom.values import ObjectInstance

TEXT = """
base: {base}
skills:
  - franka:
      - left:
          - {{name: pick, objects: [cube]}}
          - {{name: place, objects: [cube, plate], instruction: "Drop the {{cube}} on the {{plate}} by the cube tray."}}
          - {{name: home}}
"""


@pytest.fixture
def task(tmp_path):
    plain = tmp_path / "base.yaml"
    text = load_task("fr3_pick_place").path.read_text()
    plain.write_text("\n".join(line[4:] for line in text.splitlines() if line.startswith("    ")))
    file = tmp_path / "task.yaml"
    file.write_text(TEXT.format(base=plain))
    return load_task(file)


def labels(task, episode: int) -> list[str]:
    stages = worded_skills(task, sample_task(task, 0, episode))
    return [skill.instruction for skill in stages[0]["franka"][0]["left"]]


def test_names_are_replaced_by_what_the_objects_are(task):
    instance = sample_task(task, 0, 0)
    words = {thing.name: thing.words for thing in instance.objects}
    pick, place, home = labels(task, 0)
    assert words["cube"] in pick
    assert place == f"Drop the {words['cube']} on the {words['plate']} by the cube tray."
    assert home in WORDINGS["home"]


def test_wordings_vary_and_repeat_for_a_seed(task):
    assert labels(task, 3) == labels(task, 3)
    verbs = {labels(task, episode)[0].split()[0] for episode in range(12)}
    assert len(verbs) > 1


def test_every_skill_that_runs_has_words():
    assert set(SKILLS) <= set(WORDINGS)


def obj(name: str, words: str, x: float = 0.0, y: float = 0.0) -> ObjectInstance:
    return ObjectInstance(name=name, category="cube", words=words, position=(x, y, 0.0))


def test_a_bare_name_is_replaced_only_where_it_can_be_no_english_word():
    objects = [obj("mug", "blue mug"), obj("place", "brown mat"), obj("cup_2", "red cup")]
    text = "Place the {mug} on the mug tree, then the cup_2 at a place."
    assert with_words(text, objects) == "Place the blue mug on the mug tree, then the red cup at a place."


def test_objects_of_equal_words_are_told_apart_as_the_robot_sees_them():
    robot = np.eye(4)  # x ahead, y left
    beside = told_apart([obj("a", "gray plate", 0.3, -0.2), obj("b", "gray plate", 0.3, 0.2)], robot)
    assert [o.words for o in beside] == ["right gray plate", "left gray plate"]
    behind = told_apart([obj("a", "gray plate", 0.5), obj("b", "gray plate", 0.2), obj("c", "red plate")], robot)
    assert [o.words for o in behind] == ["far gray plate", "near gray plate", "red plate"]
    row = told_apart([obj(n, "red cube", 0.3, y) for n, y in zip("abcd", (0.3, 0.1, -0.1, -0.3), strict=True)], robot)
    assert [o.words.split()[0] for o in row] == ["left", "second", "third", "right"]


@pytest.mark.parametrize(
    "text",
    [
        "Hang the blue mug on the blue mug black mug tree.",
        "Set the plate on the place brown place mat.",
        "Put the {cube} on the plate.",
        "Put the cube_left on the plate.",
        "Miss the purple cube.",
        "put the cube on the plate.",
        "Put the cube on the plate",
        "Take a orange cube.",
        "Put the  cube on the plate .",
    ],
)
def test_corrupt_sentences_are_found(text: str):
    assert faults_of_sentence(text)
