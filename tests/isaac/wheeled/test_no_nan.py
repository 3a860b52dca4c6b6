"""Ten thousand random inputs, good and bad: a typed error or finite numbers, nothing else."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from handloom.errors import InputError
from handloom.isaac.wheeled import (
    AckermannController,
    BicycleState,
    DifferentialController,
    HolonomicController,
    PlanarPose,
    WheelBasePoseController,
    quintic_polynomials_planner,
    stanley_control,
)

NASTY = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-300, 1e20, -1e-12, math.pi / 2, math.pi)


class Draw:
    """Numbers and vectors that are ordinary most of the time and dreadful often enough."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.nasty = rng.uniform() < 0.7

    def number(self) -> float:
        if self.nasty and self.rng.uniform() < 0.25:
            return NASTY[self.rng.integers(len(NASTY))]
        return float(self.rng.normal())

    def size(self) -> float:
        return abs(self.number())

    def vector(self, length: int) -> list[float]:
        if self.nasty and self.rng.uniform() < 0.1:
            length = int(self.rng.integers(0, 7))
        return [self.number() for _ in range(length)]

    def matrix(self, rows: int, columns: int) -> list[list[float]]:
        if self.nasty and self.rng.uniform() < 0.1:
            rows = int(self.rng.integers(0, 5))
        return [self.vector(columns) for _ in range(rows)]

    def flag(self) -> bool:
        return bool(self.rng.uniform() < 0.5)

    def kinematics(self) -> Any:
        return "published" if self.flag() else "rigid_body"


def differential(d: Draw) -> list[Any]:
    made = DifferentialController("d", d.size(), d.size(), d.size(), d.size(), d.size(), keep_heading=d.flag())
    return [made.forward(d.vector(2)).joint_velocities, made.body_twist(d.vector(2))]


def holonomic(d: Draw) -> list[Any]:
    n = int(d.rng.integers(1, 5))
    options = {"kinematics": d.kinematics(), "keep_heading": d.flag()}
    shape = (d.vector(n), d.matrix(n, 3), d.matrix(n, 4), [90 * d.number() for _ in range(n)])
    made = HolonomicController("h", [abs(r) for r in shape[0]], *shape[1:], d.vector(3), d.vector(3), **options)
    return [made.forward(d.vector(3)).joint_velocities, made.body_twist(d.vector(n)), made.unreachable(d.vector(3))]


def ackermann(d: Draw) -> list[Any]:
    sizes = [d.size() for _ in range(5)]
    rest = (d.flag(), d.size(), d.size(), d.size())
    made = AckermannController("a", *sizes, *rest, kinematics=d.kinematics(), keep_heading=d.flag())
    action = made.forward(d.vector(5))
    twist = made.body_twist(d.vector(2), d.vector(4))
    return [action.joint_positions, action.joint_velocities, twist]


def pose(d: Draw) -> list[Any]:
    made = WheelBasePoseController("p", DifferentialController("d", 0.1, 0.5))
    return [
        made.forward(d.vector(3), d.vector(4), d.vector(3), d.number(), d.number(), d.size(), d.size()).joint_velocities
    ]


def quintic(d: Draw) -> list[Any]:
    numbers = [d.number() for _ in range(10)]
    return list(quintic_polynomials_planner(*numbers, d.size(), d.size(), 0.2 + d.size()))


def stanley(d: Draw) -> list[Any]:
    state = BicycleState(d.size(), d.number(), d.number(), d.number(), d.number(), max_steering_angle=d.size())
    delta, _ = stanley_control(state, d.vector(4), d.vector(4), d.vector(4), int(d.rng.integers(-1, 5)), k=d.number())
    state.update(d.number(), d.number(), d.number())
    return [delta, state.x, state.y, state.yaw, state.v]


def odometry(d: Draw) -> list[Any]:
    moved = PlanarPose(x=0.1, yaw=0.2).moved(d.vector(3), d.number())
    return [moved.x, moved.y, moved.yaw]


@pytest.mark.parametrize(
    ("case", "count"),
    [
        (differential, 2500),
        (holonomic, 2000),
        (ackermann, 2500),
        (pose, 1000),
        (quintic, 200),
        (stanley, 1000),
        (odometry, 800),
    ],
)
def test_random_input_gives_a_typed_error_or_finite_numbers(case: Callable[[Draw], list[Any]], count: int) -> None:
    rng = np.random.default_rng(count)
    refused = 0
    for _ in range(count):
        try:
            results = case(Draw(rng))
        except InputError:
            refused += 1
            continue
        for result in results:
            assert np.all(np.isfinite(result)), results
    assert 0.1 * count < refused < 0.98 * count
