import math

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import AckermannController

CAR = {"wheel_base": 1.65, "track_width": 1.25, "front_wheel_radius": 0.25}
FORKLIFT = {"wheel_base": 1.65, "track_width": 1.05, "front_wheel_radius": 0.325, "back_wheel_radius": 0.255}


def driven(geometry: dict[str, float], steer: float, speed: float, **options: object) -> tuple[list, list]:
    action = AckermannController("test", **geometry, **options).forward([steer, 0.0, speed, 0.0, 0.0])  # type: ignore[arg-type]
    return np.round(action.joint_positions, 6).tolist(), np.round(action.joint_velocities, 6).tolist()


def test_published_vectors_are_reproduced() -> None:
    assert driven(CAR, 0.1, 1.1) == ([0.103923, 0.096362], [4.255736, 4.588511, 4.232776, 4.567224])
    tight = math.atan(1.65 / 3.75)
    assert driven(CAR, tight, 1.5) == ([0.485796, 0.360648], [5.654167, 7.481283, 5.0, 7.0])
    assert driven(CAR, -tight, 1.5) == ([-0.360648, -0.485796], [7.481283, 5.654167, 7.0, 5.0])
    assert driven(CAR, math.atan(1.65 * 1e-4 / 10.5), 10.5) == ([0.0, 0.0], [42.0] * 4)
    rear = driven(FORKLIFT, 0.3, 1.0, invert_steering=True)
    assert rear == ([-0.274508, -0.330521], [2.774076, 3.379770, 3.737907, 4.475104])


def test_rear_steering_mirrors_front_steering_as_published() -> None:
    front = AckermannController("front", **CAR).forward([0.3, 0, 1.0, 0, 0])
    rear = AckermannController("rear", **CAR, invert_steering=True).forward([0.3, 0, 1.0, 0, 0])
    assert rear.joint_positions == pytest.approx(-front.joint_positions[::-1], abs=1e-12)
    assert rear.joint_velocities == pytest.approx(front.joint_velocities[[2, 3, 0, 1]], abs=1e-12)


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("steer", [-1.3, -0.4, -0.005, 0.0, 0.2, 0.9, 1.4])
def test_rigid_body_wheels_neither_scrub_nor_slip(steer: float, inverted: bool) -> None:
    made = AckermannController("test", **FORKLIFT, invert_steering=inverted, kinematics="rigid_body")
    action = made.forward([steer, 0, 0.8, 0, 0])
    v, w = 0.8, 0.8 * math.tan(steer) / 1.65
    angles = np.zeros(4)
    angles[slice(2, 4) if inverted else slice(0, 2)] = action.joint_positions
    x = np.array([0, 0, -1.65, -1.65] if inverted else [1.65, 1.65, 0, 0])
    y = np.array([0.525, -0.525, 0.525, -0.525])
    hub = np.stack([v - w * y, w * x])
    along = np.cos(angles) * hub[0] + np.sin(angles) * hub[1]
    across = -np.sin(angles) * hub[0] + np.cos(angles) * hub[1]
    assert across == pytest.approx(np.zeros(4), abs=1e-12)
    assert along == pytest.approx(action.joint_velocities * [0.325, 0.325, 0.255, 0.255], abs=1e-12)
    assert made.body_twist(action.joint_positions, action.joint_velocities) == pytest.approx([v, 0, w], abs=1e-12)


def test_rigid_body_equals_published_where_the_published_formula_is_right() -> None:
    for steer in (0.02, 0.1, -0.4, 0.7):
        published, rigid = driven(CAR, steer, 1.3), driven(CAR, steer, 1.3, kinematics="rigid_body")
        assert published[0] == pytest.approx(rigid[0], abs=2e-6)
        assert published[1] == pytest.approx(rigid[1], abs=2e-6)


# The three ramp cases of the published tests: steer, speed, acceleration, rate, dt.
RAMPS = [(0.2, 1.1, 0.02, 0.05, 0.05), (0.15, 3.1, 0.2, 0.07, 0.015), (0.5, 3.1, 0.13, 0.12, 1 / 60)]


@pytest.mark.parametrize(("steer", "speed", "acceleration", "rate", "dt"), RAMPS)
def test_speed_and_steering_ramp_up_below_their_targets_and_arrive(
    steer: float, speed: float, acceleration: float, rate: float, dt: float
) -> None:
    made = AckermannController("test", **CAR, max_acceleration=10, max_steering_angle_velocity=10)
    speed_steps, steer_steps = int(speed / (acceleration * dt)) - 1, int(steer / (rate * dt)) - 1
    for step in range(max(speed_steps, steer_steps) + 4):
        action = made.forward([steer, rate, speed, acceleration, dt])
        twist = made.body_twist(action.joint_positions, action.joint_velocities)
        reached = math.atan(1.65 * twist[2] / twist[0])
        if step < speed_steps:
            assert twist[0] < speed
        if step < steer_steps:
            assert reached < steer
    assert twist[0] == pytest.approx(speed, abs=0.01)
    assert reached == pytest.approx(steer, abs=0.01)


def test_ramps_run_down_and_through_zero_and_reset() -> None:
    made = AckermannController("test", **CAR)
    made.forward([0, 0, 1.0, 0, 0])
    speeds = [made.forward([0, 0, -0.25, 0.5, 0.5]).joint_velocities[0] * 0.25 for _ in range(6)]
    assert speeds == pytest.approx([0.75, 0.5, 0.25, 0.0, -0.25, -0.25])
    made.reset()
    assert made.forward([0, 0, 1.0, 0.5, 0.5]).joint_velocities[0] * 0.25 == pytest.approx(0.25)


def test_limits_cap_what_a_command_may_ask() -> None:
    made = AckermannController("test", **CAR, max_acceleration=0.1, max_steering_angle_velocity=0.2)
    action = made.forward([0.5, 9.0, 2.0, 9.0, 0.5])
    assert made.body_twist(action.joint_positions, action.joint_velocities)[0] == pytest.approx(0.05)
    steep = AckermannController("test", **CAR, max_wheel_rotation_angle=0.3).forward([1.0, 0, 1.0, 0, 0])
    assert np.max(np.abs(steep.joint_positions)) == pytest.approx(0.3)


def test_keep_heading_scales_all_wheels_instead_of_clipping_the_outer_ones() -> None:
    clipped = AckermannController("test", **CAR, max_wheel_velocity=6.0)
    kept = AckermannController("test", **CAR, max_wheel_velocity=6.0, keep_heading=True)
    steer = 0.4
    outer = kept.forward([steer, 0, 1.5, 0, 0])
    twist = kept.body_twist(outer.joint_positions, outer.joint_velocities)
    assert np.max(np.abs(outer.joint_velocities)) == pytest.approx(6.0)
    assert twist[2] / twist[0] == pytest.approx(math.tan(steer) / 1.65)
    cut = clipped.forward([steer, 0, 1.5, 0, 0]).joint_velocities
    assert cut[1] == cut[3] == 6.0
    assert cut[2] / cut[3] != pytest.approx(outer.joint_velocities[2] / outer.joint_velocities[3])


def test_a_zero_radius_copies_the_other_and_signs_are_ignored() -> None:
    both = AckermannController("a", 1.65, 1.25, 0.25, 0.25).forward([0.2, 0, 1, 0, 0]).joint_velocities
    for radii in ((0.25, 0.0), (0.0, 0.25), (-0.25, 0.0)):
        assert AckermannController("b", -1.65, 1.25, *radii).forward(
            [0.2, 0, 1, 0, 0]
        ).joint_velocities == pytest.approx(both)


def test_bad_input_is_refused_and_leaves_the_ramps_alone() -> None:
    made = AckermannController("test", **CAR)
    made.forward([0, 0, 1.0, 0.5, 1.0])
    for bad in ([0.1], [0.1, 0, 1, 0.5, 0], [0.1, 0.5, 1, 0, 0], [np.nan, 0, 1, 0, 0], [0, 0, np.inf, 0, 0], []):
        with pytest.raises(InputError):
            made.forward(bad)
    assert made.forward([0, 0, 1.0, 0.5, 0.2]).joint_velocities[0] * 0.25 == pytest.approx(0.6)
    with pytest.raises(InputError, match="both are 0"):
        AckermannController("test", 1.65, 1.25)
    with pytest.raises(InputError, match="wheel_base must be > 0"):
        AckermannController("test", 0.0, 1.25, 0.25)


def test_a_rotation_limit_of_zero_is_no_limit() -> None:
    free = AckermannController("c", 1.65, 1.25, 0.25, max_wheel_rotation_angle=0)
    assert free.forward([0.5, 0.0, 1.0, 0.0, 0.0]).joint_positions == pytest.approx(
        AckermannController("c", 1.65, 1.25, 0.25).forward([0.5, 0.0, 1.0, 0.0, 0.0]).joint_positions
    )
    held = AckermannController("c", 1.65, 1.25, 0.25, max_wheel_rotation_angle=0.1)
    assert max(held.forward([0.5, 0.0, 1.0, 0.0, 0.0]).joint_positions) == pytest.approx(0.1)


def test_signs_of_rates_are_kept_without_a_limit_as_published_and_ignored_with_one() -> None:
    def ramp(acceleration: float, **settings) -> list[float]:
        car = AckermannController("car", wheel_base=1.0, track_width=0.5, front_wheel_radius=1.0, **settings)
        actions = [car.forward([0.0, 0.0, 1.0, acceleration, 0.1]) for _ in range(3)]
        return [action.joint_velocities[0] for action in actions]

    assert ramp(2.0) == pytest.approx([0.2, 0.4, 0.6])
    assert ramp(-2.0) == pytest.approx([-0.2, -0.4, -0.6])
    assert ramp(-2.0, max_acceleration=9.0) == pytest.approx([0.2, 0.4, 0.6])
    assert ramp(-2.0, kinematics="rigid_body") == pytest.approx([0.2, 0.4, 0.6])
    car = AckermannController("car", wheel_base=1.0, track_width=0.5, front_wheel_radius=1.0)
    assert all(car.forward([0.3, -1.0, 1.0, 0.0, 0.1]).joint_positions < 0.0)
