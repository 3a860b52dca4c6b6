"""Layouts of an attempt: objects are put elsewhere in their regions where the expert has no plan, and only there."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from handloom.engine import attempt
from handloom.engine.attempt import LAYOUTS, Stopwatch, simulate
from handloom.tasks import load_task, sample_task
from handloom.values import Failure, FunnelStage, TaskInstance


@pytest.fixture(scope="module")
def task():
    return load_task("pick_cube", robot="fr3")


def unreachable(stage=FunnelStage.REACH, reason="goal_unreachable"):
    return Failure(stage=stage, reason=reason)


def acted(monkeypatch, task, failure_in):
    """Simulate with a source that fails in each layout as told; return the last record and the layouts acted in."""
    layouts = []

    def act(task, instance, watch, source):
        layouts.append(instance.layout)
        failure = failure_in(instance.layout)
        return None, SimpleNamespace(failure=failure, success=failure is None, instance=instance)

    monkeypatch.setattr(attempt, "_act", act)
    return simulate(task, 3, 0, Stopwatch())[1], layouts


def test_a_layout_has_the_same_objects_at_other_places(task):
    first, again = (sample_task(task, 3, 0, layout=layout) for layout in (0, 2))
    cube, moved = (next(o for o in scene.objects if not o.fixed) for scene in (first, again))
    assert moved.position != cube.position
    assert replace(moved, position=cube.position, quat=cube.quat) == cube
    assert (again.layout, again.instruction, again.robots) == (2, first.instruction, first.robots)
    assert TaskInstance.from_json(again.to_json()) == again
    assert "layout" not in first.to_json(), "archives of first layouts keep their form"


def test_the_expert_goes_on_to_the_first_layout_that_it_has_a_plan_for(monkeypatch, task):
    record, layouts = acted(monkeypatch, task, lambda layout: unreachable() if layout < 2 else None)
    assert record.success
    assert layouts == [0, 1, 2]


def test_a_plan_that_fails_in_physics_is_not_drawn_again(monkeypatch, task):
    record, layouts = acted(monkeypatch, task, lambda _: unreachable(FunnelStage.EXECUTE, "not_held"))
    assert not record.success
    assert layouts == [0]


def test_what_lies_within_no_layout_fails_as_in_the_first(monkeypatch, task):
    record, layouts = acted(monkeypatch, task, lambda _: unreachable())
    assert layouts == [*range(LAYOUTS)]
    assert record.instance.layout == 0


def test_an_object_without_grasps_is_not_put_elsewhere(monkeypatch, task):
    assert acted(monkeypatch, task, lambda _: unreachable(FunnelStage.GRASP, "no_grasp"))[1] == [0]


def test_tasks_of_one_robot_have_further_layouts_too(monkeypatch):
    record, layouts = acted(monkeypatch, load_task("fr3_pick_cube"), lambda layout: None if layout else unreachable())
    assert record.success
    assert layouts == [0, 1]


def test_regions_that_leave_no_choice_are_not_drawn_from_again(monkeypatch):
    task = load_task("fr3_pick_cube", overrides=["regions.1.random_config.pos_range=[[0.1, 0, 0], [0.1, 0, 0]]",
                                                 "regions.1.random_config.yaw_rotation=[0, 0]"])  # fmt: skip
    assert acted(monkeypatch, task, lambda _: unreachable())[1] == [0]


def test_what_does_not_fit_anywhere_is_not_put_elsewhere(monkeypatch, task):
    assert acted(monkeypatch, task, lambda _: unreachable(FunnelStage.PLAN, "no_cavity"))[1] == [0]
