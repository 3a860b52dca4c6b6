"""Imported meshes are drawn as they are and collide as convex parts."""

import numpy as np
import pytest
import trimesh
from PIL import Image

from handloom.objects import import_object
from handloom.objects.importers.import_options import ReportDraft
from handloom.objects.importers.meshes.mesh_blueprint import WORK, SourceMesh, closing_grid, convex_parts, thinned
from handloom.objects.importers.meshes.obj_materials import texture_reference
from handloom.objects.portrait import portrait

COLORS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0)}


@pytest.fixture
def tile(tmp_path):
    """Write a box of 10 x 10 x 2 cm whose texture has four colours, seen from above: x to the right, y up."""
    box = trimesh.creation.box((0.1, 0.1, 0.02))
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:32, :32], picture[:32, 32:] = COLORS["red"], COLORS["green"]
    picture[32:, :32], picture[32:, 32:] = COLORS["blue"], COLORS["yellow"]
    uv = box.vertices[:, :2] / 0.1 + 0.5
    box.visual = trimesh.visual.TextureVisuals(uv=uv, image=Image.fromarray(picture))
    box.export(str(tmp_path / "tile.obj"))
    return tmp_path / "tile.obj"


def test_a_texture_is_drawn_where_its_coordinates_put_it(tile):
    asset = import_object(tile).asset
    model = asset.model
    seen, solid = model.geom_group < 3, (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    assert not np.any(seen & solid)
    assert seen.any()
    assert solid.any()
    assert_four_colours(asset)


def assert_four_colours(asset):
    image = portrait(asset, size=200).astype(int)
    # The camera stands at +x and -y: yellow in front, red behind, blue on the left, green on the right.
    places = {}
    for name, color in COLORS.items():
        mine = np.argwhere(
            np.abs(image / np.maximum(image.max(axis=2, keepdims=True), 1) - np.divide(color, 255)).sum(axis=2) < 0.4
        )
        assert len(mine) > 100, name
        places[name] = mine.mean(axis=0)
    assert places["red"][0] < places["yellow"][0]
    assert places["blue"][1] < places["green"][1]


MODELS = {
    "tile.xml": """<mujoco><asset><texture name="t" type="2d" file="material_0.png"/><material name="m" texture="t"/>
        <mesh file="tile.obj"/></asset><worldbody><body><geom type="mesh" mesh="tile" material="m"/></body></worldbody>
        </mujoco>""",
    "plain.xml": """<mujoco><asset><mesh file="tile.obj"/></asset>
        <worldbody><body><geom type="mesh" mesh="tile"/></body></worldbody></mujoco>""",
    "tile.urdf": """<robot name="tile"><link name="tile"><inertial><mass value="0.2"/>
        <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><mesh filename="tile.obj"/></geometry></visual>
        <collision><geometry><box size=".1 .1 .02"/></geometry></collision></link></robot>""",
}


@pytest.mark.parametrize("name", MODELS)
def test_models_draw_the_texture_of_their_mesh_also_where_only_its_own_file_names_it(tile, name):
    file = tile.parent / name
    file.write_text(MODELS[name])
    assert_four_colours(import_object(file).asset)


SIDES = """mtllib sides.mtl
v -.05 -.05 0
v .05 -.05 0
v .05 .05 0
v -.05 .05 0
v -.05 -.05 .02
v .05 -.05 .02
v .05 .05 .02
v -.05 .05 .02
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl top red
f 5/1 6/2 7/3 8/4
usemtl front
f 1/1 2/2 6/3 5/4
usemtl right
f 2/1 3/2 7/3 6/4
usemtl front
f 4/1 1/2 5/3 8/4
f 3/1 4/2 8/3 7/4
f 4/1 3/2 2/3 1/4
"""
"""A box of 10 x 10 x 2 cm with three materials; the camera sees its top, its front and its right side."""
SIDES_MTL = """newmtl top red
Kd 1 1 1
map_Kd -s 1 1 1 -o 0.25 0 0 -mm 0 1 pictures\\two halves.png
newmtl front
Kd 0 1 0
map_Kd -clamp on C:\\Users\\author\\green.png
newmtl right
Kd 0 0 1
map_Kd gone.png
"""
BOX_MODELS = {
    "sides.obj": "",
    "sides.xml": """<mujoco><asset><mesh file="sides.obj" scale="2 2 2"/></asset><worldbody><body>
        <geom type="mesh" mesh="sides" euler="0 0 0"/></body></worldbody></mujoco>""",
    "sides.urdf": MODELS["tile.urdf"].replace("tile.obj", "sides.obj"),
}


def shares(image):
    """Return which share of what a portrait shows is red, green, blue."""
    image = image.astype(int)
    seen = image.max(axis=2) > 60
    return [np.mean(np.all(image[..., i, None] > 1.8 * np.delete(image, i, axis=2), axis=2)[seen]) for i in range(3)]


@pytest.mark.parametrize("name", BOX_MODELS)
def test_every_material_of_a_mesh_is_drawn_and_a_missing_texture_is_its_colour_with_one_line(tmp_path, name):
    (tmp_path / "sides.obj").write_text(SIDES)
    (tmp_path / "sides.mtl").write_text(SIDES_MTL.replace("\\", "\\"))
    (tmp_path / "pictures").mkdir()
    halves = np.zeros((32, 32, 3), np.uint8)
    halves[:, 8:24] = COLORS["red"]  # Shifted by a quarter, the left half of the top is red and the right one black.
    Image.fromarray(halves).save(tmp_path / "pictures" / "two halves.png")
    Image.new("RGB", (8, 8), COLORS["green"]).save(tmp_path / "green.png")
    if BOX_MODELS[name]:
        (tmp_path / name).write_text(BOX_MODELS[name])
    imported = import_object(tmp_path / name)
    image = portrait(imported.asset, size=200)
    assert min(shares(image)) > 0.02, shares(image)
    reds = np.argwhere(image[..., 0] > 1.8 * image[..., 1:].max(axis=2))
    # Of the top, seen from the front and the right, the left half is its far left corner.
    assert reds[:, 1].mean() < 100
    missing = [line for line in imported.report.dropped if "texture" in line]
    assert len(missing) == 1
    assert missing[0].startswith("texture 'gone.png': not found in")


def test_options_before_the_name_of_a_picture_are_understood():
    reference = texture_reference("-s 2 3 1 -o .5 -1e-1 -bm 0.2 -clamp on my wood.png")
    assert (reference.file, reference.repeat, reference.offset) == ("my wood.png", (2.0, 3.0), (0.5, -0.1))
    assert texture_reference("-s 4 wood.png").repeat == (4.0, 1.0)
    assert texture_reference("textures\\-strange.png").file == "textures/-strange.png"


CUBE = """<mujoco><asset><texture name="t" type="cube" file="sides.png" {grid}/><material name="m" texture="t"/></asset>
    <worldbody><body><geom type="box" size=".05 .05 .05" material="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("grid", ["", 'gridsize="3 4" gridlayout=".U..LFRB.D.."'])
def test_a_cube_map_is_drawn_on_the_sides_of_a_box(tmp_path, grid):
    picture = np.full((30, 40, 3), 255, np.uint8) if grid else np.full((16, 16, 3), 0, np.uint8)
    picture[10:20, 10:20] = COLORS["red"]
    if not grid:
        picture[:] = COLORS["red"]
    Image.fromarray(picture).save(tmp_path / "sides.png")
    (tmp_path / "cube.xml").write_text(CUBE.format(grid=grid))
    imported = import_object(tmp_path / "cube.xml")
    assert shares(portrait(imported.asset, size=120))[0] > 0.2
    assert ("front of a cube map" in imported.report.text()) == bool(grid)


def test_a_concave_mesh_of_a_model_is_drawn_with_its_hole(tmp_path):
    ring = trimesh.creation.torus(0.05, 0.012, major_sections=32, minor_sections=12)
    ring.export(str(tmp_path / "ring.stl"))
    file = tmp_path / "ring.xml"
    file.write_text(
        "<mujoco><asset><mesh file='ring.stl'/></asset><worldbody><body>"
        "<geom type='mesh' mesh='ring' rgba='1 0 0 1'/></body></worldbody></mujoco>"
    )
    result = import_object(file)
    red = np.argwhere(np.diff(portrait(result.asset, size=160).astype(int)[..., :2], axis=2)[..., 0] < -60)
    middle = red.mean(axis=0)
    assert np.linalg.norm(red - middle, axis=1).min() > 8  # The middle of the ring is not red.
    assert any("convex hull, in collisions" in line for line in result.report.converted)


def test_one_colour_per_triangle_is_drawn_without_a_texture(tmp_path):
    box = trimesh.creation.box((0.06, 0.06, 0.06))
    box.visual.face_colors = [(200, 30, 30, 255)] * 12
    box.export(str(tmp_path / "red.ply"))
    image = portrait(import_object(tmp_path / "red.ply").asset, size=120).astype(int)
    middle = image[60, 60]
    assert middle[0] > 3 * max(middle[1], middle[2])


def test_a_flat_sheet_becomes_a_thin_part_and_an_authored_hull_one_part():
    square = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    sheet = SourceMesh(source="s", vertices=square, faces=faces, colors=np.full((2, 3), 0.5))
    (part,) = convex_parts([sheet], ReportDraft("s"), material="plastic", mass=None)
    assert np.ptp(np.array(part.vertices), axis=0) == pytest.approx([0.1, 0.1, 0.002])
    ring = trimesh.creation.torus(0.05, 0.02, major_sections=24, minor_sections=12)
    hull = SourceMesh(
        source="r", vertices=ring.vertices, faces=ring.faces, colors=np.full((len(ring.faces), 3), 0.5), hull=True
    )
    (part,) = convex_parts([hull], ReportDraft("r"), material="plastic", mass=0.2)
    assert np.ptp(np.array(part.vertices), axis=0) == pytest.approx([0.14, 0.14, 0.04], abs=0.006)


def test_dense_surfaces_are_thinned_and_keep_their_size():
    ball = trimesh.creation.icosphere(subdivisions=5)
    vertices, faces, kept = thinned(np.asarray(ball.vertices), np.asarray(ball.faces), 4000)
    assert 1000 < len(faces) <= 4000
    assert len(kept) == len(faces)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 1.0, atol=1e-6)
    same = thinned(np.asarray(ball.vertices), np.asarray(ball.faces), 10**6)
    assert len(same[1]) == len(ball.faces)


def dented_ball() -> trimesh.Trimesh:
    """Return a ball with deep dents all over, of unit length."""
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.5)
    rng = np.random.default_rng(1)
    waves = [np.sin(ball.vertices @ (28.0 * rng.normal(size=3)) + rng.uniform(0.0, 6.28)) for _ in range(40)]
    depth = np.sum(waves, axis=0) / np.abs(np.sum(waves, axis=0)).max()
    ball.vertices *= (1.0 - 0.5 * np.clip(depth, 0.0, None) - 0.15 * np.abs(depth))[:, None]
    return ball


def test_a_dented_surface_is_closed_on_a_grid_that_bounds_the_work_and_others_on_the_usual_one():
    ball = dented_ball()
    vertices, faces, _ = thinned(ball.vertices / ball.extents.max(), ball.faces, 1500)
    cells = closing_grid(vertices, faces)
    area = trimesh.Trimesh(vertices, faces, process=False).area
    assert cells < 30
    assert area * 30.0**2 > 2.0 * WORK, "on the usual grid it took 22 s to cut"
    assert area * cells**2 <= WORK
    hollow = trimesh.creation.annulus(0.45, 0.5, 1.0)
    for usual in (trimesh.creation.box((1.0, 0.5, 0.4)), trimesh.creation.icosphere(radius=0.5), hollow):
        assert closing_grid(np.asarray(usual.vertices), np.asarray(usual.faces, np.int32)) == 30


@pytest.mark.slow
def test_the_parts_of_a_dented_surface_are_the_same_every_time_and_lie_on_it(tmp_path, monkeypatch):
    ball = dented_ball()
    found = []
    for name in ("one", "two"):
        monkeypatch.setenv("HANDLOOM_CACHE", str(tmp_path / name))  # Cut anew.
        mesh = SourceMesh(source=name, vertices=np.asarray(ball.vertices), faces=ball.faces,
                          colors=np.full((len(ball.faces), 3), 0.5))  # fmt: skip
        found.append(convex_parts([mesh], ReportDraft(name), material="plastic", mass=None))
    assert 4 < len(found[0]) <= 24
    assert [part.vertices for part in found[0]] == [part.vertices for part in found[1]]
    corners = np.concatenate([part.vertices for part in found[0]])
    distance = [np.linalg.norm(ball.vertices - corner, axis=1).min() for corner in corners]
    assert np.quantile(distance, 0.9) < 0.1, "cut to 10 % of its size"
