"""Boxes and overlaps against brute force."""

import mujoco
import numpy as np
import pytest

from handloom.scene.measures import box_overlap, geom_box, geom_boxes
from handloom.spatial import random_quats

SOLIDS = {
    "box": ("size='0.1 0.2 0.05'", lambda p: np.abs(p) <= [0.1, 0.2, 0.05]),
    "sphere": ("size='0.13'", lambda p: np.linalg.norm(p, axis=1, keepdims=True) <= 0.13),
    "cylinder": (
        "size='0.08 0.15'",
        lambda p: np.stack([np.hypot(p[:, 0], p[:, 1]) <= 0.08, np.abs(p[:, 2]) <= 0.15], axis=1),
    ),
    "ellipsoid": (
        "size='0.1 0.2 0.05'",
        lambda p: ((p / [0.1, 0.2, 0.05]) ** 2).sum(axis=1, keepdims=True) <= 1.0,
    ),
    "capsule": (
        "size='0.05 0.12'",
        lambda p: np.linalg.norm(p - np.clip(p * [0, 0, 1], -0.12, 0.12), axis=1, keepdims=True) <= 0.05,
    ),
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_the_box_of_a_solid_is_that_of_points_inside_it(kind: str) -> None:
    rng = np.random.default_rng(3)
    size, inside = SOLIDS[kind]
    quat = random_quats(rng, 1)[0]
    text = f"<mujoco><worldbody><body pos='0.3 -0.2 0.5' quat='{' '.join(map(str, quat))}'>"
    model = mujoco.MjModel.from_xml_string(
        f"{text}<geom type='{kind}' {size} pos='0.1 0 0'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    points = rng.uniform(-0.25, 0.25, (400_000, 3))
    points = points[inside(points).all(axis=1)]
    world = points @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    box = geom_box(model, data, 0)
    assert np.all(world >= box[0] - 1e-9)
    assert np.all(world <= box[1] + 1e-9)
    assert np.abs(world.min(axis=0) - box[0]).max() < 0.012
    assert np.abs(world.max(axis=0) - box[1]).max() < 0.012


def test_geoms_measured_together_have_the_boxes_that_each_has_alone() -> None:
    rng = np.random.default_rng(5)
    bodies = "".join(
        f"<body pos='{rng.normal()} 0 1' quat='{' '.join(map(str, random_quats(rng, 1)[0]))}'>"
        f"<geom type='{kind}' {size} pos='0.1 0 0'/><geom type='mesh' mesh='wedge' pos='0 {rng.normal()} 0'/></body>"
        for kind, (size, _) in SOLIDS.items()
    )
    wedge = "<asset><mesh name='wedge' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>"
    plane = "<geom type='plane' size='1 1 1' quat='1 0.2 0 0'/>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{wedge}<worldbody>{plane}{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mixed = rng.permutation(model.ngeom)
    together = geom_boxes(model, data, mixed)
    # The same bits: boxes decide about commands, so a new order of geoms must not change an episode.
    np.testing.assert_array_equal(together, np.array([geom_box(model, data, int(geom)) for geom in mixed]))


def test_overlap_is_the_share_of_points_in_both_boxes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (np.sort(rng.uniform(0, 1, (2, 3)), axis=0) for _ in range(2))
        p = rng.uniform(0, 1, (100_000, 3))
        in_a, in_b = (np.all((p >= box[0]) & (p <= box[1]), axis=1) for box in (a, b))
        either = (in_a | in_b).sum()
        assert box_overlap(a, b) == pytest.approx((in_a & in_b).sum() / max(either, 1), abs=0.03)
        assert box_overlap(a, b) == box_overlap(b, a)


def test_boxes_that_only_touch_do_not_overlap() -> None:
    unit = np.array([[0.0, 0, 0], [1, 1, 1]])
    assert box_overlap(unit, unit + np.array([1.0, 0, 0])) == 0.0
    assert box_overlap(unit, unit) == 1.0
