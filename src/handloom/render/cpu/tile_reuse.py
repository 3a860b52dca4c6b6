"""Reuse of tiles of the last image that no moved geom affects now or did before.

A pixel of a tile is a function of the camera, the lights, and the geoms that pass culling for the tile. If camera and
lights are the same bits, and no geom with a changed pose passed then or would pass now, the same geoms with the same
poses pass: the tile is bit-identical to a newly rendered one. This holds for any culling that tests every geom by
itself. Kept tiles remain valid: all tiles of the last image show the last state.
"""

from handloom.kernels import picture_kernel
from handloom.render.cpu.layout import (
    ABOVE,
    BEAD_BLOCK,
    E_MARK,
    G_ROT,
    L_SHADOW,
    LIGHT_COLUMNS,
    PATCH,
    POSE,
    SURFACE,
    VIEW_COLUMNS,
    W_AO_HIGH,
    ZERO,
)
from handloom.render.cpu.light.shadow_culling import pick_casters
from handloom.render.cpu.rays.space import pick_near


@picture_kernel(entry=True)
def find_changes(geoms, beads, lights, view, poses, bead_places, setting, changed):
    """Mark the geoms that have moved since the last image on this canvas; return whether camera and lights have not.

    Args:
        geoms: Bits of the geom table.
        beads: Bits of the table of beads.
        lights: Bits of the light table.
        view: Bits of the camera row.
        poses: Bits of the poses in the last image, replaced by the current ones.
        bead_places: Bits of the beads in the last image, likewise.
        setting: Bits of camera and lights in the last image, likewise.
        changed: Marks of the geoms, written.
    """
    same = True
    for i in range(VIEW_COLUMNS):
        same &= setting[i] == view[i]
        setting[i] = view[i]
    for k in range(lights.shape[0]):
        at = VIEW_COLUMNS + k * LIGHT_COLUMNS
        for i in range(LIGHT_COLUMNS):
            same &= setting[at + i] == lights[k, i]
            setting[at + i] = lights[k, i]
    for g in range(geoms.shape[0]):
        differences = 0
        for i in range(POSE):
            differences += poses[g, i] != geoms[g, G_ROT + i]
            poses[g, i] = geoms[g, G_ROT + i]
        changed[g] = differences > 0
    differences = 0
    for i in range(beads.shape[0]):
        if i % BEAD_BLOCK < E_MARK:
            differences += bead_places[i] != beads[i]
            bead_places[i] = beads[i]
    if differences > 0:
        changed[geoms.shape[0] - 1] = 1
    return same


@picture_kernel(inline="always")
def begin_tile(canvas, count):
    """Reset the geoms that affected the last tile, and record those that may be visible in this one."""
    canvas.touching[:] = 0
    for k in range(count):
        canvas.touching[canvas.candidates[k]] = 1


@picture_kernel(inline="always")
def end_tile(canvas, tile):
    """Store the geoms that affected a tile."""
    for g in range(canvas.touching.shape[0]):
        canvas.tile_touched[tile, g] = canvas.touching[g]
    for k in range(canvas.patches.shape[0]):
        for i in range(PATCH):
            canvas.tile_patches[tile, k, i] = canvas.patches[k, i]
    for k in range(canvas.spaces.shape[0]):
        for i in range(6):
            canvas.tile_spaces[tile, k, i] = canvas.spaces[k, i]


@picture_kernel(inline="always")
def _was_touched(canvas, tile):
    """Return whether a moved geom affected a tile of the last image."""
    moved = 0
    for word in range(canvas.changed_words.shape[0]):
        moved |= canvas.tile_touched_words[tile, word] & canvas.changed_words[word]
    return moved != 0


@picture_kernel(inline="always")
def _may_be_seen(canvas, row, column):
    """Return whether a moved geom may be visible in a tile."""
    seen = 0
    for g in range(canvas.first.shape[1]):
        seen |= (canvas.first[row, g] <= column) & (column < canvas.last[row, g]) & (canvas.changed[g] != 0)
    return seen != 0


@picture_kernel(inline="always")
def _any_changed(canvas):
    """Return whether a marked geom moved."""
    moved = 0
    for word in range(canvas.changed_words.shape[0]):
        moved |= canvas.picked_words[word] & canvas.changed_words[word]
    return moved != 0


@picture_kernel(inline="always")
def _is_shaded(scene, canvas, tile):
    """Return whether a moved geom may cast a shadow on a tile."""
    space = canvas.tile_spaces[tile, SURFACE]
    for k in range(scene.lights.shape[0]):
        light = scene.lights[k]
        if light[L_SHADOW] > ZERO:
            pick_casters(canvas.picked, scene.casters[k], scene.boxes, light, canvas.tile_patches[tile, k], space)
            if _any_changed(canvas):
                return True
    return False


@picture_kernel(inline="always")
def _is_occluded(scene, canvas, tile):
    """Return whether a moved geom may be near the surfaces of a tile."""
    pick_near(canvas.picked, scene.boxes, canvas.tile_spaces[tile, ABOVE], scene.world[W_AO_HIGH])
    return _any_changed(canvas)


@picture_kernel(inline="always")
def is_stale(scene, canvas, row, column, tile, shadows, occlusion):
    """Return whether a moved geom affected a tile of the last image, or affects it now.

    Args:
        scene: ``SceneArrays``, placed for this frame and camera.
        canvas: ``CanvasArrays`` with the changes since the last image.
        row: Row of the tile.
        column: Column of the tile.
        tile: Number of the tile.
        shadows: Whether lights cast shadows in the image.
        occlusion: Whether ambient light is occluded.
    """
    if _was_touched(canvas, tile) or _may_be_seen(canvas, row, column):
        return True
    return (shadows and _is_shaded(scene, canvas, tile)) or (occlusion and _is_occluded(scene, canvas, tile))
