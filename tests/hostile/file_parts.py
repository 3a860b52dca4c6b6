"""Honest files, small: what hostile ones are made of. All are a tetrahedron of ten centimetres."""

import base64
import json
import random
import struct
import zlib
from pathlib import Path
from typing import Any

Words = list[str]
"""One command line."""

FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
SECRET = "/etc/passwd"


def imports(file: Path) -> Words:
    return ["object", "import", str(file)]


def adds(file: Path) -> Words:
    return ["robot", "add", str(file), "-o", str(file.parent / "robot")]


def write(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


def mjcf(file: Path, body: str = "", *, head: str = "", asset: str = "") -> Path:
    geom = "<geom type='box' size='.1 .1 .1'/>"
    world = f"<worldbody><body name='a'>{geom}{body}</body></worldbody>"
    return write(file, f"<mujoco>{head}<asset>{asset}</asset>{world}</mujoco>")


def stl(corners: Any = CORNERS, *, declared: int | None = None) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 1, *(x for i in face for x in corners[i]), 0) for face in FACES)
    return b"\0" * 80 + struct.pack("<I", len(FACES) if declared is None else declared) + rows


def obj(corners: Any = CORNERS, faces: Any = FACES) -> str:
    lines = ["v {} {} {}".format(*corner) for corner in corners]
    return "\n".join([*lines, *("f " + " ".join(str(i + 1) for i in face) for face in faces)]) + "\n"


def ply(vertices: int = 4, faces: int = 4) -> bytes:
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n"
        f"property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = b"".join(struct.pack("<3f", *corner) for corner in CORNERS)
    return head.encode() + rows + b"".join(struct.pack("<B3i", 3, *face) for face in FACES)


def gltf(**changes: Any) -> dict[str, Any]:
    data = b"".join(struct.pack("<3f", *c) for c in CORNERS) + b"".join(struct.pack("<3H", *f) for f in FACES)
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [
            {"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 48},
            {"buffer": 0, "byteOffset": 48, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
    }
    return {**document, **changes}


def glb(document: bytes, data: bytes = b"", *, length: int | None = None) -> bytes:
    document += b" " * (-len(document) % 4)
    body = struct.pack("<I4s", len(document), b"JSON") + document
    if data:
        body += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body) if length is None else length) + body


def png(width: int, height: int, rows: bytes = b"\0" * 64) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def usda(file: Path, mesh: str = "", *, head: str = "", more: str = "", kind: str = "Mesh") -> Path:
    counts, indices = [3] * 4, [i for face in FACES for i in face]
    inside = f"int[] faceVertexCounts = {counts}\nint[] faceVertexIndices = {indices}\n"
    inside += f"point3f[] points = {list(CORNERS)}\n"
    text = f'#usda 1.0\n(\n defaultPrim = "W"\n metersPerUnit = 1\n upAxis = "Z"\n{head})\n'
    bound = '(\n prepend apiSchemas = ["MaterialBindingAPI"]\n)'
    return write(file, text + f'def Xform "W" {{\ndef {kind} "m" {bound} {{\n{mesh or inside}}}\n{more}}}\n')


SPOT = {"pos_range": [[0, 0.2, 0], [0, 0.2, 0]], "yaw_rotation": [0, 0]}


def task(file: Path, **changes: Any) -> Path:
    """Write a task of one robot and one object, with keys replaced or added."""
    values: dict[str, Any] = {
        "name": "hostile",
        "robots": [{"name": "arm", "robot_config_file": "so101", "translation": [0, 0, 0.75]}],
        "objects": [{"name": "thing", "target_class": "RigidObject", "category": "cube"}],
        "regions": [{"object": "thing", "target": "table", "random_config": SPOT}],
        "skills": [{"arm": [{"left": [{"name": "home"}]}]}],
        **changes,
    }
    return write(file, json.dumps({"tasks": [values]}))


def looks_at(file: Path) -> list[Words]:
    return [["check", str(file)], ["sample", str(file), "--compact"]]


def thing(**keys: Any) -> list[dict[str, Any]]:
    return [{"name": "thing", "target_class": "RigidObject", **keys}]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return a file that was cut, overwritten or repeated somewhere."""
    changed, how = bytearray(content), rng.randrange(4)
    place = rng.randrange(len(changed))
    if how == 0:
        return bytes(changed[:place])
    if how == 1:
        count = rng.randrange(1, 60)
        return bytes(changed[:place] + changed[place : place + count] * rng.randrange(2, 40) + changed[place + count :])
    if how == 2:
        changed[place : place + 4] = rng.choice([b"\xff\xff\xff\xff", b"\0\0\xc0\x7f", b"9999", b"1e99", b" nan"])
        return bytes(changed)
    for _ in range(rng.randrange(1, 9)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)
