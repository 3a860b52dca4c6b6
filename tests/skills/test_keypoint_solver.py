"""Hand poses from keypoint constraints: judged by formulas of their own, and found wherever brute force finds any."""

import numpy as np
import pytest

from handloom.errors import ConfigError, NotFoundError
from handloom.skills.articulated_objects.keypoint_solver import ConstraintError, KeypointFrame, solve_terms
from handloom.skills.configs.articulated import KeypointConstraint
from handloom.spatial import random_rotations

TOOL = {
    "tool_head": np.array([0.0, 0.0, 0.1]),
    "tool_tail": np.array([0.0, 0.0, 0.05]),
    "tool_side": np.array([0.0, 0.04, 0.1]),
}


def object_frame(seed):
    """Return an object somewhere ahead, turned at random."""
    rng = np.random.default_rng(seed)
    R = random_rotations(rng, 1)[0]
    head = rng.uniform([0.4, -0.2, 0.1], [0.6, 0.2, 0.4])
    points = {
        "articulated_object_head": head,
        "articulated_object_tail": head - 0.2 * R[:, 0],
        "link_contact_point": head + 0.01 * R[:, 1],
    }
    axes = {
        "object_link0_contact_axis": R[:, 2],
        "object_link0_move_axis": -R[:, 1],
        "object_link0_vertical_axis": np.cross(-R[:, 1], R[:, 2]),
    }
    return KeypointFrame(tool=TOOL, points=points, axes=axes, R_base_link=R)


def contact(target="articulated_object_head", tolerance=0.002):
    return KeypointConstraint(
        name="fingers_contact_with_link0", keypoint_name="tool_head", target_keypoint_name=target, tolerance=tolerance
    )


def angle(name, cosine, tolerance, to="tool_tail", **keys):
    return KeypointConstraint(
        name=name,
        axis_from_keypoint_name="tool_head",
        axis_to_keypoint_name=to,
        target_inner_product=cosine,
        tolerance=tolerance,
        **keys,
    )


CROSS = {
    "cross_target_axis1_from_keypoint_name": "articulated_object_head",
    "cross_target_axis1_to_keypoint_name": "articulated_object_tail",
}
ALONG = {
    "target_axis_from_keypoint_name": "articulated_object_tail",
    "target_axis_to_keypoint_name": "articulated_object_head",
}
LISTS = {
    "edge": [contact(), angle("hand_parallel_to_link0_edge", 0.0, 0.1, target_axis="link0_contact_axis")],
    "drawer": [
        contact("link_contact_point", 1e-4),
        angle("hand_parallel_to_link0_move_axis", 1.0, 0.05, target_axis="object_link0_move_axis"),
        angle("hand_parallel_to_link0_edge", -1.0, 0.05, to="tool_side", target_axis="object_link0_vertical_axis"),
    ],
    "door": [
        contact(),
        angle("hand_parallel_to_link0_edge_door", 0.0, 0.2, to="tool_side", **CROSS),
        angle("fingers_orthogonal_to_link0", 0.7, 0.1, target_axis=(0.0, 0.0, 1.0), **CROSS),
    ],
    "keypoints": [
        contact(tolerance=0.01),
        angle("hand_parallel_to_axis_computed_by_keypoints", 0.5, 0.05, **ALONG),
        angle("hand_parallel_to_link0_edge", 0.9, 0.3, to="tool_side", target_axis=(0.0, 1.0, 0.0)),
    ],
}


def brute_force_errors(frame, constraints, R, p):
    """Return error / tolerance of every constraint at one pose, written out once more from the published text."""

    def cosine(a, b):
        return float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))

    errors = []
    for c in constraints:
        if c.name == "fingers_contact_with_link0":
            off = R @ frame.tool[c.keypoint_name] + p - frame.points[c.target_keypoint_name]
            errors.append(max(abs(off)) / c.tolerance)
            continue
        hand = R @ (frame.tool[c.axis_to_keypoint_name] - frame.tool[c.axis_from_keypoint_name])
        axis = c.target_axis
        if isinstance(axis, str):
            axis = frame.axes["object_" + axis if axis == "link0_contact_axis" else axis]
        elif axis is not None:
            axis = frame.R_base_link @ np.array(axis)
        cross = None
        if c.cross_target_axis1_from_keypoint_name:
            cross = frame.points[c.cross_target_axis1_to_keypoint_name]
            cross = cross - frame.points[c.cross_target_axis1_from_keypoint_name]
        if c.name == "fingers_orthogonal_to_link0":
            target = np.cross(cross, axis)
        elif c.name == "hand_parallel_to_link0_edge_door":
            target = cross
        elif c.name == "hand_parallel_to_axis_computed_by_keypoints":
            target = frame.points[c.target_axis_to_keypoint_name] - frame.points[c.target_axis_from_keypoint_name]
        else:
            target = axis
        angle_now = np.arccos(np.clip(cosine(hand, target), -1, 1))
        errors.append(abs(angle_now - np.arccos(c.target_inner_product)) / c.tolerance)
    return errors


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", LISTS)
def test_every_solution_satisfies_every_constraint_by_an_independent_check(name, seed):
    frame, constraints = object_frame(seed), LISTS[name]
    T = solve_terms(frame.terms(constraints), 64, np.random.default_rng(seed))
    assert len(T) >= 32
    worst = max(max(brute_force_errors(frame, constraints, pose[:3, :3], pose[:3, 3])) for pose in T)
    assert worst <= 1.0 + 1e-6
    assert np.abs(T[:, :3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2) - np.eye(3)).max() < 1e-9


def test_a_list_is_solved_exactly_where_brute_force_finds_a_pose():
    outcomes = {"solved": 0, "refused": 0}
    axes = (
        ("tool_tail", "link0_contact_axis"),
        ("tool_side", "object_link0_move_axis"),
        ("tool_side", (1.0, 0.0, 0.0)),
    )
    for seed in range(12):
        rng, frame = np.random.default_rng(100 + seed), object_frame(seed)
        constraints = [contact()] + [
            angle("hand_parallel_to_link0_edge", float(rng.uniform(-1, 1)), 0.2, to=to, target_axis=axis)
            for to, axis in axes
        ]
        target = frame.points["articulated_object_head"]
        best = min(
            max(brute_force_errors(frame, constraints, R, target - R @ TOOL["tool_head"]))
            for R in random_rotations(rng, 600)
        )
        if best <= 0.8:
            outcomes["solved"] += 1
            assert len(solve_terms(frame.terms(constraints), 64, rng)) > 0
        elif best > 1.5:
            outcomes["refused"] += 1
            with pytest.raises(ConstraintError):
                solve_terms(frame.terms(constraints), 64, rng)
    assert min(outcomes.values()) >= 2, outcomes


def test_a_contradiction_names_the_constraint_that_cannot_hold_with_its_error():
    along = {"target_axis": "link0_contact_axis"}
    constraints = [
        contact(),
        angle("hand_parallel_to_link0_edge", 1.0, 0.1, **along),
        angle("hand_parallel_to_link0_edge_door", 1.0, 0.1, to="tool_side", **CROSS),
        angle("hand_parallel_to_link0_move_axis", 1.0, 0.1, to="tool_side", target_axis="object_link0_move_axis"),
    ]
    with pytest.raises(
        ConstraintError, match=r"constraint_list\[[23]\] hand_.* conflicts with the others: it is .* deg off"
    ) as caught:
        solve_terms(object_frame(0).terms(constraints), 64, np.random.default_rng(0))
    # The two targets are a right angle apart; the other one yields by at most its tolerance.
    assert np.pi / 2 - 0.101 <= caught.value.error <= np.pi / 2


@pytest.mark.parametrize(
    ("constraint", "error", "message"),
    [
        (contact("handle"), NotFoundError, "no target_keypoint_name of .* named 'handle'"),
        (angle("hand_parallel_to_link0_edge", 1.0, 0.1), ConfigError, "needs a target_axis"),
        (
            angle("hand_parallel_to_link0_edge", None, 0.1, target_axis="link0_contact_axis"),
            ConfigError,
            "target_inner_product",
        ),
        (angle("hand_parallel_to_link0_edge", 1.0, 0.1, target_axis="link0_axis"), NotFoundError, "no target_axis of"),
        (
            angle("hand_parallel_to_link0_edge", 1.0, 0.1, to="tool_head", target_axis="link0_contact_axis"),
            ConfigError,
            "the same point",
        ),
        (
            angle("fingers_orthogonal_to_link0", 1.0, 0.1, target_axis=(1.0, 0.0, 0.0), **CROSS),
            ConfigError,
            "have no normal",
        ),
    ],
)
def test_a_constraint_that_makes_no_sense_says_what_is_wrong(constraint, error, message):
    with pytest.raises(error, match=message):
        object_frame(0).terms([constraint])
