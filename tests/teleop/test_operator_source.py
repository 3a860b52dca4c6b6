"""An operator's episode: judged by the task, recorded, and the same again from what the devices said."""

from dataclasses import replace

import pytest
from expert_hand import expert_record, hand_recording

from handloom.episode import run_episode
from handloom.episode.replay import replay
from handloom.errors import InputError
from handloom.retarget import DeviceFrame, DeviceRecording
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.tasks import load_task, sample_task, worded_skills
from handloom.teleop.session.operator_source import OperatorSource, RecordedInput
from handloom.values import EpisodeRecord, TaskInstance


def carried_out(
    task_name: str, instance: TaskInstance, recording: DeviceRecording
) -> tuple[OperatorSource, EpisodeRecord]:
    task, scene = load_task(task_name), build_scene(instance)
    source = OperatorSource(
        scene,
        worded_skills(task, instance),
        generator(instance.seed, instance.episode, "skills", task=task.name),
        operator=RecordedInput(recording),
    )
    return source, run_episode(scene, source)


@pytest.fixture(scope="module")
def driven() -> tuple[OperatorSource, EpisodeRecord]:
    """An operator who picks a cube and puts it on a plate."""
    expert = expert_record(load_task("fr3_pick_place"), 5, 0)
    return carried_out("fr3_pick_place", replace(expert.instance, max_frames=1000), hand_recording(expert))


def test_a_hand_that_moves_as_the_expert_would_succeeds_and_its_episode_replays_bit_for_bit(driven) -> None:
    _, record = driven
    assert record.failure is None
    assert [span.skill for span in record.timeline] == ["pick", "place"]
    assert replay(record).exact


@pytest.mark.slow  # The test of runs does the same by way of the file.
def test_what_the_devices_said_gives_the_episode_again_bit_for_bit(driven) -> None:
    source, record = driven
    _, again = carried_out("fr3_pick_place", record.instance, source.device_recording)
    assert again.states.tobytes() == record.states.tobytes()
    assert again.timeline == record.timeline


@pytest.mark.parametrize(
    "task",
    [
        "so101_stack_cubes",
        *(pytest.param(task, marks=pytest.mark.slow) for task in ("lift2_handover", "fr3_reach_targets")),
    ],
)
def test_arms_of_five_joints_two_arms_and_tasks_of_places_can_be_driven(task: str) -> None:
    expert = expert_record(load_task(task), 5, 0)
    _, record = carried_out(task, replace(expert.instance, max_frames=1500), hand_recording(expert))
    assert record.failure is None


def test_frames_before_an_arm_is_first_engaged_are_no_part_of_the_demonstration(driven) -> None:
    source, record = driven
    late = [DeviceFrame(time_ns=round(k * 1e9 / 60)) for k in range(20)]
    moved = [replace(f, time_ns=f.time_ns + late[-1].time_ns + 1) for f in source.frames[:40]]
    recording = DeviceRecording(frames=(*late, *moved), end_time_ns=moved[-1].time_ns)
    _, short = carried_out("fr3_pick_place", record.instance, recording)
    assert short.left_out[0] == (0, 10)


def test_an_operator_who_ends_early_is_told_what_did_not_hold(driven) -> None:
    source, record = driven
    recording = DeviceRecording(frames=tuple(source.frames[:30]), end_time_ns=source.frames[30].time_ns)
    _, short = carried_out("fr3_pick_place", record.instance, recording)
    assert short.failure is not None
    assert short.failure.reason == "pick_not_in_hand"
    assert "after 15 frames this did not hold: cube rests on plate" in short.failure.detail


def test_an_operator_who_does_nothing_runs_out_of_frames() -> None:
    task = load_task("fr3_pick_cube")
    instance = replace(sample_task(task, 0, 0), max_frames=20)
    silent = tuple(DeviceFrame(time_ns=round(k * 1e9 / 60)) for k in range(100))
    _, record = carried_out("fr3_pick_cube", instance, DeviceRecording(frames=silent, end_time_ns=silent[-1].time_ns))
    assert record.frames == 19
    assert record.failure is not None
    assert len(record.kept) == 0


def test_a_source_without_a_person_says_what_to_do_instead() -> None:
    with pytest.raises(InputError, match="handloom teleop TASK"):
        OperatorSource(None, (), None)  # type: ignore[arg-type]
