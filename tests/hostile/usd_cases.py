"""Hostile USD stages."""

import random
from pathlib import Path

from file_parts import (
    CORNERS,
    FACES,
    SECRET,
    Words,
    damaged,
    imports,
    usda,
    write,
)
from kinds import kind
from pxr import Sdf

POINTS = (
    f"int[] faceVertexCounts = {[3] * 4}\nint[] faceVertexIndices = {[i for face in FACES for i in face]}\n"
    f"point3f[] points = {list(CORNERS)}\n"
)


@kind
def usd_reads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    (folder / "link.usda").symlink_to(SECRET)
    far = rng.choice([SECRET, "../" * 12 + "etc/passwd", "link.usda"])
    prim = f'def Xform "r" (\n {rng.choice(["references", "payload"])} = @{far}@\n) {{}}\n'
    files = [
        usda(folder / "refers.usda", more=prim),
        usda(folder / "layers.usda", head=f" subLayers = [@{far}@]\n"),
        usda(folder / "looks.usda", f"{POINTS}rel material:binding = </W/M>\n", more=_material(far)),
    ]
    return [imports(file) for file in files]


def _material(texture: str) -> str:
    return (
        'def Material "M" {\n def Shader "T" {\n  uniform token info:id = "UsdUVTexture"\n'
        f"  asset inputs:file = @{texture}@\n }}\n}}\n"
    )


@kind
def usd_refers_to_itself(folder: Path, rng: random.Random) -> list[Words]:
    prim = 'def Xform "r" (\n references = @ring.usda@\n) {}\n'
    usda(folder / "ring.usda", more=prim)
    usda(folder / "layer.usda", head=" subLayers = [@layer.usda@]\n")
    return [imports(folder / "ring.usda"), imports(folder / "layer.usda")]


@kind
def usd_grows_without_end(folder: Path, rng: random.Random) -> list[Words]:
    levels = rng.randrange(7, 10)
    usda(folder / "level0.usda")
    for i in range(1, levels):
        refs = "".join(f'def Xform "r{k}" (\n references = @level{i - 1}.usda@\n) {{}}\n' for k in range(10))
        usda(folder / f"level{i}.usda", more=refs)
    return [imports(folder / f"level{levels - 1}.usda")]


@kind
def usd_numbers(folder: Path, rng: random.Random) -> list[Words]:
    counts, indices, points = [3] * 4, [i for face in FACES for i in face], str(list(CORNERS))
    choices = [
        ([2_000_000_000], indices, points),
        (counts, [999_999_999, *indices[1:]], points),
        (counts, [-1, *indices[1:]], points),
        (counts, indices, "[(nan, nan, nan), " + points[1:]),
        (counts, indices, "[(inf, 3e38, 0), " + points[1:]),
        ([-3, *counts], indices, points),
        (counts, indices[:-1], points),
    ]
    counts, indices, points = rng.choice(choices)
    mesh = f"int[] faceVertexCounts = {counts}\nint[] faceVertexIndices = {indices}\npoint3f[] points = {points}\n"
    scaled = usda(folder / "unit.usda")
    unit = rng.choice(["nan", "1e300", "-1", "0"])
    scaled.write_text(scaled.read_text().replace("metersPerUnit = 1", f"metersPerUnit = {unit}"))
    return [imports(usda(folder / "numbers.usda", mesh)), imports(scaled)]


@kind
def usd_damaged(folder: Path, rng: random.Random) -> list[Words]:
    text = usda(folder / "plain.usda")
    crate = folder / "plain.usdc"
    Sdf.Layer.FindOrOpen(str(text)).Export(str(crate))
    source = rng.choice([text, crate, crate])
    return [imports(write(folder / f"damaged{source.suffix}", damaged(source.read_bytes(), rng)))]


@kind
def usd_joints(folder: Path, rng: random.Random) -> list[Words]:
    api = '( prepend apiSchemas = ["PhysicsRigidBodyAPI"] )'
    ends = rng.choice([("a", "a"), ("a", "b"), ("a", "gone")])
    low = rng.choice(["nan", "inf", "0"])
    bodies = "".join(f'def Xform "{name}" {api} {{}}\n' for name in "ab")
    joint = (
        'def PhysicsRevoluteJoint "{}" {{\n rel physics:body0 = </W/{}>\n rel physics:body1 = </W/{}>\n'
        ' uniform token physics:axis = "{}"\n float physics:lowerLimit = {}\n}}\n'
    )
    axis = rng.choice(["X", "Q"])
    joints = joint.format("j", *ends, axis, low) + joint.format("k", "b", "a", "X", "0")
    return [imports(usda(folder / "joints.usda", more=bodies + joints))]


@kind
def usd_annotation(folder: Path, rng: random.Random) -> list[Words]:
    usda(folder / "thing.usda")
    content = rng.choice(
        ["[]", "{}", "[" * 100_000, '{"object_keypoints": 3}', "nan", "\ud800".encode("utf-8", "replace")]
    )
    write(folder / "Kps" / "open" / "info.json", content)
    name = rng.choice(["open", "../../../../../../../../../../etc", "/etc"])
    return [[*imports(folder / "thing.usda"), "--info-name", name]]
