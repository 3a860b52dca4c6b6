"""Messages say where an object is instead of its place, and which hand took it away during which skill."""

import numpy as np
from tests.judging.conftest import TABLE, Make, put

from handloom.judging.lasting import not_lasting
from handloom.judging.wording.measured import unmet
from handloom.scene import Scene
from handloom.scene.measures import world_box
from handloom.values import Check, SkillSpan

IN_BOWL = Check(name="in_cavity", arguments={"object": "cube", "target": "bowl", "part": None})


def make(table: Make) -> Scene:
    return table(cube="category: cube", bowl="category: bowl")


def span(skill: str, start: int, end: int, *checks: Check) -> SkillSpan:
    robot, arm = "franka", "left"
    return SkillSpan(
        robot=robot, arm=arm, skill=skill, objects=("cube",), start=start, end=end, success=True, checks=checks
    )


def test_a_compact_object_beside_its_container_is_told_with_its_distance(table: Make):
    scene = make(table)
    put(scene, "cube", (world_box(scene, "bowl")[0, 0] - 0.17, 0.3, TABLE + 0.03), settle=0.5)
    side = world_box(scene, "cube")
    gap = 100.0 * float(world_box(scene, "bowl")[0, 0] - side[1, 0])
    assert unmet(scene, IN_BOWL) == f"cube is in bowl (it lies on table, {gap:.0f} cm from bowl)"


def test_an_object_that_hangs_in_the_air_is_carried_by_nothing(table: Make):
    scene = make(table)
    put(scene, "cube", (0.0, 0.0, TABLE + 0.4))
    assert unmet(scene, IN_BOWL) == "cube is in bowl (nothing carries it)"


def test_an_object_beside_what_should_carry_it_is_told_with_its_distance(table: Make):
    scene = make(table)
    put(scene, "cube", (world_box(scene, "bowl")[0, 0] - 0.17, 0.3, TABLE + 0.03), settle=0.5)
    carried = Check(name="carried_by", arguments={"object": "cube", "target": "bowl", "part": None})
    assert "(it lies on table, 1" in unmet(scene, carried)


def test_the_hand_and_the_skill_that_took_a_placed_object_away_are_told(table: Make):
    scene = make(table)
    (robot,) = scene.robots.values()
    arm = robot.arms[0]
    start = np.append(world_box(scene, "cube").mean(axis=0)[:2], TABLE + 0.02)
    at_hand = (arm.T_world_base @ arm.chain().T_base_tool(arm.joints) @ arm.spec.T_tool_tcp)[:3, 3]
    finger = scene.world.body_pose(arm.finger_bodies[0])[:3, 3]
    states = []
    for place in (start, start, start, at_hand + 0.5 * (finger - at_hand), (start[0] + 0.2, start[1], TABLE + 0.02)):
        put(scene, "cube", place)
        states.append(scene.world.save_state())
    over = Check(name="placed_at", arguments={"object": "cube", "low": start[:2] - 0.03, "high": start[:2] + 0.03})
    timeline = (span("place", 0, 2, over), span("close", 2, 4))
    failure = not_lasting(scene, timeline, states)
    assert failure is not None
    assert "cube was lifted by " in failure.detail
    assert "by franka/left during close" in failure.detail
    assert scene.world.save_state().tobytes() == states[-1].tobytes()
    untouched = not_lasting(scene, timeline, [*states[:3], states[4]])
    assert untouched is not None
    assert "during" not in untouched.detail
