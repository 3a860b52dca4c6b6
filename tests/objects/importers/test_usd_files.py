"""USD assets in the reference folder layout: rigid ones, articulated ones, textures, annotations."""

import importlib
import json

import mujoco
import numpy as np
import pytest
from PIL import Image

from handloom.errors import FileError
from handloom.objects import import_object, make_object

Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade = (
    importlib.import_module(f"pxr.{name}") for name in ("Gf", "Sdf", "Usd", "UsdGeom", "UsdPhysics", "UsdShade")
)

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def add_box(stage, path, half, centre=(0.0, 0.0, 0.0)):
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr([Gf.Vec3f(*p) for p in (CORNERS * half + centre).tolist()])
    mesh.CreateFaceVertexCountsAttr([4] * 6)
    mesh.CreateFaceVertexIndicesAttr([i for quad in QUADS for i in quad])
    return mesh


def add_material(stage, path, *, color=None, texture=None):
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/Shader")
    shader.CreateIdAttr("UsdPreviewSurface")
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    diffuse = shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
    if color:
        diffuse.Set(Gf.Vec3f(*color))
    if texture:
        reader = UsdShade.Shader.Define(stage, f"{path}/Texture")
        reader.CreateIdAttr("UsdUVTexture")
        reader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(texture)
        diffuse.ConnectToSource(reader.ConnectableAPI(), "rgb")
    return material


@pytest.fixture
def rigid(tmp_path):
    """Write ``<category>/<instance>/Aligned_obj.usd`` with a textured box of 4 x 6 x 2 cm, in centimetres, y up."""
    folder = tmp_path / "omniobject3d-book" / "book_001"
    (folder / "textures").mkdir(parents=True)
    Image.new("RGB", (8, 8), (30, 160, 60)).save(folder / "textures" / "skin.png")
    stage = Usd.Stage.CreateNew(str(folder / "Aligned_obj.usd"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    world = UsdGeom.Xform.Define(stage, "/World")
    stage.SetDefaultPrim(world.GetPrim())
    body = UsdGeom.Xform.Define(stage, "/World/Aligned")
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    UsdPhysics.MassAPI.Apply(body.GetPrim()).CreateMassAttr(0.25)
    mesh = add_box(stage, "/World/Aligned/mesh", (2.0, 3.0, 1.0))
    material = add_material(stage, "/World/Looks/skin", texture="textures/skin.png")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
    stage.Save()
    return folder / "Aligned_obj.usd"


@pytest.fixture
def cabinet(tmp_path):
    """Write ``<category>/<instance>/instance.usd``: a box with a hinged door and a drawer, and an annotation."""
    folder = tmp_path / "storagefurniture" / "45219"
    folder.mkdir(parents=True)
    stage = Usd.Stage.CreateNew(str(folder / "instance.usd"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/instance").GetPrim())
    boxes = {
        "base": ((0.0, 0.0, 0.0), (0.2, 0.2, 0.2)),
        "door": ((-0.2, -0.22, 0.0), (0.2, 0.01, 0.2)),
        "drawer": ((0.0, 0.0, 0.3), (0.15, 0.2, 0.05)),
    }
    for name, (origin, half) in boxes.items():
        body = UsdGeom.Xform.Define(stage, f"/instance/{name}")
        body.AddTranslateOp().Set(Gf.Vec3d(*origin))
        UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
        UsdPhysics.MassAPI.Apply(body.GetPrim()).CreateMassAttr(2.0)
        add_box(stage, f"/instance/{name}/mesh", half, (0.2, 0.0, 0.0) if name == "door" else (0.0, 0.0, 0.0))
    hinge = UsdPhysics.RevoluteJoint.Define(stage, "/instance/joints/hinge")
    hinge.CreateBody0Rel().SetTargets(["/instance/base"])
    hinge.CreateBody1Rel().SetTargets(["/instance/door"])
    hinge.CreateAxisAttr("Z")
    hinge.CreateLocalPos0Attr(Gf.Vec3f(-0.2, -0.22, 0.0))
    hinge.CreateLocalRot0Attr(Gf.Quatf(1.0))
    hinge.CreateLocalPos1Attr(Gf.Vec3f(0.0))
    hinge.CreateLocalRot1Attr(Gf.Quatf(1.0))
    hinge.CreateLowerLimitAttr(-90.0)
    hinge.CreateUpperLimitAttr(0.0)
    # The drawer's joint is written from the drawer to the base, as some exporters do.
    slide = UsdPhysics.PrismaticJoint.Define(stage, "/instance/joints/slide")
    slide.CreateBody0Rel().SetTargets(["/instance/drawer"])
    slide.CreateBody1Rel().SetTargets(["/instance/base"])
    slide.CreateAxisAttr("Y")
    slide.CreateLocalPos0Attr(Gf.Vec3f(0.0))
    slide.CreateLocalRot0Attr(Gf.Quatf(1.0))
    slide.CreateLocalPos1Attr(Gf.Vec3f(0.0, 0.0, 0.3))
    slide.CreateLocalRot1Attr(Gf.Quatf(1.0))
    slide.CreateLowerLimitAttr(0.0)
    slide.CreateUpperLimitAttr(0.25)
    stage.Save()
    notes = folder / "Kps" / "open_v"
    notes.mkdir(parents=True)
    info = {
        "object_keypoints": {
            "articulated_object_head": [0.38, -0.01, 0.05],
            "articulated_object_tail": [0.2, -0.01, 0.05],
        },
        "object_scale": [0.5, 0.5, 0.5, 1.0],
        "object_link0_rot_axis": "-z",
        "object_link0_contact_axis": "-y",
        "object_base_front_axis": "-y",
        "object_link_path": "/instance/door",
        "joint_index": 0,
    }
    (notes / "info.json").write_text(json.dumps(info))
    return folder / "instance.usd"


def test_a_rigid_asset_keeps_mass_and_gets_metres_z_up_and_its_texture_colour(rigid):
    imported = import_object(rigid, unit="cm", up="y")
    asset = imported.asset
    assert asset.category == "book"
    assert not asset.articulated
    assert asset.mass == pytest.approx(0.25, rel=1e-6)
    np.testing.assert_allclose(asset.extent, [0.04, 0.02, 0.06], atol=1e-6)
    np.testing.assert_allclose(asset.source.parts[0].color, np.array([30, 160, 60]) / 255, atol=1e-6)
    assert "y up turned to z up" in imported.report.converted
    assert any(line.startswith("1 mesh") for line in imported.report.kept)


def test_files_in_the_reference_layout_are_in_metres_and_their_own_axes_whatever_the_stage_says(rigid):
    imported = import_object(rigid, scale=(0.01, 0.02, 0.01))
    np.testing.assert_allclose(imported.asset.extent, [0.04, 0.12, 0.02], atol=1e-6)
    assert imported.asset.up == (0.0, 1.0, 0.0)
    assert any("unit 0.01 m and y up" in line for line in imported.report.converted)
    other = rigid.with_name("book.usd")
    rigid.rename(other)
    np.testing.assert_allclose(import_object(other).asset.extent, [0.04, 0.02, 0.06], atol=1e-6)


def test_a_missing_texture_is_reported_with_the_places_searched(rigid):
    (rigid.parent / "textures" / "skin.png").unlink()
    report = import_object(rigid).report
    assert any("texture 'textures/skin.png': not found in" in line for line in report.dropped)


def test_an_articulated_asset_keeps_joints_limits_and_masses(cabinet):
    asset = import_object(cabinet).asset
    joints = {j.name: j for j in asset.joints}
    assert set(joints) == {"door", "drawer"}
    np.testing.assert_allclose(joints["door"].range, (-np.pi / 2, 0.0), atol=1e-6)
    np.testing.assert_allclose(joints["drawer"].range, (0.0, 0.25), atol=1e-6)
    np.testing.assert_allclose(joints["drawer"].axis, (0.0, -1.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(joints["door"].origin, (-0.2, -0.22, 0.0), atol=1e-6)
    assert asset.mass == pytest.approx(6.0, rel=1e-5)
    data = mujoco.MjData(asset.model)
    data.joint("door_joint").qpos[0] = -np.pi / 2
    mujoco.mj_kinematics(asset.model, data)
    free_edge = data.body("door").xpos + data.body("door").xmat.reshape(3, 3) @ [0.4, 0.0, 0.0]
    np.testing.assert_allclose(free_edge, [-0.2, -0.62, 0.0], atol=1e-6)
    # Without an annotation the contact point is the free edge, and opening moves it to the front.
    np.testing.assert_allclose(joints["door"].head, (0.4, 0.0, 0.0), atol=0.02)
    assert joints["door"].normal[1] < -0.99
    assert joints["drawer"].normal[1] < -0.99


def test_the_annotation_gives_scale_contact_points_and_the_main_joint(cabinet):
    imported = import_object(cabinet, info_name="open_v")
    asset = imported.asset
    np.testing.assert_allclose(asset.extent[:2], [0.2, 0.215], atol=1e-6)
    door = asset.joints[0]
    assert door.name == "door"
    np.testing.assert_allclose(door.head, (0.19, -0.005, 0.025), atol=1e-6)
    np.testing.assert_allclose(door.contact_axis, (0.0, -1.0, 0.0), atol=1e-9)
    np.testing.assert_allclose(asset.keypoints["base_contact_point"].position, (0.09, -0.115, 0.025), atol=1e-6)
    again = make_object(asset.category, parameters=dict(asset.parameters))
    assert again.content_hash == asset.content_hash


def drive(joint, axis, **values):
    api = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), axis)
    for name, value in values.items():
        getattr(api, f"Create{name}Attr")(value)


def physx(joint, name, value):
    joint.GetPrim().CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)


def opened(file):
    stage = Usd.Stage.Open(str(file))
    at = stage.GetPrimAtPath
    return (
        stage,
        UsdPhysics.RevoluteJoint(at("/instance/joints/hinge")),
        UsdPhysics.PrismaticJoint(at("/instance/joints/slide")),
    )


def test_drives_and_friction_are_read_in_radians_and_metres_and_the_model_obeys_them(cabinet):
    stage, hinge, slide = opened(cabinet)
    # Degrees also below the fraction bar: 0.1 N m/deg is 5.73 N m/rad.
    drive(hinge, "angular", Stiffness=0.1, Damping=0.02, TargetPosition=-30.0)
    physx(hinge, "physxJointAxis:angular:staticFrictionEffort", 0.01)
    physx(hinge, "physxJointAxis:angular:viscousFrictionCoefficient", 0.01)
    drive(slide, "linear", Stiffness=50.0, Damping=3.0, TargetPosition=0.1, MaxForce=4.0)
    physx(slide, "physxJoint:jointFriction", 0.05)
    stage.Save()
    imported = import_object(cabinet)
    door, drawer = (next(j for j in imported.asset.joints if j.name == name) for name in ("door", "drawer"))
    assert door.stiffness == pytest.approx(0.1 * 180 / np.pi)
    assert door.damping == pytest.approx(0.03 * 180 / np.pi)
    assert door.frictionloss == pytest.approx(0.01)
    assert door.rest == pytest.approx(-np.pi / 6)
    assert drawer.damping == pytest.approx(3.0)
    assert drawer.stiffness * 0.15 == pytest.approx(4.0), "at the far end it pulls as hard as the drive may"
    assert drawer.rest == pytest.approx(0.1)
    assert drawer.frictionloss == pytest.approx(0.05 * 2.0 * 9.81), "0.05 of the weight of 2 kg"
    text = imported.report.text()
    assert "door_joint: friction 0.01, damping 1.72, spring 5.73 towards -0.524" in text
    assert "its largest force is the 4 of the drive" in text
    model = imported.asset.model
    data = mujoco.MjData(model)
    for _ in range(4000):
        mujoco.mj_step(model, data)
    # Springs come to rest where friction holds them: 0.01 N m of 5.7 N m/rad, 1 N of 27 N/m.
    assert data.joint("door_joint").qpos[0] == pytest.approx(-np.pi / 6, abs=0.003)
    assert data.joint("drawer_joint").qpos[0] == pytest.approx(0.1, abs=0.04)


def test_units_of_the_stage_count_in_drives_and_a_drive_of_accelerations_is_weighed(cabinet):
    stage, hinge, slide = opened(cabinet)
    drive(hinge, "angular", Stiffness=1000.0, Damping=200.0)
    drive(slide, "linear", Type="acceleration", Stiffness=25.0, Damping=10.0)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.Save()
    cabinet = cabinet.rename(cabinet.with_name("cabinet.usd"))  # Outside the reference layout the stage's unit counts.
    door, drawer = import_object(cabinet, scale=50.0).asset.joints
    assert door.stiffness == pytest.approx(1000.0 * 1e-4 * 180 / np.pi)
    assert door.damping == pytest.approx(200.0 * 1e-4 * 180 / np.pi)
    assert drawer.stiffness == pytest.approx(25.0 * 2.0, rel=1e-3), "the drawer has 2 kg"
    assert drawer.damping == pytest.approx(10.0 * 2.0, rel=1e-3)
    assert drawer.range == pytest.approx((0.0, 0.125))


def test_a_joint_without_way_is_fixed_one_switched_off_is_left_out_and_silence_is_said(cabinet):
    stage, hinge, slide = opened(cabinet)
    slide.GetUpperLimitAttr().Set(0.0)
    stage.Save()
    imported = import_object(cabinet)
    assert [joint.name for joint in imported.asset.joints] == ["door"]
    text = imported.report.text()
    assert "/instance/joints/slide: its limits leave it no way" in text
    assert "door_joint: no friction in the file" in text
    hinge.GetPrim().GetAttribute("physics:jointEnabled").Set(False)
    stage.Save()
    imported = import_object(cabinet)
    assert not imported.asset.joints
    assert "/instance/joints/hinge: a joint that is switched off" in imported.report.text()


def test_a_drawer_is_annotated_by_its_contact_point_alone(cabinet):
    notes = cabinet.parent / "Kps" / "pull"
    notes.mkdir(parents=True, exist_ok=True)
    info = {
        "object_keypoints": {"link_contact_point": [0.0, -0.2, 0.1]},
        "object_link0_contact_axis": "x",
        "object_link0_move_axis": "-y",
        "object_link_path": "/instance/drawer",
    }
    (notes / "info.json").write_text(json.dumps(info))
    drawer = import_object(cabinet, info_name="pull").asset.joints[0]
    assert drawer.name == "drawer"
    np.testing.assert_allclose(drawer.contact_axis, (1.0, 0.0, 0.0), atol=1e-9)


def test_an_unknown_annotation_names_those_that_exist(cabinet):
    with pytest.raises(FileError, match=r"no annotation 'open_h' .*did you mean 'open_v'\?"):
        import_object(cabinet, info_name="open_h")


def test_a_file_that_is_not_usd_is_a_clear_error(tmp_path):
    (tmp_path / "thing.usda").write_text("hello")
    with pytest.raises(FileError, match="not a USD stage"):
        import_object(tmp_path / "thing.usda")
