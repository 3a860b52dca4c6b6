"""Contacts by name obey the laws of mechanics."""

import numpy as np
import pytest

from handloom.errors import NotFoundError
from handloom.sim import World

STACK = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast" cone="{cone}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="lower" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="2"/></body>
    <body name="upper" pos="0 0 .14"><freejoint/><geom name="top" type="box" size=".04 .04 .04" mass="1"/></body>
    <body name="aside" pos="1 0 .04"><freejoint/><geom type="sphere" size=".04" mass="1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(params=["elliptic", "pyramidal"])
def stack(request: pytest.FixtureRequest) -> World:
    world = World.from_xml_string(STACK.format(cone=request.param))
    world.step(1500)
    return world


def test_the_forces_of_a_stack_at_rest_carry_its_weight(stack: World) -> None:
    np.testing.assert_allclose(stack.contact_force_between("world", "lower"), [0, 0, 3 * 9.81], atol=0.05)
    np.testing.assert_allclose(stack.contact_force_between("lower", "upper"), [0, 0, 9.81], atol=0.05)
    assert stack.contact_pair(["world"], ["lower"]).normal_force() == pytest.approx(3 * 9.81, abs=0.05)


def test_action_equals_reaction(stack: World) -> None:
    force = stack.contact_force_between("lower", "upper")
    np.testing.assert_allclose(stack.contact_force_between("upper", "lower"), -force, atol=1e-12)


def test_groups_of_bodies_are_summed(stack: World) -> None:
    total = stack.contact_force_between("world", ["lower", "aside"])
    np.testing.assert_allclose(total, [0, 0, 4 * 9.81], atol=0.05)
    rest = stack.contact_pair(["upper", "lower"]).force()  # None: everything else.
    np.testing.assert_allclose(rest, [0, 0, -3 * 9.81], atol=0.05)


def test_touching_tells_neighbours_from_strangers(stack: World) -> None:
    assert stack.touching("lower", "upper")
    assert stack.touching("upper", "lower")
    assert not stack.touching("upper", "world")
    assert not stack.touching("aside", ["lower", "upper"])
    stack.data.qpos[2 + 7] += 0.1
    stack.forward()
    assert not stack.touching("lower", "upper")


def test_the_list_of_contacts_agrees_with_the_fast_question(stack: World) -> None:
    contacts = stack.contacts()
    total = sum((c.force for c in contacts if (c.body_a, c.body_b) == ("lower", "upper")), np.zeros(3))
    np.testing.assert_allclose(total, stack.contact_force_between("lower", "upper"), atol=1e-12)
    top = next(c for c in contacts if "top" in (c.geom_a, c.geom_b))
    assert {top.body_a, top.body_b} == {"lower", "upper"}
    assert top.position[2] == pytest.approx(0.1, abs=2e-3)
    assert abs(top.normal[2]) == pytest.approx(1.0)
    assert all(c.geom_a == "floor" or c.geom_a.startswith("#") for c in contacts if c.body_a == "world")


def test_an_unknown_body_in_a_question_is_named(stack: World) -> None:
    with pytest.raises(NotFoundError, match="did you mean 'upper'"):
        stack.touching("uper", "lower")


def test_the_fast_question_counts_the_same_points_as_the_list(pile_xml: str) -> None:
    world = World.from_xml_string(pile_xml)
    pair = world.contact_pair(["arm", "box0", "box1"], ["box2", "box3", "box4"])
    a, b = {"arm", "box0", "box1"}, {"box2", "box3", "box4"}
    counts = []
    for _ in range(40):
        world.step(20)
        listed = [c for c in world.contacts() if (c.body_a in a and c.body_b in b) or (c.body_a in b and c.body_b in a)]
        active = [c for c in listed if c.distance < 0]
        assert pair.count() == len(active)
        assert pair.touching() == bool(active)
        counts.append(len(active))
    assert max(counts) > 0
