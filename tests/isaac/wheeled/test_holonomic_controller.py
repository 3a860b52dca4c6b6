import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import HolonomicController

# The three-wheeled reference robot of the published tests.
THREE_OMNI = {
    "wheel_radius": [0.04, 0.04, 0.04],
    "wheel_orientations": [[0, 0, 0, 1], [0.866, 0, 0, -0.5], [0.866, 0, 0, 0.5]],
    "wheel_positions": [
        [-0.0980432, 0.000636773, -0.050501],
        [0.0493475, -0.084525, -0.050501],
        [0.0495291, 0.0856937, -0.050501],
    ],
    "mecanum_angles": [90, 90, 90],
}
# Four mecanum wheels; axles to the right, so that positive speeds drive forward in the published convention.
MECANUM = {
    "wheel_radius": 0.1,
    "wheel_orientations": [[1, 0, 0, 0]] * 4,
    "wheel_positions": [[0.3, 0.2, 0], [0.3, -0.2, 0], [-0.3, 0.2, 0], [-0.3, -0.2, 0]],
    "mecanum_angles": [45, 135, 135, 45],
    "wheel_axis": [0, -1, 0],
}


def controller(**changes: object) -> HolonomicController:
    return HolonomicController("test", **{**THREE_OMNI, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "wheels", "digits"),
    [
        ([1, 1, 0.1], [-25.111903, 14.321637, -14.545453], 6),
        ([1, 0, 0], [0.0540, 14.4875, -14.3796], 4),
        ([0, 1, 0], [-16.6885, 8.3118, 8.3118], 4),
        ([0, 0, 1], [-84.7734, -84.7771, -84.7771], 4),
        ([0.4, 0, 0], [0.0216, 5.7950, -5.7518], 4),
    ],
)
def test_published_vectors_are_the_exact_minimum(command: list[float], wheels: list[float], digits: int) -> None:
    assert np.round(controller().forward(command).joint_velocities, digits).tolist() == wheels


def test_the_test_value_of_the_original_lies_within_its_own_tolerance_of_the_minimum() -> None:
    # Its iterative solver stopped early; the node test of the original allows 0.01.
    exact = controller().forward([1.0, 1.0, 0.1]).joint_velocities
    assert exact == pytest.approx([-25.105, 14.3182, -14.5417], abs=0.01)


@pytest.mark.parametrize("layout", [THREE_OMNI, MECANUM, {**MECANUM, "wheel_radius": [0.1, 0.08, 0.12, 0.1]}])
def test_forward_satisfies_the_optimality_conditions(layout: dict[str, object]) -> None:
    made = HolonomicController("test", **layout)  # type: ignore[arg-type]
    A = made.layout.sums
    P = np.diag(made.layout.radius) / np.linalg.norm(made.layout.radius)
    rng = np.random.default_rng(1)
    null = np.linalg.svd(A)[2][np.linalg.matrix_rank(A) :]
    for command in rng.normal(size=(20, 3)):
        x = made.forward(command).joint_velocities
        assert A @ x == pytest.approx(command, abs=1e-9)
        # At the minimum the gradient P x has no part along directions that keep the equalities.
        assert null @ P @ x == pytest.approx(np.zeros(len(null)), abs=1e-9)


@pytest.mark.parametrize("layout", [THREE_OMNI, MECANUM])
def test_rigid_body_wheels_and_body_twist_are_inverse(layout: dict[str, object]) -> None:
    made = HolonomicController("test", **layout, kinematics="rigid_body")  # type: ignore[arg-type]
    for command in np.random.default_rng(2).normal(size=(20, 3)):
        assert made.body_twist(made.forward(command).joint_velocities) == pytest.approx(command, abs=1e-9)


def test_rigid_body_vectors_of_the_reference_robot() -> None:
    made = controller(kinematics="rigid_body")
    assert made.forward([1, 1, 0.1]).joint_velocities == pytest.approx([-24.754892, 34.395089, -8.904059], abs=5e-7)
    assert made.forward([0, 0, 1]).joint_velocities == pytest.approx([2.45108, 2.446863, 2.474437], abs=5e-7)


def test_mecanum_forward_turns_all_wheels_alike_and_sideways_crosswise() -> None:
    made = HolonomicController("test", **MECANUM, kinematics="rigid_body")  # type: ignore[arg-type]
    assert made.forward([0.5, 0, 0]).joint_velocities == pytest.approx([5, 5, 5, 5])
    assert made.forward([0, 0.5, 0]).joint_velocities == pytest.approx([-5, 5, 5, -5])
    assert made.forward([0, 0, 1]).joint_velocities == pytest.approx([-5, 5, -5, 5])


def test_gains_turn_the_published_answer_into_the_rigid_one_for_a_symmetric_base() -> None:
    d = 0.1
    angles = np.deg2rad([180, -60, 60])
    symmetric = {
        "wheel_radius": 0.04,
        "wheel_positions": np.stack([d * np.cos(angles), d * np.sin(angles), np.zeros(3)], axis=1),
        "wheel_orientations": np.stack([np.cos(angles / 2), np.zeros(3), np.zeros(3), np.sin(angles / 2)], axis=1),
        "mecanum_angles": 90,
    }
    rigid = HolonomicController("rigid", **symmetric, kinematics="rigid_body")
    tuned = HolonomicController("tuned", **symmetric, linear_gain=1.5, angular_gain=-3 * d * d)
    for command in np.random.default_rng(3).normal(size=(10, 3)):
        expected = rigid.forward(command).joint_velocities
        assert tuned.forward(command).joint_velocities == pytest.approx(expected, abs=1e-9)


def test_wheel_limit_scales_all_wheels_and_keeps_the_direction() -> None:
    free = controller().forward([1, 1, 0.1]).joint_velocities
    held = controller(max_wheel_speed=5.0).forward([1, 1, 0.1]).joint_velocities
    assert np.max(np.abs(held)) == pytest.approx(5.0)
    assert held / np.linalg.norm(held) == pytest.approx(free / np.linalg.norm(free))


def test_linear_limit_keeps_the_direction_and_leaves_the_rate() -> None:
    made = controller(max_linear_speed=1.0, kinematics="rigid_body")
    assert made.body_twist(made.forward([3, 4, 0.5]).joint_velocities) == pytest.approx([0.6, 0.8, 0.5])
    kept = controller(max_linear_speed=1.0, kinematics="rigid_body", keep_heading=True)
    assert kept.body_twist(kept.forward([3, 4, 0.5]).joint_velocities) == pytest.approx([0.6, 0.8, 0.1])


def test_zero_command_gives_zero() -> None:
    assert controller().forward([0, 0, 0]).joint_velocities.tolist() == [0, 0, 0]


@pytest.mark.parametrize("kinematics", ["published", "rigid_body"])
def test_parallel_wheels_do_what_they_can_and_say_what_they_cannot(kinematics: str) -> None:
    made = HolonomicController(
        "test",
        0.1,
        [[0, 0.3, 0], [0, -0.3, 0]],
        [[1, 0, 0, 0]] * 2,
        90,
        wheel_axis=[0, -1, 0],
        kinematics=kinematics,  # type: ignore[arg-type]
    )
    assert made.unreachable([1, 2, 0.5]) == pytest.approx([0, 2, 0])
    sideways = made.forward([0, 1, 0]).joint_velocities
    assert sideways == pytest.approx([0, 0], abs=1e-12)
    forward = made.forward([1, 0, 0]).joint_velocities
    assert np.all(np.isfinite(forward))
    assert forward[0] == pytest.approx(forward[1])
    assert forward[0] > 0


def test_one_radius_serves_all_wheels_as_number_or_list() -> None:
    expected = controller().forward([1, 0, 0]).joint_velocities
    for radius in (0.04, [0.04], np.array(0.04)):
        assert controller(wheel_radius=radius, mecanum_angles=[90]).forward(
            [1, 0, 0]
        ).joint_velocities == pytest.approx(expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wheel_radius": [0.04, 0.0, 0.04]}, "wheel_radius must be > 0"),
        ({"wheel_radius": [0.04, 0.04]}, r"wheel_radius must have shape \(3\)"),
        ({"wheel_positions": []}, "wheel_positions must have shape"),
        ({"wheel_orientations": [[1, 0, 0, 0]]}, r"wheel_orientations must have shape \(3, 4\)"),
        ({"wheel_orientations": [[0, 0, 0, 0]] * 3}, "quaternion is zero"),
        ({"mecanum_angles": [90, np.nan, 90]}, "mecanum_angles must be finite"),
        ({"wheel_axis": [0, 0, 0]}, "wheel_axis has length zero"),
        ({"max_linear_speed": -1}, "max_linear_speed must be >= 0"),
        ({"kinematics": "magic"}, "kinematics must be"),
        ({"mecanum_angles": 0, "kinematics": "rigid_body"}, "roller angle of 0"),
    ],
)
def test_bad_layouts_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        controller(**changes)


def test_the_base_can_be_built_again() -> None:
    base = controller()
    first = base.forward([0.3, 0.1, 0.2]).joint_velocities
    base.kinematics = "rigid_body"
    base.build_base()
    assert not np.allclose(base.forward([0.3, 0.1, 0.2]).joint_velocities, first)
    base.kinematics = "published"
    base.build_base()
    np.testing.assert_array_equal(base.forward([0.3, 0.1, 0.2]).joint_velocities, first)
