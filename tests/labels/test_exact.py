"""Labels agree with the same figures computed another way."""

import json

import mujoco
import numpy as np
import pyarrow.parquet as pq
import pytest
from independent_labels import label_faults
from labelled_episodes import Labelled, labelled

from handloom.errors import FileError, NotFoundError
from handloom.labels.episode_labels import EpisodeLabels
from handloom.labels.kinds import KINDS
from handloom.labels.surfaces import Surfaces
from handloom.render import Renderer, camera_pose
from handloom.render.labels import geom_poses, optical_flow, project_keypoints
from handloom.scene import build_scene
from handloom.spatial import invert_pose, pose_from_pos_quat
from handloom.tasks import load_task, sample_task
from handloom.values import MARK


def test_masks_boxes_visibility_and_traces_are_those_of_an_independent_computation(episode: Labelled):
    compared, faults = label_faults(episode, episode.frames)
    assert compared > 20
    assert faults == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    ["fr3_sort_by_colour", "fr3_store_fruit", "fr3_open_microwave", "lift2_dual_pick_place", "so101_put_in_tray",
     "fr3_pour_cup_bowl", "split_aloha_tidy_shelf", "fr3_hang_mug"],
)  # fmt: skip
def test_labels_of_200_frames_of_eight_tasks_are_right(task: str, tmp_path):
    episode = labelled(task, 7, tmp_path)
    frames = [int(k) for k in np.linspace(0, episode.labels.frames - 1, 25)]
    assert label_faults(episode, frames)[1] == []


def pose(row: list[float]) -> np.ndarray:
    return pose_from_pos_quat(row[:3], row[3:])


def test_geoms_that_a_look_hides_are_not_part_of_the_outline():
    # Each face of the toy blocks has a raised plate that collides and is not drawn.
    task = load_task("fr3_sort_by_colour")
    scene = build_scene(sample_task(task, 390118, 0))
    look = next(look for look in scene.looks if look.body == "red_cube/object")
    assert len(look.hides) > 1
    model = scene.world.model
    assert np.allclose(Surfaces(scene).surface("red_cube").vertices.max(axis=0), model.geom(look.hides[0]).size)


def test_poses_and_boxes_of_objects_are_those_of_the_world(episode: Labelled):
    robot = episode.record.instance.robots[0]
    T_world_base = pose_from_pos_quat(robot.position, robot.quat)
    for frame in episode.frames:
        episode.at(frame)
        for row in episode.labels.rows("objects", frame):
            body = f"{row['object']}/{row['part'] or 'object'}"
            T = episode.scene.world.body_pose(body)
            assert np.allclose(pose(row["pose_world"]), T, atol=1e-5)
            assert np.allclose(pose(row["pose_base"]), invert_pose(T_world_base) @ T, atol=1e-5)
            asset = episode.scene.assets[row["object"]]
            if not asset.articulated:
                vertices, _ = asset.surface_triangles()
                low, high = vertices.min(axis=0), vertices.max(axis=0)
                room = 5e-3 if asset.looks else 1e-5  # What is drawn is smoother than what collides.
                assert np.allclose(row["box_size"], high - low, atol=room)
                assert np.allclose(row["box_center"], (low + high) / 2, atol=room)


def test_cameras_have_the_poses_of_the_renderer(episode: Labelled):
    for frame in episode.frames:
        model, data = episode.at(frame)
        for row, camera in zip(episode.labels.rows("cameras", frame), episode.record.instance.cameras, strict=True):
            assert np.allclose(pose(row["pose_world"]), camera_pose(model, data, camera), atol=1e-9)
            assert row["intrinsics"] == [camera.fx, camera.fy, camera.cx, camera.cy]
            assert row["size"] == [camera.width, camera.height]


def test_poses_in_the_camera_lead_back_to_the_world(episode: Labelled):
    for frame in episode.frames:
        cameras = {row["camera"]: pose(row["pose_world"]) for row in episode.labels.rows("cameras", frame)}
        world = {(r["object"], r["part"]): pose(r["pose_world"]) for r in episode.labels.rows("objects", frame)}
        for row in episode.labels.rows("boxes", frame):
            if (row["object"], row["part"]) in world:
                T = cameras[row["camera"]] @ pose(row["pose_camera"])
                assert np.allclose(T, world[row["object"], row["part"]], atol=1e-5)


def test_key_points_are_where_their_annotation_puts_them(episode: Labelled):
    renderer = Renderer(episode.scene.world.model, "fast", looks=episode.scene.looks)
    for frame in episode.frames:
        model, data = episode.at(frame)
        depth = renderer.render(data, episode.record.instance.cameras, ("depth",))
        for camera in episode.record.instance.cameras:
            rows = [row for row in episode.labels.rows("points", frame) if row["camera"] == camera.name]
            assert rows
            world = np.array([row["point_world"] for row in rows])
            T = camera_pose(model, data, camera)
            pixels, seen = project_keypoints(camera, T, world, depth[camera.name]["depth"], slack=0.02)
            near = np.nan_to_num([row["pixel"] for row in rows], nan=1e9)
            assert np.all((np.abs(near - np.nan_to_num(pixels, nan=1e9)) < 0.05) | (np.abs(near) > 1e4))
            assert np.mean(seen == [row["visible"] for row in rows]) == 1.0


def test_named_points_move_with_their_part(opened: Labelled):
    first = {r["name"]: r["point_world"] for r in opened.labels.rows("points", 0)}
    last = {r["name"]: r["point_world"] for r in opened.labels.rows("points", opened.labels.frames - 1)}
    moved = {name: np.linalg.norm(np.subtract(last[name], first[name])) for name in first}
    handles = [name for name in moved if name.endswith("_handle")]
    assert max(moved[name] for name in handles) > 0.1
    assert min(moved[name] for name in handles) < 1e-3


def test_openings_run_from_closed_to_open(opened: Labelled):
    column = [
        {row["part"]: row["opening"] for row in opened.labels.rows("objects", frame) if row["part"]}
        for frame in (0, opened.labels.frames - 1)
    ]
    assert max(column[0].values()) < 0.05
    assert max(column[1].values()) > 0.5


def test_contacts_are_those_of_the_simulation(episode: Labelled):
    for frame in episode.frames:
        model, data = episode.at(frame)
        wanted = set()
        for k in range(data.ncon):
            contact = data.contact[k]
            bodies = [model.body(int(model.geom_bodyid[g])).name or "world" for g in contact.geom]
            fixed = all(model.body_weldid[int(model.geom_bodyid[g])] == 0 for g in contact.geom)
            if contact.dist <= 1e-3 and not fixed:
                wanted.add((tuple(bodies), tuple(np.round(contact.pos, 4))))
        rows = episode.labels.rows("contacts", frame)
        names = [
            tuple(f"{r[s]}/{r[f'{s}_part']}" if r[s] != "world" else "world" for s in ("first", "second")) for r in rows
        ]
        found = {(n, tuple(np.round(r["point_world"], 4))) for n, r in zip(names, rows, strict=True)}
        assert len(found ^ wanted) <= 0.1 * len(wanted)  # Rounding may fall either way.


def test_a_grasp_names_what_was_picked_and_begins_inside_the_pick(picked: Labelled):
    grasps = {(r["object"], r["start"], r["stop"]) for r in picked.labels.rows("grasps", 0)}
    assert len(grasps) == 1
    name, start, stop = grasps.pop()
    pick = next(span for span in picked.record.timeline if span.skill == "pick")
    assert name in pick.objects
    assert pick.start < start < pick.end < stop
    rows = [row for row in picked.labels.rows("grasps", start) if row["camera"] == "head"]
    model, data = picked.at(start)
    site = mujoco.mj_name2id(
        model, mujoco.mjtObj.mjOBJ_SITE, f"franka/{picked.scene.robots['franka'].arms[0].spec.tcp_site}"
    )
    assert np.allclose(rows[0]["point_world"], data.site_xpos[site], atol=1e-4)
    assert 0.03 < rows[0]["width"] < 0.08  # The cube is 5 cm wide.


def test_flow_depth_and_normals_are_those_of_an_independent_computation(picked: Labelled):
    flows = {(f, c): v for f, c, v in picked.labels.pictures("flow")}
    depths = {(f, c): v for f, c, v in picked.labels.pictures("depth")}
    normals = {(f, c): v for f, c, v in picked.labels.pictures("normals")}
    renderer = Renderer(picked.scene.world.model, "fast", looks=picked.scene.looks)
    cameras = picked.record.instance.cameras
    for frame in picked.frames[1:-1]:
        model, data = picked.at(frame + 1)
        after, T_after = geom_poses(data), {c.name: camera_pose(model, data, c) for c in cameras}
        model, data = picked.at(frame)
        images = renderer.render(data, cameras, ("depth", "segmentation", "normals"))
        for camera in cameras:
            drawn = images[camera.name]
            T = camera_pose(model, data, camera)
            flow = optical_flow(
                camera, T, T_after[camera.name], drawn["depth"], drawn["segmentation"], geom_poses(data), after
            )
            stored = flows[frame, camera.name]
            hit = drawn["segmentation"] >= 0
            assert np.array_equal(np.isfinite(stored[..., 0]), np.isfinite(flow[..., 0]))
            fast = np.abs(flow) < 500
            assert np.abs(stored - flow)[fast].max() < 0.05
            assert np.abs(depths[frame, camera.name] - drawn["depth"])[hit & (drawn["depth"] < 6)].max() < 1e-4
            assert np.abs(normals[frame, camera.name] - drawn["normals"])[hit].max() < 0.005


def test_steps_follow_the_timeline(picked: Labelled):
    table = picked.labels.table
    spans = [span for span in picked.record.timeline if span.skill != MARK]
    for frame in range(0, picked.labels.frames, 7):
        at = int(picked.record.kept[frame])
        active = [span for span in spans if span.start <= at < span.end]
        assert table["subtask"][frame].as_py() == (active[0].instruction if active else None)
        assert table["acting"][frame].as_py() == sorted({f"{span.robot}/{span.arm}" for span in active})
    progress = np.array(table["progress"].to_pylist())
    step = np.array(table["step"].to_pylist())
    assert progress.min() == 0.0
    assert progress.max() < 1.0
    assert np.all(np.diff(progress)[np.diff(step) == 0] >= 0)


def test_a_file_says_what_is_in_it(picked: Labelled):
    metadata = json.loads(pq.read_schema(picked.labels.folder / "labels.parquet").metadata[b"handloom.labels"])
    assert metadata["kinds"] == list(KINDS)
    assert {"object": "cube", "part": "object"} in metadata["parts"]
    columns = {name for kind in KINDS.values() for name in kind.columns if kind.file == "labels.parquet"}
    assert set(picked.labels.table.column_names) == {"frame_index", "timestamp", *columns}


def test_labels_that_are_not_there_are_named(tmp_path, picked: Labelled):
    with pytest.raises(FileError, match="handloom label writes it"):
        EpisodeLabels(tmp_path)
    with pytest.raises(NotFoundError, match="no label column named 'boxen'; did you mean 'boxes'"):
        picked.labels.rows("boxen", 0)
    with pytest.raises(NotFoundError, match="camera"):
        picked.labels.parts(0, "heed")
