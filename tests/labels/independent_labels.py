"""Labels computed a second time, by other ways than the product takes."""

import mujoco
import numpy as np

from handloom.render import Renderer, camera_pose, project
from handloom.render.labels import geoms_of_body, instance_mask, mask_alone, tight_box, visible_fraction


def label_faults(episode, frames) -> tuple[int, list[str]]:
    """Return how many labels were compared, and which are wrong: masks, boxes, visibility, traces, poses."""
    scene, record, labels = episode.scene, episode.record, episode.labels
    renderer = Renderer(scene.world.model, "fast")
    faults, compared = [], 0
    tools = {
        (robot, arm.name): track_of_site(episode, f"{robot}/{arm.spec.tcp_site}")
        for robot, owner in scene.robots.items()
        for arm in owner.arms
    }
    for frame in frames:
        model, data = episode.at(frame)
        pictures = renderer.render(data, record.instance.cameras, ("segmentation", "depth"))
        for camera in record.instance.cameras:
            segmentation = pictures[camera.name]["segmentation"]
            where = f"frame {frame}, {camera.name}"
            for row in labels.rows("boxes", frame):
                if row["camera"] != camera.name:
                    continue
                faults += _box_faults(where, row, episode, camera, model, data, segmentation)
                compared += 1
            T = camera_pose(model, data, camera)
            for row in labels.rows("traces", frame):
                if row["camera"] == camera.name:
                    track = tools[row["robot"], row["arm"]]
                    fps = record.instance.fps
                    ahead = [min(frame + round(k * fps / 10), len(track) - 1) for k in range(21)]
                    pixels, depth = project(camera, T, track[ahead])
                    away = np.abs(np.array(row["pixels"]) - pixels)[depth > camera.near]
                    compared += 1
                    if away.size and not away.max() < 1.0:
                        faults.append(f"{where}: trace of {row['arm']} is off by {away.max()} px")
    return compared, faults


def track_of_site(episode, site: str) -> np.ndarray:
    """Return where a site was in every frame (k, 3), by the whole forward computation."""
    track = []
    for frame in range(episode.labels.frames):
        model, data = episode.at(frame)
        track.append(data.site_xpos[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, site)].copy())
    return np.array(track)


def _box_faults(where, row, episode, camera, model, data, segmentation) -> list[str]:
    name, faults = row["object"], []
    if name in episode.scene.robots:
        root = model.body(episode.scene.robots[name].arms[0].base_body).rootid[0]
        body = model.body(int(root)).name
    else:
        body = f"{name}/{row['part'] or 'object'}"
    mask = instance_mask(model, segmentation, [body]) == 1
    if name not in episode.scene.robots:
        ours = episode.labels.mask(frame_of(where), camera.name, name, row["part"])
        if not row["part"] and not np.array_equal(mask, ours):
            faults.append(f"{where}: mask of {body} differs in {np.sum(mask != ours)} pixels")
    tight = tight_box(mask)
    wanted = [0, 0, 0, 0] if tight is None else [tight.left, tight.top, tight.right, tight.bottom]
    if list(row["box"]) != wanted or row["pixels"] != mask.sum():
        faults.append(f"{where}: box of {body} is {row['box']}, {row['pixels']} px, should be {wanted}, {mask.sum()}")
    if name in episode.scene.robots or not len(geoms_of_body(model, body)):
        return faults
    alone = mask_alone(model, data, camera, body)
    whole = tight_box(alone)
    stored = np.array(row["whole_box"])
    if whole is not None and np.isfinite(stored).all():
        away = stored - [whole.left, whole.top, whole.right, whole.bottom]
        # Where the picture cuts a round thing, its box reaches further than what is left of it.
        wrong = np.abs(away).max() > 1.0 if row["in_view"] == 1.0 else away[:2].max() > 1.0 or away[2:].min() < -1.0
        if wrong:
            faults.append(f"{where}: whole box of {body} is {stored}, should be {whole}")
    edge = 4 * np.sqrt(max(alone.sum(), 1))
    if abs(row["whole_pixels"] - alone.sum()) > 0.1 * edge + 2:
        faults.append(f"{where}: {body} covers {row['whole_pixels']} px, should be {alone.sum()}")
    if alone.sum() > 50 and abs(row["visible"] - visible_fraction(mask, alone)) > 0.05:
        faults.append(f"{where}: {row['visible']:.2f} of {body} is seen, should be {visible_fraction(mask, alone):.2f}")
    return faults


def frame_of(where: str) -> int:
    return int(where.split()[1].rstrip(","))
