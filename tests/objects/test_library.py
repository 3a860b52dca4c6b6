"""Contracts that every category of the library keeps.

A test is one category with all contracts: two thousand cases of a millisecond each took longer to collect than to run.
A failure names every contract that does not hold.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache

import mujoco
import numpy as np
import pytest

from handloom.objects import make_object, object_categories
from handloom.objects.registry import MOUNTED
from handloom.spatial import matrix_from_quat, quat_angle

SEEDS = (0, 1)
CATEGORIES = object_categories()

Contract = Callable[[str, int], None]
OF_EVERY_OBJECT: list[Contract] = []
"""Run for each of the seeds."""
OF_EVERY_CATEGORY: list[Contract] = []
"""Run for the first seed only."""


def every_object(contract: Contract) -> Contract:
    """Add a contract that all objects keep."""
    OF_EVERY_OBJECT.append(contract)
    return contract


def every_category(contract: Contract) -> Contract:
    """Add a contract that one object per category keeps."""
    OF_EVERY_CATEGORY.append(contract)
    return contract


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_category_keeps_every_contract(category):
    broken = []
    for seed in SEEDS:
        for contract in (*OF_EVERY_OBJECT, *(OF_EVERY_CATEGORY if seed == SEEDS[0] else ())):
            try:
                contract(category, seed)
            except AssertionError as error:
                broken.append(f"{contract.__name__}, seed {seed}: {error}")
    assert not broken, "\n".join(broken)


def test_a_broken_contract_is_named_with_its_seed(monkeypatch):
    def is_always_broken(category, seed):
        raise AssertionError(f"{category} is not what it was")

    monkeypatch.setitem(globals(), "OF_EVERY_OBJECT", [is_always_broken])
    with pytest.raises(AssertionError, match="is_always_broken, seed 1: mug is not what it was"):
        test_a_category_keeps_every_contract("mug")


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


@cache
def built(category, seed):
    return make_object(category, rng=np.random.default_rng(seed))


def on_floor(thing, quat, height, *, ball=0.0, fixed=False):
    """Return a world with the object's origin at a height [m] above the floor, and perhaps a ball [m] inside it."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[2.0, 2.0, 0.1], friction=[0.8, 0.005, 0.0001])
    frame = spec.worldbody.add_frame(pos=[0.0, 0.0, height], quat=quat)
    spec.attach(thing.spec(), prefix="thing/", frame=frame)
    if not fixed:
        spec.body("thing/object").add_freejoint()
    if ball > 0.0:
        inside = thing.keypoints["inside"]
        closed = mujoco.MjData(thing.model)
        mujoco.mj_kinematics(thing.model, closed)
        at = closed.body(inside.body).xpos + inside.position + [0.0, 0.0, height]
        sphere = spec.worldbody.add_body(name="ball", pos=at)
        sphere.add_freejoint()
        sphere.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball / 2, 0, 0], condim=6, friction=[0.8, 0.005, 0.001]
        )
    return spec.compile()


def simulate(model, seconds):
    """Return the state after some time."""
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(seconds / model.opt.timestep))
    return data


def test_the_library_has_more_than_forty_categories():
    assert len(CATEGORIES) >= 40


@every_object
def the_same_generator_state_gives_the_same_object(category, seed):
    again = make_object(category, rng=np.random.default_rng(seed))
    assert again.content_hash == built(category, seed).content_hash
    assert again.parameters == built(category, seed).parameters


@every_object
def json_of_the_parameters_rebuilds_the_identical_object(category, seed):
    thing = built(category, seed)
    again = make_object(**json.loads(thing.to_json()))
    assert again.content_hash == thing.content_hash
    assert again.source == thing.source


@every_category
def other_seeds_give_other_looks(category, _seed):
    assert len({built(category, seed).content_hash for seed in SEEDS}) == len(SEEDS)


@every_object
def the_model_has_one_root_body_at_the_origin_and_no_free_joint(category, seed):
    model = built(category, seed).model
    roots = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0]
    assert [model.body(b).name for b in roots] == ["object"]
    assert np.all(model.body_pos[roots[0]] == 0.0)
    assert np.all(model.body_quat[roots[0]] == IDENTITY)
    assert mujoco.mjtJoint.mjJNT_FREE not in model.jnt_type


@every_object
def mass_and_inertia_are_those_of_a_real_thing(category, seed):
    thing = built(category, seed)
    volume = np.prod(thing.extent)
    density = thing.mass / volume
    # A pair of belts is furniture as large as a room, most of it the way between them.
    most, least = (300.0, 3.0) if category == "double_conveyor" else (60.0, 12.0)
    assert 0.003 < thing.mass < most
    # Nothing is denser than solid steel, or emptier in its bounding box than a cut flower.
    assert least < density < 7850.0
    for body in range(1, thing.model.nbody):
        a, b, c = sorted(thing.model.body_inertia[body])
        assert a > 0.0
        assert a + b >= c * (1.0 - 1e-6)
        # A body of that mass cannot have more inertia than if all of it sat at the corners of the box.
        assert c <= thing.model.body_mass[body] * np.sum(thing.extent**2)


@every_object
def the_bounding_box_holds_every_vertex_and_is_centred(category, seed):
    thing = built(category, seed)
    points = np.concatenate([thing.collision_triangles()[0], thing.surface_triangles()[0]])
    assert np.all(points >= thing.aabb[0] - 1e-6)
    assert np.all(points <= thing.aabb[1] + 1e-6)
    np.testing.assert_allclose(points.min(0), thing.aabb[0], atol=0.004 * thing.extent.max())
    np.testing.assert_allclose(points.max(0), thing.aabb[1], atol=0.004 * thing.extent.max())
    np.testing.assert_allclose(thing.aabb.mean(0), 0.0, atol=1e-12)


@every_object
def the_collision_surface_is_closed_and_faces_outward(category, seed):
    vertices, faces = built(category, seed).collision_triangles()
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    np.testing.assert_allclose(normals.sum(0), 0.0, atol=1e-6)
    assert np.sum(normals * a) / 6.0 > 0.0


@every_object
def keypoints_lie_in_the_bounding_box_and_axes_are_unit_vectors(category, seed):
    thing = built(category, seed)
    assert thing.keypoints
    data = mujoco.MjData(thing.model)
    mujoco.mj_kinematics(thing.model, data)
    for keypoint in thing.keypoints.values():
        body = thing.model.body(keypoint.body).id
        at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ keypoint.position
        assert np.all(at >= thing.aabb[0] - 1e-3)
        assert np.all(at <= thing.aabb[1] + 1e-3)
    for axis in thing.axes.values():
        assert np.linalg.norm(axis.direction) == pytest.approx(1.0, abs=1e-9)


@every_object
def few_visible_geoms_and_convex_parts_of_few_faces(category, seed):
    model = built(category, seed).model
    assert np.sum(model.geom_group < 3) <= 48
    for g in range(model.ngeom):
        if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH:
            assert model.mesh_polynum[model.geom_dataid[g]] <= 42


@every_object
def names_speak_of_the_colour_and_the_kind(category, seed):
    thing = built(category, seed)
    assert thing.name.endswith(thing.synonyms[0])
    assert len(thing.synonyms) >= 2
    if thing.color:
        assert thing.name.startswith(thing.color)


@every_category
def it_stays_in_each_of_its_stable_poses(category, seed):
    if category in MOUNTED:
        return
    thing = built(category, seed)
    poses = thing.rest_poses
    assert len(poses.quats) >= 1
    for k in range(len(poses.quats)):
        if poses.rolls[k]:
            continue  # A can on its side, a ball: free to roll by nature.
        model = on_floor(thing, poses.quats[k], poses.heights[k])
        data = simulate(model, 1.2)
        drift = np.linalg.norm(data.qpos[:3] - [0.0, 0.0, poses.heights[k]])
        assert drift < 0.005, f"pose {k} moved by {1e3 * drift:.1f} mm"
        assert np.rad2deg(quat_angle(data.qpos[3:7], poses.quats[k])) < 3.0, f"pose {k} turned"


@every_object
def nothing_penetrates_itself_over_the_whole_range_of_its_joints(category, seed):
    thing = built(category, seed)
    data = mujoco.MjData(thing.model)
    for fraction in (0.0, 0.5, 1.0):
        for j in range(thing.model.njnt):
            low, high = thing.model.jnt_range[j]
            data.qpos[thing.model.jnt_qposadr[j]] = low + fraction * (high - low)
        mujoco.mj_forward(thing.model, data)
        assert all(contact.dist > -5e-4 for contact in data.contact)


@every_category
def containers_hold_a_ball(category, seed):
    thing = built(category, seed)
    if not thing.holds > 0.0:
        return
    diameter = min(0.02, 0.9 * thing.holds)
    height = -thing.aabb[0, 2]
    # A test tube does not stand by itself; a rack holds it.
    stands = np.allclose(thing.stable_quats[0], IDENTITY)
    model = on_floor(thing, IDENTITY, height, ball=diameter, fixed=not stands)
    data = simulate(model, 1.0)
    ball = data.body("ball").xpos
    base = data.body("thing/object")
    local = base.xmat.reshape(3, 3).T @ (ball - base.xpos)
    assert np.all(local > thing.aabb[0]), "the ball fell out"
    assert np.all(local[:2] < thing.aabb[1, :2]), "the ball left through a wall"
    assert np.linalg.norm(base.xpos - [0.0, 0.0, height]) < 0.005, "the container moved"


def test_content_hashes_are_the_same_in_another_process():
    code = (
        "import json, numpy as np\n"
        "from handloom.objects import make_object, object_categories\n"
        "made = {c: make_object(c, rng=np.random.default_rng(1)) for c in object_categories()}\n"
        "print(json.dumps({c: thing.content_hash for c, thing in made.items()}))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert json.loads(out.stdout) == {c: built(c, 1).content_hash for c in CATEGORIES}


@every_category
def the_stable_pose_table_puts_the_lowest_point_on_the_table(category, seed):
    thing = built(category, seed)
    vertices, _ = thing.collision_triangles()
    for quat, height in zip(thing.rest_poses.quats, thing.rest_poses.heights, strict=True):
        lowest = (vertices @ matrix_from_quat(quat).T)[:, 2].min()
        assert lowest + height == pytest.approx(0.0, abs=0.003 * thing.extent.max())
