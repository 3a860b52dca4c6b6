"""A container that is thrown with what was put into it is no success; one that is meant to move is."""

import numpy as np
from tests.judging.conftest import Make, put

from handloom.judging.moved_containers import container_moved
from handloom.values import Check, SkillSpan

AWAY = np.array([0.17, 0.0, 0.0])


def span(skill: str, *objects: str, end: int, checks: tuple[Check, ...] = ()) -> SkillSpan:
    return SkillSpan(
        robot="franka", arm="left", skill=skill, objects=objects, start=0, end=end, success=True, checks=checks
    )


def put_in(end: int) -> SkillSpan:
    inside = Check(name="in_cavity", arguments={"object": "cube", "target": "bowl", "part": None})
    return span("place", "cube", "bowl", end=end, checks=(inside,))


def moved(scene, name: str, by: np.ndarray) -> np.ndarray:
    put(scene, name, scene.object_pose(name)[:3, 3] + by)
    return scene.world.save_state()


def test_a_container_that_moves_by_more_than_5_cm_after_something_was_put_in_fails(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl")
    states = [scene.world.save_state(), moved(scene, "bowl", AWAY / 5.0)]
    assert container_moved(scene, [put_in(0)], states) is None, "by 3 cm"
    states.append(moved(scene, "bowl", AWAY * 4.0 / 5.0))
    failure = container_moved(scene, [put_in(0)], states)
    assert failure is not None
    assert (failure.reason, failure.detail) == ("container_moved", "bowl moved by 0.17 m after cube was put into it")
    assert container_moved(scene, [put_in(2)], states) is None, "it was moved before"


def test_a_container_that_a_skill_moves_may_move(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl")
    states = [scene.world.save_state(), moved(scene, "bowl", AWAY)]
    assert container_moved(scene, [put_in(0), span("pick", "bowl", end=1)], states) is None


def test_a_container_that_rides_on_what_a_skill_moves_may_move(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl", tray="category: tray")
    for name in ("bowl", "tray"):
        moved(scene, name, np.zeros(3))
    states = [scene.world.save_state()]
    for name in ("bowl", "tray"):
        moved(scene, name, AWAY)
    states.append(scene.world.save_state())
    assert container_moved(scene, [put_in(0), span("pick", "tray", end=1)], states) is None
