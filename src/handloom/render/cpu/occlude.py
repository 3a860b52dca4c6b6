"""Ambient occlusion of a batch: find the geoms near its surface points, and let them close in."""

from handloom.kernels import picture_kernel
from handloom.render.cpu.ambient import close_in
from handloom.render.cpu.layout import (
    ABOVE,
    B_GAP,
    B_LOW_GAP,
    BOX_BLOCK,
    FAR_GAP,
    G_TYPE,
    HALF,
    ID,
    LANES,
    NEAR_GAP,
    ONE,
    PLANE,
    VECTOR,
    W_AO_FLOOR,
    W_AO_HIGH,
    W_AO_LOW,
    ZERO,
)
from handloom.render.cpu.reduce import greatest_gaps
from handloom.render.cpu.space import find_gaps, height_above, pick_near


@picture_kernel
def is_near(row, space, reach):
    """Tell whether a geom, picked by its bounding box, is near; only a plane, which has none, may not be."""
    return int(row[G_TYPE]) != PLANE or height_above(row, space) < reach


@picture_kernel
def _list_near(scene, canvas, groups, far):
    """List the geoms that can come closer than ``far`` to the groups, by their gaps; return their number."""
    space = canvas.spaces[ABOVE]
    pick_near(canvas.picked, scene.boxes, space, far)
    for word in range(canvas.picked_words.shape[0]):
        canvas.touching_words[word] |= canvas.picked_words[word]
    find_gaps(scene.boxes, canvas.group_ids, canvas.group_spaces, groups)
    count = 0
    for word in range(canvas.picked_words.shape[0]):
        if canvas.picked_words[word] == 0:
            continue
        for g in range(8 * word, 8 * word + 8):
            gap = scene.boxes[place_of(g) + B_GAP]
            if canvas.picked[g] == 0 or gap >= far or not is_near(scene.geoms[g], space, far):
                continue
            k = count
            while k > 0 and scene.boxes[place_of(canvas.near[k - 1]) + B_GAP] > gap:
                canvas.near[k] = canvas.near[k - 1]
                k -= 1
            canvas.near[k] = g
            count += 1
    return count


@picture_kernel(inline="always")
def place_of(g):
    """Return where a geom is in the table of bounding boxes."""
    return g // VECTOR * BOX_BLOCK + g % VECTOR


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
    closed = False
    for k in range(_list_near(scene, canvas, groups, far)):
        g = canvas.near[k]
        gap, low_gap = scene.boxes[place_of(g) + B_GAP], scene.boxes[place_of(g) + B_LOW_GAP]
        if closed and gap > ZERO:
            near_left, far_left = greatest_gaps(lanes)
            closed = False
        if gap < far_left or low_gap < near_left:
            close_in(lanes, scene.geoms[g], near, far)
            closed = True
    a = HALF * (ONE - floor) / near
    b = HALF * (ONE - floor) / far
    for i in range(LANES):
        lanes[i + NEAR_GAP] = floor + a * max(lanes[i + NEAR_GAP], ZERO) + b * max(lanes[i + FAR_GAP], ZERO)
