"""The published module paths lead to our classes, and the published SO-101 pipeline runs."""

import importlib

import numpy as np
import pytest

import handloom.compat.isaacteleop as face
from handloom.compat.isaacteleop import retargeters, schema
from handloom.compat.isaacteleop.retargeters import (
    SO101ClutchRetargeter,
    SO101GripperRetargeter,
    SO101RollRetargeter,
    TensorReorderer,
    rate_limiter,
)
from handloom.compat.isaacteleop.retargeting_engine import deviceio_source_nodes as sources
from handloom.compat.isaacteleop.retargeting_engine.deviceio_source_nodes import ControllersSource
from handloom.compat.isaacteleop.retargeting_engine.interface import OutputCombiner, ValueInput, base_retargeter
from handloom.compat.isaacteleop.retargeting_engine.tensor_types import TransformMatrix
from handloom.compat.isaacteleop.retargeting_engine.utilities import transform_utils
from handloom.compat.isaacteleop.so101_page import SO101ClutchRetargeter as PageClutch
from handloom.compat.isaacteleop.so101_page import SO101WristRetargeter
from handloom.compat.isaacteleop.teleop_session_manager.teleop_state_manager_types import teleop_control_states
from handloom.compat.published import NotHere
from handloom.retarget import (
    ComputeContext,
    ControllerInput,
    ControllerSnapshot,
    ExecutionState,
    HeadSnapshot,
    group_of,
)


@pytest.mark.parametrize("path", face.MODULES)
@pytest.mark.filterwarnings("ignore:HeadPose:DeprecationWarning")
def test_every_published_name_of_a_module_leads_to_an_object_or_says_why_not(path: str) -> None:
    found = importlib.import_module(f"{face.__name__}.{path}")
    for name, reason in face.MODULES[path].items():
        if isinstance(reason, NotHere):
            with pytest.raises(ImportError, match=f"{name} is out of scope: "):
                getattr(found, name)
            assert name not in found.__all__
        else:
            assert getattr(found, name) is not None, name
            assert name in found.__all__


def test_out_of_scope_names_say_so_when_imported() -> None:
    with pytest.raises(ImportError, match="TwinRenderConfig is out of scope: it draws the robot"):
        from handloom.compat.isaacteleop.teleop_session_manager import TwinRenderConfig  # noqa: F401
    with pytest.raises(ImportError, match="third-party hand"):
        from handloom.compat.isaacteleop.retargeters.wuji_hand_retargeter import WujiHandRetargeter  # noqa: F401


def test_what_differs_is_published_and_here() -> None:
    here = {name for rows in face.MODULES.values() for name, row in rows.items() if not isinstance(row, NotHere)}
    assert set(face.DIFFERENT) <= here


def test_packages_list_their_modules() -> None:
    engine = importlib.import_module("handloom.compat.isaacteleop.retargeting_engine")
    assert set(engine.__all__) == {"deviceio_source_nodes", "interface", "tensor_types", "utilities"}


def test_an_unknown_module_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"isaacteleop\.retargeting_engine\.interfaces"):
        importlib.import_module("handloom.compat.isaacteleop.retargeting_engine.interfaces")


def test_an_unknown_name_is_an_attribute_error_that_says_what_exists() -> None:
    with pytest.raises(AttributeError, match="did you mean 'TensorReorderer'"):
        _ = retargeters.TensorReorder
    assert "SO101ClutchRetargeter" in dir(retargeters)


def test_the_published_clutch_engages_with_squeeze_only() -> None:
    home = np.eye(4)
    home[:3, 3] = 0.2, 0.0, 0.1
    clutch = retargeters.SO101ClutchRetargeter(name="ee_pose", home_base_T_ee=home, input_device="controller_right")
    assert clutch.MEASURED_BASE_T_EE_INPUT == "measured_base_T_ee"
    assert clutch.ENGAGE_PERMITTED_INPUT == "engage_permitted"

    def position(x: float, squeeze: float) -> float:
        inputs = {"controller_right": controller_at(x, squeeze)}
        return clutch(inputs, ComputeContext.at(0, state=ExecutionState.RUNNING))["ee_pose"][0][0]

    assert position(0.0, 0.0) == position(0.3, 0.0) == pytest.approx(0.2)
    assert not clutch.is_engaged
    assert position(0.3, 1.0) == pytest.approx(0.2)
    assert position(0.4, 1.0) == pytest.approx(0.3)


def test_one_name_gives_the_clutch_that_its_arguments_belong_to() -> None:
    assert isinstance(SO101ClutchRetargeter("ee_pose", input_device="controller_left"), PageClutch)
    assert "controller_left" in SO101ClutchRetargeter("ee_pose", "controller_left").input_spec()
    release = SO101ClutchRetargeter("ee_pose", np.eye(4))
    assert isinstance(release, SO101ClutchRetargeter)
    assert not isinstance(release, PageClutch)
    assert SO101ClutchRetargeter.ROBOT_EE_POS_INPUT == "robot_ee_pos"
    assert SO101ClutchRetargeter.MEASURED_BASE_T_EE_INPUT == "measured_base_T_ee"


def test_the_wrist_of_the_page_has_a_pitch_and_a_roll() -> None:
    wrist = SO101WristRetargeter(name="wrist", input_device="controller_right")
    running = ComputeContext.at(0, state=ExecutionState.RUNNING)

    def command(quat, context=running) -> tuple[float, float]:
        outputs = wrist({"controller_right": controller_at(0.0, 0.0, quat)}, context)
        return outputs["pitch_command"][0], outputs["roll_command"][0]

    stopped = ComputeContext.at(0, state=ExecutionState.STOPPED)
    assert command((0, 0, 0, 1), stopped) == (0.0, pytest.approx(np.pi))
    assert command((0, 0, 0, 1)) == (pytest.approx(np.pi / 2), pytest.approx(np.pi))
    assert command((0, 0, np.sin(0.2), np.cos(0.2))) == (pytest.approx(np.pi / 2), pytest.approx(np.pi + 0.4))
    tilted = (np.sin(0.25), 0, 0, np.cos(0.25))
    assert command(tilted)[0] == pytest.approx(np.pi / 2 - 0.5)
    assert command((0, 0, 0, 1), stopped)[0] == pytest.approx(np.pi / 2 - 0.5)
    reset = ComputeContext.at(0, state=ExecutionState.STOPPED, reset=True)
    assert command((0, 0, 0, 1), reset) == (0.0, pytest.approx(np.pi))


def controller_at(x: float, squeeze: float, quat=(0.0, 0.0, 0.0, 1.0)):
    sample = ControllerSnapshot(
        grip_position=(x, 0, 0),
        grip_orientation=quat,
        grip_is_valid=True,
        aim_orientation=quat,
        aim_is_valid=True,
        squeeze_value=squeeze,
    )
    return group_of(ControllerInput(), *sample.slots())


def so101_pipeline() -> OutputCombiner:
    """Wire controller, anchor, live end effector and base to the 5-number action of the stacking task."""
    right = ControllersSource.RIGHT
    controllers = ControllersSource(name="controllers")
    anchor = ValueInput("world_T_anchor", TransformMatrix())
    ee = ValueInput(SO101ClutchRetargeter.ROBOT_EE_POS_INPUT, TransformMatrix())
    base = ValueInput(SO101ClutchRetargeter.ROBOT_BASE_POS_INPUT, TransformMatrix())
    moved = controllers.transformed(anchor.output(ValueInput.VALUE))
    clutch = SO101ClutchRetargeter(name="ee_pose", input_device=right).connect(
        {
            right: moved.output(right),
            SO101ClutchRetargeter.ROBOT_EE_POS_INPUT: ee.output(ValueInput.VALUE),
            SO101ClutchRetargeter.ROBOT_BASE_POS_INPUT: base.output(ValueInput.VALUE),
        }
    )
    roll = SO101RollRetargeter(name="roll", input_device=right).connect({right: moved.output(right)})
    jaw = SO101GripperRetargeter(name="gripper", input_device=right).connect({right: moved.output(right)})
    flat = TensorReorderer(
        input_config={
            "ee_pose": ["pos_x", "pos_y", "pos_z", "quat_x", "quat_y", "quat_z", "quat_w"],
            "roll_command": ["roll_value"],
            "gripper_command": ["gripper_value"],
        },
        output_order=["pos_x", "pos_y", "pos_z", "roll_value", "gripper_value"],
        name="action_reorderer",
        input_types={"ee_pose": "array", "roll_command": "scalar", "gripper_command": "scalar"},
    ).connect(
        {
            "ee_pose": clutch.output("ee_pose"),
            "roll_command": roll.output("roll_command"),
            "gripper_command": jaw.output("gripper_command"),
        }
    )
    return OutputCombiner({"action": flat.output("output")})


def test_the_published_so101_pipeline_runs_with_only_the_import_changed() -> None:
    pipeline = so101_pipeline()
    leaves = {leaf.name: leaf for leaf in pipeline.get_leaf_nodes()}
    assert list(leaves) == ["controllers", "world_T_anchor", "robot_ee_pos", "robot_base_pos"]
    world_T_base = np.eye(4, dtype=np.float32)
    world_T_base[:2, :2] = [[0, -1], [1, 0]]
    world_T_base[2, 3] = -0.03008
    world_T_ee = np.eye(4, dtype=np.float32)
    world_T_ee[:3, 3] = 0.18852, 0.01918, 0.15879

    def action(position: tuple[float, float, float]) -> np.ndarray:
        sample = ControllerSnapshot(
            grip_position=position,
            grip_orientation=(0, 0, np.sin(0.2), np.cos(0.2)),
            grip_is_valid=True,
            trigger_value=0.525,
        )
        inputs = {
            "controllers": leaves["controllers"].raw_inputs({"controller_right": sample}),
            "world_T_anchor": {"value": group_of(TransformMatrix(), np.eye(4, dtype=np.float32))},
            "robot_ee_pos": {"value": group_of(TransformMatrix(), world_T_ee)},
            "robot_base_pos": {"value": group_of(TransformMatrix(), world_T_base)},
        }
        return pipeline(inputs, ComputeContext.at(0, state=ExecutionState.RUNNING))["action"][0]

    np.testing.assert_allclose(action((0.4, 0.1, 0.9)), (0.01918, -0.18852, 0.18887, 0.4, 0.5), atol=1e-6)
    np.testing.assert_allclose(action((0.45, 0.08, 1.0)), (-0.00082, -0.23852, 0.28887, 0.4, 0.5), atol=1e-6)


class HeadPoseTrackedT:
    """A sample as trackers of some revisions wrap it."""

    def __init__(self, data) -> None:
        self.data = data


def test_samples_in_the_wrapper_of_a_tracker_are_read() -> None:
    head = sources.HeadSource(name="head")
    sample = HeadSnapshot(position=(0.1, 0.2, 0.3), orientation=(0, 0, 0, 1), is_valid=True)
    plain, wrapped = (head(head.raw_inputs({"head": given}))["head"] for given in (sample, HeadPoseTrackedT(sample)))
    np.testing.assert_array_equal(plain[0], wrapped[0])
    assert head(head.raw_inputs({"head": HeadPoseTrackedT(None)}))["head"].is_none
    with pytest.raises(TypeError):
        head.raw_inputs({"head": HeadPoseTrackedT("nothing")})


def test_a_valid_transform_is_float64() -> None:
    assert transform_utils.validate_transform_matrix(np.eye(4, dtype=np.float32)).dtype == np.float64
    with pytest.raises(ValueError, match="Bottom row of transform matrix must be"):
        transform_utils.validate_transform_matrix(np.ones((4, 4)))


def test_the_steps_of_the_rate_limiters_are_there_by_their_private_names() -> None:
    dt = (1 / 60, 1e-4, 0.1)
    assert rate_limiter._clamped_dt(None, 5, *dt) == rate_limiter._clamped_dt(5, 5, *dt) == 1 / 60
    assert rate_limiter._clamped_dt(0, 20_000_000, *dt) == pytest.approx(0.02)
    assert rate_limiter._clamped_dt(0, 10**9, *dt) == 0.1
    np.testing.assert_allclose(rate_limiter._clamp_position_step(np.array([0, 0, 2.0]), np.zeros(3), 0.5), (0, 0, 0.5))
    half = rate_limiter._clamp_orientation_step(
        np.array([0, 0, -np.sin(0.4), -np.cos(0.4)]), np.array([0, 0, 0, 1.0]), 0.4
    )
    np.testing.assert_allclose(half, (0, 0, np.sin(0.2), np.cos(0.2)), atol=1e-12)


def test_the_states_of_a_control_channel_are_listed() -> None:
    assert [str(state) for state in teleop_control_states()] == ["stopped", "paused", "running"]


@pytest.mark.parametrize("wrap", [lambda sample=None: sample, schema.ControllerSnapshotTrackedT])
def test_samples_made_of_published_parts_are_read_in_a_wrapper_or_without(wrap) -> None:
    pose = schema.ControllerPose(schema.Pose(schema.Point(1, 2, 3), schema.Quaternion(0, 0, 0, 1)), True)
    pressed = schema.ControllerInputState(squeeze_value=0.25, primary_click=True)
    source = ControllersSource(name="controllers")
    sent = {"left": wrap(schema.ControllerSnapshot(pose, pose, pressed)), "right": wrap()}
    inputs = {
        f"deviceio_controller_{s}": group_of(source.input_spec()[f"deviceio_controller_{s}"], v)
        for s, v in sent.items()
    }
    outputs = {port: base_retargeter._make_output_group(kind) for port, kind in source.output_spec().items()}
    source.compute(inputs, outputs)
    left = outputs["controller_left"]
    assert left[0].tolist() == [1.0, 2.0, 3.0]
    assert (left[6], left[12]) == (1.0, 0.25)
    assert outputs["controller_right"].is_none
    hand = schema.HandPose()
    hand.joints.positions[1] = 0.5
    hands = sources.HandsSource(name="hands")
    tracked = {
        f"deviceio_{d}": group_of(hands.input_spec()[f"deviceio_{d}"], hand) for d in ("hand_left", "hand_right")
    }
    assert hands(tracked)["hand_left"][0][1].tolist() == [0.5] * 3


def test_constants_beside_the_nodes_have_their_published_values() -> None:
    place = f"{face.__name__}.retargeters.SO101"
    gripper, clutch = (importlib.import_module(f"{place}.{kind}_retargeter") for kind in ("gripper", "clutch"))
    assert (gripper.GRIPPER_COMMAND_KEY, gripper.GRIPPER_ELEMENT_LABEL) == ("gripper_command", "gripper_value")
    assert gripper._trigger_to_closedness(0.525) == pytest.approx(0.5)
    half = np.sqrt(0.5)
    quarter = np.array([0.0, 0.0, half, half])
    assert clutch._quat_mul(quarter, quarter) == pytest.approx([0, 0, 1, 0])
    assert clutch._quat_mul(clutch._quat_inv(3 * quarter), quarter) == pytest.approx([0, 0, 0, 1])
    turned = np.eye(4)
    turned[:3, :3] = np.diag([-1.0, 1.0, -1.0])
    assert clutch._mat_to_quat_xyzw(turned) == pytest.approx([0, 1, 0, 0])
    assert rate_limiter._quat_normalize(np.zeros(4)) is None
    assert rate_limiter._quat_geodesic_angle(quarter, [0, 0, 0, 1]) == pytest.approx(np.pi / 2)
    assert transform_utils._quat_multiply_batch_xyzw(quarter, np.array([quarter] * 2)).shape == (2, 4)
    assert sources.message_channel_config.__name__ == "message_channel_config"


def test_the_memory_of_nodes_has_its_published_names() -> None:
    def run(node, *, reset: bool = False):
        return next(iter(node({}, ComputeContext.at(0, reset=reset)).values()))[0]

    gripper = retargeters.GripperRetargeter(retargeters.GripperRetargeterConfig(hand_side="right"), name="gripper")
    gripper._previous_gripper_command = True
    assert (run(gripper), gripper._previous_gripper_command) == (1.0, True)  # Nothing is there: open, state kept.
    assert (run(gripper, reset=True), gripper._previous_gripper_command) == (1.0, False)
    base = retargeters.LocomotionRootCmdRetargeter(retargeters.LocomotionRootCmdRetargeterConfig(), name="base")
    base._hip_height = 0.95
    assert run(base)[3] == pytest.approx(0.95)
    assert run(base, reset=True)[3] == pytest.approx(0.72) == base._hip_height
    config = retargeters.Se3RetargeterConfig(input_device="controller_right")
    absolute = retargeters.Se3AbsRetargeter(config, name="absolute")
    absolute._last_pose = [1, 2, 3, 0.5, 0.5, 0.5, 0.5]
    assert run(absolute).tolist() == absolute._last_pose.tolist() == [1, 2, 3, 0.5, 0.5, 0.5, 0.5]
    assert run(absolute, reset=True).tolist() == [0, 0, 0, 0, 0, 0, 1]
    relative = retargeters.Se3RelRetargeter(config, name="relative")
    relative._first_frame, relative._smoothed_delta_pos, relative._smoothed_delta_rot = False, [1, 2, 3], [0, 0, 1]
    assert not relative._first_frame
    run(relative, reset=True)
    assert relative._first_frame
    assert not relative._smoothed_delta_pos.any()
    assert not relative._smoothed_delta_rot.any()
    assert relative._previous_thumb_tip is relative._previous_index_tip is None
    home = np.eye(4)
    home[:3, 3] = 0.1, 0.2, 0.3
    clutch = SO101ClutchRetargeter("clutch", home)
    assert clutch._last_commanded_pos.tolist() == [0.1, 0.2, 0.3]
    assert clutch._last_commanded_rot.tolist() == [0, 0, 0, 1]
