"""Deeds of tasks that were written for one robot, told for another."""

from pathlib import Path

import pytest
from tests.tasks.retelling.told import SEED, retold, scene_of

from handloom.errors import InputError, NotFoundError
from handloom.scene import build_scene
from handloom.skills.deeds import make_judge
from handloom.tasks import Task, load_task, sample_task, worded_skills
from handloom.tasks.config.loading import library
from handloom.tasks.config.task_config import placed_skills
from handloom.tasks.retelling.retold_task import retold_task
from handloom.values import Check, TaskInstance
from spread import every

FIGURES = frozenset({"from_z", "start", "low", "high", "robot", "arm"})
"""Arguments of terms that say where things are, and who does it."""


def goal_of(task: Task, instance: TaskInstance) -> list[tuple[str, dict[str, object], float]]:
    def plain(term: Check) -> tuple[str, dict[str, object], float]:
        return term.name, {key: v for key, v in term.arguments.items() if key not in FIGURES}, term.seconds

    return [plain(term) for term in make_judge(build_scene(instance), worded_skills(task, instance), None).goal]


TASKS = ("fr3_pick_cube", "fr3_pick_place", "fr3_put_in_drawer", "fr3_stack_cubes", "fr3_open_drawer",
         "fr3_turn_knob", "pick_place", "put_in_drawer")  # fmt: skip


@pytest.mark.parametrize("name", every(TASKS, 2))
def test_the_other_robot_is_judged_by_the_same_goal(tmp_path, name):
    source = scene_of(name)
    task = retold(tmp_path, "genie1", source)
    assert goal_of(task, sample_task(task, SEED, 0)) == goal_of(load_task(name), source)


def test_the_same_things_are_done_in_the_same_order():
    told = retold_task(load_task("fr3_put_in_drawer"), "lift2", run=Path("out"), scenes="")
    steps = [(skill.name, skill.objects) for _, skill in placed_skills(told.config)]
    assert steps == [
        ("open", ("cabinet",)),
        ("pick", ("cube",)),
        ("place", ("cube", "cabinet")),
        ("close", ("cabinet",)),
    ]
    assert {keys[4] for keys, _ in placed_skills(told.config)} == {"nearest"}
    alone = retold_task(load_task("fr3_put_in_drawer"), "franka_robotiq85", run=Path("out"), scenes="")
    assert {keys[4] for keys, _ in placed_skills(alone.config)} == {"left"}


def test_nothing_is_left_that_only_the_hand_of_one_robot_can_follow():
    told = retold_task(load_task("fr3_pick_place"), "genie1", run=Path("out"), scenes="")
    for _, skill in placed_skills(told.config):
        written = skill.model_fields_set
        assert not written & {"filter_x_dir", "filter_y_dir", "filter_z_dir", "post_place_vector"}


@pytest.mark.parametrize(
    ("task", "robot", "why"),
    [
        ("kitchen_open_drawer", "genie1", "done in a room"),
        ("fr3_belt_pick_place", "genie1", "moves past its robot"),
        ("fr3_reach_targets", "genie1", "its skill goto__pose is written for the hand of its own robot"),
        ("handover", "fr3", "takes two arms, and the other robot has one"),
        ("lift2_handover", "genie1", "written for the two arms of one robot"),
        ("lift2_drive_open_drawer", "genie1", "drives the base of its robot"),
    ],
)
def test_what_no_other_robot_can_do_is_refused_with_the_reason(task, robot, why):
    source = load_task(task, robot="lift2") if task == "handover" else load_task(task)
    with pytest.raises(InputError, match=f"cannot be retold with .*{why}"):
        retold_task(source, robot, run=Path("out"), scenes="")


def test_a_robot_without_a_table_is_refused_with_those_that_have_one():
    with pytest.raises(NotFoundError, match="genie1"):
        retold_task(load_task("fr3_pick_place"), "gemie1", run=Path("out"), scenes="")


def test_every_task_of_the_library_can_be_told_by_another_robot_or_says_why_not():
    told, refused = [], {}
    for name in library():
        try:
            retold_task(load_task(name), "franka_robotiq85", run=Path("out"), scenes="")
            told.append(name)
        except InputError as error:
            refused[name] = str(error)
    assert {"fr3_pick_place", "fr3_put_in_drawer", "fr3_stack_cubes", "so101_put_in_tray"} <= set(told)
    assert len(told) >= 30
    assert all(text.startswith(f"{name} cannot be retold with ") for name, text in refused.items())


def test_a_task_for_two_arms_stays_as_it_is_nested():
    source = load_task("handover", robot="lift2")
    told = retold_task(source, "genie1", run=Path("out"), scenes="")
    before, after = ([(k[1], *k[3:]) for k, _ in placed_skills(task.config)] for task in (source, told))
    assert before == after
