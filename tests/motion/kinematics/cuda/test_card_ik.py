"""Inverse kinematics on a card: as good as the processor's, with the same interface."""

import ctypes
import sys
from functools import cache

import numpy as np
import pytest

from cpp_library import COMPILER, cpp_library
from handloom.bench.motion.planning_problems import arm_setup
from handloom.errors import InputError, MissingExtraError, NotFoundError
from handloom.motion.kinematics import IkOptions, IkSolver, Orientation
from handloom.motion.kinematics.cuda.card_ik import CardIk, card_ik
from handloom.render.cuda.find_card import find_cards
from handloom.spatial import pose_error

RUN = """
#include <cstring>
extern "C" void run(const void* told, const void* exactly, long long threads, void** a) {
    memcpy((void*)&request, told, sizeof(request));
    memcpy((void*)&exact_request, exactly, sizeof(exact_request));
    for (thread_number = 0; thread_number < threads; thread_number++)
        descend_all((const double*)a[0], (const double*)a[1], *(int*)a[2], (const double*)a[3], (const int*)a[4],
                    *(int*)a[5], *(int*)a[6], *(long long*)a[7], (double*)a[8], (double*)a[9]);
}
"""


@cache
def compiled(build: str) -> ctypes.CDLL:
    return cpp_library(build + RUN)


def launch(build, told, exactly, threads, *arguments):
    """Run the kernel's threads one after the other."""
    kinds = (None, None, np.int32, None, None, np.int32, np.int32, np.int64, None, None)
    arrays = [np.array(value, kind) if kind else value for kind, value in zip(kinds, arguments, strict=True)]
    places = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    request = (ctypes.c_void_p(table.ctypes.data) for table in (told, exactly))
    compiled(build).run(*request, ctypes.c_int64(threads), places)


lanes = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")


@pytest.fixture(params=[pytest.param("threads", marks=lanes), pytest.param("card", marks=pytest.mark.gpu)])
def on_card(request):
    """Return a solver that runs the card's kernel."""
    if request.param == "card" and not find_cards().names:
        pytest.skip(find_cards().reason)

    def make(chain, options):
        solver = IkSolver(chain, options)
        solver._card = card_ik() if request.param == "card" else CardIk(np, launch)
        return solver

    return make


def reachable(chain, count, seed=5):
    lower, upper = chain.sampling_box
    return chain.T_base_tool(lower + (upper - lower) * np.random.default_rng(seed).random((count, chain.dof)))


@pytest.mark.parametrize(
    "options",
    [
        IkOptions(),
        IkOptions(position_tolerance=1e-7, rotation_tolerance=1e-7),
        IkOptions(orientation=Orientation.AXIS, tool_axis=(0.0, 1.0, 0.0)),
        IkOptions(orientation=Orientation.FREE),
        IkOptions(position_axes=(True, False, True)),
        IkOptions(seed_bias=0.5, limit_bias=0.1),
        IkOptions(max_seeds=3),
    ],
    ids=["full", "fine", "axis", "free", "partial", "biased", "few seeds"],
)
def test_a_card_solves_what_the_processor_solves(on_card, options):
    chain = arm_setup("fr3").chain
    T = reachable(chain, 300)
    ours, theirs = on_card(chain, options).solve(T), IkSolver(chain, options).solve(T)
    assert ours.q.shape == theirs.q.shape
    assert np.all((ours.q >= chain.lower) & (ours.q <= chain.upper))
    # Rounding decides now and then which starting point is the first to succeed, and whether the last one does.
    assert abs(int(ours.solved.sum()) - int(theirs.solved.sum())) <= (6 if options.max_seeds == 3 else 1)
    assert np.all(ours.position_error[ours.solved] <= options.position_tolerance)
    assert np.all(ours.rotation_error[ours.solved] <= options.rotation_tolerance)
    same = ours.seeds_used == theirs.seeds_used
    assert same.mean() > 0.9
    errors = np.array(
        [pose_error(reached, wanted) for reached, wanted in zip(chain.T_base_tool(ours.q), T, strict=True)]
    )
    if options.orientation is Orientation.FULL and all(options.position_axes):
        np.testing.assert_allclose(ours.position_error, errors[:, 0], atol=1e-9)
        np.testing.assert_allclose(ours.rotation_error, errors[:, 1], atol=1e-7)


def test_what_cannot_be_reached_is_told_with_the_closest_attempt(on_card):
    chain = arm_setup("fr3").chain
    T = reachable(chain, 4)
    T[1:3, :3, 3] += 2.0
    ours, theirs = on_card(chain, IkOptions()).solve(T), IkSolver(chain, IkOptions()).solve(T)
    assert ours.solved.tolist() == theirs.solved.tolist() == [True, False, False, True]
    np.testing.assert_allclose(ours.position_error[1:3], theirs.position_error[1:3], rtol=0.05)
    assert ours.seeds_used[1:3].tolist() == [64, 64]


def test_branches_are_distinct_solutions(on_card):
    chain = arm_setup("franka_robotiq85").chain
    T = reachable(chain, 20)
    found = on_card(chain, IkOptions(max_seeds=24)).branches(T, 6)
    reference = IkSolver(chain, IkOptions(max_seeds=24)).branches(T, 6)
    assert abs(int(found.count.sum()) - int(reference.count.sum())) <= 3
    for q, count, wanted in zip(found.q, found.count, T, strict=True):
        for row in range(count):
            distance, angle = pose_error(chain.T_base_tool(q[row]), wanted)
            assert distance <= 1e-3
            assert angle <= np.deg2rad(0.5)
            assert all(np.abs(q[row] - q[other]).max() >= 0.05 for other in range(row))


def test_the_answer_does_not_depend_on_the_batch(on_card):
    chain = arm_setup("so101").chain
    T = reachable(chain, 64)
    solver = on_card(chain, IkOptions(orientation=Orientation.FREE))
    whole, part = solver.solve(T), solver.solve(T[10:20])
    np.testing.assert_array_equal(whole.q[10:20], part.q)


@pytest.mark.parametrize(
    ("entry", "message"),
    [((2, 0, 3), "target 2 of 4 has entries that are not finite"), ((1, 1, 1), "not a rotation matrix")],
)
def test_targets_that_are_no_poses_are_refused_in_the_same_words(on_card, entry, message):
    chain = arm_setup("fr3").chain
    T = reachable(chain, 4)
    T[entry] = np.nan if entry[2] == 3 else 3.0
    for solver in (on_card(chain, IkOptions()), IkSolver(chain)):
        with pytest.raises(InputError, match=message):
            solver.solve(T)


def test_a_device_that_does_not_exist_is_named_and_without_cupy_it_is_said(monkeypatch):
    chain = arm_setup("fr3").chain
    with pytest.raises(NotFoundError, match=r"no device named 'cude'.*cuda"):
        IkSolver(chain, device="cude")
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"handloom\[gpu\]"):
        IkSolver(chain, device="cuda")
