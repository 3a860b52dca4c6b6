"""The library as a whole: what it covers, and what every task of it says about itself."""

from collections import Counter

import pytest

from handloom.skills import SKILLS
from handloom.skills.configs import SKILL_CONFIGS, skill_name
from handloom.tasks import Task, library, load_task, sample_task, worded_skills
from handloom.tasks.sampling.robots import robot_source
from handloom.tasks.sampling.wording import faults_of_sentence, with_words

ROBOTS = ("fr3", "franka_robotiq85", "genie1", "lift2", "so101", "split_aloha")
"""Every robot with an arm."""


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {name: load_task(name) for name in library()}


def skills_in(stages):
    lanes = (lane for stage in stages for blocks in stage.values() for b in blocks for lane in b.values())
    return [skill for lane in lanes for skill in lane]


def skills_of(task: Task) -> list[str]:
    return [skill_name(skill.name) for skill in skills_in(task.config.skills)]


def test_there_are_at_least_twenty_tasks_and_three_for_every_robot(tasks):
    assert len(tasks) >= 20
    count = Counter(robot_source(task, entry).robot for task in tasks.values() for entry in task.config.robots)
    assert {robot: count[robot] for robot in ROBOTS if count[robot] < 3} == {}


def test_every_skill_is_used_by_a_task(tasks):
    used = {skill for task in tasks.values() for skill in skills_of(task)}
    deeds = ["click_bell", "beat_block_hammer", "shake_bottle", "lift_pot", "scan_object"]
    used |= {skill for deed in deeds for skill in skills_of(load_task(f"robotwin/{deed}"))}
    used |= set(skills_of(load_task("libero/push_the_plate_to_the_front_of_the_stove")))
    # Bare joints are nothing a person would ask for; wiping is tried on every robot by tests/oracle/verbs.py.
    assert set(SKILLS) - used == {"joint__ctrl", "wipe"}


@pytest.mark.parametrize("name", library())
def test_a_task_describes_itself_samples_and_speaks_well_in_ten_wordings(name, tasks):
    task = tasks[name]
    header = task.path.read_text().splitlines()[:3]
    assert [line.partition(":")[0] for line in header] == ["# Task", "# Randomizations", "# Success"]
    assert not task.notices
    instance = sample_task(task, 5, 0)
    assert instance.cameras
    wordings = {task.config.data.language_instruction, *task.config.data.paraphrases}
    assert len(wordings) >= 10
    spoken = [instance.instruction, *(with_words(text, instance.objects) for text in wordings)]
    spoken += [skill.instruction for skill in skills_in(worded_skills(task, instance))]
    assert {text: faults for text in spoken if (faults := faults_of_sentence(text))} == {}
    mine = [obj.words for obj in instance.objects if obj.name in {entry.name for entry in task.config.objects}]
    assert len(set(mine)) == len(mine)


def test_a_task_anywhere_inherits_a_setup_of_the_library(tmp_path):
    file = tmp_path / "mine.yaml"
    text = "base: setups/{}.yaml\nskills: [{{{}: [{{left: [{{name: home}}]}}]}}]\n"
    names = {"fr3": "franka", "franka_robotiq85": "franka"}
    for robot in ROBOTS:
        file.write_text(text.format(robot, names.get(robot, robot)))
        task = load_task(file)
        assert [robot_source(task, entry).robot for entry in task.config.robots] == [robot]
        assert len(task.config.cameras) > 1


def test_every_skill_that_a_task_can_name_runs():
    assert set(SKILL_CONFIGS) == set(SKILLS)
