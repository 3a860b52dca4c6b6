"""The labels of sub-tasks name the objects of the episode."""

import pytest

from handloom.skills import SKILLS
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.tasks.sampling.wording import WORDINGS

TEXT = """
base: {base}
skills:
  - franka:
      - left:
          - {{name: pick, objects: [cube]}}
          - {{name: place, objects: [cube, plate], instruction: "Drop the cube on the {{plate}}, which is {{cube}}."}}
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
    assert place == f"Drop the {words['cube']} on the {words['plate']}, which is {words['cube']}."
    assert home in WORDINGS["home"]


def test_wordings_vary_and_repeat_for_a_seed(task):
    assert labels(task, 3) == labels(task, 3)
    verbs = {labels(task, episode)[0].split()[0] for episode in range(12)}
    assert len(verbs) > 1


def test_every_skill_that_runs_has_words():
    assert set(SKILLS) <= set(WORDINGS)
