"""What every annotated grasp must be, checked by other means than it was found by."""

import mujoco
import numpy as np
import pytest

from handloom.errors import InputError
from handloom.grasping import (
    RIM,
    AnnotateOptions,
    GraspSet,
    GripperShape,
    annotate,
    clear_of,
    lying_grasps_for,
    rim_grasps_for,
)
from handloom.grasping.annotate import Ground
from handloom.grasping.convex_parts import convex_parts
from handloom.grasping.grasp_file import CENTRE, DEPTH, ROTATION, SCORE, WIDTH
from handloom.objects import ObjectAsset, make_object
from handloom.robots import RobotDescription, load_robot, tool_poses_of_grasps
from handloom.robots.checks import measured_opening

OPTIONS = AnnotateOptions(count=60, samples=500)
OBJECTS = ["cube", "can", "mug", "banana", "apple", "triangle_block", "screwdriver"]


def an(category: str, **parameters: float) -> ObjectAsset:
    return make_object(category, rng=np.random.default_rng(3), parameters=parameters)


def grasps(asset: ObjectAsset, gripper: GripperShape, options: AnnotateOptions = OPTIONS) -> GraspSet:
    return annotate(asset, gripper, options, np.random.default_rng(7))


def first_hit(
    model: mujoco.MjModel, data: mujoco.MjData, start: np.ndarray, direction: np.ndarray
) -> tuple[float, np.ndarray]:
    """Cast a ray with MuJoCo."""
    geom, normal = np.zeros(1, np.int32), np.zeros(3)
    distance = mujoco.mj_ray(model, data, start, direction, None, 1, -1, geom, normal)
    return distance, normal


def solid_model(asset: ObjectAsset) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Compile the solid parts of an object; stems and labels cannot be felt."""
    spec = asset.spec()
    for geom in list(spec.geoms):
        if not geom.contype:
            spec.delete(geom)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


@pytest.mark.parametrize("category", OBJECTS)
def test_fingers_close_on_two_opposite_points_within_their_friction_cones(category, fr3):
    asset = an(category)
    found = grasps(asset, fr3)
    assert len(found) >= 20
    model, data = solid_model(asset)
    for row, contacts in zip(found.rows.astype(float), found.contacts, strict=True):
        closing = row[ROTATION].reshape(3, 3)[:, 1]
        for contact, inward in zip(contacts, (closing, -closing), strict=True):
            # From 1 mm outside, where the finger comes from, the first surface is the contact.
            distance, normal = first_hit(model, data, contact - 1e-3 * inward, inward)
            assert distance == pytest.approx(1e-3, abs=1e-5)
            tangent = np.tan(np.arccos(np.clip(-normal @ inward, -1.0, 1.0)))
            assert tangent <= row[SCORE] + 1e-3
        assert np.linalg.norm(contacts[1] - contacts[0]) == pytest.approx(row[WIDTH], abs=1e-6)
        np.testing.assert_allclose((contacts[1] - contacts[0]) / row[WIDTH], closing, atol=1e-5)


def scene(robot: RobotDescription, asset: ObjectAsset) -> mujoco.MjModel:
    """Put robot and object into one model, so that MuJoCo can measure between their real geoms."""
    spec = robot.spec()
    body = spec.worldbody.add_frame().attach_body(asset.spec().body("object"), "object/", "")
    body.mocap = True
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return spec.compile()


@pytest.mark.parametrize(("robot_name", "category"), [("fr3", "mug"), ("so101", "cube"), ("franka_robotiq85", "can")])
def test_the_real_gripper_touches_nothing_when_it_arrives(robot_name, category):
    robot, asset = load_robot(robot_name), an(category)
    arm = robot.arms[0]
    found = grasps(asset, GripperShape.of(robot))
    assert len(found) >= 10
    model = scene(robot, asset)
    data = mujoco.MjData(model)
    for joint, value in robot.home.items():
        data.joint(robot.resolve_joint(joint)).qpos = value
    for i in range(model.nu):
        data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
    for actuator, value in zip(arm.gripper_actuators, arm.gripper_open, strict=True):
        data.actuator(actuator).ctrl = value
    model.opt.gravity[:] = 0
    mujoco.mj_step(model, data, 1500)
    ee = data.body(arm.tool_body)
    T_world_hand = np.eye(4)
    T_world_hand[:3, :3], T_world_hand[:3, 3] = ee.xmat.reshape(3, 3) @ arm.R_ee_graspnet, ee.xpos
    hand = [g for g in range(model.ngeom) if model.geom_contype[g] and below(model, g, arm.joint_names[-1])]
    thing = [g for g in range(model.ngeom) if model.geom_contype[g] and is_object(model, g)]
    assert thing
    for T_object_hand in found.hands[:20]:
        T_world_object = T_world_hand @ np.linalg.inv(T_object_hand)
        data.mocap_pos[0] = T_world_object[:3, 3]
        mujoco.mju_mat2Quat(data.mocap_quat[0], T_world_object[:3, :3].ravel())
        mujoco.mj_kinematics(model, data)
        nearest = min(mujoco.mj_geomDistance(model, data, a, b, 0.05, None) for a in hand for b in thing)
        assert nearest > 0.0


def below(model: mujoco.MjModel, geom: int, joint: str) -> bool:
    body, root = model.geom_bodyid[geom], model.joint(joint).bodyid[0]
    while body not in (0, root):
        body = model.body_parentid[body]
    return body == root


def is_object(model: mujoco.MjModel, geom: int) -> bool:
    return model.body(model.geom_bodyid[geom]).name.startswith("object/")


def test_a_row_leads_back_to_the_hand_pose_by_the_published_rule(fr3):
    found = grasps(an("cube"), fr3)
    rows = found.rows.astype(float)
    R = rows[:, ROTATION].reshape(-1, 3, 3)
    ee = rows[:, CENTRE] + R[:, :, 0] * (rows[:, DEPTH] - 0.1043)[:, None]
    np.testing.assert_allclose(ee, found.hands[:, :3, 3], atol=1e-6)
    np.testing.assert_allclose(R, found.hands[:, :3, :3], atol=1e-6)


def test_contacts_lie_on_the_pads(fr3):
    found = grasps(an("mug"), fr3)
    for T_object_hand, contacts in zip(found.hands, found.contacts, strict=True):
        local = (contacts - T_object_hand[:3, 3]) @ T_object_hand[:3, :3]
        # The pads of this hand reach from 93.3 to 112.3 mm along the approach, and are 17.5 mm high.
        assert np.all((local[:, 0] > 0.0933) & (local[:, 0] < 0.1123))
        assert np.all(np.abs(local[:, 2]) < 0.00875)


def test_rows_have_the_published_columns(fr3):
    rows = grasps(an("can"), fr3).rows
    assert rows.dtype == np.float32
    assert rows.shape[1] == 17
    assert set(np.round(rows[:, SCORE].astype(float), 1)) <= {round(0.1 * k, 1) for k in range(1, 11)}
    assert np.all(np.diff(rows[:, SCORE]) >= 0)
    assert np.all(rows[:, 2] == np.float32(0.02))
    assert set(rows[:, DEPTH]) <= {np.float32(d) for d in (0.005, 0.01, 0.02, 0.03, 0.04)}
    assert np.all(rows[:, 16] == -1.0)


def test_a_sphere_is_held_through_its_centre_from_all_sides(fr3):
    asset = an("ball")
    found = grasps(asset, fr3, AnnotateOptions(count=100, max_friction=0.1))
    line = found.contacts.mean(axis=1)
    assert np.linalg.norm(line, axis=1).max() < 0.12 * asset.extent.max()
    approach = found.hands[:, :3, 0]
    # The mean of directions spread over a sphere is short.
    assert np.linalg.norm(approach.mean(axis=0)) < 0.25


def test_twice_the_object_needs_twice_the_width(fr3):
    small, large = an("cube", edge=0.02), an("cube", edge=0.04)
    assert grasps(small, fr3).rows[0, WIDTH] == pytest.approx(0.02, rel=0.02)
    assert grasps(large, fr3).rows[0, WIDTH] == pytest.approx(0.04, rel=0.02)


def test_an_object_wider_than_the_gripper_has_no_grasp(fr3):
    found = grasps(an("cube", edge=0.1), fr3)
    assert len(found) == 0
    assert found.rows.shape == (0, 17)


def test_no_grasp_needs_more_friction_than_allowed(fr3):
    found = grasps(an("triangle_block"), fr3, AnnotateOptions(max_friction=0.3, patch=1e-4))
    assert len(found) > 0
    assert found.rows[:, SCORE].max() <= 0.3 + 1e-6


def test_preshaped_fingers_fit_between_walls_that_open_ones_hit(fr3):
    found = grasps(an("cube", edge=0.02), fr3)
    level = np.full(len(found), fr3.level_at(0.02 + 2 * OPTIONS.clearance))
    walls = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody>"
        + "".join(f'<geom type="box" size=".002 .012 .012" pos="{x} 0 0"/>' for x in (-0.048, 0.048))
        + "</worldbody></mujoco>"
    )
    between = convex_parts(walls, [0, 1], walls.geom_pos, np.tile(np.eye(3), (2, 1, 1)))
    along = np.flatnonzero(np.abs(found.hands[:, 0, 1]) > 0.999)
    hands, level = found.hands[along], level[along]
    assert len(along) > 5
    for preshape in (False, True):
        options = AnnotateOptions(preshape=preshape)
        clear = clear_of(between, fr3, hands[:, :3, :3], hands[:, :3, 3], level, options)
        assert clear.any() == preshape


def test_chosen_grasps_are_spread_over_the_object(fr3):
    asset = an("screwdriver")
    few = grasps(asset, fr3, AnnotateOptions(count=12)).contacts.mean(axis=1)
    assert np.ptp(few[:, 0]) > 0.6 * asset.extent[0]


def test_neighbours_of_found_grasps_fill_a_rim(fr3):
    bowl = an("bowl")
    drawn = annotate(bowl, fr3, AnnotateOptions(neighbours=0), np.random.default_rng(0))
    grown = annotate(bowl, fr3, AnnotateOptions(), np.random.default_rng(0))
    assert 0 < len(drawn) < len(grown)
    turn = np.arctan2(grown.contacts[:, 0, 1], grown.contacts[:, 0, 0])
    sectors = np.histogram(turn, bins=8, range=(-np.pi, np.pi))[0]
    assert np.count_nonzero(sectors) >= 4


@pytest.mark.parametrize("robot", ["fr3", "lift2"])
@pytest.mark.parametrize("category", ["pen", "spoon"])
def test_a_gripper_reaches_a_thin_object_on_a_table_without_touching_it(category: str, robot: str) -> None:
    description = load_robot(robot)
    gripper, asset = GripperShape.of(description), make_object(category, rng=np.random.default_rng(0))
    rows = lying_grasps_for(asset, gripper)
    assert len(rows) > 50
    T, _ = tool_poses_of_grasps(description.arms[0], rows)
    R, hand = T[:, :3, :3] @ description.arms[0].R_ee_graspnet, np.ascontiguousarray(T[:, :3, 3])
    opened = np.full(len(T), len(gripper.position) - 1.0)
    options = AnnotateOptions(preshape=True)
    poses = range(len(asset.rest_poses.quats))
    clear = [clear_of(Ground.under(asset, k).solid, gripper, R, hand, opened, options) for k in poses]
    assert np.any(clear, axis=0).mean() > 0.95
    assert clear[0].any()


def test_the_ground_is_a_slab_right_under_the_object() -> None:
    asset = make_object("mug", rng=np.random.default_rng(1))
    for k in range(len(asset.rest_poses.quats)):
        ground = Ground.under(asset, k)
        vertices, _ = asset.collision_triangles()
        assert (vertices @ ground.up).min() == pytest.approx(-ground.height, abs=1e-3)
        solid = ground.solid
        top = solid.position[0] + solid.rotation[0] @ [0.0, 0.0, solid.size[0, 2]]
        assert top @ ground.up == pytest.approx(-ground.height)
        assert np.linalg.det(solid.rotation[0]) == pytest.approx(1.0)


TWO_FINGERS = ("fr3", "franka_robotiq85", "genie1", "lift2", "split_aloha")


@pytest.mark.parametrize("name", TWO_FINGERS)
def test_the_drive_opens_the_real_gripper_as_far_as_it_says(name):
    robot = load_robot(name)
    gripper = GripperShape.of(robot)
    for opening in (0.01, 0.02, 0.05):
        drive = gripper.drive_at(gripper.level_at(opening))
        assert measured_opening(robot, robot.arms[0], drive) == pytest.approx(opening, abs=1e-3)


@pytest.mark.parametrize("name", TWO_FINGERS)
def test_joints_of_the_hand_follow_the_level(name):
    gripper = GripperShape.of(load_robot(name))
    last = len(gripper.position) - 1
    closed, opened, half = (gripper.joints_at(level) for level in (0, last, last / 2))
    for joint, target in zip(gripper.arm.gripper_joint_names, gripper.arm.gripper_open, strict=True):
        assert opened[joint] == pytest.approx(target, abs=5e-3)
        assert min(closed[joint], opened[joint]) < half[joint] < max(closed[joint], opened[joint])


def test_a_gripper_says_so_when_it_does_not_open_that_far(fr3):
    with pytest.raises(InputError, match=r"does not open 0\.2 m"):
        fr3.level_at(0.2)


def test_an_opening_is_wider_than_the_room_beside_the_fingers():
    with pytest.raises(InputError, match="opening"):
        AnnotateOptions(opening=0.002)
    with pytest.raises(InputError, match="opening"):
        AnnotateOptions(opening=0.02, preshape=True)


def test_plates_are_taken_by_the_rim_with_one_finger_under_it():
    gripper = GripperShape.of(load_robot("franka_robotiq85"))
    plate = make_object("plate", rng=np.random.default_rng(0), parameters={"radius": 0.09, "height": 0.022})
    rows = rim_grasps_for(plate, gripper)
    assert len(rows) > 50
    assert rows[:, 1].max() <= RIM.opening - 2.0 * RIM.clearance + 1e-6
    # An open hand at the same places would have a finger in the table.
    R = rows[:, 4:13].reshape(-1, 3, 3).astype(float)
    hand = rows[:, 13:16] - R[:, :, 0] * (gripper.advance(rows[:, 1]) - rows[:, 3])[:, None]
    ground, table = Ground.under(plate, 0), AnnotateOptions(preshape=True)
    upright = R[:, 2, 0] < 0.0
    clear = {}
    for opening in (RIM.opening, 0.08):
        level = np.full(len(R), gripper.level_at(opening))
        clear[opening] = clear_of(ground.solid, gripper, R, np.ascontiguousarray(hand, float), level, table)[upright]
    assert upright.sum() > 50
    assert clear[RIM.opening].all()
    assert clear[0.08].mean() < 0.2
