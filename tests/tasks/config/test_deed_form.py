"""Deed files: one task for every robot, in the frame of the workplace."""

from pathlib import Path

import pytest

from handloom.errors import ConfigError
from handloom.render import camera_pose
from handloom.robots import load_robot
from handloom.scene import build_scene
from handloom.tasks import Task, load_task, sample_task
from handloom.tasks.config.deed_form import FRAMES_PER_SKILL, workplaces
from handloom.tasks.config.loading import shipped

DEED = """name: put_away
robot: lift2
objects:
  - {name: cube, category: cube}
  - {name: bowl, category: bowl}
regions:
  - {object: bowl, at: [[-0.05, 0.1], [0.05, 0.15]]}
  - {object: cube, at: [-0.1, 0.0], yaw: [-60, 60]}
skills:
  - {pick: cube}
  - {place: cube, in: bowl}
"""
ROBOTS = sorted(workplaces(shipped()))


def written(folder: Path, text: str) -> Path:
    file = folder / "deed.yaml"
    file.write_text(text)
    return file


def loaded(folder: Path, text: str, robot: str | None = None) -> Task:
    return load_task(written(folder, text), robot=robot)


def arms(task: Task) -> list[str]:
    return [arm for stage in task.config.skills for blocks in stage.values() for block in blocks for arm in block]


def test_the_robots_of_the_table_are_these():
    expected = "aloha fr3 fr3_pair franka_robotiq85 genie1 lift2 so101 split_aloha ur5e_robotiq85"
    assert expected.split() == ROBOTS


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_deed_is_loaded_for_every_robot_with_its_work_point(tmp_path, robot):
    task = loaded(tmp_path, DEED, robot)
    assert task.config.robots[0].robot_config_file == robot
    assert task.config.work_point is not None
    x, y = task.config.work_point
    ranges = task.config.regions[1].random_config
    assert ranges is not None
    assert ranges.pos_range is not None
    assert ranges.pos_range[0] == pytest.approx((x - 0.1, y, 0.0))
    assert ranges.pos_range[0] == ranges.pos_range[1], "a spot is a rectangle without extent"
    assert ranges.yaw_rotation == (-60.0, 60.0)
    assert arms(task) == (["nearest"] if len(load_robot(robot).arms) == 2 else ["left"])


def test_the_file_says_who_does_it_unless_the_caller_does(tmp_path):
    assert loaded(tmp_path, DEED).config.robots[0].name == "lift2"
    assert loaded(tmp_path, DEED, "fr3").config.robots[0].name == "franka"


def test_a_deed_is_one_entry_of_a_list_of_tasks_as_well(tmp_path):
    inner = "".join(f"    {line}\n" for line in DEED.splitlines())
    task = loaded(tmp_path, "tasks:\n  -\n" + inner, "fr3")
    assert task.config.robots[0].name == "franka"
    assert task.where("regions", 1).startswith(f"{tmp_path / 'deed.yaml'}:10")


def test_objects_without_a_region_lie_in_the_work_area_and_those_with_joints_stand_fast(tmp_path):
    text = DEED.replace("  - {object: cube, at: [-0.1, 0.0], yaw: [-60, 60]}\n", "")
    text = text.replace("category: bowl}", "category: bowl}\n  - {name: chest, category: lidded_box}")
    task = loaded(tmp_path, text)
    assert {region.object for region in task.config.regions} == {"bowl", "cube", "chest"}
    chest = next(entry for entry in task.config.objects if entry.name == "chest")
    assert chest.target_class == "ArticulatedObject"
    assert chest.fix_base
    turn = next(r.random_config for r in task.config.regions if r.object == "chest")
    assert turn is not None
    assert turn.yaw_rotation is not None
    assert max(map(abs, turn.yaw_rotation)) <= 10, "its front is towards the robot"
    carried = text.replace("pick: cube", "pick: chest").replace("{place: cube, in: bowl}", "home")
    lifted = next(entry for entry in loaded(tmp_path, carried).config.objects if entry.name == "chest")
    assert not lifted.fix_base, "what is picked up is loose"


def test_a_region_on_another_object_is_in_that_objects_own_axes(tmp_path):
    text = DEED.replace("{object: cube, at: [-0.1, 0.0], yaw: [-60, 60]}", "{object: cube, on: bowl.rim}")
    region = loaded(tmp_path, text).config.regions[1]
    assert (region.target, region.sub_tgt_prim) == ("bowl", "rim")
    assert region.random_config is not None
    assert region.random_config.axes == "target"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "robot: lift2",
            "robot: lift3",
            "deed.yaml:2: robot: no robot 'lift3' works at a table; did you mean 'lift2'?",
        ),
        ("robot: lift2", "workplace: table", "deed.yaml:2: workplace: a task in this form needs a robot"),
        ("robot: lift2\n", "", "deed.yaml:6: regions.0: a task in this form needs a robot"),
        ("robot: lift2", "robot: lift2\nworkplace: moon", "deed.yaml:3: workplace: there is no workplace 'moon'"),
        ("at: [-0.1, 0.0]", "at: 3", "deed.yaml:8: regions.1.at: a spot [x, y] or a rectangle"),
        ("yaw: [-60, 60]", "yaw: [60, -60]", "deed.yaml:8: regions.1.yaw: degrees"),
        (
            "yaw: [-60, 60]",
            "yew: 3",
            "deed.yaml:8: regions.1.yew: a region in short has no such key; did you mean 'yaw'",
        ),
        ("{pick: cube}", "{pick: cube, arm: both}", "deed.yaml:10: skills.0: arm: both is for home"),
        ("{pick: cube}", "{pick: cube, arm: lower}", "deed.yaml:10: skills.0: arm:"),
        ("robot: lift2", "robot: fr3\nrobots: [{name: fr3}]", "robots: this task brings its own robot (fr3)"),
    ],
)
def test_mistakes_are_told_with_file_and_line(tmp_path, old, new, said):
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, DEED.replace(old, new))
    assert said in str(error.value)


def test_both_arms_are_refused_on_a_robot_with_one(tmp_path):
    text = DEED + "  - {home: , arm: both}\n"
    assert arms(loaded(tmp_path, text)) == ["nearest", "left", "right"]
    with pytest.raises(ConfigError, match="takes both arms, and the robot has one"):
        loaded(tmp_path, text, "fr3")


def test_a_task_with_robots_of_its_own_is_not_done_by_another(tmp_path):
    with pytest.raises(
        ConfigError, match=r"fr3_pick_place.yaml:\d+: robots: this task brings its own robot \(franka\)"
    ):
        load_task("fr3_pick_place", robot="lift2")
    with pytest.raises(ConfigError, match=r"--robot lift9: robot: no robot"):
        loaded(tmp_path, DEED, "lift9")


def test_a_task_that_names_its_own_robots_may_write_regions_in_short(tmp_path):
    text = """
base: setups/fr3.yaml
objects: [{name: cube, category: cube}, {name: plate, category: plate}]
regions:
  - {object: cube, at: [[-0.1, 0.05], [0.1, 0.1]], yaw: [0, 90]}
  - {object: plate, target: table, random_config: {pos_range: [[0.2, 0.1], [0.2, 0.1]]}}
skills: [{pick: cube}]
"""
    cube, plate = load_task(written(tmp_path, text)).config.regions
    assert (cube.target, cube.within_reach) == ("table", False)
    assert cube.random_config is not None
    assert cube.random_config.pos_range == ((-0.1, 0.05, 0.0), (0.1, 0.1, 0.0))
    assert cube.random_config.yaw_rotation == (0.0, 90.0)
    assert plate.target == "table"
    with pytest.raises(ConfigError, match=r"deed.yaml:\d+: regions.0.at: a spot"):
        load_task(written(tmp_path, text.replace("[[-0.1, 0.05], [0.1, 0.1]]", "[0.1]")))


FURNITURE = """
robot: {robot}
objects:
  - {{name: cabinet, category: drawer_cabinet}}
  - {{name: eraser, category: eraser}}
skills: [{{open: cabinet}}, {{pick: eraser}}, {{place: eraser, in: cabinet}}, {{close: cabinet}}]
"""


@pytest.mark.parametrize("robot", [name for name in ROBOTS if name != "genie1"])
def test_the_cameras_of_a_table_with_a_cabinet_stand_on_the_side_of_the_robot(tmp_path, robot):
    task = loaded(tmp_path, FURNITURE.format(robot=robot))
    cameras = [camera for camera in task.config.cameras if not camera.parent]
    plain = [camera for camera in loaded(tmp_path, DEED, robot).config.cameras if not camera.parent]
    assert cameras
    assert [camera.name for camera in cameras] == [camera.name for camera in plain]
    middle = task.config.work_point[1]
    assert all(camera.translation[1] < middle for camera in cameras)
    if robot != "aloha":  # Its camera is over the robot's side of the table in any task.
        assert all(camera.translation[1] > middle for camera in plain)


@pytest.mark.parametrize("robot", ["fr3", "lift2"])
def test_the_camera_of_a_table_with_a_cabinet_sees_its_front(tmp_path, robot):
    scene = build_scene(sample_task(loaded(tmp_path, FURNITURE.format(robot=robot)), 3, 0))
    front = -scene.object_pose("cabinet")[:2, 1]  # Its drawers come out along -y.
    for camera in scene.instance.cameras:
        if camera.parent is None:
            eye = camera_pose(scene.world.model, scene.world.data, camera)[:2, 3]
            assert front @ (eye - scene.object_pose("cabinet")[:2, 3]) > 0.0


def test_a_camera_of_the_file_stays_and_long_tasks_get_more_frames(tmp_path):
    text = FURNITURE.format(robot="fr3") + "cameras: [{name: franka_head, translation: [0.1, 0.9, 1.3]}]\n"
    task = loaded(tmp_path, text)
    assert next(c for c in task.config.cameras if c.name == "franka_head").translation == (0.1, 0.9, 1.3)
    assert task.config.data.max_episode_length == 4 * FRAMES_PER_SKILL
    assert loaded(tmp_path, text + "data: {max_episode_length: 700}\n").config.data.max_episode_length == 700
    assert loaded(tmp_path, DEED).config.data.max_episode_length == 900
