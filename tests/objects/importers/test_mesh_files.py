"""Mesh files become convex parts that still hold what the mesh holds."""

import numpy as np
import pytest
import trimesh

from handloom.errors import FileError, InputError
from handloom.objects import import_object, make_object
from handloom.objects.portrait import portrait


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def ring():
    mesh = trimesh.creation.annulus(r_min=0.03, r_max=0.04, height=0.08)
    mesh.visual.face_colors = [200, 30, 30, 255]
    return mesh


def test_a_convex_mesh_stays_in_one_piece_with_its_volume(tmp_path):
    file = tmp_path / "block.stl"
    trimesh.creation.box((0.04, 0.06, 0.02)).export(file)
    asset = import_object(file, substance="wood").asset
    assert len(asset.source.parts) == 1
    assert asset.mass == pytest.approx(0.04 * 0.06 * 0.02 * 650, rel=1e-4)
    np.testing.assert_allclose(asset.extent, [0.04, 0.06, 0.02], atol=1e-6)
    assert len(asset.stable_quats) == 6


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["obj", "stl", "glb", "ply"])
def test_a_hollow_mesh_is_cut_into_convex_parts_that_leave_the_hole_open(tmp_path, ring, ending):
    file = tmp_path / f"ring.{ending}"
    ring.export(file)
    imported = import_object(file, up="z", mass=0.2)
    asset = imported.asset
    assert asset.mass == pytest.approx(0.2, rel=1e-6)
    np.testing.assert_allclose(asset.extent, [0.08, 0.08, 0.08], atol=1e-3)
    assert 4 <= asset.model.ngeom <= 24
    for geom in range(asset.model.ngeom):
        assert asset.model.mesh_polynum[asset.model.geom_dataid[geom]] <= 44
    # A ball dropped along the axis passes: nothing solid within 2 cm of it.
    vertices, _ = asset.collision_triangles()
    assert np.linalg.norm(vertices[:, :2], axis=1).min() > 0.02
    assert any("convex parts" in line for line in imported.report.converted)


@pytest.mark.slow
def test_the_same_file_gives_the_same_object_with_and_without_the_cache(tmp_path, ring, monkeypatch):
    file = tmp_path / "ring.obj"
    ring.export(file)
    one = import_object(file, scale=0.5, substance="ceramic").asset
    two = make_object(one.category, parameters=dict(one.parameters))
    assert len(list((tmp_path / "cache" / "hulls").iterdir())) == 1
    monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / "other"))
    three = make_object(one.category, parameters=dict(one.parameters))
    assert one.content_hash == two.content_hash == three.content_hash


def test_units_axes_and_colours_are_converted_and_reported(tmp_path):
    mesh = trimesh.creation.box((40.0, 60.0, 20.0))
    mesh.visual.face_colors = [200, 30, 30, 255]
    mesh.export(tmp_path / "block.glb")
    imported = import_object(tmp_path / "block.glb", unit="mm")
    np.testing.assert_allclose(imported.asset.extent, [0.04, 0.02, 0.06], atol=1e-6)
    np.testing.assert_allclose(imported.asset.source.parts[0].color, np.array([200, 30, 30]) / 255, atol=0.02)
    assert "y up turned to z up" in imported.report.converted
    assert "lengths scaled by 0.001" in imported.report.converted


@pytest.mark.parametrize(
    ("side", "proposed"),
    [
        (60.0, "--unit mm makes it 60 mm, --unit cm makes it 600 mm; --unit m takes it as it is"),
        (900.0, "--unit mm makes it 900 mm; --unit m"),
        (1e7, "give a --scale; --unit m"),
    ],
)
def test_a_mesh_as_large_as_a_house_is_refused_and_its_unit_proposed(tmp_path, side, proposed):
    file = tmp_path / "part.stl"
    trimesh.creation.box((side, side / 2, side / 3)).export(file)
    with pytest.raises(InputError, match=rf"part.stl: in metres its longest side is .* m; .*{proposed}"):
        import_object(file)


def test_a_unit_that_was_given_is_believed_and_comes_back(tmp_path):
    file = tmp_path / "hall.stl"
    trimesh.creation.box((60.0, 40.0, 20.0)).export(file)
    hall = import_object(file, unit="m").asset
    np.testing.assert_allclose(hall.extent, [60.0, 40.0, 20.0], atol=1e-4)
    assert make_object(hall.category, parameters=dict(hall.parameters)).content_hash == hall.content_hash
    np.testing.assert_allclose(import_object(file, scale=0.001).asset.extent, [0.06, 0.04, 0.02], atol=1e-6)


def test_a_colour_or_a_scale_beside_the_path_of_a_file_is_refused(tmp_path):
    for wrong in ({"color": "red"}, {"scale": 2.0}):
        with pytest.raises(InputError, match="a file has its own colours, and its scale is one of the parameters"):
            make_object("part", parameters={"path": str(tmp_path / "part.stl")}, **wrong)


def test_a_broken_file_and_senseless_options_are_clear_errors(tmp_path):
    (tmp_path / "broken.glb").write_bytes(b"not a mesh")
    with pytest.raises(FileError, match=r"broken.glb: trimesh cannot read it"):
        import_object(tmp_path / "broken.glb")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "box.stl")
    for wrong in ({"unit": "inch"}, {"up": "x"}, {"mass": -1.0}, {"scale": 0.0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            import_object(tmp_path / "box.stl", **wrong)


DAE = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="common"><lambert><diffuse>
<color>1 0 0 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="24">-2 0 -1 2 0 -1 2 6 -1 -2 6 -1 -2 0 1 2 0 1 2 6 1 -2 6 1</float_array>
<technique_common><accessor source="#pa" count="8" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="12" material="red"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 3 7 6 3 6 2 0 4 7 0 7 3 1 2 6 1 6 5</p></triangles></mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 1 0</translate>
<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="red" target="#m"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""
"""A red box of 4 x 6 x 2 cm that stands 1 cm above the origin, y up."""
SHELF = """<robot name="shelf"><link name="shelf"><inertial><mass value="0.2"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 .1"/><geometry><mesh filename="package://shop/box.dae" scale="2 2 2"/></geometry></visual>
    <collision><origin xyz="0 0 .1"/><geometry><mesh filename="package://shop/box.dae" scale="2 2 2"/></geometry>
    </collision></link></robot>"""


def test_a_collada_file_is_read_in_its_unit_with_its_axis_up_and_its_colour(tmp_path):
    (tmp_path / "box.dae").write_text(DAE)
    imported = import_object(tmp_path / "box.dae")
    np.testing.assert_allclose(imported.asset.aabb, [[-0.02, -0.01, 0.01], [0.02, 0.01, 0.07]], atol=1e-6)
    np.testing.assert_allclose(imported.asset.source.parts[0].color, (1.0, 0.0, 0.0), atol=1e-6)
    assert {"y up turned to z up", "unit of the file: 0.01 m"} <= set(imported.report.converted)
    np.testing.assert_allclose(
        import_object(tmp_path / "box.dae", unit="mm", up="z").asset.extent, [0.004, 0.006, 0.002]
    )
    (tmp_path / "box.dae").write_text(DAE.replace("Y_UP", "X_UP"))
    np.testing.assert_allclose(import_object(tmp_path / "box.dae").asset.extent, [0.06, 0.02, 0.04], atol=1e-6)


def test_a_collada_mesh_of_a_urdf_package_collides_and_is_drawn_in_its_colour(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "box.dae").write_text(DAE)
    (tmp_path / "shelf.urdf").write_text(SHELF)
    asset = import_object(tmp_path / "shelf.urdf").asset
    np.testing.assert_allclose(asset.aabb, [[-0.04, -0.02, 0.12], [0.04, 0.02, 0.24]], atol=1e-5)
    solid = asset.model.geom_contype != 0
    assert (solid.sum(), (~solid).sum()) == (1, 1)
    image = portrait(asset, size=120).astype(int)
    red = image[..., 0] > 2 * image[..., 1:].max(axis=2)
    assert red.sum() > 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]>' + DAE.encode(), "document type"),
        (DAE.replace("utf-8", "utf-16").encode("utf-16"), "not UTF-8"),
        (DAE[: len(DAE) // 2].encode(), "cannot read it"),
        (DAE.replace('meter="0.01"', 'meter="nan"').encode(), "its unit is"),
        (b"hello", "cannot read it"),
    ],
)
def test_a_hostile_collada_file_is_one_clear_error(tmp_path, text, message):
    (tmp_path / "box.dae").write_bytes(text)
    with pytest.raises(FileError, match=message):
        import_object(tmp_path / "box.dae")
