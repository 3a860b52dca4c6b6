"""Mirror images in planes and in the upper faces of boxes whose material has ``reflectance``.

A mirror shows the view of a camera behind the mirror. A ray keeps its u, v and depth when the camera is
mirrored, so the reflected ray starts at the hit point: every stage runs unchanged, with the tables of the mirrored
camera. This is a second pass over a finished image, so that images without mirrors pay nothing for it.
"""

import numpy as np
from numpy.typing import NDArray

from handloom.kernels import picture_kernel
from handloom.render.cpu.arrays import SceneArrays
from handloom.render.cpu.frame import aim
from handloom.render.cpu.layout import (
    BIG,
    BLUE,
    BOX,
    G_MIRROR,
    G_POS,
    G_ROT,
    G_SIZE,
    G_TYPE,
    GREEN,
    HALF,
    ID,
    LANES,
    ONE,
    PLANE,
    RED,
    START,
    TILE_HEIGHT,
    TILE_WIDTH,
    V_AXES,
    V_EYE,
    T,
)
from handloom.render.cpu.smooth import FACE_KEYS, FACE_ZERO
from handloom.render.cpu.trace import LAYER_GAP, cast_all, find_surface, light_up

# Each mirror needs an additional image where it is visible; the clearest come first.
MAX_MIRRORS = 4


def mirror_rows(geoms: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the rows of planes and boxes with reflectance, the strongest first."""
    flat = np.isin(geoms[:, G_TYPE], (PLANE, BOX)) & (geoms[:, G_MIRROR] > 0)
    rows = np.flatnonzero(flat)
    return rows[np.argsort(-geoms[rows, G_MIRROR], kind="stable")][:MAX_MIRRORS].astype(np.int32)


def mirrored_view(view: NDArray[np.float32], mirror: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the camera row mirrored in a plane, or in the upper face of a box."""
    normal = mirror[[G_ROT + 2, G_ROT + 5, G_ROT + 8]].astype(float)
    height = float(mirror[G_SIZE + 2]) if mirror[G_TYPE] == BOX else 0.0
    point = mirror[G_POS : G_POS + 3].astype(float) + height * normal
    out = view.copy()
    eye, axes = view[V_EYE : V_EYE + 3].astype(float), view[V_AXES : V_AXES + 9].reshape(3, 3).astype(float)
    out[V_EYE : V_EYE + 3] = eye - 2 * ((eye - point) @ normal) * normal
    out[V_AXES : V_AXES + 9] = (axes - 2 * np.outer(normal, normal @ axes)).ravel()
    return out


# The upper face of a box, as the surface stage numbers them.
UPPER_FACE = 4


@picture_kernel
def _start_at_mirror(lanes, canvas, left, top, row, g):
    """Start the rays of pixels that show a mirror at their hit points, and disable the others; return their number."""
    height, width = canvas.depth.shape
    is_plane = int(row[G_TYPE]) == PLANE
    count = 0
    for i in range(LANES):
        y = top + i // TILE_WIDTH
        x = left + i % TILE_WIDTH
        start = BIG
        if y < height and x < width:
            key = canvas.key[y, x] - FACE_ZERO - g * FACE_KEYS
            if key == UPPER_FACE or (is_plane and key == 0):
                start = canvas.depth[y, x] + LAYER_GAP
                count += 1
        lanes[i + START] = start
        lanes[i + T] = BIG
        lanes[i + ID] = -ONE
    return count


@picture_kernel
def _list_mirrored(canvas, mirrors, k, row, column):
    """List the geoms that the mirrored camera may see in a tile; return their number."""
    count = 0
    for g in range(mirrors.first.shape[2]):
        if mirrors.first[k, row, g] <= column < mirrors.last[k, row, g]:
            canvas.candidates[count] = g
            count += 1
    return count


@picture_kernel
def _blend(lanes, frame, left, top, weight):
    """Blend the mirror image into the image, in screen colours, like OpenGL."""
    height, width, _ = frame.rgb.shape
    for i in range(LANES):
        y = top + i // TILE_WIDTH
        x = left + i % TILE_WIDTH
        if y < height and x < width and lanes[i + START] < BIG:
            red = np.float32(frame.rgb[y, x, 0])
            green = np.float32(frame.rgb[y, x, 1])
            blue = np.float32(frame.rgb[y, x, 2])
            frame.rgb[y, x, 0] = np.uint8(np.int32(red + weight * (lanes[i + RED] - red) + HALF))
            frame.rgb[y, x, 1] = np.uint8(np.int32(green + weight * (lanes[i + GREEN] - green) + HALF))
            frame.rgb[y, x, 2] = np.uint8(np.int32(blue + weight * (lanes[i + BLUE] - blue) + HALF))


@picture_kernel(entry=True)
def add_mirror_images(scene, mirrors, view, canvas, frame, shadows, occlusion):
    """Add mirror images to an image whose canvas has depths and edge keys.

    Args:
        scene: ``SceneArrays``, placed for this frame and camera.
        mirrors: ``MirrorArrays``, placed likewise.
        view: Camera row.
        canvas: ``CanvasArrays`` with depths and keys of the image.
        frame: ``FrameArrays`` of the image.
        shadows: Whether lights cast shadows.
        occlusion: Whether ambient light is occluded.
    """
    lanes = canvas.lanes
    height, width = canvas.depth.shape
    for k in range(mirrors.rows.shape[0]):
        g = mirrors.rows[k]
        seen = SceneArrays(
            mirrors.geoms[k],
            scene.hulls,
            scene.meshes,
            scene.lights,
            scene.casters,
            scene.boxes,
            scene.textures,
            scene.texels,
            scene.beads,
            scene.world,
        )
        for row in range((height + TILE_HEIGHT - 1) // TILE_HEIGHT):
            for column in range((width + TILE_WIDTH - 1) // TILE_WIDTH):
                left, top = column * TILE_WIDTH, row * TILE_HEIGHT
                if _start_at_mirror(lanes, canvas, left, top, scene.geoms[g], g) == 0:
                    continue
                aim(lanes, left, top, view)
                count = _list_mirrored(canvas, mirrors, k, row, column)
                cast_all(lanes, canvas.candidates, count, seen, k + 1)
                find_surface(lanes, canvas.candidates, count, seen, canvas, mirrors.views[k])
                light_up(lanes, seen, canvas, mirrors.views[k], shadows, occlusion)
                _blend(lanes, frame, left, top, scene.geoms[g, G_MIRROR])
