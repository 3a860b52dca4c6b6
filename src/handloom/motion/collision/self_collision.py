"""Determines by sampling which bodies of a robot can touch each other."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.cache import user_cache
from handloom.motion.collision.collision_arrays import BARE, WorldArrays, world_arrays
from handloom.motion.collision.collision_world import CollisionWorld
from handloom.motion.collision.exact_checker import ExactChecker
from handloom.motion.collision.lane_kernels import configurations_free
from handloom.motion.collision.obstacle import CollisionPart, Obstacle, bits_meet, solid_geoms
from handloom.motion.collision.shape import geom_shape
from handloom.motion.collision.sphere_group import SphereGroup, group_arrays
from handloom.motion.kinematics.joint_tree import WORLD, JointTree
from handloom.motion.kinematics.low_discrepancy import halton

Pair = frozenset[str]

SAMPLES = 1024
"""Number of sampled configurations; the rates below are then known to about 3 %."""

ALWAYS = 0.9
"""Bodies that overlap in at least this fraction of all configurations do so by design and are allowed to."""

FALSE_ALARMS = 0.3
"""If spheres overlap this much more often than the solids, they are inconclusive and the exact checker decides."""

RULES_VERSION = 3
"""Part of the content hash; increment it when the rules here change."""


def self_collision_pairs(
    model: mujoco.MjModel,
    tree: JointTree,
    parts: Sequence[CollisionPart],
    groups: Sequence[SphereGroup],
    *,
    qpos: Array | None = None,
) -> tuple[frozenset[Pair], frozenset[Pair]]:
    """Return the pairs of bodies that may overlap, and those too close for spheres.

    Neighbours across one joint, pairs the model excludes, and pairs that overlap in nearly every sampled
    configuration may overlap. The result is stored in the user's cache folder under a hash of the robot.
    """
    file = user_cache() / "self_collision" / f"{_content_hash(model, tree)}.json"
    if file.is_file():
        stored = json.loads(file.read_text(encoding="utf-8"))
        ignored, coarse = set(map(frozenset, stored["ignored"])), set(map(frozenset, stored["coarse"]))
        return frozenset(ignored | _excluded(model)), frozenset(coarse)
    own = _own_fixed_parts(model, tree, qpos)
    ignored = _neighbours(model, tree, parts) | _excluded(model)
    lower, upper = tree.sampling_box
    q = lower + (upper - lower) * halton(SAMPLES, tree.dof)
    rates = _exact_rates(ExactChecker(tree, parts, own, ignored), own, q)
    ignored |= {pair for pair, rate in rates.items() if rate >= ALWAYS}
    coarse = _coarse_pairs(tree, groups, own, ignored, rates, q[: SAMPLES // 4])
    # Exclusions of a scene, such as the table under a robot, are left out, because other scenes read this file.
    own_names = {model.body(b).name for b in _own_bodies(model, tree)}
    _store(file, {pair for pair in ignored if pair <= own_names}, coarse)
    return frozenset(ignored), frozenset(coarse)


def _own_bodies(model: mujoco.MjModel, tree: JointTree) -> list[int]:
    """Return the ids of all bodies of the robot."""
    roots = set(model.body_rootid[tree.body_link != WORLD].tolist())
    return [b for b in range(1, model.nbody) if model.body_rootid[b] in roots]


def fixed_bodies(model: mujoco.MjModel, tree: JointTree) -> frozenset[str]:
    """Return the bodies of the robot that no joint of the tree moves."""
    return frozenset(model.body(b).name for b in _own_bodies(model, tree) if tree.body_link[b] == WORLD)


def _own_fixed_parts(model: mujoco.MjModel, tree: JointTree, qpos: Array | None) -> list[Obstacle]:
    """Return the solids of the robot that no chosen joint moves: its pedestal, torso or other arm."""
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0 if qpos is None else qpos
    mujoco.mj_kinematics(model, data)
    own = fixed_bodies(model, tree)
    foreign = [b for b in range(model.nbody) if model.body(b).name not in own]
    return list(CollisionWorld.from_model(model, data, exclude_bodies=foreign))


def _neighbours(model: mujoco.MjModel, tree: JointTree, parts: Sequence[CollisionPart]) -> set[Pair]:
    """Return pairs of bodies on one link, on links joined by one joint, or joined to a fixed body by one joint.

    As in MuJoCo, bodies without a joint in between are one: a shoulder that turns inside the torso may overlap it,
    although a fixed frame is between the two.
    """
    link_of = {part.body: part.link for part in parts}
    pairs = {
        frozenset((a, b))
        for a, i in link_of.items()
        for b, j in link_of.items()
        if a != b and (i == j or tree.parent[i] == j)
    }
    for k, name in enumerate(tree.joint_names):
        if tree.parent[k] == WORLD:
            holder = model.body_weldid[model.body_parentid[model.jnt_bodyid[model.joint(name).id]]]
            welded = [model.body(b).name for b in range(model.nbody) if holder and model.body_weldid[b] == holder]
            welded.append(model.body(model.body_parentid[model.jnt_bodyid[model.joint(name).id]]).name)
            pairs |= {frozenset((body, other)) for body, link in link_of.items() if link == k for other in welded}
    return pairs


def _excluded(model: mujoco.MjModel) -> set[Pair]:
    """Return the pairs a model excludes from contact."""
    signatures = model.exclude_signature.tolist()
    return {frozenset((model.body(s >> 16).name, model.body(s & 0xFFFF).name)) for s in signatures}


def _exact_rates(checker: ExactChecker, own: Sequence[Obstacle], q: Array) -> dict[Pair, float]:
    """Return the overlap rate of each pair of bodies."""
    # Fixed parts are obstacles here, with their own names; the pair refers to the body.
    body_of = {obstacle.name: obstacle.body for obstacle in own}
    counts: Counter[Pair] = Counter()
    for row in q:
        counts.update({frozenset((t.part, body_of.get(t.other, t.other))) for t in checker.touches(row)})
    return {pair: count / len(q) for pair, count in counts.items()}


def _coarse_pairs(
    tree: JointTree,
    groups: Sequence[SphereGroup],
    own: Sequence[Obstacle],
    ignored: set[Pair],
    rates: dict[Pair, float],
    q: Array,
) -> set[Pair]:
    """Return pairs whose spheres overlap far more often than their solids."""
    found = set()
    nothing = world_arrays([], np.zeros((len(groups), 0), np.int8))
    for i, a in enumerate(groups):
        for j, b in enumerate(groups[:i]):
            pair = frozenset((a.body, b.body))
            meet = bits_meet(a.contype, a.conaffinity, b.contype, b.conaffinity)
            if a.link != b.link and pair not in ignored and meet:
                robot = group_arrays(tree, groups, [(i, j)], padding=0.0, self_padding=0.0)
                if _hit_rate(robot, nothing, q) - rates.get(pair, 0.0) > FALSE_ALARMS:
                    found.add(pair)
        for k, obstacle in enumerate(own):
            pair = frozenset((a.body, obstacle.body))
            if pair not in ignored:
                checked = np.zeros((len(groups), len(own)), np.int8)
                checked[i, k] = BARE
                robot = group_arrays(tree, groups, [], padding=0.0, self_padding=0.0)
                if _hit_rate(robot, world_arrays(own, checked), q) - rates.get(pair, 0.0) > FALSE_ALARMS:
                    found.add(pair)
    return found


def _hit_rate(robot: object, world: WorldArrays, q: Array) -> float:
    free = np.empty(len(q), np.bool_)
    configurations_free(q, robot, world, free)
    return 1.0 - float(free.mean())


def _content_hash(model: mujoco.MjModel, tree: JointTree) -> str:
    """Hash all inputs of the pairs: bodies, joints and solids of the robot, but not its pose."""
    digest = hashlib.sha256(repr((RULES_VERSION, SAMPLES, tree.joint_names)).encode())
    roots = set(model.body_rootid[tree.body_link != WORLD].tolist())
    solid = set(solid_geoms(model))
    for body in range(model.nbody):
        if model.body_rootid[body] not in roots:
            continue
        digest.update(repr((model.body(body).name, int(model.body_jntnum[body]))).encode())
        if body not in roots:
            digest.update(model.body_pos[body].tobytes() + model.body_quat[body].tobytes())
        for j in range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body]):
            digest.update(model.jnt_axis[j].tobytes() + model.jnt_pos[j].tobytes() + model.jnt_range[j].tobytes())
        for g in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if g in solid:
                shape = geom_shape(model, g)
                digest.update(repr((shape.kind, shape.size, int(model.geom_contype[g]))).encode())
                digest.update(repr(int(model.geom_conaffinity[g])).encode())
                digest.update(model.geom_pos[g].tobytes() + model.geom_quat[g].tobytes())
                digest.update(b"" if shape.vertices is None else shape.vertices.tobytes())
    names = {model.body(b).name for b in _own_bodies(model, tree)}
    digest.update(repr(sorted(sorted(pair) for pair in _excluded(model) if pair <= names)).encode())
    return digest.hexdigest()[:24]


def _store(file: Path, ignored: set[Pair], coarse: set[Pair]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"ignored": sorted(map(sorted, ignored)), "coarse": sorted(map(sorted, coarse))}, indent=1)
    with NamedTemporaryFile("w", dir=file.parent, suffix=".json", delete=False) as temporary:
        temporary.write(text)
    Path(temporary.name).replace(file)
