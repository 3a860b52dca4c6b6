"""A recorded scene at another robot's workplace."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.tasks.retelling.told import SEED, retold, scene_of

from handloom.errors import FileError, InputError
from handloom.scene import build_scene
from handloom.scene.assets import outline_of
from handloom.scene.measures import world_box
from handloom.scene.regions import Placed
from handloom.spatial import invert_pose, pose_from_pos_quat
from handloom.tasks import SamplingError, sample_task, worded_skills
from handloom.tasks.reach.within_reach import TaskReach
from handloom.tasks.retelling.retold_scene import APART, PLACEMENTS, retold_instance
from handloom.tasks.retelling.told_scenes import ROWS, told_scene, write_scenes
from handloom.values import EndPose, TaskInstance, pair_id

ROBOTS = ("genie1", "lift2", "split_aloha", "franka_robotiq85", "fr3_pair", "so101")


def pose(instance: TaskInstance, name: str) -> np.ndarray:
    obj = next(obj for obj in instance.objects if obj.name == name)
    return pose_from_pos_quat(obj.position, obj.quat)


def between(instance: TaskInstance, one: str, other: str) -> np.ndarray:
    return invert_pose(pose(instance, one)) @ pose(instance, other)


def top_of(instance: TaskInstance) -> float:
    table = next(obj for obj in instance.objects if obj.category == "table")
    return table.position[2] + 0.5 * table.parameters["size"][2]


@pytest.mark.parametrize(
    ("robot", "name", "one", "other"),
    [
        *((robot, "fr3_pick_place", "cube", "plate") for robot in ROBOTS),
        ("genie1", "fr3_put_in_drawer", "cabinet", "cube"),
        ("lift2", "stack_cubes", "base", "top"),
    ],
)
def test_objects_keep_their_poses_to_each_other_and_to_the_table_top(tmp_path, robot, name, one, other):
    source = scene_of(name)
    scene = sample_task(retold(tmp_path, robot, source), SEED, 0)
    assert [r.robot for r in scene.robots] == [robot]
    np.testing.assert_allclose(between(scene, one, other), between(source, one, other), atol=1e-12)
    for obj in (one, other):
        heights = [pose(instance, obj)[2, 3] - top_of(instance) for instance in (scene, source)]
        np.testing.assert_allclose(heights[0], heights[1], atol=1e-9)


def test_shapes_looks_lights_and_words_stay(tmp_path):
    source = scene_of("fr3_put_in_drawer", 3)
    scene = sample_task(retold(tmp_path, "genie1", source), SEED, 0)
    assert (scene.instruction, scene.lights, scene.fps) == (source.instruction, source.lights, source.fps)
    there = {obj.name: obj for obj in source.objects}
    for name in ("cabinet", "cube"):
        kept = next(obj for obj in scene.objects if obj.name == name)
        assert replace(kept, position=there[name].position, quat=there[name].quat) == there[name]
    table = next(obj for obj in scene.objects if obj.name == "table")
    assert {**table.parameters, "size": 0} == {**there["table"].parameters, "size": 0}
    assert {camera.name for camera in scene.cameras} != {camera.name for camera in source.cameras}


def test_the_scene_is_moved_to_where_the_arms_reach_everything(tmp_path):
    source = scene_of("fr3_put_in_drawer", 1)
    task = retold(tmp_path, "lift2", source)
    scene = build_scene(sample_task(task, SEED, 0))
    shift = np.subtract(scene.instance.work_point, task.config.work_point)
    assert 0.0 < np.linalg.norm(shift) < 0.6  # The cabinet of the FR3 stands beyond the arms of the Lift-2.
    table = world_box(scene, "table")
    for name in ("cabinet", "cube"):
        box = world_box(scene, name)
        assert np.all(box[0, :2] >= table[0, :2] - 0.01)
        assert np.all(box[1, :2] <= table[1, :2] + 0.01)
        bodies = scene.world.subtree(scene.body_of(name))
        assert not scene.world.touching(bodies, scene.world.subtree(scene.robots["lift2"].arms[0].base_body))
    places = {name: Placed(pose(scene.instance, name)[:3, 3], np.array(obj.quat), outline_of(obj))
              for obj in scene.instance.objects for name in (obj.name,)}  # fmt: skip
    assert TaskReach(task, scene.instance.objects, ("left", "right")).missed(places) == 0


def test_the_places_that_are_tried_are_apart_from_each_other_and_the_last_one_stays(tmp_path):
    task = retold(tmp_path, "genie1", scene_of("fr3_pick_place"))
    scenes = [retold_instance(task, SEED, 0, placement=k) for k in range(PLACEMENTS)]
    points = np.array([scene.work_point for scene in scenes])
    away = np.linalg.norm(points[:, None] - points[None], axis=-1) + np.eye(len(points))
    assert away.min() > APART
    assert [scene.retold.placement for scene in scenes if scene.retold] == list(range(PLACEMENTS))
    beyond = retold_instance(task, SEED, 0, placement=PLACEMENTS + 3)
    assert beyond == scenes[-1]
    for scene in scenes[1:]:
        np.testing.assert_allclose(between(scene, "cube", "plate"), between(scenes[0], "cube", "plate"), atol=1e-12)


def test_a_scene_whose_objects_no_table_holds_gives_a_typed_reason(tmp_path):
    source = scene_of("fr3_pick_place")
    apart = tuple(replace(obj, position=(0.9, 0.0, 0.8)) if obj.name == "cube" else obj for obj in source.objects)
    apart = tuple(replace(obj, position=(-0.9, 0.0, 0.8)) if obj.name == "plate" else obj for obj in apart)
    with pytest.raises(SamplingError, match="m and has no free place on the table of genie1") as told:
        sample_task(retold(tmp_path, "genie1", replace(source, objects=apart)), SEED, 0)
    assert told.value.failure.reason == "no_room_on_table"


def test_a_scene_beyond_reach_lies_where_most_is_within_reach(tmp_path, monkeypatch):
    missed = TaskReach.missed
    monkeypatch.setattr(TaskReach, "missed", lambda self, places: missed(self, places) + 1)
    scene = sample_task(retold(tmp_path, "genie1", scene_of("fr3_pick_place")), SEED, 0)
    assert scene.retold is not None  # The expert says what it cannot do.


def test_both_tellings_have_the_same_pair_id_and_so_has_a_third(tmp_path):
    source = scene_of("fr3_pick_place", 7)
    task = retold(tmp_path, "genie1", source)
    scene = sample_task(task, SEED, 0)
    assert source.pair_id == scene.pair_id == pair_id("fr3_pick_place", SEED, 7) == "fr3_pick_place:5:7"
    assert scene.retold is not None
    assert (scene.retold.robot, scene.retold.scene_hash) == ("fr3", source.content_hash())
    third = sample_task(retold(tmp_path, "lift2", scene, source=task), SEED, 0)
    assert third.pair_id == source.pair_id
    assert third.retold is not None
    assert third.retold.robot == "genie1"
    np.testing.assert_allclose(between(third, "cube", "plate"), between(source, "cube", "plate"), atol=1e-12)


def test_the_last_place_of_an_object_aims_at_where_it_lay_in_the_end_beside_the_part_that_carried_it(tmp_path):
    source = scene_of("fr3_put_in_drawer")
    scene = sample_task(retold(tmp_path, "genie1", source), SEED, 0)
    assert scene.retold is not None
    end = scene.retold.ends["cube"]  # It touches nothing of the cabinet: nobody moved it.
    assert end.body == "cabinet/object"
    np.testing.assert_allclose(end.point, between(source, "cabinet", "cube")[:3, 3], atol=1e-6)
    skills = [skill for stage in worded_skills(retold(tmp_path, "genie1", source), scene) for b in stage["genie1"]
              for lane in b.values() for skill in lane]  # fmt: skip
    assert [getattr(skill, "aim_body", None) for skill in skills] == [None, None, "cabinet/object", None]
    assert EndPose(body=end.body, point=skills[2].aim) == end


def test_the_same_view_shows_the_objects_where_the_first_camera_did(tmp_path):
    source = scene_of("fr3_pick_place")
    task = retold(tmp_path, "genie1", source)
    assert task.config.retold is not None
    seen = task.config.model_copy(update={"retold": task.config.retold.model_copy(update={"same_view": True})})
    scene = sample_task(replace(task, config=seen), SEED, 0)
    own = sample_task(task, SEED, 0).cameras
    assert scene.cameras[: len(own)] == own
    (told,) = scene.cameras[len(own) :]
    (there,) = [camera for camera in source.cameras if camera.parent is None]
    assert told.name == f"told_{there.name}"
    for name in ("cube", "plate"):
        views = [
            invert_pose(pose_from_pos_quat(camera.position, camera.quat)) @ pose(instance, name)
            for camera, instance in ((told, scene), (there, source))
        ]
        np.testing.assert_allclose(views[0], views[1], atol=1e-9)


def test_an_instance_is_read_back_as_it_was_written(tmp_path):
    scene = sample_task(retold(tmp_path, "genie1", scene_of("fr3_pick_place")), SEED, 0)
    assert TaskInstance.from_json(scene.to_json()) == scene
    assert sample_task(retold(tmp_path, "genie1", scene_of("fr3_pick_place")), SEED, 0) == scene


def test_scenes_are_read_a_group_at_a_time_and_by_their_number(tmp_path):
    source = scene_of("fr3_pick_place")
    instances = [replace(source, episode=number) for number in (3, 1, 2)]
    task = retold(tmp_path, "genie1", *instances)
    assert [told_scene(task, k).instance.episode for k in range(3)] == [3, 1, 2]
    assert pq.ParquetFile(tmp_path / "scenes.parquet").metadata.row_group(0).num_rows <= ROWS
    with pytest.raises(InputError, match="reuses 3 recorded scenes; there is no attempt 3"):
        told_scene(task, 3)


def test_scenes_that_are_not_those_of_the_run_are_refused(tmp_path):
    task = retold(tmp_path, "genie1", scene_of("fr3_pick_place"))
    rows = pq.read_table(tmp_path / "scenes.parquet").to_pylist()
    changed = rows[0]["instance"].replace('"episode":0', '"episode":1')
    write_scenes(tmp_path / "scenes.parquet", [{**rows[0], "instance": changed}])
    with pytest.raises(FileError, match="scene 0 was changed"):
        sample_task(task, SEED, 0)
    write_scenes(tmp_path / "scenes.parquet", rows * 2)
    with pytest.raises(FileError, match="not the scenes that the run began with"):
        sample_task(task, SEED, 0)
    (tmp_path / "scenes.parquet").unlink()
    with pytest.raises(FileError, match="are missing"):
        sample_task(task, SEED, 0)
