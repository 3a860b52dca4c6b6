"""MJCF and URDF files become objects: one root, no scene, joints annotated, complete in themselves."""

import pickle
import shutil

import mujoco
import numpy as np
import pytest
import trimesh

from handloom.errors import FileError, InputError
from handloom.objects import import_object, make_object

TETRAHEDRON = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
CABINET = """
<mujoco model="cabinet">
  <compiler angle="degree" meshdir="meshes"/>
  <asset>
    <mesh file="knob.obj"/>
    <texture type="skybox" builtin="flat" width="8" height="48"/>
    <material name="paint" rgba="0.8 0.1 0.1 1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="base" pos="1 2 .1">
      <freejoint/>
      <geom type="box" size=".1 .1 .1" material="paint"/>
      <body name="door" pos=".1 -.1 0">
        <joint name="hinge" type="hinge" axis="0 0 1" range="0 90" damping="0.2"/>
        <geom type="box" size=".01 .1 .1" pos="0.01 .1 0" contype="0" conaffinity="0"/>
        <geom type="box" size=".011 .1 .1" pos="0.01 .1 0" mass="0.5"/>
        <geom type="mesh" mesh="knob" pos="0.02 .15 0" contype="0" conaffinity="0" mass="0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <sensor><jointpos joint="hinge"/></sensor>
  <keyframe><key qpos="0 0 1 1 0 0 0 0"/></keyframe>
</mujoco>
"""
CHEST = """
<robot name="chest">
  <link name="base">
    <inertial><mass value="2"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>
    <visual><geometry><mesh filename="package://chest/meshes/knob.obj" scale="2 2 2"/></geometry></visual>
    <collision><geometry><box size=".2 .2 .2"/></geometry></collision>
  </link>
  <link name="lid">
    <inertial><mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial>
    <visual><origin xyz="0 -.1 0"/><geometry><box size=".2 .2 .02"/></geometry></visual>
    <collision><origin xyz="0 -.1 0"/><geometry><box size=".2 .2 .02"/></geometry></collision>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="lid"/><origin xyz="0 .1 .11"/><axis xyz="-1 0 0"/>
    <limit lower="0" upper="1.5" effort="10" velocity="1"/>
  </joint>
</robot>
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "knob.obj").write_text(TETRAHEDRON)
    (tmp_path / "cabinet.xml").write_text(CABINET)
    (tmp_path / "chest.urdf").write_text(CHEST)
    return tmp_path


@pytest.mark.parametrize("name", ["cabinet.xml", "chest.urdf"])
def test_the_result_is_an_object_like_those_of_the_library(folder, name):
    asset = import_object(folder / name).asset
    model = asset.model
    assert [model.body(b).name for b in range(1, model.nbody) if model.body_parentid[b] == 0] == ["object"]
    assert mujoco.mjtJoint.mjJNT_FREE not in model.jnt_type
    assert model.nlight == model.nu == model.nsensor == model.nkey == 0
    assert set(model.geom_group) <= {2, 3}
    vertices, _ = asset.collision_triangles()
    assert np.all(vertices >= asset.aabb[0] - 1e-6)
    assert np.all(vertices <= asset.aabb[1] + 1e-6)
    assert asset.category == name.split(".")[0]


def test_a_collision_shape_is_hidden_where_the_body_has_a_visual_one(folder):
    model = import_object(folder / "cabinet.xml").asset.model
    door = model.body("door").id
    groups = {
        (bool(model.geom_contype[g]), int(model.geom_group[g]))
        for g in range(model.ngeom)
        if model.geom_bodyid[g] == door
    }
    assert groups == {(True, 3), (False, 2)}
    base = [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body("object").id]
    assert [int(model.geom_group[g]) for g in base] == [2]


def test_a_solid_top_is_seen_beside_legs_that_only_show_and_user_data_are_left_out(tmp_path):
    legs = "".join(
        f'<geom type="cylinder" size=".04 .5" pos="{x} {y} -.5" contype="0" conaffinity="0"/>'
        for x in (-0.4, 0.4)
        for y in (-0.4, 0.4)
    )
    (tmp_path / "table.xml").write_text(
        '<mujoco><size nuser_body="3"/><worldbody><body user="1 2 3"><geom type="box" size=".45 .45 .025"/>'
        f"{legs}</body></worldbody></mujoco>"
    )
    model = import_object(tmp_path / "table.xml").asset.model
    assert model.geom_group.tolist() == [2] * 5
    assert model.nuser_body == 0


@pytest.mark.parametrize("visual", [True, False])
def test_all_objects_of_an_obj_file_are_drawn_and_collide_one_by_one(tmp_path, visual):
    posts = trimesh.util.concatenate(
        [trimesh.creation.box((0.02, 0.02, 0.1)).apply_translation((x, 0, 0)) for x in (0, 0.1)]
    )
    lines = [f"v {x} {y} {z}" for x, y, z in posts.vertices]
    faces = [f"f {a} {b} {c}" for a, b, c in posts.faces + 1]
    (tmp_path / "posts.obj").write_text("\n".join([*lines, "o left", *faces[:12], "o right", *faces[12:]]))
    look = '<visual><geometry><mesh filename="posts.obj"/></geometry></visual>' if visual else ""
    (tmp_path / "posts.urdf").write_text(
        f'<robot name="posts"><link name="posts"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" '
        f'izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>{look}<collision><geometry><mesh filename="posts.obj"/>'
        "</geometry></collision></link></robot>"
    )
    asset = import_object(tmp_path / "posts.urdf").asset
    model, solid = asset.model, asset.model.geom_contype != 0
    assert solid.sum() == 2
    assert model.mesh_facenum[model.geom_dataid[np.flatnonzero(~solid)[0]]] == 24
    np.testing.assert_allclose(sorted(model.geom_pos[solid, 0]), [0.0, 0.1], atol=1e-6)
    assert asset.mass == pytest.approx(0.2)
    np.testing.assert_allclose(asset.extent, [0.12, 0.02, 0.1], atol=1e-6)


@pytest.mark.parametrize("line", ["v 0 0 zero", "v 0 0", "f 1 2 x"])
def test_a_broken_line_among_several_objects_of_an_obj_file_is_named(tmp_path, line):
    (tmp_path / "two.obj").write_text(f"o one\n{TETRAHEDRON}o two\n{line}\n")
    (tmp_path / "two.xml").write_text(
        '<mujoco><asset><mesh name="two" file="two.obj"/></asset><worldbody><body><geom type="mesh" mesh="two"/></body>'
        "</worldbody></mujoco>"
    )
    with pytest.raises(FileError, match=f"mesh 'two', line 11 of its file: '{line}'"):
        import_object(tmp_path / "two.xml")


def test_faces_of_which_only_some_have_texture_coordinates_are_read_without(folder):
    text = TETRAHEDRON.replace("f 1 3 2", "f 1/1/1 3/1/1 2/1/1") + "vt 0 0\nvn 0 0 -1\n"
    assert "1/1/1" in text
    (folder / "meshes" / "knob.obj").write_text(text)
    imported = import_object(folder / "cabinet.xml")
    assert "knob: texture coordinates, which only some of its faces have" in imported.report.dropped


def test_masses_and_frames_are_those_of_the_file(folder):
    cabinet, chest = (import_object(folder / name).asset for name in ("cabinet.xml", "chest.urdf"))
    assert cabinet.mass == pytest.approx(8.0 + 0.5 + 0.1 + 0.8)
    assert chest.mass == pytest.approx(3.0)
    np.testing.assert_allclose(cabinet.aabb[0], [-0.1, -0.1, -0.1], atol=1e-6)


def test_the_contact_point_of_a_joint_lies_on_its_free_edge_and_moves_along_the_normal(folder):
    for name, link, head in (("cabinet.xml", "door", (0.01, 0.2, 0.0)), ("chest.urdf", "lid", (0.0, -0.2, 0.0))):
        asset = import_object(folder / name).asset
        joint = asset.joints[0]
        assert (joint.name, joint.joint, joint.parent) == (link, f"{link}_joint", "object")
        np.testing.assert_allclose(joint.head, head, atol=0.06)
        data = mujoco.MjData(asset.model)
        positions = []
        for q in (0.0, 0.01):
            data.joint(joint.joint).qpos[0] = q
            mujoco.mj_kinematics(asset.model, data)
            positions.append(data.body(link).xpos + data.body(link).xmat.reshape(3, 3) @ joint.head)
        step = positions[1] - positions[0]
        assert step @ joint.normal / np.linalg.norm(step) > 0.99


def test_the_report_says_what_was_kept_converted_and_dropped(folder):
    text = import_object(folder / "cabinet.xml").report.text()
    assert "kept       4 geoms, 2 of them solid, 1 of those not drawn" in text
    assert "converted  free joint removed" in text
    assert "converted  joint 'hinge' renamed 'door_joint'" in text
    for noun in ("1 floor", "1 sky", "1 light", "1 keyframe", "1 sensor", "1 actuator"):
        assert f"dropped    {noun}" in text


def test_scaling_a_model_scales_lengths_masses_and_inertias(folder):
    for name in ("cabinet.xml", "chest.urdf"):
        one, half = (import_object(folder / name, scale=s).asset for s in (1.0, 0.5))
        np.testing.assert_allclose(half.extent, 0.5 * one.extent, rtol=1e-6)
        assert half.mass == pytest.approx(one.mass / 8.0, rel=1e-6)
        np.testing.assert_allclose(half.model.body_inertia, one.model.body_inertia / 32.0, rtol=1e-5)
        np.testing.assert_allclose(half.model.jnt_range, one.model.jnt_range)


def test_parameters_bring_the_identical_object_back_and_it_survives_the_loss_of_its_files(folder):
    asset = import_object(folder / "cabinet.xml", scale=0.7).asset
    again = make_object(asset.category, parameters=dict(asset.parameters))
    assert again.content_hash == asset.content_hash
    parcel = pickle.dumps(asset)
    shutil.rmtree(folder)
    assert pickle.loads(parcel).spec().compile().ngeom == again.model.ngeom


def test_a_fixed_door_does_not_fight_its_cabinet(folder):
    spec = mujoco.MjSpec()
    spec.attach(import_object(folder / "cabinet.xml").asset.spec(), prefix="a/", frame=spec.worldbody.add_frame())
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0


def test_a_missing_mesh_names_the_file_and_the_folders(folder):
    (folder / "meshes" / "knob.obj").unlink()
    for name in ("cabinet.xml", "chest.urdf"):
        with pytest.raises(
            FileError, match=rf"{name} names the file .*knob.obj.* does not exist; searched: .*meshes|searched"
        ):
            import_object(folder / name)


def test_a_missing_model_names_the_folders_searched_and_near_names(folder):
    with pytest.raises(
        FileError, match=r"no asset file 'cabinett.xml' .*searched: .*did you mean 'cabinet.xml'\?.*proxy"
    ):
        import_object("cabinett.xml", folders=[folder])


def test_a_broken_model_and_an_unknown_format_are_clear_errors(folder):
    (folder / "broken.xml").write_text("<mujoco><worldbody><body></mujoco>")
    with pytest.raises(FileError, match=r"broken.xml: MuJoCo cannot read it"):
        import_object(folder / "broken.xml")
    (folder / "broken.urdf").write_text("<robot")
    with pytest.raises(FileError, match="not valid XML"):
        import_object(folder / "broken.urdf")
    (folder / "thing.fbx").write_text("")
    with pytest.raises(InputError, match=r"no importer for '.fbx' files"):
        import_object(folder / "thing.fbx")
    (folder / "empty.xml").write_text("<mujoco/>")
    with pytest.raises(InputError, match="no object in it"):
        import_object(folder / "empty.xml")


@pytest.mark.parametrize(
    ("bodies", "joints"),
    [
        ('<body name="object" pos="0 0 .3"><joint type="hinge"/>{}</body>', ["object_2_joint"]),
        (
            '<body name="b" pos="0 0 .3"><joint name="c_joint" type="hinge"/>{}</body>'
            '<body name="c" pos="0 0 .6"><joint name="b_joint" type="hinge"/>{}</body>',
            ["b_joint", "c_joint"],
        ),
    ],
)
def test_names_that_are_taken_are_given_up(folder, bodies, joints):
    geom = "<geom type='box' size='.1 .1 .1'/>"
    inside = bodies.format(geom, geom)
    text = f"<mujoco><worldbody><body name='a'>{geom}{inside}</body></worldbody></mujoco>"
    (folder / "taken.xml").write_text(text)
    assert [joint.joint for joint in import_object(folder / "taken.xml").asset.joints] == joints


def test_equalities_follow_what_is_renamed(folder):
    (folder / "tied.xml").write_text(
        "<mujoco><worldbody><body name='base'><geom size='.1'/>"
        "<body name='b' pos='0 0 .3'><joint name='j1'/><geom size='.1'/></body>"
        "<body name='c' pos='0 0 .6'><joint name='j2'/><geom size='.1'/></body></body></worldbody>"
        "<equality><joint joint1='j1' joint2='j2'/><connect body1='base' body2='b' anchor='0 0 0'/></equality></mujoco>"
    )
    model = import_object(folder / "tied.xml").asset.model
    assert [int(i) for i in model.eq_obj1id] == [model.joint("b_joint").id, model.body("object").id]


def test_names_that_are_repeated_in_the_file_are_an_error_that_names_one(folder):
    body = "<body name='a'><geom size='.1'/></body>"
    (folder / "twice.xml").write_text(f"<mujoco><worldbody>{body}{body}</worldbody></mujoco>")
    with pytest.raises(FileError, match="repeated name 'a' in body"):
        import_object(folder / "twice.xml")


def test_loose_geoms_and_several_bodies_go_under_one_root(folder):
    (folder / "loose.xml").write_text(
        "<mujoco><worldbody><geom type='box' size='.1 .1 .1'/><body name='a' pos='0 0 .2'>"
        "<geom type='sphere' size='.05'/></body></worldbody></mujoco>"
    )
    asset = import_object(folder / "loose.xml").asset
    np.testing.assert_allclose(asset.aabb, [[-0.1, -0.1, -0.1], [0.1, 0.1, 0.25]], atol=1e-6)
    assert asset.mass == pytest.approx(8.0 + 1000 * 4 / 3 * np.pi * 0.05**3)
