"""Hostile STL, OBJ, PLY, glTF and GLB files."""

import base64
import json
import random
import struct
from pathlib import Path
from typing import Any

from file_parts import (
    CORNERS,
    SECRET,
    Words,
    damaged,
    glb,
    gltf,
    imports,
    obj,
    ply,
    png,
    stl,
    write,
)
from kinds import kind


@kind
def stl_lies(folder: Path, rng: random.Random) -> list[Words]:
    declared = rng.choice([10**9, 2**32 - 1, 0, 3, 5])
    return [imports(write(folder / "lies.stl", stl(declared=declared)))]


@kind
def stl_numbers(folder: Path, rng: random.Random) -> list[Words]:
    number = rng.choice([float("nan"), float("inf"), 3e38, 1e-40, 1e4, 0.0])
    corners = [(number,) * 3, *CORNERS[1:]] if rng.random() < 0.5 else [tuple(x * number for x in c) for c in CORNERS]
    return [imports(write(folder / "numbers.stl", stl(corners)))]


@kind
def stl_text(folder: Path, rng: random.Random) -> list[Words]:
    content = rng.choice(
        [
            b"solid\n" + b"facet normal 0 0 0\n" * 200_000,
            b"solid\n" + b"vertex " * 500_000,
            b"solid \xff\xfe\n",
            b"solid\nvertex 1 2\nendsolid\n",
        ]
    )
    return [imports(write(folder / "text.stl", content))]


@kind
def mesh_damaged(folder: Path, rng: random.Random) -> list[Words]:
    documents = json.dumps(gltf()).encode()
    honest = {"stl": stl(), "obj": obj().encode(), "ply": ply(), "gltf": documents, "glb": glb(documents)}
    ending = rng.choice(list(honest))
    return [imports(write(folder / f"damaged.{ending}", damaged(honest[ending], rng)))]


@kind
def obj_numbers(folder: Path, rng: random.Random) -> list[Words]:
    text = rng.choice(
        [
            obj(faces=[(0, 1, 10**9)]),
            obj(faces=[(0, 1, -(10**6))]),
            obj([("nan", "nan", "nan"), *CORNERS[1:]]),
            obj([("1e999", "0", "0"), *CORNERS[1:]]),
            "f " + " ".join(["1"] * 500_000) + "\n" + obj(),
            "v 0 0 0\n" * 3 + "f 1 2 3\n",
            "v\n" * 1000,
            "f 1/1/1/1/1 a b\n",
        ]
    )
    return [imports(write(folder / "numbers.obj", text))]


@kind
def obj_reads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    far = rng.choice([SECRET, "../" * 12 + "etc/passwd", "link.mtl"])
    (folder / "link.mtl").symlink_to(SECRET)
    write(folder / "m.mtl", f"newmtl m\nmap_Kd {SECRET if far.endswith('mtl') else far}\n")
    uv = obj().replace("f ", "vt 0 0\nusemtl m\nf ", 1)
    named = write(folder / "named.obj", f"mtllib {far}\n{uv}")
    return [imports(named), imports(write(folder / "textured.obj", f"mtllib m.mtl\n{uv}"))]


@kind
def ply_lies(folder: Path, rng: random.Random) -> list[Words]:
    many = rng.choice([10**9, 10**12, -1])
    content = rng.choice([ply(vertices=many), ply(faces=many), ply().replace(b"uchar int", b"uint int")])
    return [imports(write(folder / "lies.ply", content))]


@kind
def gltf_lies(folder: Path, rng: random.Random) -> list[Words]:
    accessors = gltf()["accessors"]
    count = rng.choice([10**9, 10**12, -1, "x"])
    changes: Any = rng.choice(
        [
            {"accessors": [{**accessors[0], "count": count}, accessors[1]]},
            {"accessors": [{"componentType": 5126, "count": 10**9, "type": "MAT4"}, accessors[1]]},
            {"bufferViews": [{"buffer": 7, "byteLength": 48}, {"buffer": 0, "byteOffset": 10**9, "byteLength": 24}]},
            {"nodes": [{"mesh": 0, "children": [0]}]},
            {"nodes": [{"children": [i + 1]} for i in range(5000)] + [{"mesh": 0}]},
            {"nodes": [{"mesh": 0, "matrix": [float("nan")] * 16}]},
            {"nodes": [{"mesh": 0, "scale": [1e200, 1e200, 1e200]}]},
            {"meshes": []},
            {"buffers": []},
        ]
    )
    return [imports(write(folder / "lies.gltf", json.dumps(gltf(**changes))))]


@kind
def gltf_reads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    uri = rng.choice([SECRET, "../" * 12 + "etc/passwd", f"file://{SECRET}", "link.bin"])
    (folder / "link.bin").symlink_to(SECRET)
    buffer = gltf(buffers=[{"byteLength": 72, "uri": uri}])
    looks = gltf(images=[{"uri": uri}], textures=[{"source": 0}])
    looks["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    looks["meshes"][0]["primitives"][0]["material"] = 0
    files = [write(folder / f"{n}.gltf", json.dumps(d)) for n, d in (("buffer", buffer), ("looks", looks))]
    return [imports(file) for file in files]


@kind
def glb_lies(folder: Path, rng: random.Random) -> list[Words]:
    plain = json.dumps(gltf()).encode()
    content = rng.choice(
        [
            glb(plain, length=2**32 - 1),
            glb(b"[" * 100_000 + b"]" * 100_000),
            glb(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
            glb(plain).replace(struct.pack("<I4s", len(plain) + -len(plain) % 4, b"JSON"), b"\xff\xff\xff\xffJSON"),
            b"glTF",
            glb(b"{}"),
        ]
    )
    return [imports(write(folder / "lies.glb", content))]


@kind
def glb_with_a_large_texture(folder: Path, rng: random.Random) -> list[Words]:
    picture = "data:image/png;base64," + base64.b64encode(png(60_000, rng.choice([2_000, 60_000]))).decode()
    document = gltf(images=[{"uri": picture}], textures=[{"source": 0}])
    document["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    document["meshes"][0]["primitives"][0]["material"] = 0
    return [imports(write(folder / "texture.gltf", json.dumps(document)))]
