"""Doors, drawers, lids and knobs are moved by the fingers, stay where they are left, and are judged by their joints."""

import mujoco
import numpy as np
import pytest
from tests.skills.conftest import run_with, table_instance, thing

from handloom.engine.attempt import Stopwatch, simulate
from handloom.episode.loop import USER_INPUTS
from handloom.objects.keypoints import write_keypoints
from handloom.scene import build_scene
from handloom.skills.arms.arm_controller import ArmController
from handloom.skills.articulated_objects.mobile_open import Open
from handloom.skills.configs import SKILL_CONFIGS
from handloom.tasks import load_task


def fixed(name, category, at, **keys):
    return thing(name, category, at, target_class="ArticulatedObject", fix_base=True, **keys)


@pytest.fixture(scope="module")
def drawer(tmp_path_factory):
    parameters = {"drawers": 3, "width": 0.35, "depth": 0.3, "drawer_height": 0.13}
    chest = fixed("chest", "drawer_cabinet", (0.0, 0.38), parameters=parameters)
    return table_instance(tmp_path_factory.mktemp("drawer"), chest)


@pytest.fixture(scope="module")
def opened(drawer):
    return run_with(drawer, {"name": "open", "objects": ["chest"]})


def place_of(scene, record, joint):
    """Return the position of a joint before each frame and after the last."""
    state = mujoco.mjtState.mjSTATE_INTEGRATION
    data, found = mujoco.MjData(scene.world.model), []
    for row in record.states:
        mujoco.mj_setState(scene.world.model, data, row, state)
        found.append(float(data.joint(joint).qpos[0]))
    return np.array(found)


def test_a_drawer_is_pulled_open_by_its_handle_and_stays_open(opened):
    scene, record = opened
    assert record.success, record.failure
    moved = place_of(scene, record, "chest/drawer_2_joint")
    high = scene.assets["chest"].joints[0].range[1]
    assert moved[0] == pytest.approx(0.0, abs=1e-3)
    assert moved[-1] > 0.5 * high
    # At rest for a second after the hand has let go.
    assert np.ptp(moved[-30:]) < 1e-4


def test_nothing_but_contact_moves_the_joint_of_an_object(opened):
    scene, record = opened
    model, data = scene.world.model, mujoco.MjData(scene.world.model)
    joint = model.joint("chest/drawer_2_joint").id
    driven = model.actuator_trnid[model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT, 0]
    assert joint not in driven
    dof = model.jnt_dofadr[joint]
    bodies = [i for i in range(model.nbody) if model.body(i).name.startswith("chest/")]
    moving_alone = 0.0
    for row, inputs in zip(record.states[:-1], record.applied, strict=True):
        mujoco.mj_setState(model, data, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_setState(model, data, inputs, USER_INPUTS)
        assert data.qfrc_applied[dof] == 0.0
        assert not data.xfrc_applied[bodies].any()
        mujoco.mj_forward(model, data)
        touched = any(
            sum(model.body(model.geom_bodyid[g]).name.startswith("chest/") for g in (c.geom1, c.geom2)) == 1
            for c in data.contact[: data.ncon]
        )
        if not touched:
            moving_alone = max(moving_alone, abs(float(data.qvel[dof])))
    assert moving_alone < 0.02


def test_the_hand_overlaps_the_moving_part_by_less_than_two_millimetres(opened):
    scene, record = opened
    model, data, deepest = scene.world.model, mujoco.MjData(scene.world.model), 0.0
    for row in record.states[1:]:
        mujoco.mj_setState(model, data, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(model, data)
        for c in data.contact[: data.ncon]:
            names = [model.body(model.geom_bodyid[g]).name for g in (c.geom1, c.geom2)]
            if any(n.startswith("chest/") for n in names) and any(n.startswith("franka/") for n in names):
                deepest = max(deepest, -float(c.dist))
    assert 0.0 < deepest < 2e-3


def test_a_knob_turns_by_the_angle_that_was_asked_for_and_its_neighbours_do_not(tmp_path):
    panel = fixed("panel", "knob", (0.0, 0.25), parameters={"knobs": 3, "height": 0.3})
    turn = {"name": "rotate", "objects": ["panel"], "joint": "knob_1", "by": 60}
    scene, record = run_with(table_instance(tmp_path, panel), turn)
    assert record.success, record.failure
    turned = {link.name: np.rad2deg(scene.world.joint_position(f"panel/{link.joint}")) for link in
              scene.assets["panel"].joints}  # fmt: skip
    assert turned.pop("knob_1") == pytest.approx(60.0, abs=4.0)
    assert max(map(abs, turned.values())) < 2.0


KITCHEN = """
base: setups/kitchen_fr3.yaml
room: {kind: kitchen, layout: [one_wall, l_island], style: any, at: stove}
cameras: []
skills: [{turn: knob_3, by: 60}, home]
"""


def test_an_arm_whose_stand_is_in_the_way_turns_a_knob_with_its_hand_tilted(tmp_path):
    (file := tmp_path / "knob.yaml").write_text(KITCHEN)
    scene, record = simulate(load_task(file), 4711, 1, Stopwatch())
    assert record.success, record.failure
    knobs = [np.rad2deg(scene.world.joint_position(f"stove/knob_{k}_joint")) for k in range(1, 5)]
    assert knobs == pytest.approx([0.0, 0.0, 60.0, 0.0], abs=6.0)
    stand = scene.world.subtree(scene.body_of("stand"))
    arm = [body for body in scene.world.bodies if body.startswith("franka/") and not body.endswith("link0")]
    for state in record.states[::5]:
        scene.world.restore_state(state)
        assert not scene.world.touching(arm, stand)


@pytest.mark.parametrize("grasp", [False, True], ids=["pushed", "by its handle"])
def test_a_drawer_is_closed(tmp_path, grasp):
    parameters = {"drawers": 3, "width": 0.35, "depth": 0.3, "drawer_height": 0.13}
    chest = fixed("chest", "drawer_cabinet", (0.05, 0.44), parameters=parameters, joint_position_range=[0.12, 0.12])
    scene, record = run_with(table_instance(tmp_path, chest), {"name": "close", "objects": ["chest"], "grasp": grasp})
    assert record.success, record.failure
    assert abs(scene.world.joint_position("chest/drawer_2_joint")) < 0.007


def test_a_lid_that_falls_shut_again_is_no_success(tmp_path):
    pot = fixed("pot", "pot", (0.0, 0.05))
    _, record = run_with(table_instance(tmp_path, pot), {"name": "open", "objects": ["pot"], "amount": 0.3})
    assert record.failure is not None
    assert record.failure.reason in {"not_joint_state", "not_joint_still"}


def test_a_lid_that_springs_back_when_it_is_let_go_is_no_success(tmp_path):
    can = fixed("can", "trash_can", (0.0, 0.2), parameters={"height": 0.25, "radius": 0.09, "style": "square"})
    scene, record = run_with(table_instance(tmp_path, can), {"name": "open", "objects": ["can"], "amount": 0.5})
    assert place_of(scene, record, "can/lid_joint").max() > 0.3, "the hand opened it"
    assert record.failure is not None
    assert record.failure.reason in {"not_joint_state", "not_joint_still"}


def test_a_standing_lid_is_swept_shut_from_behind(tmp_path):
    box = fixed("box", "lidded_box", (0.0, 0.1), parameters={"grip": "bar"}, joint_position_range=[1.5, 1.5])
    scene, record = run_with(table_instance(tmp_path, box), {"name": "close", "objects": ["box"]})
    assert record.success, record.failure
    assert abs(scene.world.joint_position("box/lid_joint")) < 0.03 * 1.92


def test_fingers_push_a_door_where_the_palm_keeps_clear_of_its_handle(tmp_path):
    # Pushed beside the middle of its bar, this door met the edge of the palm all the way.
    size = {"width": 0.4316, "depth": 0.3351, "height": 0.2414, "joint_friction": 0.15, "joint_damping": 0.44}
    parameters = {"handle": "bar", "joint_latch": 4.0, **size}
    oven = fixed("oven", "microwave", (0.08, 0.3), parameters=parameters, joint_position_range=[1.5, 1.5])
    scene, record = run_with(table_instance(tmp_path, oven), {"name": "close", "objects": ["oven"]})
    assert record.success, record.failure
    assert abs(scene.world.joint_position("oven/door_joint")) < 0.03 * 1.9


def test_a_door_pulled_off_its_catch_stays_open_and_snaps_shut_when_closed(tmp_path):
    cabinet = fixed(
        "cabinet", "hinged_cabinet", (0.0, 0.4), parameters={"hinge": "right", "handle": "knob", "joint_latch": 3.0}
    )
    skills = ({"name": "open", "objects": ["cabinet"], "amount": 0.3}, {"name": "close", "objects": ["cabinet"]})
    scene, record = run_with(table_instance(tmp_path, cabinet), *skills)
    assert record.success, record.failure
    angle = place_of(scene, record, "cabinet/door_joint")
    assert angle.max() > 0.25 * 1.9
    assert abs(angle[-1]) < 2e-3, "the catch holds it at its stop"


def test_a_sliding_panel_is_closed_by_its_handle_and_held_until_then(tmp_path):
    cabinet = fixed("cabinet", "sliding_cabinet", (0.1, 0.3), parameters={"handle": "bar"})
    hold = {"name": "open", "objects": ["cabinet"], "amount": 0.5, "hold": True}
    scene, record = run_with(table_instance(tmp_path, cabinet), hold, {"name": "close", "objects": ["cabinet"]})
    assert record.success, record.failure
    way = place_of(scene, record, "cabinet/panel_joint")
    assert way.max() > 0.4 * scene.assets["cabinet"].joints[0].range[1]
    assert way[-1] < 0.03 * scene.assets["cabinet"].joints[0].range[1]
    fingers, panel = scene.robot("franka").arm("left").finger_bodies, ["cabinet/panel"]
    data, touched = scene.world, []
    for row in record.states[::3]:
        mujoco.mj_setState(data.model, data.data, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(data.model, data.data)
        touched.append(bool(data.touching(fingers, panel)))
    held = np.flatnonzero(touched)
    assert all(touched[held[0] : held[-1] + 1]), "the fingers never let go in between"


def test_a_knob_is_turned_about_its_axis(tmp_path):
    panel = fixed("panel", "knob", (0.0, 0.25), parameters={"knobs": 1, "height": 0.36})
    scene, record = run_with(table_instance(tmp_path, panel), {"name": "rotate", "objects": ["panel"], "amount": 0.2})
    assert record.success, record.failure
    assert scene.world.joint_position("panel/knob_0_joint") == pytest.approx(0.2 * 4.7, abs=0.1)


CONTACT = {
    "name": "fingers_contact_with_link0",
    "keypoint_name": "tool_head",
    "target_keypoint_name": "link_contact_point",
    "tolerance": 0.002,
}
ALONG = {
    "name": "hand_parallel_to_link0_move_axis",
    "axis_from_keypoint_name": "tool_head",
    "axis_to_keypoint_name": "tool_tail",
    "target_axis": "object_link0_move_axis",
    "target_inner_product": 1,
    "tolerance": 0.1,
}
SQUARE = {
    "name": "hand_parallel_to_link0_edge",
    "axis_from_keypoint_name": "tool_head",
    "axis_to_keypoint_name": "tool_side",
    "target_axis": "object_link0_vertical_axis",
    "target_inner_product": -1,
    "tolerance": 0.1,
}
PUBLISHED = {
    "constraint_list": [CONTACT, ALONG, SQUARE],
    "success_threshold": 0.07,
    "contact_pose_index": 2,
    "pre_actuation_motions": [["translate_z", -0.08]],
    "post_actuation_motions": [["translate_z", -0.05], ["translate_z", -0.05]],
    "keypose_random_range": {"position": {"x_min": -0.01, "x_max": 0.01}},
}


def test_a_published_planner_setting_opens_a_drawer(drawer):
    scene, record = run_with(drawer, {"name": "open", "objects": ["chest"], "planner_setting": PUBLISHED})
    assert record.success, record.failure
    assert scene.world.joint_position("chest/drawer_2_joint") == pytest.approx(0.1, abs=0.01)


def test_preplanning_moves_nothing_and_refuses_what_cannot_be_opened(drawer, tmp_path):
    scene, record = run_with(drawer, {"name": "artpreplan", "objects": ["chest"]})
    assert record.success, record.failure
    assert abs(scene.world.joint_position("chest/drawer_2_joint")) < 1e-3
    far = fixed("chest", "drawer_cabinet", (0.62, 0.46), parameters={"drawers": 1})
    _, record = run_with(table_instance(tmp_path, far), {"name": "artpreplan", "objects": ["chest"]})
    assert record.failure is not None
    assert record.failure.reason in {"goal_unreachable", "goal_in_collision", "no_way_along_joint"}


def test_constraints_that_contradict_fail_with_the_name_of_one(drawer):
    wrong = {**SQUARE, "axis_to_keypoint_name": "tool_tail"}
    setting = {**PUBLISHED, "constraint_list": [CONTACT, ALONG, wrong]}
    _, record = run_with(drawer, {"name": "open", "objects": ["chest"], "planner_setting": setting})
    assert record.failure is not None
    assert record.failure.reason == "constraint_cannot_hold"
    assert "constraint_list[" in record.failure.detail


def test_an_annotation_written_and_read_back_solves_to_the_same_key_pose(drawer, tmp_path):
    def key_poses(**keys):
        scene = build_scene(drawer)
        config = SKILL_CONFIGS["open"].model_validate({"name": "open", "objects": ["chest"], **keys})
        arm = scene.robot("franka").arm("left")
        skill = Open(scene, ArmController(scene, arm), config, np.random.default_rng(0))
        skill.simple_generate_manip_cmds()
        return np.array([[*command.p_base_tool, *command.q_base_tool] for command in skill.manip_list])

    scene = build_scene(drawer)
    file = write_keypoints(tmp_path, "pull", scene.assets["chest"].joint_keypoints())
    assert len(key_poses()) > 4
    np.testing.assert_array_equal(key_poses(), key_poses(obj_info_path=str(file)))
