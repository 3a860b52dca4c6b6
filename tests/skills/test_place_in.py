"""What goes into a cavity: as wide as it is, however it is turned to the world's axes."""

from pathlib import Path

import numpy as np
import pytest

from handloom.engine.attempt import Stopwatch, simulate
from handloom.scene import build_scene
from handloom.scene.measures import world_box
from handloom.skills.configs.places import PlaceConfig
from handloom.skills.placing.place import Place
from handloom.skills.placing.place_in import NoCavityError, entries_into
from handloom.tasks import load_task, sample_task
from handloom.tasks.config.task_config import placed_skills
from handloom.values import FunnelStage

TASK = """
base: setups/fr3.yaml
objects:
  - {{name: block, target_class: RigidObject, category: block, parameters: {{length: 0.16, width: {width}}}}}
  - {{name: bowl, target_class: RigidObject, category: bowl, parameters: {{radius: 0.055}}}}
regions:
  - {{object: block, target: table, random_config: {{pos_range: [[-0.2, 0, 0], [-0.2, 0, 0]], yaw_rotation: [45, 45]}}}}
  - {{object: bowl, target: table, random_config: {{pos_range: [[0.2, 0, 0], [0.2, 0, 0]]}}}}
skills: [{{pick: block}}, {{place: block, in: bowl}}]
"""


@pytest.mark.parametrize(("width", "fits"), [(0.06, True), (0.12, False)])
def test_a_thing_that_lies_askew_is_as_wide_as_across_it(tmp_path: Path, width: float, fits: bool):
    (file := tmp_path / "task.yaml").write_text(TASK.format(width=width))
    task = load_task(file)
    place = next(skill for _, skill in placed_skills(task.config) if isinstance(skill, PlaceConfig))
    scene = build_scene(sample_task(task, 0, 0))
    if fits:
        assert entries_into(scene, place)[0].from_above
    else:
        with pytest.raises(NoCavityError, match="wide"):
            entries_into(scene, place)


INSERT = """
robot: fr3
objects:
  - {name: screwdriver, category: screwdriver}
  - {name: holder, category: pen_holder}
skills: [{pick: screwdriver}, {insert: screwdriver.head, into: holder}]
"""


def test_a_tool_inserted_with_its_tip_down_stands_on_the_floor_of_its_holder(tmp_path: Path):
    (file := tmp_path / "insert.yaml").write_text(INSERT)
    scene, record = simulate(load_task(file), 5, 5, Stopwatch())
    assert record.success, record.failure
    scene.world.restore_state(record.states[-1])
    floor = world_box(scene, "holder")[0, 2] + 0.01
    assert world_box(scene, "screwdriver")[0, 2] > floor - 0.002, "it did not pierce the floor"


SOUP = """
robot: fr3
objects:
  - {name: oven, category: microwave}
  - {name: soup, category: bowl}
skills: [{open: oven}, {pick: soup}, {place: soup, in: oven}]
"""


def test_a_bowl_goes_level_into_a_microwave_and_stands_there(tmp_path: Path):
    (file := tmp_path / "soup.yaml").write_text(SOUP)
    scene, record = simulate(load_task(file), 4711, 1, Stopwatch())
    assert record.success, record.failure
    place = next(span for span in record.timeline if span.skill == "place")
    late = record.states[place.start + 3 * (place.end - place.start) // 4 : place.end]
    lean = []
    for state in late:
        scene.world.restore_state(state)
        lean.append(np.rad2deg(np.arccos(np.clip(scene.object_pose("soup")[2, 2], -1.0, 1.0))))
    assert max(lean) < 30.0, "it is not tilted with the hand, to roll over when it is released"


LYING = """
robot: aloha
objects:
  - {name: mug, category: mug, euler: [90, 0, 0]}
  - {name: coaster, category: coaster}
skills: [{pick: mug}, {place: mug, on: coaster}]
"""


def test_a_mug_that_lies_at_the_start_is_stood_up_on_its_coaster(tmp_path: Path):
    (file := tmp_path / "mug.yaml").write_text(LYING)
    scene, record = simulate(load_task(file), 4711, 0, Stopwatch())
    assert record.success, record.failure
    assert any(term.name == "points_up" for term in record.goal)
    scene.world.restore_state(record.states[0])
    assert abs(scene.object_pose("mug")[2, 2]) < 0.1
    scene.world.restore_state(record.states[-1])
    assert scene.object_pose("mug")[2, 2] > 0.97


def test_a_place_that_cannot_stand_an_object_up_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def unreachable(place: Place) -> None:
        place.fail(FunnelStage.REACH, "goal_unreachable", "none of the poses is reachable")

    monkeypatch.setattr(Place, "_choose", unreachable)
    (file := tmp_path / "mug.yaml").write_text(LYING)
    _, record = simulate(load_task(file), 4711, 0, Stopwatch())
    assert record.failure is not None
    assert "mug lies in the hand and must end upright" in record.failure.detail
    assert "upright: false" in record.failure.detail
