"""Models, packages, tasks and policies whose names are paths."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import yaml
from file_parts import gltf, mjcf, obj, stl, task, thing, usda, write
from kinds import Kind
from names import Words, far, name, plant_links, xml

from handloom.robots.load import ZOO_FOLDER

NAME_KINDS: list[Kind] = []


def kind(function: Kind) -> Kind:
    """Add a kind to the table."""
    NAME_KINDS.append(function)
    return function


@kind
def packages(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    one, two = (xml(name(folder, rng)) for _ in range(2))
    geom = "<freejoint/><geom type='box' size='.02 .02 .02'/>"
    mjcf(folder / "scene.xml", f"</body><body name='{one}'>{geom}</body><body name='{two}x'>{geom}")
    asset = f"<mesh name='m' file='{xml(far(folder, 'mesh.stl', rng))}' content_type='model/stl'/>"
    mjcf(folder / "nosy.xml", "<geom type='mesh' mesh='m'/>", asset=asset)
    write(folder / "mug.urdf", _urdf(xml(far(folder, "mesh.stl", rng))).replace("name='r'", f"name='{one}'"))
    output = rng.choice([["-o", "library"], ["-o", "."], []])
    return [["object", "add", str(folder), *output], ["object", "add", str(folder), "--list"]]


@kind
def joints(folder: Path, rng: random.Random) -> list[Words]:
    moving = "<body name='{}' pos='0 0 .2'><joint name='{}' range='0 90'/><geom type='box' size='.1 .1 .02'/></body>"
    file = mjcf(folder / "door.xml", moving.format(xml(name(folder, rng)), xml(name(folder, rng))))
    return [["object", "annotate", str(file), *(["--accept"] if rng.random() < 0.5 else [])]]


@kind
def models(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    mesh, picture, model = (xml(far(folder, f, rng)) for f in ("mesh.stl", "picture.png", "model.xml"))
    where, file_name = mesh.replace("\\", "/").rpartition("/")[::2]
    write(folder / "part.xml", f"<mujoco><asset><mesh name='p' file='{file_name or 'mesh.stl'}'/></asset></mujoco>")
    assets = [
        f"<mesh name='m' file='{mesh}' content_type='model/stl'/>",
        f"<texture name='t' type='2d' file='{picture}'/>",
        f"<texture name='t' type='cube' fileright='{picture}' fileleft='{picture}'/>",
        f"<hfield name='h' file='{picture}' size='1 1 1 1'/>",
        f"<skin name='s' file='{mesh}'/>",
        f"<model name='x' file='{model}'/>",
    ]
    heads = [
        f"<include file='{model}'/>",
        f"<compiler meshdir='{where}' texturedir='{where}'/><include file='part.xml'/>",
        f"<include file='part.xml'/><compiler assetdir='{where}'/>",
        f"<compiler strippath='true' meshdir='{where}'/><include file='part.xml'/>",
    ]
    head, asset = (rng.choice(heads), "") if rng.random() < 0.5 else ("", rng.choice(assets))
    file = mjcf(folder / "model.xml", head=head, asset=asset)
    return [["object", "import", str(file)], ["robot", "add", str(file), "-o", "robot"]]


@kind
def meshes(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    skin, picture = far(folder, "skin.mtl", rng), far(folder, "picture.png", rng)
    uv = obj().replace("f ", "vt 0 0\nusemtl m\nf ", 1)
    write(folder / "own.mtl", f"newmtl m\nmap_Kd {picture}\n")
    document = gltf(buffers=[{"byteLength": 72, "uri": far(folder, "mesh.stl", rng)}])
    looks = gltf(images=[{"uri": picture}], textures=[{"source": 0}])
    looks["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    looks["meshes"][0]["primitives"][0]["material"] = 0
    files = [
        write(folder / "named.obj", f"mtllib {skin}\n{uv}"),
        write(folder / "own.obj", f"mtllib own.mtl\n{uv}"),
        write(folder / "buffer.gltf", json.dumps(document)),
        write(folder / "looks.gltf", json.dumps(looks)),
        write(folder / "robot.urdf", _urdf(xml(far(folder, "mesh.stl", rng)))),
        write(folder / "converted.urdf", _urdf(rng.choice(["buffer.gltf", "looks.gltf"]))),
    ]
    chosen = rng.choice(files)
    adds = [["robot", "add", str(chosen), "-o", "robot"]] if chosen.suffix == ".urdf" else []
    return [["object", "import", str(chosen)], *adds]


def _urdf(mesh: str) -> str:
    shape = f"<geometry><mesh filename='{mesh}'/></geometry>"
    return f"<robot name='r'><link name='l'><visual>{shape}</visual><collision>{shape}</collision></link></robot>"


@kind
def stages(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    stage, picture = far(folder, "stage.usda", rng), far(folder, "picture.png", rng)
    shader = f'def Shader "T" {{\nuniform token info:id = "UsdUVTexture"\nasset inputs:file = @{picture}@\n}}\n'
    look = f'def Material "M" {{\n{shader}}}\n'
    made = [
        lambda: usda(folder / "a.usda", more=f'def Xform "r" (\n references = @{stage}@\n) {{}}\n'),
        lambda: usda(folder / "a.usda", head=f" subLayers = [@{stage}@]\n"),
        lambda: usda(folder / "a.usda", more=look),
    ]
    file = rng.choice(made)()
    info = rng.choice([[], ["--info-name", far(folder, "Kps", rng)], ["--info-name", name(folder, rng) or "x"]])
    return [["object", "import", str(file), *[word.replace("\0", "") for word in info]]]


@kind
def robots(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    shutil.copytree(ZOO_FOLDER / "so101", folder / "arm")
    settings, model = folder / "arm" / "robot.yaml", folder / "arm" / "model.xml"
    text = settings.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("model:")]
    key = rng.choice(["model", "base", "target_class", "path", "extra_depth_file", "none"])
    there = {"model": "robot/model.xml", "base": "robot/robot.yaml"}.get(key, "secret.json")
    value = "stranger:Policy" if key == "target_class" else far(folder / "arm", there, rng)
    if key == "none":
        asset = f"<asset><mesh name='x' file='{xml(far(folder / 'arm', 'mesh.stl', rng))}'/></asset>"
        model.write_text(model.read_text().replace("</mujoco>", f"{asset}</mujoco>"))
    else:
        settings.write_text("\n".join([*lines, yaml.safe_dump({key: value})]), encoding="utf-8")
    verb = rng.choice([["check"], ["show", "--size", "64"], ["add"]])
    if verb == ["add"]:
        return [["robot", "add", str(model), "-o", rng.choice([str(folder / "arm"), "robot"])]]
    return [["robot", *verb, str(rng.choice([folder / "arm", settings]))]]


@kind
def tasks(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    pick = {"name": "pick", "objects": ["thing"], "npy_name": far(folder, "secret.npy", rng)}
    spread = {"target": "table", "min_num": 1, "max_num": 1, "pos_range": [[0, 0], [0.1, 0.1]]}
    eye = {"name": name(folder, rng), "translation": [0, 0, 1], "orientation": [1, 0, 0, 0], "size": [32, 32]}
    changes: dict[str, Any] = rng.choice(
        [
            {"objects": thing(path=far(folder, rng.choice(["mesh.stl", "model.xml", "stage.usda"]), rng))},
            {"objects": thing(category="cube", texture={"texture_lib": far(folder, "", rng)})},
            {"objects": thing(art_cat=far(folder, "", rng))},
            {"objects": thing(path="a/b/c.stl", apply_randomization=True, randomization_scope=[far(folder, "", rng)])},
            {"objects": thing(path="link.usda", obj_info_path=far(folder, "Kps/info.json", rng))},
            {"objects": thing(path="link.usda", info_name=far(folder, "Kps", rng))},
            {"objects": thing(category=rng.choice(["stranger:brick", "os:system", "subprocess:run"]))},
            {"arena_file": far(folder, "secret.yaml", rng)},
            {"robots": [{"name": "arm", "robot_config_file": far(folder, "robot", rng)}]},
            {"robots": [{"name": "arm", "robot_config_file": far(folder, "secret.txt", rng)}]},
            {"asset_root": far(folder, "", rng), "objects": thing(path="mesh.stl")},
            {"skills": [{"arm": [{"left": [pick]}]}]},
            {"distractors": {**spread, "path": far(folder, "", rng)}},
            {"cameras": [{**eye, "camera_file": far(folder, "secret.yaml", rng)}]},
            {"cameras": [{**eye, "camera_file": "realsense_d455"}]},
            {"name": name(folder, rng)},
            {"allow_outside": True, "objects": thing(path=far(folder, "mesh.stl", rng))},
            {"objects": [{**thing(category="cube")[0], "name": name(folder, rng)}]},
        ]
    )
    base = {"base": far(folder, "task.yaml", rng), "table_height": [0.7, 0.8]}
    based = write(folder / "based.yaml", json.dumps(base))
    file = task(folder / rng.choice(["task.yaml", "...yaml", "-o.yaml", ".yaml"]), **changes)
    verb = rng.choice([["check"], ["show"], ["sample", "--compact"], ["preview", "--episodes", "1", "-o", "p.png"]])
    return [[*verb, str(rng.choice([file, file, file, based]))]]


@kind
def notes_beside_assets(folder: Path, rng: random.Random) -> list[Words]:
    write(folder / "thing" / "block.stl", stl())
    links = {"Aligned_grasp_sparse.npy": "secret.npy", "own.npy": "secret.npy", "dexpick_pose.yaml": "secret.yaml"}
    for link, there in links.items():
        (folder / "thing" / link).symlink_to(folder.parents[2] / "outside" / there)
    skill = rng.choice(
        [
            {"name": "pick", "objects": ["thing"]},
            {"name": "pick", "objects": ["thing"], "npy_name": rng.choice(["own.npy", "../../out/secret.npy"])},
            {"name": "dexpick", "objects": ["thing"]},
        ]
    )
    scale = [0.3, 0.3, 0.3]
    data = {"language_instruction": "Take it.", "max_episode_length": 60}
    objects = thing(path="thing/block.stl", scale=scale)
    file = task(folder / "task.yaml", objects=objects, skills=[{"arm": [{"left": [skill]}]}], data=data)
    generate = ["generate", str(file), "--attempts", "1", "--executor", "inline", "--render", "none", "--json"]
    return [generate if rng.random() < 0.7 else ["check", str(file)]]


@kind
def runs_of_tasks(folder: Path, rng: random.Random) -> list[Words]:
    spot = {"name": rng.choice(["...yaml", "..yaml", "task.yaml", "nul.yaml", f"{'x' * 200}.yaml"])}
    wait = {"name": "wait", "wait_steps": 2, "success_threshold": 0.02}
    data = {"language_instruction": name(folder, rng) or "Rest.", "max_episode_length": 60}
    changes = {"name": name(folder, rng), "skills": [{"arm": [{"left": [wait]}]}], "data": data}
    if rng.random() < 0.3:
        changes["objects"] = [{**thing(category="cube")[0], "name": name(folder, rng)}]
    file = task(folder / spot["name"], **changes)
    return [["generate", str(file), "--attempts", "1", "--executor", "inline", "--render", "none", "--json"]]


@kind
def policies(folder: Path, rng: random.Random) -> list[Words]:
    plant_links(folder)
    file = task(folder / "task.yaml", data={"language_instruction": "Rest.", "max_episode_length": 60})
    config = {"type": rng.choice(["act", "stranger:Policy", far(folder, "secret.txt", rng)]), "pretrained_path": "link"}
    write(folder / "checkpoint" / "config.json", json.dumps(config))
    step = {
        "registry_name": "x",
        "class": rng.choice(["stranger.Policy", "subprocess.Popen"]),
        "config": {"args": "id"},
    }
    for part in ("policy_preprocessor.json", "policy_postprocessor.json"):
        write(folder / "checkpoint" / part, json.dumps({"name": "x", "steps": [step]}))
    write(folder / "checkpoint" / "model.safetensors", stl())
    write(folder / "policy.onnx", stl())
    policy = rng.choice(["checkpoint", "policy.onnx", "link.onnx", "out", "link"])
    (folder / "link.onnx").symlink_to(folder.parents[2] / "outside" / "mesh.stl")
    words = ["evaluate", str(file), "--policy", str(folder / policy), "-n", "1", "--executor", "inline", "--json"]
    return [] if policy in ("link.onnx", "out", "link") else [words]  # A link on the command line is the user's word.
