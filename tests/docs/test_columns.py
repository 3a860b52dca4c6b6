"""The page of columns and actions says what is in a dataset."""

import re
from pathlib import Path

import numpy as np
import pytest

from handloom import run_episode
from handloom.episode.actions import KINDS, Actions
from handloom.episode.columns import detailed_columns, episode_columns, robot_series
from handloom.episode.observer import Observer
from handloom.scene import Scene, build_scene
from handloom.spatial import matrix_from_quat
from handloom.tasks import load_task, sample_task
from handloom.values import EpisodeRecord

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "columns.md"


def _names(section: str) -> set[str]:
    """Return the names in the first column of the table of a section."""
    text = PAGE.read_text().split(f"## {section}")[1].split("\n## ")[0]
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.M))


def _general(name: str, scene: Scene) -> str:
    """Return a column's name with NAME in the place of a camera's or an object's."""
    for start in ("observation.images.", "observation.object_pose."):
        if name.startswith(start):
            return start + "NAME"
    return name


@pytest.fixture(scope="module")
def picked() -> EpisodeRecord:
    return run_episode("fr3_pick_cube", seed=3, episode=0)


def _mobile() -> tuple[Scene, EpisodeRecord]:
    """A robot of two arms, a lift and a base that drives, in its first state."""
    scene = build_scene(sample_task(load_task("lift2_drive_open_drawer"), seed=0, episode=0))
    state = scene.world.save_state()
    controls = scene.world.model.nu
    record = EpisodeRecord(
        instance=scene.instance,
        states=np.array([state, state]),
        asked=np.full((1, controls), np.nan),
        applied=scene.world.data.ctrl[None].copy(),
    )
    return scene, record


def test_the_page_names_every_canonical_column() -> None:
    scene, record = _mobile()
    found = {feature.name for feature in episode_columns(scene, record).features}
    assert found | {"annotation.mistake", "observation.images.NAME"} == _names("Columns of every dataset")


def test_the_page_names_every_detailed_column(picked: EpisodeRecord) -> None:
    scene, record = _mobile()
    found = {feature.name for feature in detailed_columns(scene, record, robot_series(scene, record)).features}
    scene = build_scene(picked.instance)
    found |= {feature.name for feature in detailed_columns(scene, picked, robot_series(scene, picked)).features}
    assert {_general(name, scene) for name in found} == _names("On request")


def test_the_page_names_every_kind_of_action() -> None:
    scene, _ = _mobile()
    text = PAGE.read_text()
    assert _names("What a policy commands") == set(KINDS)
    for kind in ("tool_pose", "tool_delta"):
        said = re.search(rf"^\| `{kind}` \| ([^|]+) \|", text, re.M)
        assert said
        entries = said[1].strip().replace(", gripper", " gripper").split()
        names = Actions(scene, kind).names
        assert names == (*(f"left_{e}" for e in entries), *(f"right_{e}" for e in entries), *names[-3:])


def test_an_action_leads_to_the_state_of_the_next_row(picked: EpisodeRecord) -> None:
    scene = build_scene(picked.instance)
    values = episode_columns(scene, picked).values
    state, action = values["observation.state"], values["action"]
    late = [np.abs(state[1 + k :, :7] - action[: len(action) - 1 - k, :7]).mean() for k in (-1, 0)]
    assert late[1] < late[0]  # Nearer to the next row than to its own.


def test_openings_and_quaternions_are_as_the_page_says(picked: EpisodeRecord) -> None:
    scene = build_scene(picked.instance)
    values = episode_columns(scene, picked).values
    assert values["observation.state"][0, -1] > 0.9  # Open at the start ...
    assert values["action"][-1, -1] < 0.1  # ... and shut upon the cube at the end.
    pose = values["observation.ee_pose.world"][0]
    arm = next(iter(scene.robots.values())).arms[0]
    T = scene.world.body_pose(arm.tool_body)
    assert np.allclose(matrix_from_quat(pose[3:]), T[:3, :3], atol=1e-5)
    assert np.allclose(pose[:3], T[:3, 3], atol=1e-5)


def test_moving_parts_are_observed() -> None:
    scene, _ = _mobile()
    seen = Observer(scene, cameras=(), objects=True).observe()
    assert {"observation.objects.cabinet", "observation.objects.cabinet.drawer_0"} <= set(seen)
