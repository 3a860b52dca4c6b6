"""Watching the expert changes nothing, and shows what it tested, chose and did."""

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.tasks import load_task, sample_task
from handloom.viewer.scene3d.container import array_of, unpacked
from handloom.viewer.task_page.watched_expert import run_expert


def watched(name: str, episode: int = 0, **changes: object) -> tuple[list[tuple[dict, memoryview]], object]:
    task = load_task(name, overrides=[f"{key}={value}" for key, value in changes.items()])
    scene = build_scene(sample_task(task, 2, episode))
    events: list[bytes] = []
    record = run_expert(task, scene, events.append)
    return [unpacked(event) for event in events], record


@pytest.mark.parametrize("name", ["fr3_pick_place", "so101_recovery_pick"])
def test_a_watched_episode_is_the_same_bit_for_bit(name: str) -> None:
    _, record = watched(name)
    _, alone = simulate(load_task(name), 2, 0, Stopwatch())
    assert record.states.tobytes() == alone.states.tobytes()
    assert record.asked.tobytes() == alone.asked.tobytes()
    assert record.failure == alone.failure


def test_plans_show_candidates_the_chosen_one_and_its_path() -> None:
    events, record = watched("fr3_pick_place")
    plans = [(header, content) for header, content in events if header["kind"] == "plan"]
    assert len(plans) >= 2
    header, content = plans[0]
    hands = array_of(header["hands"]["poses"], content).reshape(-1, 7)
    assert header["ok"]
    assert header["frame"] == 0
    assert header["counts"]["given"] >= len(hands) > 1
    path = array_of(header["path"], content).reshape(-1, 3)
    # The path leads past the pose that was chosen, which is a little before the fingertips.
    tip = np.array(header["hands"]["tip"])
    assert np.linalg.norm(path - hands[header["chosen"], :3], axis=1).min() < np.linalg.norm(tip) + 0.02
    later = [header["frame"] for header, _ in plans]
    assert later == sorted(later)
    assert 0 < later[-1] < record.frames


def test_frames_and_terms_tell_the_whole_episode() -> None:
    events, record = watched("fr3_pick_place")
    frames = [(header, content) for header, content in events if header["kind"] == "frames"]
    assert sum(header["count"] for header, _ in frames) == record.frames + 1
    firsts = [header["first"] for header, _ in frames]
    assert firsts == list(np.cumsum([0, *(header["count"] for header, _ in frames)])[:-1])
    looks = [look for header, _ in frames for look in header["looks"]]
    assert not all(looks[0][1])
    assert all(looks[-1][1])
    end = events[-1][0]
    assert end["kind"] == "end"
    assert end["success"]
    assert [span["skill"] for span in end["spans"]] == ["pick", "place"]


def test_a_failure_says_stage_reason_and_skill() -> None:
    events, record = watched("fr3_pick_place", **{"objects.0.parameters": "{edge: 0.13}"})
    end = events[-1][0]
    assert not end["success"]
    assert record.failure is not None
    assert end["failure"]["stage"] == "grasp"
    assert end["failure"]["reason"] == record.failure.reason == "no_grasp"
    assert end["failure"]["skill"] == "pick"
    assert "cube" in end["failure"]["detail"]


def test_a_plan_that_fails_shows_its_candidates_and_what_is_in_the_way() -> None:
    """The cube is to be held two metres above the plate first, where no arm gets to."""
    events, record = watched("fr3_pick_place", **{"skills.0.franka.0.left.1.pre_place_z_offset": 2.0})
    plans = [header for header, _ in events if header["kind"] == "plan" and not header["ok"]]
    assert record.failure is not None
    assert plans
    assert plans[-1]["reason"]
    assert plans[-1]["hands"]["poses"]["count"] > 0
    assert plans[-1]["chosen"] == -1
    assert sum(plans[-1]["counts"].values()) >= plans[-1]["counts"]["given"]
