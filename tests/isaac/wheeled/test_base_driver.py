import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import BaseDriver, PlanarPose, floor_world
from handloom.robots import load_robot

ROBOTS = ("jetbot", "kaya", "leatherback", "lift2", "nova_carter", "split_aloha")


def driver_of(name: str) -> BaseDriver:
    description = load_robot(name)
    return BaseDriver(description, floor_world(description), prefix="robot/")


@pytest.mark.parametrize("name", ROBOTS)
def test_the_base_moves_as_told_and_the_wheels_agree(name: str) -> None:
    driver = driver_of(name)
    world = driver.robot.world
    twist = [0.1, 0.05, 0.3] if driver.slides else [0.2, 0.0, 0.2]
    for _ in range(100):
        driver.command(twist, 0.01)
        world.step(5)
    pose, before = driver.pose(), driver.encoders()
    world.step(200)
    dt = 200 * world.timestep
    moved = pose.moved(twist, dt)
    after = driver.pose()
    assert [after.x, after.y] == pytest.approx([moved.x, moved.y], abs=0.004)
    assert after.yaw == pytest.approx(moved.yaw, abs=0.02)
    assert driver.mean_twist(before, driver.encoders(), dt) == pytest.approx(twist, abs=0.02)
    assert driver.wheel_twist() == pytest.approx(twist, abs=0.05)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_at_rest_stays_where_it_is_placed(name: str) -> None:
    driver = driver_of(name)
    driver.place(PlanarPose(x=0.4, y=-0.2, yaw=0.7))
    driver.command([0, 0, 0], 0.01)
    driver.robot.world.step(1000)
    pose = driver.pose()
    assert [pose.x, pose.y, pose.yaw] == pytest.approx([0.4, -0.2, 0.7], abs=2e-3)


@pytest.mark.parametrize(
    ("name", "twist"), [("kaya", [3.0, 1.0, 2.0]), ("leatherback", [4.0, 0.0, 3.0]), ("nova_carter", [2.0, 0.0, -3.0])]
)
def test_a_saturated_base_keeps_the_shape_of_its_motion(name: str, twist: list[float]) -> None:
    driver = driver_of(name)
    driver.aim(twist)
    for _ in range(150):
        driver.command(twist, 0.01)
        driver.robot.world.step(5)
    driven = driver.wheel_twist()
    share = np.linalg.norm(driven) / np.linalg.norm(twist)
    assert share < 0.6
    assert driven == pytest.approx(share * np.array(twist), abs=0.03 * np.linalg.norm(driven))


def test_only_a_holonomic_base_may_be_told_to_slide() -> None:
    with pytest.raises(InputError, match="cannot move sideways"):
        driver_of("jetbot").command([0.1, 0.1, 0.0], 0.01)
    with pytest.raises(InputError, match="does not drive"):
        BaseDriver(load_robot("fr3"), floor_world(load_robot("fr3")), prefix="robot/")


def test_the_rollers_of_the_omni_wheels_let_it_slide() -> None:
    # Pushed along the axle of a braked wheel, a wheel with rollers gives way and a plain one does not.
    driver = driver_of("kaya")
    world = driver.robot.world
    world.step(100)
    rollers = [i for i, name in enumerate(driver.robot.dof_names) if name.startswith("roller")]
    for _ in range(150):
        driver.command([0.0, 0.3, 0.0], 0.01)
        world.step(5)
    # Wheel 0 stands behind, its axle along x: driving along y it rolls. Wheels 1 and 2 slide over their rollers.
    assert np.max(np.abs(driver.robot.get_joint_velocities(rollers))) > 5.0
    assert world.body_velocity("robot/base_link")[1] == pytest.approx(0.3, abs=0.02)
