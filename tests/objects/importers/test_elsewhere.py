"""What an asset file refers to lies near it, or the user says that it may lie elsewhere."""

import json
from pathlib import Path

import pytest
import trimesh

from handloom.errors import FileError, NotAllowedError
from handloom.objects import import_object, make_object

TETRAHEDRON = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
TEXTURED = TETRAHEDRON.replace("f 1 3 2", "vt 0 0\nusemtl skin\nf 1/1 3/1 2/1")
USD = """#usda 1.0
( defaultPrim = "W"
  metersPerUnit = 1
  upAxis = "Z" )
def Xform "W" ( references = @{}@ ) {{}}
"""


@pytest.fixture
def near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in somebody's home; ``elsewhere`` beside the home is not near it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "home" / "downloads" / "asset"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mesh.obj").write_text(TETRAHEDRON)
    (elsewhere / "part.xml").write_text("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    (elsewhere / "skin.mtl").write_text("newmtl skin\nKd 1 0 0\n")
    import_usd(elsewhere / "mesh.usda")
    document = trimesh.exchange.gltf.export_gltf(trimesh.Scene(trimesh.creation.box((0.1, 0.1, 0.1))))
    for name in set(document) - {"model.gltf"}:
        (elsewhere / name).write_bytes(document[name])
    (folder / "box.json").write_bytes(document["model.gltf"])
    return folder


def import_usd(file: Path) -> None:
    faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    points = "[(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]"
    mesh = f"int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = {faces}\npoint3f[] points = {points}\n"
    file.write_text(f'#usda 1.0\n( defaultPrim = "M" )\ndef Xform "M" {{\ndef Mesh "m" {{\n{mesh}}}\n}}\n')


def referring(near: Path, kind: str, folder: str) -> Path:
    """Write a file of a kind that refers to another one in a folder."""
    body = "<body name='a'><geom {}/></body>"
    texts = {
        "include.xml": f"<mujoco><include file='{folder}/part.xml'/></mujoco>",
        "mesh.xml": f"<mujoco><asset><mesh name='m' file='{folder}/mesh.obj'/></asset><worldbody>"
        + body.format("type='mesh' mesh='m'") + "</worldbody></mujoco>",
        "meshdir.xml": f"<mujoco><compiler meshdir='{folder}'/><asset><mesh name='m' file='mesh.obj'/></asset>"
        "<worldbody>" + body.format("type='mesh' mesh='m'") + "</worldbody></mujoco>",
        "mesh.urdf": "<robot name='r'><link name='l'><collision><geometry>"
        f"<mesh filename='{folder}/mesh.obj'/></geometry></collision></link></robot>",
        "material.obj": f"mtllib {folder}/skin.mtl\n{TEXTURED}",
        "reference.usda": USD.format(f"{folder}/mesh.usda"),
        "buffer.gltf": (near / "box.json").read_text().replace("gltf_buffer", f"{folder}/gltf_buffer"),
    }  # fmt: skip
    (near / kind).write_text(texts[kind])
    return near / kind


KINDS = ("include.xml", "mesh.xml", "meshdir.xml", "mesh.urdf", "material.obj", "reference.usda", "buffer.gltf")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["absolute", "dots", "link"])
def test_a_reference_that_leads_out_is_refused_unless_allowed(near: Path, tmp_path: Path, kind: str, path: str) -> None:
    (near / "link").symlink_to(tmp_path / "elsewhere")
    folder = {"absolute": str(tmp_path / "elsewhere"), "dots": "../../../elsewhere", "link": "link"}[path]
    file = referring(near, kind, folder)
    with pytest.raises(NotAllowedError, match=r"elsewhere|link.* lies outside .* --allow-outside"):
        import_object(file)
    allowed = import_object(file, allow_outside=True).asset
    again = make_object(allowed.category, parameters=dict(allowed.parameters))  # as a replay does
    assert again.content_hash == allowed.content_hash


@pytest.mark.parametrize("kind", KINDS)
def test_a_reference_to_a_folder_near_by_is_followed(near: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "elsewhere").rename(near.parent / "shared")
    asset = import_object(referring(near, kind, "../shared")).asset
    assert "allow_outside" not in asset.parameters
    assert asset.mass > 0.0


def test_a_folder_of_the_task_is_near_enough(near: Path, tmp_path: Path) -> None:
    file = referring(near, "mesh.xml", str(tmp_path / "elsewhere"))
    assert import_object(file, folders=[tmp_path / "elsewhere"]).asset.mass > 0.0


def test_a_name_in_odd_quotes_comments_or_entities_is_seen_all_the_same(near: Path, tmp_path: Path) -> None:
    path = f"{tmp_path / 'elsewhere'}/part.xml"
    for text in (
        f"<mujoco><include x='>' file = \"{path}\"/></mujoco>",
        f"<mujoco><include x='<!--' file='{path}' y='-->'/></mujoco>",
        f"<mujoco><include file='{path.replace('/', '&#x2f;')}'/></mujoco>",
    ):
        (near / "odd.xml").write_text(text)
        with pytest.raises(NotAllowedError, match="lies outside"):
            import_object(near / "odd.xml")


def test_an_annotation_name_does_not_lead_out(near: Path, tmp_path: Path) -> None:
    import_usd(near / "thing.usda")
    (tmp_path / "elsewhere" / "info.json").write_text(json.dumps({"object_keypoints": {}}))
    with pytest.raises(NotAllowedError, match="is not a path inside"):
        import_object(near / "thing.usda", info_name=str(tmp_path / "elsewhere"))


def test_a_file_that_takes_too_long_says_how_to_grant_more(near: Path) -> None:
    (near / "slow.obj").write_text(20_000 * TETRAHEDRON)
    with pytest.raises(FileError, match=r"cannot be read in 0.001 s; handloom object import .*slow.obj --seconds 1800"):
        import_object(near / "slow.obj", seconds=0.001)
