"""Grains flow, stay in vessels, weigh what they weigh, and are counted right."""

import mujoco
import numba
import numpy as np
import pytest

from handloom.arrays import Array
from handloom.errors import NotFoundError
from handloom.objects import make_object
from handloom.scene.assets import asset_of
from handloom.scene.build import add_fluid, add_object, empty_spec
from handloom.scene.grains import Grains
from handloom.scene.grains.grain_kernels import find_pairs, resolve
from handloom.scene.grains.grains import GrainTable
from handloom.scene.grains.surroundings import body_solids, distance_grid, surroundings
from handloom.sim import World
from handloom.values import FluidInstance, ObjectInstance

RADIUS = 0.004
MASS = 1000.0 * 4.0 / 3.0 * np.pi * RADIUS**3
G = 9.81


def vessel_world(category: str, count: int, *, free: bool = False) -> tuple[World, Grains]:
    """Return a vessel that stands on a slab, with a heap of grains in it that has settled."""
    asset = make_object(category, rng=np.random.default_rng(3))
    at = (0.0, 0.0, -float(asset.aabb[0, 2]))
    obj = ObjectInstance(name="vessel", category=category, position=at, parameters=dict(asset.parameters))
    spec = empty_spec(1.0 / 510.0)
    slab = spec.worldbody.add_body(name="slab/object", pos=[0, 0, -0.02])
    slab.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5, 0.5, 0.02])
    add_object(spec, obj, asset_of(obj), free=free)
    half = (0.2 if category == "bowl" else 0.3) * asset.holds
    side = np.arange(-half, half, 2.1 * RADIUS)
    x, y, z = np.meshgrid(side, side, 0.02 + np.arange(60) * 2.1 * RADIUS, indexing="ij")
    inside = asset.keypoints["inside"].position if "inside" in asset.keypoints else (0.0, 0.0, 0.0)
    lattice = np.stack([x + inside[0], y + inside[1], z], axis=-1).reshape(-1, 3)
    lattice = lattice[np.argsort(lattice[:, 2], kind="stable")][:count]
    fluid = FluidInstance(
        container="vessel", radius=RADIUS, mass=MASS, positions=tuple((a, b, c) for a, b, c in lattice.tolist())
    )
    add_fluid(spec, fluid)
    world = World.from_spec(spec)
    grains = Grains(world, fluid, {"slab": np.array([0.0, 0.0, 1.0]), "vessel": np.array(asset.up)})
    world.step(200)
    return world, grains


def counted_by_rays(world: World, points: Array) -> int:
    """Count points that see the vessel on four sides and below, with MuJoCo's rays: no grid, no grain code."""
    geom, normal = np.zeros(1, np.int32), np.zeros(3)
    vessel = world.body_index("vessel/object")
    R = world.body_pose("vessel/object")[:3, :3]
    groups = np.array([0, 0, 0, 1, 0, 0], np.uint8)
    keep = world.model.geom_group.copy()
    solid = (world.model.geom_bodyid == vessel) & (world.model.geom_contype != 0)
    world.model.geom_group[:] = 0
    world.model.geom_group[solid] = 3
    sides = [R @ d for d in np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, -1]], float)]
    found = sum(
        all(mujoco.mj_ray(world.model, world.data, p, d, groups, 1, -1, geom, normal) >= 0 for d in sides)
        for p in points
    )
    world.model.geom_group[:] = keep
    return found


@pytest.mark.parametrize("category", ["cup", "mug", "bowl", "bin"])
def test_no_grain_leaks_out_of_a_vessel_however_it_is_pressed(category: str) -> None:
    world, grains = vessel_world(category, 60)
    assert grains.inside("vessel").sum() == 60
    for tilt in np.deg2rad([20.0, -20.0]):
        world.model.opt.gravity[:] = 3.0 * G * np.array([np.sin(tilt), 0.3 * np.sin(tilt), -np.cos(tilt)])
        world.step(150)
    assert grains.inside("vessel").sum() == 60
    overlap = np.linalg.norm(grains.positions()[:, None] - grains.positions()[None], axis=2) + np.eye(60)
    assert overlap.min() > 0.85 * 2 * RADIUS, "under three times their weight grains are not pressed into each other"


def test_a_tilted_vessel_pours_and_every_grain_is_somewhere() -> None:
    world, grains = vessel_world("cup", 120)
    angle = np.deg2rad(115.0)
    world.model.opt.gravity[:] = G * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    left = []
    for _ in range(12):
        world.step(20)
        left.append(int(grains.inside("vessel").sum()))
        # Grains that pass the rim right now count to the nearest node of the grid.
        assert abs(left[-1] - counted_by_rays(world, grains.positions())) <= 3
    assert left[0] == 120
    assert sum(30 < count < 110 for count in left) >= 1, "they flow one after the other"
    assert left[-1] == counted_by_rays(world, grains.positions()) < 12
    assert np.all(np.diff(left) <= 0)
    assert np.isfinite(grains.positions()).all()
    assert len(grains.positions()) == 120
    assert world.model.body_mass[world.model.body("fluid/0").id :].sum() == pytest.approx(120 * MASS)


def test_a_vessel_feels_the_weight_of_its_grains() -> None:
    world, grains = vessel_world("cup", 100, free=True)
    world.step(600)
    pushes = []
    for _ in range(50):
        world.step(4)
        pushes.append(world.data.qfrc_applied[:6].copy())
    force = np.mean(pushes, axis=0)
    assert force[2] == pytest.approx(-100 * MASS * G, rel=0.01)
    assert np.abs(force[:2]).max() < 0.01 * 100 * MASS * G
    assert grains.inside("vessel").sum() == 100
    assert world.body_pose("vessel/object")[2, 2] > 0.999


def test_contacts_between_grains_conserve_momentum() -> None:
    world, grains = vessel_world("cup", 40)
    around, _ = surroundings(world.model, [world.body_index("slab/object")], 2 * RADIUS)
    rng = np.random.default_rng(0)
    q, v = rng.uniform(0.5, 0.52, (40, 3)), rng.normal(0.0, 0.3, (40, 3))
    before, middle = v.sum(axis=0), q.mean(axis=0)
    fixed, forces = np.array([0]), np.zeros(6)
    table = GrainTable(origin=np.zeros((40, 3)), radius=RADIUS, mass=MASS, first=1, bodies=fixed, dofs=fixed)
    places, turned = np.vstack([np.zeros(3), q]), np.tile(np.eye(3).ravel(), (41, 1))
    resolve(q, v, forces, table, 0.002, around, places, turned, places, turned)
    assert np.allclose(v.sum(axis=0), before, atol=1e-9)
    assert np.allclose(q.mean(axis=0), middle, atol=1e-12)
    assert not np.array_equal(q, places[1:])
    assert grains.count == 40
    assert not forces.any()


@numba.njit
def near_pairs(q, far, axis, slabs):
    """Return what ``find_pairs`` lists."""
    n = len(q)
    words, pairs = np.empty(n // 8 + 1, np.int64), np.empty((16 * n, 2), np.int64)
    scratch = np.empty(slabs + 1, np.int64), np.empty((3, n)), words.view(np.uint8), words
    return pairs[: find_pairs(q, far, axis, np.empty(n, np.int64), *scratch, pairs)]


def test_every_pair_of_near_grains_is_found_once() -> None:
    rng = np.random.default_rng(0)
    for trial in range(60):
        n, far = int(rng.integers(1, 300)), 0.009
        q = rng.uniform(-0.5, 0.5, (n, 3)) * rng.uniform(0.02, 0.2, 3)
        if trial % 3 == 0:
            q[rng.integers(n)] += 2.0  # One grain that was spilled far away.
        apart = np.linalg.norm(q[:, None] - q[None], axis=2)
        found = near_pairs(q, far, int(rng.integers(3)), int(rng.choice([3, 8, 64])))
        assert sorted(map(sorted, found.tolist())) == np.argwhere(np.triu(apart < far, 1)).tolist()


def test_a_restored_world_goes_on_bit_for_bit() -> None:
    world, grains = vessel_world("bowl", 50, free=True)
    world.model.opt.gravity[0] = 4.0
    state = world.save_state()
    world.step(120)
    once = world.save_state()
    world.restore_state(state)
    world.step(60)
    world.step(60)
    assert world.save_state().tobytes() == once.tobytes()
    assert grains.count == 50


def test_the_grid_has_the_distances_that_mujoco_measures() -> None:
    asset = make_object("mug", rng=np.random.default_rng(1))
    model = asset.model
    grid = distance_grid(*body_solids(model, 1), 0.008)
    assert grid is not None
    spec = asset.spec()
    probe = spec.worldbody.add_body(name="probe", mocap=True)
    probe.add_geom(name="probe", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[1e-4, 0, 0])
    model = spec.compile()
    data, ball, segment = mujoco.MjData(model), model.geom("probe").id, np.zeros(6)
    solid = [g for g in range(model.ngeom) if g != ball and model.geom_contype[g]]
    rng = np.random.default_rng(2)
    for node in rng.integers(0, grid.distance.shape, (60, 3)):
        data.mocap_pos[0] = grid.origin + grid.cell * node
        mujoco.mj_forward(model, data)
        nearest = min(mujoco.mj_geomDistance(model, data, g, ball, 0.05, segment) for g in solid) + 1e-4
        if nearest > 5e-4:  # MuJoCo's depth inside a solid is another figure.
            assert grid.distance[tuple(node)] == pytest.approx(min(nearest, 0.008), abs=2e-5)


def test_what_holds_nothing_is_no_container() -> None:
    world, grains = vessel_world("cup", 5)
    assert world.timestep > 0
    with pytest.raises(NotFoundError, match="container"):
        grains.inside("slab")
    middle, radius = grains.opening("vessel")
    assert np.abs(middle[:2]).max() < 0.002
    assert 0.02 < radius < 0.05
