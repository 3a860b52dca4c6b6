"""The objects of a package become folders that need nothing else; robots, markers and parts of files are left out."""

import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from handloom.cli.main import main
from handloom.errors import FileError, InputError, NotFoundError
from handloom.objects import import_object
from handloom.objects.importers.object_packages import add_object, package_folder, packaged_objects

SCENE = """<mujoco><compiler meshdir="meshes" texturedir="meshes"/><option timestep="0.004"/><size nuser_body="3"/>
<asset><texture name="paint" type="2d" file="paint.png"/><material name="paint" texture="paint"/>
<mesh name="wedge" vertex="-.04 -.03 -.02 .04 -.03 -.02 .04 .03 -.02 -.04 .03 -.02 0 -.03 .03 0 .03 .03"/>
<mesh name="elsewhere" file="not_there.stl"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>
<body name="arm"><joint name="shoulder"/><geom size=".1"/></body>
<body name="wedge" pos="1 0 0"><freejoint/><geom type="mesh" mesh="wedge" material="paint" mass=".2"/></body>
<body name="object"><freejoint/><geom type="box" size=".02 .02 .02"/></body>
<body name="post"><geom type="mesh" mesh="elsewhere"/></body>
<body name="target"><geom size=".01"/></body>
</worldbody><actuator><motor joint="shoulder"/></actuator>
<sensor><framepos objtype="body" objname="arm"/></sensor></mujoco>"""
MUG = """<robot name="mug"><link name="base"><inertial><mass value=".3"/><inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4"
iyz="0" izz="1e-4"/></inertial><visual><geometry><cylinder radius=".04" length=".09"/></geometry></visual>
<collision><geometry><cylinder radius=".04" length=".09"/></geometry></collision></link></robot>"""
CART = MUG.replace('name="base"', 'name="left_wheel"')


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "site" / "toy_models"
    (folder / "scenes" / "meshes").mkdir(parents=True)
    (folder / "cart").mkdir()
    (folder / "__init__.py").write_text("raise RuntimeError('code of the package ran')")
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(folder / "scenes" / "meshes" / "paint.png")
    (folder / "scenes" / "push.xml").write_text(SCENE)
    (folder / "scenes" / "push_again.xml").write_text(SCENE)
    (folder / "scenes" / "assets.xml").write_text("<mujocoinclude><geom/></mujocoinclude>")
    (folder / "mug.urdf").write_text(MUG)
    (folder / "huge_mug.urdf").write_text(MUG.replace('".04"', '"4"'))
    (folder / "cart" / "cart.urdf").write_text(CART)
    (folder / "cart" / "body.urdf").write_text(MUG)
    return folder


def test_bodies_of_scenes_and_urdf_files_are_listed_but_robots_and_markers_are_not(package):
    names = [obj.name for obj in packaged_objects(package)]
    assert names == ["huge_mug", "mug", "post", "push", "push_again", "wedge"]


def test_an_installed_package_is_found_by_name_and_none_of_its_code_runs(package, monkeypatch):
    monkeypatch.syspath_prepend(str(package.parent))
    assert package_folder("toy-models") == package
    assert "toy_models" not in sys.modules
    with pytest.raises(NotFoundError, match="no installed package and no folder 'toy_robots'; pip install toy_robots"):
        package_folder("toy_robots")


def test_an_added_object_is_complete_without_its_package(package, tmp_path):
    wedge, box = packaged_objects(package, ["wedge", "push"])[::-1]
    added: dict[str, str] = {}
    imported = add_object(wedge, tmp_path / "library", added)
    assert any("4 other roots of the scene" in line for line in imported.report.dropped)
    add_object(box, tmp_path / "library", added)
    shutil.rmtree(package)
    again = import_object(tmp_path / "library" / "wedge" / "wedge.xml").asset
    assert np.allclose(again.extent, [0.08, 0.06, 0.05])
    assert again.mass == pytest.approx(0.2)
    assert again.model.ntex == 1
    assert np.allclose(import_object(tmp_path / "library" / "push" / "push.xml").asset.extent, 0.04)


def test_a_body_weighs_what_the_groups_that_count_in_its_file_weigh(tmp_path):
    scene = """<mujoco><compiler inertiagrouprange="4 5"/><worldbody><body><freejoint/><geom type="box" size=".1 .1 .1"
    contype="0" conaffinity="0"/><geom group="4" type="box" size=".1 .1 .1" mass="2"/></body></worldbody></mujoco>"""
    (tmp_path / "box.xml").write_text(scene)
    assert import_object(tmp_path / "box.xml").asset.mass == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("mass", "aside", "weighs"), [(".3", "0", 0.3), (".3", "1", 0.3), ("0", "0", 1000 * np.pi * 0.04**2 * 0.09)]
)
def test_inertias_that_no_body_has_are_computed_from_the_shapes(tmp_path, mass, aside, weighs):
    text = MUG.replace('value=".3"', f'value="{mass}"').replace("1e-4", "0").replace('ixy="0"', f'ixy="{aside}"')
    (tmp_path / "mug.urdf").write_text(text)
    imported = import_object(tmp_path / "mug.urdf")
    assert imported.asset.mass == pytest.approx(weighs, rel=1e-3)
    assert imported.asset.model.body_inertia.max() > 0
    assert "1 impossible inertia computed from the shapes" in imported.report.converted


def test_what_is_too_large_broken_or_there_already_says_so(package, tmp_path):
    found = {obj.name: obj for obj in packaged_objects(package)}
    added: dict[str, str] = {}
    add_object(found["push"], tmp_path, added)
    with pytest.raises(InputError, match="the same as push"):
        add_object(found["push_again"], tmp_path, added)
    with pytest.raises(InputError, match=r"8e\+03 mm long; --scale"):
        add_object(found["huge_mug"], tmp_path, added)
    with pytest.raises(FileError, match=r"not_there\.stl"):
        add_object(found["post"], tmp_path, added)
    with pytest.raises(NotFoundError, match=r"no object 'mog'.*mug"):
        packaged_objects(package, ["mog"])


def test_the_command_prints_a_table_and_what_it_left_out(package, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["object", "add", str(package), "mug", "post"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["object", "size", "[mm]", "mass", "joints", "kept", "converted", "dropped"]
    assert printed[1].split()[:7] == ["mug", "80", "x", "80", "x", "90", "0.3"]
    assert printed[2].startswith("left out: post: ")
    assert printed[3] == "1 of 2 objects in assets/toy_models"
    assert (tmp_path / "assets" / "toy_models" / "mug" / "report.txt").read_text().count("kept") >= 1
    assert main(["object", "add", str(package), "--list"]) == 0
    assert "push        scenes/push.xml (object)" in capsys.readouterr().out


BODY = "<mujoco><worldbody><body name='{}'><freejoint/><geom type='box' size='.02 .02 .02'/></body><body name='b'>"
BODY += "<geom type='box' size='.01 .01 .01'/></body></worldbody></mujoco>"


@pytest.mark.parametrize("up", ["", "../../", "..&#92;..&#92;"])
def test_the_name_of_a_body_is_never_a_path(tmp_path, up, monkeypatch, capsys):
    precious = tmp_path / "work" / "precious"
    precious.mkdir(parents=True)
    (precious / "thesis.txt").write_text("years")
    name = f"{up}precious" if up else str(precious)
    (tmp_path / "download").mkdir()
    (tmp_path / "download" / "scene.xml").write_text(BODY.format(name))
    monkeypatch.chdir(tmp_path / "work")
    assert main(["object", "add", str(tmp_path / "download"), "-o", "library/here"]) == 0, capsys.readouterr().err
    assert (precious / "thesis.txt").read_text() == "years"
    written = {file.relative_to(tmp_path / "work").parts[:2] for file in (tmp_path / "work").rglob("*.xml")}
    assert written == {("library", "here")}


def test_a_folder_with_other_things_in_it_is_not_replaced(tmp_path, monkeypatch, capsys):
    (tmp_path / "download").mkdir()
    (tmp_path / "download" / "scene.xml").write_text(BODY.format("src"))
    (tmp_path / "work" / "src").mkdir(parents=True)
    (tmp_path / "work" / "src" / "main.py").write_text("mine")
    monkeypatch.chdir(tmp_path / "work")
    assert main(["object", "add", str(tmp_path / "download"), "-o", "."]) == 0
    assert "left out: src: src contains other files" in capsys.readouterr().out
    assert (tmp_path / "work" / "src" / "main.py").read_text() == "mine"
    for _ in range(2):  # What was added before is replaced, unless somebody put something beside it.
        assert main(["object", "add", str(tmp_path / "download"), "-o", "library"]) == 0
        assert "2 of 2 objects" in capsys.readouterr().out
    (tmp_path / "work" / "library" / "src" / "notes.txt").write_text("mine")
    main(["object", "add", str(tmp_path / "download"), "-o", "library"])
    assert "contains other files (notes.txt)" in capsys.readouterr().out


def test_models_of_a_package_name_no_file_outside_it(tmp_path, monkeypatch, capsys):
    home = tmp_path / "home"
    download = home / "a" / "b" / "c" / "d" / "e" / "download"
    download.mkdir(parents=True)
    Image.fromarray(np.full((8, 8, 3), 200, np.uint8)).save(home / "private.png")
    asset = (
        f"<asset><texture name='t' type='2d' file='{home / 'private.png'}'/><material name='m' texture='t'/></asset>"
    )
    text = (
        BODY.format("nosy").replace("<worldbody>", f"{asset}<worldbody>").replace("size='.02", "material='m' size='.02")
    )
    (download / "scene.xml").write_text(text)
    (home / "linked.xml").write_text(BODY.format("linked"))
    (download / "linked.xml").symlink_to(home / "linked.xml")
    (download / "plain.xml").write_text(BODY.format("plain"))
    monkeypatch.chdir(tmp_path)
    assert main(["object", "add", str(download), "-o", "library"]) == 0, capsys.readouterr().err
    assert {file.name for file in (tmp_path / "library").iterdir()} == {"plain", "b"}
