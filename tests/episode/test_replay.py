"""A recorded episode replays bit for bit; anything else is found."""

from dataclasses import replace

import numpy as np
import pytest

from handloom.dataset import archive_of_record, record_of_archive
from handloom.episode import replay
from handloom.errors import FileError
from handloom.scene import build_scene
from handloom.sim import World


def test_the_expert_picks_the_cube(pick_record):
    assert pick_record.failure is None
    scene = build_scene(pick_record.instance)
    before = scene.object_pose("cube")[2, 3]
    scene.world.restore_state(pick_record.states[-1])
    assert scene.object_pose("cube")[2, 3] - before > 0.09
    assert [span.skill for span in pick_record.timeline] == ["pick"]


def test_a_replay_is_the_recording(pick_record):
    report = replay(pick_record)
    assert report.exact
    assert report.largest_difference == 0.0
    assert report.frames == pick_record.frames


def test_an_archive_gives_the_record_back(pick_record):
    back = record_of_archive(archive_of_record(pick_record))
    assert back.instance == pick_record.instance
    assert back.timeline == pick_record.timeline
    for name in ("states", "asked", "applied"):
        assert getattr(back, name).tobytes() == getattr(pick_record, name).tobytes()


def test_one_changed_bit_in_a_command_is_found_in_its_frame(pick_record):
    applied = pick_record.applied.copy()
    applied[20, 0] = np.nextafter(applied[20, 0], 10.0)
    report = replay(replace(pick_record, applied=applied))
    assert report.first_difference == 21
    assert not report.exact


def test_a_success_that_does_not_repeat_is_found(pick_record):
    span = pick_record.timeline[0]
    checks = tuple(
        replace(check, arguments={**check.arguments, "by": 5.0}) if check.name == "lifted" else check
        for check in span.checks
    )
    report = replay(replace(pick_record, timeline=(replace(span, checks=checks),)))
    assert report.first_difference is None
    assert not report.success_again


def test_states_of_another_scene_are_refused(pick_record):
    with pytest.raises(FileError, match="another version"):
        replay(replace(pick_record, states=pick_record.states[:, :-3]))


def test_a_replay_of_another_motion_ends_when_that_is_clear(pick_record, monkeypatch):
    stepped = []
    step = World.step
    monkeypatch.setattr(World, "step", lambda world, *given: (stepped.append(given), step(world, *given))[1])
    states = pick_record.states.copy()
    states[30:] += 5.0
    report = replay(replace(pick_record, states=states))
    assert (report.first_difference, report.success_again, len(stepped)) == (30, False, 30)


def test_commands_stay_inside_the_actuator_ranges(pick_record):
    model = build_scene(pick_record.instance).world.model
    controls = pick_record.applied[:, : model.nu]
    assert (controls >= model.actuator_ctrlrange[:, 0]).all()
    assert (controls <= model.actuator_ctrlrange[:, 1]).all()
