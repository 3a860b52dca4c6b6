"""Mesh files become convex parts that still hold what the mesh holds."""

import numpy as np
import pytest
import trimesh

from handloom.errors import FileError, InputError
from handloom.objects import import_object, make_object


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
