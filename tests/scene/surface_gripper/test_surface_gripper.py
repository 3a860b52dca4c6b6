"""A surface gripper attaches what its points meet, holds it up to its limits, and is part of the state."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from tests.scene.surface_gripper.bench_models import PUBLISHED, hand_over_boxes

from handloom.errors import InputError, NotFoundError
from handloom.scene.surface_gripper import GripperStatus, GripperView, SurfaceGripperProperties
from handloom.sim import World

STRONG = SurfaceGripperProperties(max_grip_distance=0.02, retry_interval=1.0)
NO_PULL_LIMIT = replace(PUBLISHED, coaxial_force_limit=-1.0)


def lift(world: World, height: float, steps: int) -> None:
    """Move the rail up smoothly."""
    for step in range(steps):
        world.data.ctrl[0] = height * (0.5 - 0.5 * np.cos(np.pi * (step + 1) / steps))
        world.step()


def test_it_closes_on_the_object_in_front_of_it() -> None:
    world, gripper = hand_over_boxes()
    assert gripper.status is GripperStatus.OPEN
    gripper.close()
    assert gripper.status is GripperStatus.CLOSING
    world.step()
    assert gripper.status is GripperStatus.CLOSED
    assert gripper.gripped_objects == ("box0",)
    gripper.open()
    assert gripper.status is GripperStatus.OPEN
    assert gripper.gripped_objects == ()


def test_two_points_hold_two_boxes() -> None:
    world, gripper = hand_over_boxes(points=((-0.1, 0.0), (0.1, 0.0)), boxes=((-0.1, 0.0), (0.1, 0.0)))
    gripper.close()
    world.step(2)
    assert gripper.status is GripperStatus.CLOSED
    assert gripper.gripped_objects == ("box0", "box1")


def test_two_points_on_one_box_share_its_weight() -> None:
    world, gripper = hand_over_boxes(points=((-0.03, 0.0), (0.03, 0.0)), properties=STRONG, mass=2.0)
    gripper.close()
    world.step(2)
    assert gripper.gripped_objects == ("box0",)
    lift(world, 0.2, 500)
    world.step(500)
    assert world.body_pose("box0")[2, 3] == pytest.approx(0.25, abs=0.01)
    pulls = [gripper.force(index)[0] for index in range(2)]
    assert sum(pulls) == pytest.approx(2.0 * 9.81, rel=0.02)
    assert pulls[0] == pytest.approx(pulls[1], rel=0.05)


def test_a_gripper_of_which_one_point_is_free_goes_on_trying() -> None:
    world, gripper = hand_over_boxes(points=((-0.1, 0.0), (0.1, 0.0)), properties=replace(STRONG, retry_interval=0.1))
    world.set_body_pose("box0", np.array([[1, 0, 0, -0.1], [0, 1, 0, 0], [0, 0, 1, 0.05], [0, 0, 0, 1.0]]))
    gripper.close()
    world.step(200)
    assert gripper.status is GripperStatus.CLOSING
    assert gripper.gripped_objects == ("box0",)


def test_one_that_is_too_far_is_open_again_after_the_interval() -> None:
    world, gripper = hand_over_boxes(gap=0.05)
    gripper.close()
    world.step(6)
    assert gripper.status is GripperStatus.CLOSING
    world.step(round(1.0 / world.timestep))
    assert gripper.status is GripperStatus.OPEN


def test_without_an_interval_there_is_one_attempt() -> None:
    world, gripper = hand_over_boxes(gap=0.05, properties=replace(STRONG, retry_interval=0.0))
    gripper.close()
    world.step()
    assert gripper.status is GripperStatus.OPEN


def test_what_comes_into_reach_while_it_tries_is_attached() -> None:
    world, gripper = hand_over_boxes(gap=0.05)
    gripper.close()
    world.step(6)
    assert gripper.status is GripperStatus.CLOSING
    world.data.ctrl[0] = -0.04
    world.step(300)
    assert gripper.status is GripperStatus.CLOSED


@pytest.mark.parametrize(("newton", "held"), [(4.0, True), (500.0, False)])
def test_it_lets_go_above_its_shear_limit(newton: float, held: bool) -> None:
    world, gripper = hand_over_boxes(gravity=False, properties=NO_PULL_LIMIT)
    gripper.close()
    world.step(20)
    world.data.xfrc_applied[world.bodies["box0"], 0] = newton
    world.step(50)
    assert (gripper.status is GripperStatus.CLOSED) == held
    assert gripper.is_closed() == held


@pytest.mark.parametrize(("newton", "held"), [(0.003, True), (1000.0, False)])
def test_it_lets_go_above_its_coaxial_limit(newton: float, held: bool) -> None:
    world, gripper = hand_over_boxes(gravity=False)
    gripper.close()
    world.step(20)
    world.data.xfrc_applied[world.bodies["box0"], 2] = -newton
    world.step(50)
    assert (gripper.status is GripperStatus.CLOSED) == held


def test_pressing_does_not_make_it_let_go() -> None:
    world, gripper = hand_over_boxes(gravity=False)
    gripper.close()
    world.step(20)
    world.data.xfrc_applied[world.bodies["box0"], 2] = 100.0
    world.step(50)
    assert gripper.status is GripperStatus.CLOSED
    assert gripper.force()[0] < -50.0


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_the_limit_is_the_weight_it_carries(share: float) -> None:
    """A box of 1 kg, held still, hangs from a limit 10 % above its weight and falls from one 10 % below."""
    world, gripper = hand_over_boxes(mass=1.0, properties=STRONG)
    gripper.close()
    world.step(2)
    lift(world, 0.1, 1500)
    world.step(500)
    assert gripper.force()[0] == pytest.approx(9.81, rel=1e-3)
    gripper.set_properties(coaxial_force_limit=9.81 * share)
    world.step(200)
    assert (gripper.status is GripperStatus.CLOSED) == (share > 1.0)


@pytest.mark.parametrize("gap", [0.001, 0.01, 0.019])
def test_attaching_moves_nothing(gap: float) -> None:
    world, gripper = hand_over_boxes(gap=gap, gravity=False, properties=STRONG)
    before = world.body_pose("box0")
    gripper.close()
    world.step(200)
    assert gripper.is_closed()
    np.testing.assert_allclose(world.body_pose("box0"), before, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_attaching_adds_no_energy(seed: int) -> None:
    """Hand and box drift and turn past each other; what they do afterwards has less kinetic energy than before."""
    world, gripper = hand_over_boxes(gravity=False, free_hand=True, properties=STRONG)
    world.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    rng = np.random.default_rng(seed)
    world.data.qvel[:] = rng.uniform(-0.2, 0.2, world.model.nv)
    world.forward()
    energies = [float(world.data.energy[1])]
    momentum = _momentum(world)
    gripper.close()
    for _ in range(300):
        world.step()
        world.forward()
        energies.append(float(world.data.energy[1]))
    assert gripper.is_closed()
    assert max(energies) <= energies[0] * (1.0 + 1e-9)
    np.testing.assert_allclose(_momentum(world), momentum, atol=1e-6)


def _momentum(world: World) -> np.ndarray:
    mass = world.model.body_mass
    return sum(mass[world.bodies[name]] * world.body_velocity(name)[:3] for name in ("hand", "box0"))


def test_a_ray_that_starts_inside_the_hand_finds_its_way_out_and_remembers_it() -> None:
    world, gripper = hand_over_boxes(properties=STRONG)
    world.model.body_pos[world.bodies["cup0"], 2] += 0.0065
    world.forward()
    gripper.close()
    world.step()
    assert gripper.is_closed()
    assert world.user_data("suction")[4] == pytest.approx(0.007)


def test_a_restored_state_goes_on_bit_for_bit() -> None:
    """Half way through, with one point still trying; and once more through another world of the same model."""
    scene = {"points": ((-0.1, 0.0), (0.1, 0.0)), "boxes": ((-0.1, 0.0), (0.16, 0.0)), "properties": STRONG}
    world, gripper = hand_over_boxes(**scene)
    gripper.close()
    world.step(30)
    lift(world, 0.1, 50)
    middle = world.save_state()
    lift(world, 0.2, 50)
    end = world.state_hash()
    other, same = hand_over_boxes(**scene)
    for again in (world, other):
        again.restore_state(middle)
        lift(again, 0.2, 50)
        assert again.state_hash() == end
    assert same.gripped_objects == gripper.gripped_objects == ("box0",)
    assert same.status is GripperStatus.CLOSING


def test_it_follows_a_joint_that_works_as_a_valve() -> None:
    world, gripper = hand_over_boxes(gravity=False, properties=replace(STRONG, retry_interval=0.2))
    gripper.follow("rail", above=-0.002)
    world.data.ctrl[0] = 0.0
    world.step(20)
    assert gripper.is_closed()
    world.data.ctrl[0] = -0.008
    world.step(200)
    assert gripper.status is GripperStatus.OPEN


def test_many_grippers_are_commanded_and_read_together() -> None:
    worlds = [hand_over_boxes(properties=STRONG) for _ in range(9)]
    view = GripperView([gripper for _, gripper in worlds])
    view.apply_gripper_action([0.5] * 8 + [0.2])
    for world, _ in worlds:
        world.step()
    assert view.get_surface_gripper_status() == ["Closed"] * 8 + ["Open"]
    assert view.get_gripped_objects([0, 8]) == [["box0"], []]
    view.apply_gripper_action([-0.5, 0.0], indices=[0, 1])
    assert view.get_surface_gripper_status([0, 1]) == ["Open", "Closed"]
    view.set_surface_gripper_properties(coaxial_force_limit=[3.0, 4.0], retry_interval=2.0, indices=[2, 3])
    distance, coaxial, shear, retry = view.get_surface_gripper_properties([1, 2, 3])
    assert (distance, coaxial, shear, retry) == ([0.02] * 3, [-1.0, 3.0, 4.0], [-1.0] * 3, [1.0, 2.0, 2.0])


def test_wrong_input_is_named() -> None:
    _, gripper = hand_over_boxes()
    with pytest.raises(InputError, match="max_grip_distance must not be negative"):
        gripper.set_properties(max_grip_distance=-1.0)
    with pytest.raises(InputError, match="retry_interval must be a finite number"):
        SurfaceGripperProperties(retry_interval=float("nan"))
    with pytest.raises(NotFoundError, match="coaxial_force_limit"):
        gripper.set_properties(coaxial_limit=1.0)
    with pytest.raises(InputError, match="an action must be a finite number"):
        gripper.apply_action(float("nan"))
    with pytest.raises(NotFoundError, match="action of a surface gripper"):
        gripper.forward("grab")
    view = GripperView([gripper])
    with pytest.raises(InputError, match=r"indices \[3\] are not among 1 grippers"):
        view.get_gripped_objects([3])
    with pytest.raises(InputError, match=r"values has shape \(2,\) for 1 grippers"):
        view.apply_gripper_action([1.0, 1.0])
