"""A jointed asset in the published layout: folders, prims, units, annotation; shape and files are our own.

``write_microwave(folder)`` writes ``<folder>/7265/instance.usd`` with ``Kps/<name>/info.json`` beside it. What such
files say and do not mean is kept: y is up and a unit is a centimetre by the stage, yet lengths are metres times the
annotation's ``object_scale`` in axes that the task turns upright. The door stands ajar by 30 degrees in the file; the
joint counts from there, so that it is shut at 0.524 rad and opens to -1.4 rad.
"""

import importlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handloom.spatial import matrix_from_rotvec

Values = dict[str, Any]
Triple = tuple[float, float, float]
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) / 2
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
HALF_WIDTH, HALF_HEIGHT, HALF_DEPTH = 1.327 / 2, 0.793 / 2, 1.558 / 2
"""Half the box around the asset as the file shows it, its door ajar."""
SCALE = 0.2302
"""The annotation's ``object_scale``; the box is then 305 x 183 x 359 mm."""
HINGE = (-0.62, 0.0, 0.3945)
SHUT, OPEN = 0.524, -1.4
"""Limits of the joint [rad]."""
THICK = 0.07
"""Thickness of the door."""
WIDE = (HALF_DEPTH - HINGE[2] - THICK / 2 * np.cos(SHUT)) / np.sin(SHUT)
"""Width of the door: ajar, its free edge is the front of the box around the asset."""
FRONT = 0.355
"""Front of the body: a shut door stands before it."""
HEAD, TAIL = (-0.023, 0.396, 0.733), (-0.467, 0.396, 0.489)
"""Annotated points: on the door's upper edge, at its free end and towards the hinge."""
BODY_MESHES, DOOR_MESHES = 47, 4


def write_microwave(folder: Path, names: Sequence[str] = ("open_v", "close_v")) -> Path:
    """Write the asset into a folder of its category and return its USD file."""
    Gf, Usd, UsdGeom, UsdPhysics = (importlib.import_module(f"pxr.{n}") for n in ("Gf", "Usd", "UsdGeom", "UsdPhysics"))
    place = folder / "7265"
    place.mkdir(parents=True, exist_ok=True)
    stage = Usd.Stage.CreateNew(str(place / "instance.usd"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/root").GetPrim())
    UsdPhysics.ArticulationRootAPI.Apply(UsdGeom.Xform.Define(stage, "/root/instance").GetPrim())

    def body(name: str) -> str:
        prim = UsdGeom.Xform.Define(stage, f"/root/instance/{name}").GetPrim()
        UsdPhysics.RigidBodyAPI.Apply(prim)
        return str(prim.GetPath())

    def mesh(path: str, corners: np.ndarray) -> None:
        drawn = UsdGeom.Mesh.Define(stage, path)
        drawn.CreatePointsAttr([Gf.Vec3f(*p) for p in corners.tolist()])
        drawn.CreateFaceVertexCountsAttr([4] * len(QUADS))
        drawn.CreateFaceVertexIndicesAttr([i for quad in QUADS for i in quad])
        UsdPhysics.CollisionAPI.Apply(drawn.GetPrim())
        UsdPhysics.MeshCollisionAPI.Apply(drawn.GetPrim()).CreateApproximationAttr("convexHull")

    def joint(kind: Any, path: str, parent: str, child: str, at: Triple = (0.0, 0.0, 0.0)) -> Any:
        made = kind.Define(stage, path)
        made.CreateBody0Rel().SetTargets([parent])
        made.CreateBody1Rel().SetTargets([child])
        for side in ("0", "1"):
            getattr(made, f"CreateLocalPos{side}Attr")(Gf.Vec3f(*at))
            getattr(made, f"CreateLocalRot{side}Attr")(Gf.Quatf(1.0))
        return made

    base, door = body("group_0"), body("link_0")
    # Two bodies move against each other; nineteen more, keys and trim, are fixed to the first.
    fixed = [body(f"group_{k + 1}") for k in range(19)]
    for k, corners in enumerate(_body_boxes()):
        mesh(f"{([base] * 28 + fixed)[k]}/mesh_{k}", corners)
    for k, part in enumerate(fixed):
        joint(UsdPhysics.FixedJoint, f"{part}/joint_{k}", base, part)
    for k, corners in enumerate(_door_boxes()):
        mesh(f"{door}/mesh_{k}", corners)
    hinge = joint(UsdPhysics.RevoluteJoint, f"{door}/RevoluteJoint", base, door, HINGE)
    hinge.CreateAxisAttr("Y")
    hinge.CreateLowerLimitAttr(float(np.rad2deg(OPEN)))
    hinge.CreateUpperLimitAttr(float(np.rad2deg(SHUT)))
    stage.Save()
    for name in names:
        notes = place / "Kps" / name
        notes.mkdir(parents=True, exist_ok=True)
        (notes / "info.json").write_text(json.dumps(annotation(), indent=2))
    return place / "instance.usd"


def annotation() -> Values:
    """Return what ``info.json`` says; opening and closing work on the same points."""
    path = "/microwave_7265/instance"
    return {
        "object_keypoints": {"articulated_object_head": list(HEAD), "articulated_object_tail": list(TAIL)},
        "object_scale": [SCALE, SCALE, SCALE, 1.0],
        "object_name": "microwave_7265",
        "object_prim_path": "/microwave_7265",
        "object_link_path": f"{path}/link_0",
        "object_base_path": f"{path}/group_0",
        "object_revolute_joint_path": f"{path}/link_0/RevoluteJoint",
        "joint_index": 0,
        "object_link0_rot_axis": "y",
        "object_link0_contact_axis": "-y",
        "object_base_front_axis": "z",
    }


def _box(low: Sequence[float], high: Sequence[float]) -> np.ndarray:
    """Return the corners (8, 3) of a box between two of them."""
    return (np.asarray(low) + np.asarray(high)) / 2 + CORNERS * (np.asarray(high) - np.asarray(low))


def _body_boxes() -> Iterator[np.ndarray]:
    """Yield the 47 boxes of the housing: walls around the cavity, panel, display, keys, feet, turntable, trim."""
    x, y, z, wall, right = HALF_WIDTH, HALF_HEIGHT, HALF_DEPTH, 0.05, 0.12
    floor = -y + 0.04
    yield _box((-x, floor, -z), (x, floor + wall, FRONT))
    yield _box((-x, y - wall, -z), (x, y, FRONT))
    yield _box((-x, floor, -z), (x, y, -z + wall))
    yield _box((-x, floor, -z), (-x + wall, y, FRONT))
    yield _box((right - wall, floor, -z), (right, y, FRONT))
    yield _box((right, floor, FRONT - wall), (x, y, FRONT))
    yield _box((x - wall, floor, -z), (x, y, FRONT))
    yield _box((-0.45, floor + wall, -0.4), (-0.05, floor + wall + 0.02, 0.0))
    for sx in (-1, 1):
        for sz in (-1, 1):
            foot = (sx * 0.55, -y, sz * 0.3 - 0.2)
            yield _box((foot[0] - 0.05, -y, foot[2] - 0.05), (foot[0] + 0.05, floor, foot[2] + 0.05))
    yield _box((right + 0.06, 0.2, FRONT), (x - 0.06, 0.32, FRONT + 0.004))
    # Sheets without thickness, as modellers leave them: slots of the vents at the side.
    for k in range(11):
        yield _box((x, -0.2 + 0.03 * k, -0.5), (x, -0.19 + 0.03 * k, -0.2))
    for k in range(4):
        yield _box((right + 0.05, -0.3 + 0.01 * k, FRONT), (x - 0.05, -0.295 + 0.01 * k, FRONT + 0.002))
    for row in range(6):
        for column in range(3):
            u, v = right + 0.1 + 0.15 * column, 0.13 - 0.07 * row
            yield _box((u, v, FRONT), (u + 0.1, v + 0.045, FRONT + 0.008))
    yield _box((right + 0.1, -0.36, FRONT), (x - 0.1, -0.31, FRONT + 0.02))


def _door_boxes() -> Iterator[np.ndarray]:
    """Yield the four boxes of the door, ajar: its leaf, the frame of its window, the window, a strip at its edge."""
    y = HALF_HEIGHT
    turn = matrix_from_rotvec(np.array([0.0, -SHUT, 0.0]))

    def ajar(low: Sequence[float], high: Sequence[float]) -> np.ndarray:
        return _box(low, high) @ turn.T + np.asarray(HINGE)

    yield ajar((0.0, -y + 0.045, -THICK / 2), (WIDE, y, THICK / 2))
    yield ajar((0.12, -0.24, THICK / 2 - 0.01), (WIDE - 0.12, 0.26, THICK / 2))
    yield ajar((0.15, -0.21, THICK / 2 - 0.01), (WIDE - 0.15, 0.23, THICK / 2))
    yield ajar((WIDE - 0.04, -y + 0.06, THICK / 2 - 0.01), (WIDE - 0.02, y - 0.02, THICK / 2))
