"""Hostile MJCF and URDF files."""

import random
import shutil
from pathlib import Path

from file_parts import (
    CORNERS,
    SECRET,
    Words,
    adds,
    damaged,
    imports,
    mjcf,
    obj,
    png,
    stl,
    write,
)
from kinds import kind


@kind
def xml_entity_bomb(folder: Path, rng: random.Random) -> list[Words]:
    levels = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(rng.randrange(8, 20)))
    text = f'<!DOCTYPE x [<!ENTITY e0 "laugh">{levels}]><mujoco model="&e8;"><worldbody/></mujoco>'
    robot = text.replace("mujoco model", "robot name").replace("</mujoco>", "</robot>")
    files = write(folder / "bomb.xml", text), write(folder / "bomb.urdf", robot)
    return [words(file) for file in files for words in (imports, adds)]


@kind
def xml_includes_itself(folder: Path, rng: random.Random) -> list[Words]:
    ring = [f"part{i}.xml" for i in range(rng.randrange(1, 5))]
    for here, there in zip(ring, [*ring[1:], ring[0]], strict=True):
        write(folder / here, f"<mujoco><include file='{there}'/><worldbody/></mujoco>")
    return [imports(folder / ring[0]), adds(folder / ring[0])]


@kind
def xml_model_of_itself(folder: Path, rng: random.Random) -> list[Words]:
    attach = "<attach model='again' body='a' prefix='x'/>"
    file = mjcf(folder / "ring.xml", f"<frame>{attach}</frame>", asset="<model name='again' file='ring.xml'/>")
    return [imports(file), adds(file)]


@kind
def xml_reads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    name = rng.choice([SECRET, "../" * 12 + "etc/passwd", "link", "&#x2f;etc&#x2f;passwd"])
    (folder / "link").symlink_to(SECRET)
    how = rng.choice(
        [
            f"<mesh name='m' file='{name}' content_type='model/stl'/>",
            f"<texture name='t' type='2d' file='{name}' content_type='image/png'/>",
            f"<hfield name='h' file='{name}' size='1 1 1 1'/>",
            f"<!-- > --><model name='x' file='{name}'/>",
        ]
    )
    file = mjcf(folder / "nosy.xml", asset=how)
    shutil.copyfile("/etc/hostname", folder / "own")  # May be read: it lies beside the file.
    included = write(folder / "include.xml", f"<mujoco><include x='<!--' file='{name}' y='-->'/><worldbody/></mujoco>")
    return [imports(file), imports(included), adds(included)]


@kind
def xml_meshdir_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    up = rng.choice(["/etc", "../" * 12 + "etc"])
    asset = "<mesh name='m' file='passwd' content_type='model/stl'/>"
    file = mjcf(folder / "dir.xml", head=f"<compiler meshdir='{up}' texturedir='/'/>", asset=asset)
    return [imports(file), adds(file)]


@kind
def xml_deep(folder: Path, rng: random.Random) -> list[Words]:
    depth = rng.choice([300, 3000, 100_000])
    nested = "<body><geom size='.1'/>" * depth + "</body>" * depth
    link = "<link name='l'/>" + "<a>" * depth + "</a>" * depth
    return [
        imports(mjcf(folder / "deep.xml", nested)),
        imports(write(folder / "deep.urdf", f"<robot name='r'>{link}</robot>")),
        adds(folder / "deep.xml"),
    ]


@kind
def xml_declares_a_large_asset(folder: Path, rng: random.Random) -> list[Words]:
    side = rng.choice([40_000, 200_000, 2_000_000_000])
    asset = rng.choice(
        [
            f"<texture name='t' type='2d' builtin='flat' width='{side}' height='{side}'/>",
            f"<texture name='t' type='cube' builtin='gradient' width='{side}' height='{side}'/>",
            f"<hfield name='h' nrow='{side}' ncol='{side}' size='1 1 1 1'/>",
        ]
    )
    file = mjcf(folder / "large.xml", asset=asset)
    return [imports(file), adds(file)]


@kind
def xml_repeats_without_end(folder: Path, rng: random.Random) -> list[Words]:
    count = rng.choice([10**5, 10**7, 2 * 10**9])
    body = rng.choice(
        [
            f"<replicate count='{count}' offset='0 0 .1'><geom size='.1'/></replicate>",
            f"<replicate count='{count}' offset='0 0 .1'><body><joint/><geom size='.1'/></body></replicate>",
            f"<flexcomp name='f' type='grid' count='30000 {min(count, 30000)} 1' spacing='.1 .1 .1' dim='2'/>",
            f"<composite type='cable' count='{count} 1 1' size='1 1 1' curve='s'><geom size='.1'/></composite>",
        ]
    )
    file = mjcf(folder / "many.xml", body)
    return [imports(file), adds(file)]


@kind
def xml_asks_for_memory(folder: Path, rng: random.Random) -> list[Words]:
    size = rng.choice(["<size memory='900G'/>", "<size nuser_geom='2000000000'/>", "<size nkey='2000000000'/>"])
    custom = "<custom><numeric name='n' size='2000000000' data='1'/></custom>"
    file = mjcf(folder / "memory.xml", head=size if rng.random() < 0.5 else custom)
    return [imports(file), adds(file)]


@kind
def xml_senseless_numbers(folder: Path, rng: random.Random) -> list[Words]:
    number = rng.choice(["nan", "inf", "-1", "0", "1e308", "1e400", "1e-300", "9" * 400])
    key = rng.choice(["size", "pos", "mass", "density", "friction", "quat"])
    body = (
        f"<body pos='0 0 .2'><joint range='{number} {number}'/><geom type='sphere' size='.1' {key}='{number}'/></body>"
    )
    body = body.replace("size='.1' size", "size")
    file = mjcf(folder / "numbers.xml", body)
    return [imports(file), adds(file)]


@kind
def xml_names(folder: Path, rng: random.Random) -> list[Words]:
    name = rng.choice(["object", "world", "a" * 5_000_000, "part/", "ü\u202e", "a"])
    body = f"<body name='{name}' pos='0 0 .2'><joint name='{name}'/><geom size='.1' name='{name}'/></body>"
    return [imports(mjcf(folder / "names.xml", body)), adds(folder / "names.xml")]


@kind
def xml_is_something_else(folder: Path, rng: random.Random) -> list[Words]:
    content = rng.choice(
        [b"", b"\0" * 1000, b"\xff\xfe<\0m\0", bytes(rng.randrange(256) for _ in range(500)), b"<" * 10**6]
    )
    file, robot = write(folder / "other.xml", content), write(folder / "other.urdf", content)
    return [imports(file), imports(robot), adds(robot)]


@kind
def xml_with_a_broken_mesh(folder: Path, rng: random.Random) -> list[Words]:
    nan, far = float("nan"), 3e38
    content = rng.choice(
        [
            stl(declared=10**9),
            stl([(nan,) * 3, *CORNERS[1:]]),
            stl([(far,) * 3, *CORNERS[1:]]),
            damaged(stl(), rng),
            b"solid",
            b"",
        ]
    )
    write(folder / "m.stl", content)
    write(folder / "m.obj", rng.choice([obj(faces=[(0, 1, 999)]), obj([(nan,) * 3] * 4), "f 1 2 3\n", "f -1 -2 -3\n"]))
    asset = "<mesh name='m' file='m.stl'/><mesh name='o' file='m.obj'/>"
    body = f"<geom type='mesh' mesh='{rng.choice('mo')}'/>"
    robot = f"<robot name='r'><link name='l'><visual><geometry><mesh filename='{rng.choice(['m.stl', 'm.obj'])}'/>"
    write(folder / "m.urdf", robot + "</geometry></visual></link></robot>")
    return [
        imports(mjcf(folder / "mesh.xml", body, asset=asset)),
        imports(folder / "m.urdf"),
        adds(folder / "mesh.xml"),
    ]


@kind
def xml_with_a_large_texture(folder: Path, rng: random.Random) -> list[Words]:
    write(folder / "t.png", png(rng.choice([30_000, 60_000]), rng.choice([30_000, 60_000])))
    asset = "<texture name='t' type='2d' file='t.png'/><material name='m' texture='t'/>"
    file = mjcf(folder / "texture.xml", "<geom size='.1' material='m'/>", asset=asset)
    return [imports(file), adds(file)]


@kind
def urdf_leads_elsewhere(folder: Path, rng: random.Random) -> list[Words]:
    name = rng.choice([f"package://{'../' * 12}etc/passwd", f"file://{SECRET}", SECRET, "package:///etc/passwd"])
    link = f"<link name='l'><visual><geometry><mesh filename='{name}'/></geometry></visual></link>"
    file = write(folder / "nosy.urdf", f"<robot name='r'>{link}</robot>")
    return [imports(file), adds(file)]


@kind
def urdf_makes_no_tree(folder: Path, rng: random.Random) -> list[Words]:
    joint = "<joint name='{0}{1}' type='revolute'><parent link='{0}'/><child link='{1}'/>"
    joint += "<limit lower='{2}' upper='1'/></joint>"
    low = rng.choice(["0", "nan", "inf", "x"])
    joints = rng.choice([joint.format("a", "b", low) + joint.format("b", "a", low), joint.format("a", "c", low), ""])
    mesh = rng.choice(["", "<visual><geometry><mesh/></geometry></visual>"])
    text = f"<robot name='r'><link name='a'>{mesh}</link><link name='b'/>{joints}</robot>"
    return [imports(write(folder / "ring.urdf", text)), adds(folder / "ring.urdf")]
