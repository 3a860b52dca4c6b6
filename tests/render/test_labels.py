"""Labels follow from geometry."""

import mujoco
import numpy as np
import pytest

from handloom.render import Renderer, camera_pose, project, spec_of_mjcf_camera
from handloom.render.labels import (
    box_3d,
    geom_poses,
    instance_mask,
    loose_box,
    mask_alone,
    optical_flow,
    point_cloud,
    project_keypoints,
    semantic_mask,
    tight_box,
    visible_fraction,
)


@pytest.fixture
def view(table):
    model, data = table
    camera = spec_of_mjcf_camera(model, "front", width=160, height=120)
    images = Renderer(model).render(data, [camera], ("depth", "segmentation", "rgb"))["front"]
    return model, data, camera, camera_pose(model, data, camera), images


def test_masks_count_the_pixels_of_their_bodies(view):
    model, _, _, _, images = view
    link = images["segmentation"] == model.geom("link").id
    assert np.array_equal(instance_mask(model, images["segmentation"], ["arm"]) == 1, link)
    assert np.array_equal(semantic_mask(model, images["segmentation"], {"arm": 7}) == 7, link)


def test_the_tight_box_lies_inside_the_loose_one(view):
    model, data, camera, T, images = view
    T_world_box, size = box_3d(model, data, "arm")
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    corners = (signs * size) @ T_world_box[:3, :3].T + T_world_box[:3, 3]
    loose = loose_box(camera, T, corners)
    tight = tight_box(images["segmentation"] == model.geom("link").id)
    assert loose is not None
    assert tight is not None
    assert loose.left - 1 <= tight.left < tight.right <= loose.right + 1
    assert loose.top - 1 <= tight.top < tight.bottom <= loose.bottom + 1
    assert np.allclose(size, [0.08, 0.08, 0.3], atol=1e-6)
    assert tight_box(np.zeros((4, 4), bool)) is None


def test_visibility_is_the_share_of_unhidden_pixels():
    alone = np.zeros((10, 10), bool)
    alone[2:8, 2:8] = True
    mask = alone.copy()
    mask[2:5] = False
    assert visible_fraction(mask, alone) == pytest.approx(0.5)
    assert visible_fraction(mask, np.zeros((10, 10), bool)) == 0.0


def test_a_mask_alone_covers_what_is_seen_and_what_is_hidden(view):
    model, data, camera, _, images = view
    mask = images["segmentation"] == model.geom("link").id
    alone = mask_alone(model, data, camera, "arm")
    assert np.all(alone[mask])
    data.geom_xpos[model.geom("ball").id] = (data.geom_xpos[model.geom("link").id] * 2 + camera.position) / 3
    hidden = Renderer(model).render(data, [camera], ("segmentation",))["front"]["segmentation"]
    share = visible_fraction(hidden == model.geom("link").id, alone)
    assert 0.0 < share < 0.98


def test_a_keypoint_behind_the_table_is_hidden(view):
    _, _, camera, T, images = view
    above, below = [0.1, 0.0, 0.421], [0.0, 0.0, 0.2]
    pixels, seen = project_keypoints(camera, T, [above, below], images["depth"])
    assert np.allclose(pixels, project(camera, T, [above, below])[0])
    assert seen.tolist() == [True, False]


def test_a_point_cloud_of_the_table_top_is_flat(view):
    model, _, camera, T, images = view
    depth = np.where(images["segmentation"] == model.geom("top").id, images["depth"], np.inf).astype(np.float32)
    points, colors = point_cloud(camera, T, depth, images["rgb"])
    assert len(points) == len(colors) > 100
    assert np.sum(np.abs(points[:, 2] - 0.42) < 1e-5) > 0.8 * len(points)


def test_flow_leads_to_where_the_surface_is_drawn_next(view):
    model, data, camera, T, images = view
    before = geom_poses(data)
    data.joint("swing").qpos[0] = 0.2
    mujoco.mj_forward(model, data)
    flow = optical_flow(camera, T, T, images["depth"], images["segmentation"], before, geom_poses(data))
    still = images["segmentation"] == model.geom("top").id
    assert np.abs(flow[still]).max() < 1e-3
    after = Renderer(model).render(data, [camera], ("segmentation",))["front"]["segmentation"]
    link = model.geom("link").id
    shown = images["segmentation"] == link
    # Pixels on the outline may land on the other side of it by rounding; the inside must land inside.
    inner = shown[1:-1, 1:-1] & shown[:-2, 1:-1] & shown[2:, 1:-1] & shown[1:-1, :-2] & shown[1:-1, 2:]
    y, x = np.nonzero(np.pad(inner, 1))
    to = np.column_stack([x + 0.5, y + 0.5]) + flow[y, x]
    landed = after[np.clip(to[:, 1].astype(int), 0, 119), np.clip(to[:, 0].astype(int), 0, 159)]
    assert np.linalg.norm(flow[y, x], axis=1).mean() > 1.0
    assert np.mean(landed == link) > 0.99
