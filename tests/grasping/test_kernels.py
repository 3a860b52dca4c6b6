"""Rays and distances of the kernels against MuJoCo's own."""

import mujoco
import numpy as np
import pytest

from handloom.grasping.convex_parts import convex_parts
from handloom.grasping.gjk_kernels import keeps_distance
from handloom.grasping.ray_kernels import outer_points, through_part
from handloom.spatial import random_directions, random_quats

SHAPES = {
    "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, [0.04, 0, 0]),
    "capsule": (mujoco.mjtGeom.mjGEOM_CAPSULE, [0.02, 0.05, 0]),
    "ellipsoid": (mujoco.mjtGeom.mjGEOM_ELLIPSOID, [0.02, 0.05, 0.03]),
    "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, [0.03, 0.05, 0]),
    "box": (mujoco.mjtGeom.mjGEOM_BOX, [0.02, 0.05, 0.03]),
    "hull": (mujoco.mjtGeom.mjGEOM_MESH, None),
}


def two_shapes(first: str, second: str, rng: np.random.Generator) -> tuple[mujoco.MjModel, mujoco.MjData]:
    spec = mujoco.MjSpec()
    spec.add_mesh(name="hull", uservert=rng.uniform(-0.05, 0.05, size=36))
    for name in (first, second):
        body = spec.worldbody.add_body(mocap=True)
        kind, size = SHAPES[name]
        body.add_geom(type=kind, **({"size": size} if size else {"meshname": "hull"}))
    model = spec.compile()
    return model, mujoco.MjData(model)


def parts_of(model, data):
    geoms = list(range(model.ngeom))
    return convex_parts(model, geoms, data.geom_xpos[geoms], data.geom_xmat[geoms].reshape(-1, 3, 3))


@pytest.mark.parametrize("second", SHAPES)
@pytest.mark.parametrize("first", SHAPES)
def test_distance_questions_agree_with_mujoco(first, second):
    rng = np.random.default_rng(1)
    model, data = two_shapes(first, second, rng)
    scratch = np.zeros((5, 3)), np.zeros(4), np.zeros(4, np.int64)
    asked = 0
    for _ in range(40):
        data.mocap_pos[:] = rng.uniform(-0.06, 0.06, size=(2, 3))
        data.mocap_quat[:] = random_quats(rng, 2)
        mujoco.mj_kinematics(model, data)
        parts = parts_of(model, data)
        distance = mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None)
        R, p = parts.rotation[0], parts.position[0]
        for margin in (1e-4, 0.01, 0.03):
            if abs(distance - margin) < 1e-5:
                continue
            asked += 1
            assert keeps_distance(parts, 0, R, p, R, p, parts, 1, margin, *scratch) == (distance > margin)
    assert asked > 100


def test_a_sweep_keeps_a_distance_only_if_every_place_on_the_way_does():
    rng = np.random.default_rng(2)
    model, data = two_shapes("box", "capsule", rng)
    scratch = np.zeros((5, 3)), np.zeros(4), np.zeros(4, np.int64)
    seen = set()
    for _ in range(60):
        data.mocap_pos[:] = rng.uniform(-0.12, 0.12, size=(2, 3))
        data.mocap_quat[:] = random_quats(rng, 2)
        mujoco.mj_kinematics(model, data)
        parts = parts_of(model, data)
        R, start = parts.rotation[0], parts.position[0]
        end = start + rng.uniform(-0.1, 0.1, size=3)
        nearest = np.inf
        for share in np.linspace(0.0, 1.0, 200):
            data.mocap_pos[0] = start + share * (end - start)
            mujoco.mj_kinematics(model, data)
            nearest = min(nearest, mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None))
        if abs(nearest - 1e-3) < 5e-4:
            continue
        seen.add(nearest > 1e-3)
        assert keeps_distance(parts, 0, R, start, R, end, parts, 1, 1e-3, *scratch) == (nearest > 1e-3)
    assert seen == {True, False}


@pytest.mark.parametrize("shape", SHAPES)
def test_rays_enter_where_mujoco_says(shape):
    rng = np.random.default_rng(4)
    model, data = two_shapes(shape, shape, rng)
    data.mocap_pos[:] = [[0.02, -0.01, 0.03], [5.0, 5.0, 5.0]]
    data.mocap_quat[:] = random_quats(rng, 2)
    mujoco.mj_kinematics(model, data)
    parts = parts_of(model, data)
    hits = 0
    for direction in random_directions(rng, 200):
        start = data.mocap_pos[0] - 0.3 * direction + rng.uniform(-0.04, 0.04, size=3)
        normal, geom = np.zeros(3), np.zeros(1, np.int32)
        distance = mujoco.mj_ray(model, data, start, direction, None, 1, -1, geom, normal)
        points, normals, hit = outer_points(parts, start[None], direction[None], 1.0)
        assert hit[0] == (distance >= 0)
        if distance < 0:
            continue
        hits += 1
        np.testing.assert_allclose(points[0], start + distance * direction, atol=1e-6)
        np.testing.assert_allclose(normals[0], normal, atol=1e-4)
        # The same line backwards enters where this one leaves.
        t_in, t_out, *ends = through_part(parts, 0, start, direction)
        back = through_part(parts, 0, start + direction, -direction)
        np.testing.assert_allclose((t_in, t_out), (1.0 - back[1], 1.0 - back[0]), atol=1e-9)
        np.testing.assert_allclose(ends[3:], back[2:5], atol=1e-6)
    assert hits > 60
