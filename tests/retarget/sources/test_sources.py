"""Device samples enter the graph as they are, and anchors carry them into the world."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from controller_samples import about, product

from handloom.errors import InputError
from handloom.retarget import (
    ControllerInputIndex,
    ControllerPoseSource,
    ControllerSnapshot,
    ControllersSource,
    DeviceFrame,
    FullBodySnapshot,
    FullBodySource,
    Generic3AxisPedalSource,
    HandInput,
    HandInputIndex,
    HandSnapshot,
    HandsSource,
    HandTransform,
    HeadInputIndex,
    HeadSnapshot,
    HeadSource,
    JointStateSource,
    OutputCombiner,
    PedalSnapshot,
    TransformMatrix,
    ValueInput,
    decompose_transform,
    device_inputs,
    group_of,
    transform_orientation,
    transform_orientations_batch,
    transform_position,
    transform_positions_batch,
    validate_transform_matrix,
)


def hand(rng) -> HandSnapshot:
    return HandSnapshot(
        joint_positions=rng.normal(size=(26, 3)),
        joint_orientations=rng.normal(size=(26, 4)),
        joint_radii=rng.random(26),
        joint_valid=rng.integers(0, 2, 26),
    )


def test_present_samples_come_out_slot_by_slot_and_silent_devices_are_absent() -> None:
    source = ControllersSource("c")
    sample = ControllerSnapshot(grip_position=(1, 2, 3), trigger_value=0.5, menu_click=True)
    outputs = source(source.raw_inputs({"controller_left": sample}))
    left = outputs[ControllersSource.LEFT]
    np.testing.assert_array_equal(left[ControllerInputIndex.GRIP_POSITION], (1, 2, 3))
    assert left[ControllerInputIndex.TRIGGER_VALUE] == 0.5
    assert left[ControllerInputIndex.MENU_CLICK] == 1.0
    assert left[ControllerInputIndex.GRIP_IS_VALID] is False
    assert outputs[ControllersSource.RIGHT].is_none


def test_a_sample_of_the_wrong_device_is_refused() -> None:
    head = HeadSnapshot(position=(0, 0, 0), orientation=(0, 0, 0, 1))
    with pytest.raises(TypeError, match="takes a ControllerSnapshot, got HeadSnapshot"):
        ControllersSource("c").raw_inputs({"controller_left": head})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grip_position", (1, 2)),
        ("grip_position", "here"),
        ("grip_orientation", [[0, 0, 0, 1]]),
        ("grip_is_valid", 1),
        ("trigger_value", "hard"),
        ("trigger_value", None),
        ("squeeze_value", [0.5]),
        ("aim_position", (1, 2, None, 4)),
    ],
)
def test_a_malformed_field_is_a_typed_error_that_names_it(field, value) -> None:
    with pytest.raises(InputError, match=field):
        ControllerSnapshot(**{field: value})


def test_unknown_and_missing_fields_of_a_record_are_named() -> None:
    with pytest.raises(InputError, match="no field 'grip_postion'; did you mean 'grip_position'"):
        ControllerSnapshot.from_record({"grip_postion": (0, 0, 0)})
    with pytest.raises(InputError, match="lacks the fields orientation"):
        HeadSnapshot.from_record({"position": (0, 0, 0)})
    with pytest.raises(InputError, match="must be a mapping"):
        ControllerSnapshot.from_record([1, 2])
    with pytest.raises(InputError, match="lacks the field time_ns"):
        DeviceFrame.from_record({})
    with pytest.raises(InputError, match="no field 'contoller_left'"):
        DeviceFrame.from_record({"time_ns": 0, "contoller_left": {}})
    for bad in ({"time_ns": 0.5}, {"time_ns": 0, "state": "flying"}, {"time_ns": 0, "reset": 1}):
        with pytest.raises(InputError):
            DeviceFrame.from_record(bad)


def test_a_frame_survives_json_exactly_with_nan_and_infinity() -> None:
    rng = np.random.default_rng(0)
    frame = DeviceFrame(
        time_ns=123,
        reset=True,
        controller_left=ControllerSnapshot(grip_position=(math.nan, math.inf, -math.inf), thumbstick_x=math.nan),
        hand_right=hand(rng),
        head=HeadSnapshot(position=rng.normal(size=3), orientation=rng.normal(size=4), is_tracked=False),
    )
    text = json.dumps(frame.to_record(), allow_nan=False)
    assert DeviceFrame.from_record(json.loads(text)) == frame


def anchored(source, **frame):
    anchor = ValueInput("world_T_anchor", TransformMatrix())
    moved = source.transformed(anchor.output("value"))
    T = np.eye(4, dtype=np.float32)
    T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T[:3, 3] = 0.1, 0.2, 0.3
    inputs = device_inputs(moved, DeviceFrame(time_ns=0, **frame))
    return moved, moved({**inputs, "world_T_anchor": {"value": group_of(TransformMatrix(), T)}}), T


def test_controllers_are_carried_by_rotation_and_shift_and_nothing_is_written_to() -> None:
    quat = about((1, 2, 3), 0.8)
    sample = ControllerSnapshot(
        grip_position=(1, 2, 3),
        grip_orientation=quat,
        grip_is_valid=True,
        aim_position=(0, 1, 0),
        aim_orientation=(0, 0, 0, 1),
        trigger_value=0.7,
    )
    graph, outputs, _ = anchored(ControllersSource("c"), controller_right=sample)
    right = outputs["controller_right"]
    np.testing.assert_allclose(right[ControllerInputIndex.GRIP_POSITION], (-1.9, 1.2, 3.3), atol=1e-6)
    np.testing.assert_allclose(
        right[ControllerInputIndex.GRIP_ORIENTATION], product(about((0, 0, 1), math.pi / 2), quat), atol=1e-6
    )
    np.testing.assert_allclose(right[ControllerInputIndex.AIM_POSITION], (-0.9, 0.2, 0.3), atol=1e-6)
    assert (right[ControllerInputIndex.GRIP_IS_VALID], right[ControllerInputIndex.TRIGGER_VALUE]) == (True, 0.7)
    assert outputs["controller_left"].is_none
    np.testing.assert_array_equal(sample.grip_position, (1, 2, 3))
    assert graph.name == "c_transform"


def test_hands_and_heads_are_carried_too() -> None:
    rng = np.random.default_rng(1)
    sample = hand(rng)
    _, outputs, T = anchored(HandsSource("h"), hand_left=sample)
    expected = sample.joint_positions @ T[:3, :3].T + T[:3, 3]
    np.testing.assert_allclose(outputs["hand_left"][HandInputIndex.JOINT_POSITIONS], expected, atol=1e-6)
    turn = about((0, 0, 1), math.pi / 2)
    expected = [product(turn, quat) for quat in sample.joint_orientations]
    np.testing.assert_allclose(outputs["hand_left"][HandInputIndex.JOINT_ORIENTATIONS], expected, atol=1e-6)
    head = HeadSnapshot(position=(1, 0, 0), orientation=(0, 0, 0, 1), is_tracked=False)
    _, outputs, _ = anchored(HeadSource("head"), head=head)
    np.testing.assert_allclose(outputs["head"][HeadInputIndex.POSITION], (0.1, 1.2, 0.3), atol=1e-6)
    assert (outputs["head"][HeadInputIndex.IS_VALID], outputs["head"][HeadInputIndex.IS_TRACKED]) == (True, False)


def test_an_anchor_that_is_not_rigid_is_a_typed_error() -> None:
    source, anchor = ControllersSource("c"), ValueInput("a", TransformMatrix())
    moved = source.transformed(anchor.output("value"))
    bad = ((np.full((4, 4), np.nan), "finite"), (2 * np.eye(4), "bottom row"), (np.diag([1, 1, -1, 1]), "proper"))
    for T, text in bad:
        inputs = {"c": source.raw_inputs({}), "a": {"value": group_of(TransformMatrix(), T.astype(np.float32))}}
        with pytest.raises(InputError, match=text):
            moved(inputs)


def test_the_published_matrix_check() -> None:
    validate_transform_matrix(np.eye(4))
    for bad in (np.eye(3), np.diag([1, 1, 1, 1.0001]), np.full((4, 4), np.nan)):
        with pytest.raises(InputError):
            validate_transform_matrix(bad)


def test_leaves_that_share_a_name_are_refused() -> None:
    one, two = ControllersSource("same"), HeadSource("same")
    graph = OutputCombiner({"a": one.output("controller_left"), "b": two.output("head")})
    with pytest.raises(InputError, match="two leaves of the graph are named 'same'"):
        device_inputs(graph, DeviceFrame(time_ns=0))


def test_a_controller_pose_is_absent_when_it_is_not_valid() -> None:
    source = ControllersSource("c")
    node = ControllerPoseSource("p", "aim")
    sample = ControllerSnapshot(aim_position=(1, 2, 3), aim_orientation=(0, 0, 0, 2), aim_is_valid=True)
    group = source(source.raw_inputs({"controller_right": sample}))["controller_right"]
    np.testing.assert_allclose(node({"controller_right": group})["ee_pose"][0], (1, 2, 3, 0, 0, 0, 1))
    assert ControllerPoseSource("p", "grip")({"controller_right": group})["ee_pose"].is_none


def test_transforms_pass_nothing_on_that_the_input_owns() -> None:
    hand = HandSnapshot(
        joint_positions=np.zeros((26, 3)),
        joint_orientations=np.tile((0.0, 0.0, 0.0, 1.0), (26, 1)),
        joint_radii=np.full(26, 0.01),
        joint_valid=np.ones(26),
    )
    given = group_of(HandInput(), *hand.slots())
    node = HandTransform("t")
    outputs = node({HandTransform.LEFT: given, "transform": group_of(TransformMatrix(), np.eye(4, dtype=np.float32))})
    assert outputs[HandTransform.RIGHT].is_none
    for index in range(4):
        assert not np.shares_memory(outputs[HandTransform.LEFT][index], given[index])


def test_transform_functions_work_in_place_and_the_check_returns_the_matrix() -> None:
    T = np.array([[0.0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    assert validate_transform_matrix(T) is T
    R, t = decompose_transform(T)
    positions, quats = np.array([[1.0, 0, 0], [0, 1, 0]]), np.array([[0.0, 0, 0, 1]])
    assert transform_positions_batch(positions, R, t) is None
    np.testing.assert_allclose(positions, [[1, 3, 3], [0, 2, 3]])
    one = np.array([1.0, 0, 0])
    transform_position(one, R, t)
    np.testing.assert_allclose(one, (1, 3, 3))
    transform_orientations_batch(quats, R)
    single = np.array([0.0, 0, 0, 1])
    transform_orientation(single, R)
    np.testing.assert_allclose(quats[0], (0, 0, np.sqrt(0.5), np.sqrt(0.5)))
    np.testing.assert_allclose(single, quats[0])
    with pytest.raises(InputError, match=r"\(4, 4\), got \(3, 3\)"):
        decompose_transform(np.eye(3))


def test_pedals_and_bodies_are_sources_too() -> None:
    body = FullBodySnapshot(
        joint_positions=np.ones((24, 3)), joint_orientations=np.zeros((24, 4)), joint_valid=np.ones(24)
    )
    frame = DeviceFrame(time_ns=1, pedals=PedalSnapshot(left_pedal=0.5, rudder=-1.0), full_body=body)
    assert DeviceFrame.from_record(frame.to_record()) == frame
    pedals, bodies = Generic3AxisPedalSource("pedals"), FullBodySource("body")
    group = pedals(pedals.poll_tracker(frame))["pedals"]
    assert [group[index] for index in range(3)] == [0.5, 0.0, -1.0]
    assert bodies(bodies.poll_tracker(frame))["full_body"][0].shape == (24, 3)
    assert pedals(pedals.poll_tracker(DeviceFrame(time_ns=2)))["pedals"].is_none
    assert FullBodySource("body", vendor="pico").get_vendor() == "pico"


def published(**fields) -> SimpleNamespace:
    """Return an object with attributes, as a tracker of the published library gives."""
    return SimpleNamespace(**fields)


def published_pose(x: float) -> SimpleNamespace:
    return published(position=published(x=x, y=0.0, z=0.0), orientation=published(x=0.0, y=0.0, z=0.0, w=1.0))


def fed(source, port: str, value):
    """Run a source on one raw value in a required group, as published; its other ports get None."""
    inputs = {}
    for name, kind in source.input_spec().items():
        inputs[name] = group_of(kind.inner_type, value if name == port else None)
    return source(inputs)


def test_sources_read_the_samples_of_published_trackers() -> None:
    names = ("primary_click", "secondary_click", "thumbstick_click", "menu_click")
    controller = published(
        grip_pose=published(pose=published_pose(1.0), is_valid=True),
        aim_pose=published(pose=published_pose(2.0), is_valid=False),
        inputs=published(
            **dict.fromkeys(names, True), thumbstick_x=0.1, thumbstick_y=0.2, squeeze_value=0.3, trigger_value=0.4
        ),
    )
    outputs = fed(ControllersSource("c"), "deviceio_controller_right", controller)
    right = outputs["controller_right"]
    assert outputs["controller_left"].is_none
    assert right[0].tolist() == [1.0, 0.0, 0.0]
    assert [right[index] for index in (2, 5, 6, 13)] == [True, False, 1.0, 0.4]

    head = fed(HeadSource("h"), "deviceio_head", published(pose=published_pose(3.0), is_valid=True, is_tracked=False))
    assert (head["head"][0][0], head["head"][2], head["head"][3]) == (3.0, True, False)

    joints = published(
        positions=np.ones((26, 3)), orientations=np.ones((26, 4)), radii=np.ones(26), is_valid=np.ones(26, bool)
    )
    hand = fed(HandsSource("h"), "deviceio_hand_left", published(joints=joints))
    assert hand["hand_left"][3].tolist() == [1] * 26

    leader = JointStateSource("j", "leader", ["a", "b"])
    state = published(joints=[published(name="b", position=0.5)])
    joints = fed(leader, "deviceio_joint_state", state)["joints"]
    assert [joints[0], joints[1]] == [0.0, 0.5]
    assert fed(leader, "deviceio_joint_state", None)["joints"].is_none


def test_a_sample_of_another_device_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a HeadSnapshot, got PedalSnapshot"):
        fed(HeadSource("h"), "deviceio_head", PedalSnapshot())
    with pytest.raises(TypeError, match="takes joint positions by name, got int"):
        fed(JointStateSource("j", "leader", ["a"]), "deviceio_joint_state", 3)
