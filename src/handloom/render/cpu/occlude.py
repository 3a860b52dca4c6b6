"""Ambient occlusion of a batch: find the geoms near its surface points, and let them close in."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.ambient import close_in
from handloom.render.cpu.layout import (
    ABOVE,
    BETWEEN,
    FAR_GAP,
    HALF,
    ID,
    LANES,
    NEAR_GAP,
    ONE,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    ZERO,
)
from handloom.render.cpu.reduce import greatest
from handloom.render.cpu.space import least_gap


@picture_kernel
def pick_near(picked, boxes, space, reach):
    """Mark the geoms whose bounds come closer than ``reach`` to a space."""
    x0, y0, z0, x1, y1, z1 = boxes[0], boxes[1], boxes[2], boxes[3], boxes[4], boxes[5]
    ax, ay, az = space[0] - reach, space[2] - reach, space[4] - reach
    bx, by, bz = space[1] + reach, space[3] + reach, space[5] + reach
    for g in range(x0.shape[0]):
        near = (x0[g] <= bx) & (y0[g] <= by) & (z0[g] <= bz) & (x1[g] >= ax) & (y1[g] >= ay) & (z1[g] >= az)
        picked[g] = near


@picture_kernel
def _gap_of_others(row, gid, canvas, groups, level, height):
    """Return a distance that no point ``height`` above a group is nearer to a geom than; ``height`` at most.

    Nothing above a convex surface is closer to it than its height, so the geom's own group does not count.
    """
    gap = height
    for k in range(groups):
        if canvas.group_ids[k] != gid:
            gap = min(gap, least_gap(row, canvas.group_spaces[k, level]))
    return gap


@picture_kernel
def _list_near(scene, canvas, groups, far):
    """List the geoms that can come closer than ``far`` to the groups, with their gaps, the nearest first."""
    space = canvas.spaces[ABOVE]
    pick_near(canvas.picked, scene.boxes, space, far)
    count = 0
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        for g in range(8 * word, 8 * word + 8):
            if canvas.picked[g] == 0 or least_gap(scene.geoms[g], space) >= far:
                continue
            canvas.touching[g] = 1
            gap = _gap_of_others(scene.geoms[g], np.float32(g), canvas, groups, ABOVE, far)
            if gap >= far:
                continue
            canvas.near[count] = g
            canvas.near_gap[count] = gap
            if gap < canvas.near_gap[0]:
                canvas.near[count], canvas.near_gap[count] = canvas.near[0], canvas.near_gap[0]
                canvas.near[0], canvas.near_gap[0] = g, gap
            count += 1
    return count


@picture_kernel
def occlude(lanes, scene, canvas, groups):
    """Turn the free distance above each surface point into the ambient factor, left in NEAR_GAP.

    A geom matters only when it comes closer than ``far`` to a point ``far`` above the surface; then it need not be
    looked at twice for the lower point, whose sphere lies inside that of the upper one. And it matters only when it
    can come closer than what is there already does: most of what surrounds a hand lies behind something nearer.

    Args:
        lanes: Flat batch with surface points and normals.
        scene: ``SceneArrays``.
        canvas: ``CanvasArrays`` with the groups of the batch; geoms that are near are noted as touching.
        groups: Number of groups.
    """
    world = scene.world
    near, far, floor = world[W_AO_LOW], world[W_AO_HIGH], world[W_AO_FLOOR]
    for i in range(LANES):
        hit = lanes[i + ID] >= ZERO
        lanes[i + NEAR_GAP] = near if hit else ZERO
        lanes[i + FAR_GAP] = far if hit else ZERO
    if groups == 0:
        return
    near_left = near
    far_left = far
    for k in range(_list_near(scene, canvas, groups, far)):
        g = canvas.near[k]
        row = scene.geoms[g]
        closer = canvas.near_gap[k] < far_left
        if closer or _gap_of_others(row, np.float32(g), canvas, groups, BETWEEN, near) < near_left:
            close_in(lanes, row, near, far)
            near_left = greatest(lanes, NEAR_GAP)
            far_left = greatest(lanes, FAR_GAP)
    a = HALF * (ONE - floor) / near
    b = HALF * (ONE - floor) / far
    for i in range(LANES):
        lanes[i + NEAR_GAP] = floor + a * max(lanes[i + NEAR_GAP], ZERO) + b * max(lanes[i + FAR_GAP], ZERO)
