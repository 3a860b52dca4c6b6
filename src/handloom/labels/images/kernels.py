"""Kernels of labels: mask runs with their boxes in one pass over an image, and silhouettes of whole objects."""

import numpy as np

from handloom.kernels import picture_kernel

NOTHING = -1
"""Value of pixels without a label."""
ROOM = 1e-6
"""Upper bound of the rounding error where an edge crosses a row [px]."""
FEW = 8.0
"""Triangles up to this size [px] are checked first: they often cover the same pixels as the previous one."""


@picture_kernel(entry=True)
def scan_parts(segmentation, part_of_geom, boxes, counts, parts, lengths):
    """Split an image of geoms into runs of equal parts, row by row, and measure every part.

    Args:
        segmentation: Geom ids (h, w), -1 for the background.
        part_of_geom: MaskPart by geom id + 1 (ngeom + 1,), -1 for unlabelled geoms.
        boxes: Receives left, top, right, bottom (n, 4) [px] of every part; right and bottom are one past the last.
        counts: Receives the pixels (n,) of every part.
        parts: Receives the part of each run (h * w,).
        lengths: Receives its pixels (h * w,).

    Returns:
        Number of runs. Each pixel is read once.
    """
    height, width = segmentation.shape
    counts[:] = 0
    boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3] = width, height, 0, 0
    runs, last = 0, -2
    for y in range(height):
        x = 0
        while x < width:
            geom = segmentation[y, x]
            start = x
            x += 1
            while x < width and segmentation[y, x] == geom:
                x += 1
            part = part_of_geom[geom + 1]
            if part == last:
                lengths[runs - 1] += x - start
            else:
                parts[runs], lengths[runs] = part, x - start
                runs += 1
                last = part
            if part >= 0:
                counts[part] += x - start
                boxes[part, 0] = min(boxes[part, 0], start)
                boxes[part, 1] = min(boxes[part, 1], y)
                boxes[part, 2] = max(boxes[part, 2], x)
                boxes[part, 3] = y + 1
    return runs


@picture_kernel
def _fill(polygon, corners, taken, stamp, filled):
    """Mark the pixels whose centre is inside a convex polygon (corners, 2) [px], and count those of each row.

    Rows in which every pixel is marked are skipped.
    """
    height, width = taken.shape
    low, high = polygon[0, 1], polygon[0, 1]
    for k in range(1, corners):
        low, high = min(low, polygon[k, 1]), max(high, polygon[k, 1])
    first, last = max(int(np.ceil(low - 0.5)), 0), min(int(np.floor(high - 0.5)), height - 1)
    for row in range(last + 1 - first):
        y = np.uint64(first + row)
        if filled[y] == width:
            continue
        at, left, right = first + row + 0.5, np.inf, -np.inf
        ax, ay = polygon[corners - 1, 0], polygon[corners - 1, 1]
        for k in range(corners):
            bx, by = polygon[k, 0], polygon[k, 1]
            if (ay <= at) != (by <= at):
                x = ax + (at - ay) * (bx - ax) / (by - ay)
                left, right = min(left, x), max(right, x)
            ax, ay = bx, by
        if left > right:
            continue
        # The ends of a row are clipped to the image first: far outside they would overflow an integer.
        begin = int(np.ceil(max(left - 0.5, 0.0)))
        end = int(np.floor(min(right - 0.5, width - 1.0)))
        line = taken[y, begin : max(end + 1, begin)]
        new = 0
        for x in range(len(line)):
            new += line[x] != stamp
            line[x] = stamp
        filled[y] += new


@picture_kernel
def _adds_nothing(ax, ay, bx, by, cx, cy, taken, stamp):
    """Return whether a triangle certainly covers no unmarked pixel, as is the case for most of a fine surface.

    Rows are compared exactly; the crossing of an edge with a row is rounded, so columns need a margin.
    """
    height, width = taken.shape
    top, bottom = np.ceil(min(ay, by, cy) - 0.5), np.floor(max(ay, by, cy) - 0.5)
    left, right = np.ceil(min(ax, bx, cx) - 0.5 - ROOM), np.floor(max(ax, bx, cx) - 0.5 + ROOM)
    if top > bottom or left > right:
        return True
    if bottom - top > FEW or right - left > FEW or top < 0 or left < 0 or bottom >= height or right >= width:
        return False
    for y in range(np.uint64(top), np.uint64(bottom) + np.uint64(1)):
        for x in range(np.uint64(left), np.uint64(right) + np.uint64(1)):
            if taken[y, x] != stamp:
                return False
    return True


@picture_kernel(entry=True)
def silhouette(vertices, bodies, faces, T_camera_body, lens, taken, stamp, filled, points, polygon, box):
    """Draw the outline of an object without occlusion; return the number of pixels of the image that it covers.

    A pixel is covered when its centre lies in the projection of a triangle. Triangles are cut at the near plane.

    Args:
        vertices: Corners (n, 3) in the frames of their bodies [m].
        bodies: Row of ``T_camera_body`` by corner (n,).
        faces: Triangles (m, 3).
        T_camera_body: Poses of the bodies in the camera (b, 4, 4).
        lens: fx, fy, cx, cy [px] and the near plane [m].
        taken: Scratch image of stamps (h, w), in which ``stamp`` must not occur yet.
        stamp: Value written to covered pixels.
        filled: Scratch (h,) int64: covered pixels of every row.
        points: Receives the corners in the camera [m] and, of those in front of it, in the image [px] (n, 5).
        polygon: Scratch (4, 2).
        box: Receives left, top, right, bottom (4,) [px] of the whole outline, even outside the image; NaN
            if a part of it is behind the camera.
    """
    fx, fy, cx, cy, near = lens[0], lens[1], lens[2], lens[3], lens[4]
    left, top, right, bottom = np.inf, np.inf, -np.inf, -np.inf
    behind, before = False, False
    for k in range(len(vertices)):
        T, v = T_camera_body[bodies[k]], vertices[k]
        for i in range(3):
            points[k, i] = T[i, 0] * v[0] + T[i, 1] * v[1] + T[i, 2] * v[2] + T[i, 3]
        z = points[k, 2]
        if z < near:
            behind = True
            continue
        before = True
        x, y = cx + fx * points[k, 0] / z, cy + fy * points[k, 1] / z
        points[k, 3], points[k, 4] = x, y
        left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
    box[0], box[1], box[2], box[3] = left, top, right, bottom
    if behind:
        box[:] = np.nan
    height, width = taken.shape
    if not before or (not behind and (right < 0 or bottom < 0 or left > width or top > height)):
        return 0
    filled[:] = 0
    for f in range(len(faces)):
        i, j, k = np.uint64(faces[f, 0]), np.uint64(faces[f, 1]), np.uint64(faces[f, 2])
        if not behind:
            ax, ay, bx, by = points[i, 3], points[i, 4], points[j, 3], points[j, 4]
            if _adds_nothing(ax, ay, bx, by, points[k, 3], points[k, 4], taken, stamp):
                continue
            polygon[0, 0], polygon[0, 1], polygon[1, 0], polygon[1, 1] = ax, ay, bx, by
            polygon[2, 0], polygon[2, 1] = points[k, 3], points[k, 4]
            _fill(polygon, 3, taken, stamp, filled)
            continue
        corners = 0
        for a, b in ((points[i], points[j]), (points[j], points[k]), (points[k], points[i])):
            if a[2] >= near:
                polygon[corners, 0], polygon[corners, 1] = a[3], a[4]
                corners += 1
            if (a[2] >= near) != (b[2] >= near):
                t = (near - a[2]) / (b[2] - a[2])
                polygon[corners, 0] = cx + fx * (a[0] + t * (b[0] - a[0])) / near
                polygon[corners, 1] = cy + fy * (a[1] + t * (b[1] - a[1])) / near
                corners += 1
        if corners >= 3:
            _fill(polygon, corners, taken, stamp, filled)
    return filled.sum()


@picture_kernel(entry=True)
def flow_planes(depth, geoms, M, still, body, lens, nothing, u, v):
    """Write the displacement of every pixel's surface point to the next image, in 1/32 px.

    With p = z ((x - cx) / fx, (y - cy) / fy, 1) the point a pixel shows and M its motion from camera to next camera,
    q = M p and the displacement is (cx + fx qx / qz - x, cy + fy qy / qz - y).

    Args:
        depth: Planar z (h, w) [m], infinite for the background.
        geoms: Geom ids (h, w), -1 for the background.
        M: T_nextcamera_nextbody T_body_camera of every body (nbody, 4, 4).
        still: Whether M is the identity (nbody,), so that pixels do not move.
        body: Body of every geom (ngeom,).
        lens: fx, fy, cx, cy [px].
        nothing: Value for pixels without surface, or whose surface is behind the next camera.
        u: Receives the displacement to the right (h, w) float32, not rounded.
        v: Receives that downwards.
    """
    fx, fy, cx, cy = lens[0], lens[1], lens[2], lens[3]
    height, width = depth.shape
    one, none = np.float32(1.0), np.float32(nothing)
    fu, fv, inverse = np.float32(32 * fx), np.float32(32 * fy), np.float32(1 / fx)
    cu, middle, unit = np.float32(32 * (cx - 0.5)), np.float32(0.5 - cx), np.float32(32.0)
    for y in range(height):
        b = (y + 0.5 - cy) / fy
        cv = np.float32(32 * (cy - 0.5 - y))
        x = 0
        while x < width:
            # Along a run of one geom the motion is constant, so the inner loop has no branch.
            g, start = geoms[y, x], x
            while x < width and geoms[y, x] == g:
                x += 1
            if g < 0:
                u[y, start:x] = none
                v[y, start:x] = none
                continue
            carrier = body[g]
            if still[carrier]:
                u[y, start:x] = np.float32(0.0)
                v[y, start:x] = np.float32(0.0)
                continue
            T = M[carrier]
            ax, bx, tx = np.float32(T[0, 0]), np.float32(T[0, 1] * b + T[0, 2]), np.float32(T[0, 3])
            ay, by, ty = np.float32(T[1, 0]), np.float32(T[1, 1] * b + T[1, 2]), np.float32(T[1, 3])
            az, bz, tz = np.float32(T[2, 0]), np.float32(T[2, 1] * b + T[2, 2]), np.float32(T[2, 3])
            z_run, u_run, v_run = depth[y, start:x], u[y, start:x], v[y, start:x]
            for k in range(x - start):
                at, z = np.float32(np.int32(start + k)), z_run[k]
                a = (at + middle) * inverse
                w = one / (z * (az * a + bz) + tz)
                right = cu - unit * at + fu * (z * (ax * a + bx) + tx) * w
                down = cv + fv * (z * (ay * a + by) + ty) * w
                u_run[k] = right if w > 0 else none
                v_run[k] = down if w > 0 else none
