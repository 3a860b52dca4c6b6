"""Ambient occlusion of a batch: find the geoms near its surface points, and apply them."""

import numpy as np

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    ABOVE,
    B_GAP,
    B_LOW_GAP,
    BIG,
    BOX_BLOCK,
    FAR_GAP,
    G_TYPE,
    HALF,
    ID,
    LANES,
    NEAR_GAP,
    ONE,
    PLANE,
    SURFACE,
    TURNED,
    VECTOR,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    ZERO,
)
from handloom.render.cpu.light.ambient import close_in
from handloom.render.cpu.rays.space import (
    bound,
    find_gaps,
    find_groups,
    greatest_gaps,
    height_above,
    pick_near,
    rise,
    sole_geom,
)

# Grouping the lanes costs as much as applying this many geoms.
WORTH_GROUPS = 8


@picture_kernel
def is_near(row, space, reach):
    """Return whether a geom selected by its bounding box is near; only a plane, which has no box, may not be."""
    return int(row[G_TYPE]) != PLANE or height_above(row, space) < reach


@picture_kernel(inline="always")
def place_of(g):
    """Return the index of a geom in the table of bounding boxes."""
    return g // VECTOR * BOX_BLOCK + g % VECTOR


@picture_kernel(inline="always")
def _list_near(scene, canvas, sole, far):
    """List the geoms near the batch, except the one that fills it; return their number."""
    space = canvas.spaces[ABOVE]
    pick_near(canvas.picked, scene.boxes, space, far)
    count = 0
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        canvas.touching_words[word] |= canvas.picked_words[word]
        for g in range(8 * word, 8 * word + 8):
            if canvas.picked[g] == 0 or not is_near(scene.geoms[g], space, far):
                continue
            # A convex geom leaves the space above itself free; a vessel does not.
            if np.float32(g) != sole or scene.geoms[g, G_TYPE] == TURNED:
                canvas.near[count] = g
                count += 1
    return count


@picture_kernel
def _nearest_first(boxes, near, count):
    """Move the geom with the smallest gap to the front of the list."""
    least = BIG
    for k in range(count):
        gap = boxes[place_of(near[k]) + B_GAP]
        if gap < least:
            least = gap
            near[0], near[k] = near[k], near[0]


@picture_kernel(inline="always")
def occlude(lanes, scene, canvas):
    """Turn the free distance above each surface point into the ambient factor, left in NEAR_GAP.

    A geom matters only if it is closer than ``far`` to a point ``far`` above the surface. The lower point needs no
    separate test, because its sphere lies inside that of the upper point. It also matters only if it can be closer than
    the geoms found so far: most geoms around a hand are behind a nearer one.

    Args:
        lanes: Flat batch with surface points and normals.
        scene: ``SceneArrays``.
        canvas: ``CanvasArrays`` with the space of the batch; near geoms are marked as touching.
    """
    world = scene.world
    near, far, floor = world[W_AO_LOW], world[W_AO_HIGH], world[W_AO_FLOOR]
    for i in range(LANES):
        hit = lanes[i + ID] >= ZERO
        lanes[i + NEAR_GAP] = near if hit else ZERO
        lanes[i + FAR_GAP] = far if hit else ZERO
    bound(lanes, ZERO, BIG, far, canvas.spaces[ABOVE])
    if canvas.spaces[ABOVE, 1] < canvas.spaces[ABOVE, 0]:
        return
    sole = sole_geom(lanes)
    count = _list_near(scene, canvas, sole, far)
    if count > 0:
        if sole >= ZERO or count < WORTH_GROUPS:
            groups = 1
            canvas.group_ids[0] = sole
            for level in (SURFACE, ABOVE):
                for i in range(6):
                    canvas.group_spaces[0, level, i] = canvas.spaces[level, i]
            rise(canvas.group_spaces[0], near / far)
        else:
            groups = find_groups(lanes, canvas.group_ids, canvas.group_spaces, far, near / far)
        find_gaps(scene.boxes, canvas.group_ids, canvas.group_spaces, groups)
        _nearest_first(scene.boxes, canvas.near, count)
    near_left = near
    far_left = far
    closed = False
    for k in range(count):
        g = canvas.near[k]
        gap, low_gap = scene.boxes[place_of(g) + B_GAP], scene.boxes[place_of(g) + B_LOW_GAP]
        if closed and gap > ZERO:
            near_left, far_left = greatest_gaps(lanes)
            closed = False
        if gap < far_left or low_gap < near_left:
            close_in(lanes, scene.geoms[g], scene.hulls, near, far)
            closed = True
    a = HALF * (ONE - floor) / near
    b = HALF * (ONE - floor) / far
    for i in range(LANES):
        lanes[i + NEAR_GAP] = floor + a * max(lanes[i + NEAR_GAP], ZERO) + b * max(lanes[i + FAR_GAP], ZERO)
