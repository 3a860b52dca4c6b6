"""Array layouts shared by the kernels of the ray caster.

Lanes: one flat float32 array holds every quantity of a batch of rays. Quantity ``Q`` of ray ``i`` is ``lanes[i + Q]``
with ``Q`` a compile-time multiple of ``LANES``; the compiler then sees that two quantities never overlap and vectorises
without run-time alias checks. Several arrays, or a 2D array with a run-time stride, would lose this.

Geoms: ``geoms[g, COLUMN]``, float32, one row per rendered geom. Static columns are written once per model
(``geom_table.py``), the others per frame or per camera (``placement.py``).
"""

import numpy as np

TILE_WIDTH = 16
TILE_HEIGHT = 8
LANES = TILE_WIDTH * TILE_HEIGHT
# Floats of the widest vector register (AVX-512); batches are padded to it.
VECTOR = 16

# fmt: off
(
    START,                          # hits nearer than this are ignored: near plane, or previous layer [m]
    U, V, T, ID,                    # ray = u X + v Y + Z, camera axes; planar depth [m]; nearest geom row or -1
    NX, NY, NZ, PX, PY, PZ,         # unit normal and surface point, world [m]
    RED, GREEN, BLUE,               # albedo, later the colour on screen 0..255
    SPECULAR, SHININESS, METAL, GLOW, OPACITY,
    FACE,                           # hit face of the box, cylinder or polytope; marks creases for anti-aliasing
    SHADE,                          # blocked fraction of the current light, 0..1
    NEAR_GAP, FAR_GAP,              # free distance above the surface at two heights [m], later the ambient factor
    LIGHT_R, LIGHT_G, LIGHT_B,      # diffuse light arriving
    SHINE_R, SHINE_G, SHINE_B,      # highlights
    SPARE_A, SPARE_B, SPARE_C, SPARE_D, SPARE_E, SPARE_F,
    SPARE_G, SPARE_H, SPARE_I, SPARE_J, SPARE_K,
    TRIANGLE,                       # number of the triangle, bead or piece of a surface of revolution hit
    NEARNESS,                       # one over the distance to the current light [1/m]
    LAMP_X, LAMP_Y, LAMP_INVERSE,   # position in the current light's image plane, one over the distance along its axis
) = (LANES * k for k in range(45))
LANE_QUANTITIES = 45
# During shading, the spare quantities hold the reflection: direction, blur, share, light.
MIRROR_X, MIRROR_Y, MIRROR_Z, MIRROR_BLUR, MIRROR_WEIGHT = SPARE_A, SPARE_B, SPARE_C, SPARE_D, SPARE_E
MIRROR_R, MIRROR_G, MIRROR_B = SPARE_F, SPARE_G, SPARE_H

(
    G_TYPE, G_SIZE, _, _,           # mjtGeom; size as in the model, half extents for a mesh [m]
    G_EYE, _, _,                    # camera origin in the geom frame [m]
    G_RAY_U, _, _, G_RAY_V, _, _, G_RAY_W, _, _,    # camera axes in the geom frame
    G_ROT, _, _, _, _, _, _, _, _,  # R_world_geom, row major
    G_POS, _, _,                    # p_world_geom [m]
    G_BOX, _, _, G_HALF, _, _,      # centre and half extents of the bounding box in the geom frame [m]
    G_HULL, G_HULL_COUNT,           # half spaces of a polytope: first, number; of a mesh: root, grid; number of beads;
                                    # surface of revolution: first row, pieces
    G_COLOR, _, _, G_ALPHA,         # linear albedo, opacity
    G_SPECULAR, G_SHININESS, G_METAL, G_GLOW, G_MIRROR,
    G_TEXTURE, G_TEX_U, G_TEX_V,    # row of the texture table or -1; repeats per metre
    G_TEX_DENSITY,                  # repeats per metre on the surface, to choose the level
    G_TEX_MAPPED,                   # 1 if a mesh has texture coordinates; repeats are then per unit of those
    G_CASTS,                        # 1 if the geom casts shadows
    G_BODY,                         # body that rigidly carries the geom
    G_INSIDE,                       # 1 if a camera inside the geom sees its inner wall
    G_DEPTH,                        # no part of the geom is nearer to the camera than this, in planar depth [m]
    G_EDGE,                         # apparent edge radius of a box or cylinder [m]
    G_OUTER, G_CAVITY,              # number of pieces of the outside and of the cavity of a surface of revolution
    G_FLOOR,                        # height of that cavity's floor in the geom frame [m]
    G_BAND_LOW, G_BAND_HIGH,        # heights of a painted band on it [m]
    G_BAND_COLOR, _, _,             # linear albedo of the band
    G_TEX_AROUND,                   # repeats of the texture around the z axis; 0 means projected
    G_TEX_ALONG,                    # axis of a box along which the texture runs: 0, 1, 2; READABLE: a print
    G_TEX_SHIFT, _,                 # start of the texture, in repeats
    G_RELIEF,                       # height of the texture's relief [m]
) = range(68)
GEOM_COLUMNS = 80
# fmt: on
# A texture that must be readable on every side of a box: it runs from left to right on each.
READABLE = 3
# Rotation and position are adjacent.
POSE = 12

# Lights: ``lights[k, COLUMN]``.
# fmt: off
(
    L_POS, _, _,                    # world [m]; a directional light stands far away
    L_U, _, _, L_V, _, _, L_W, _, _,  # axes of the light's own image plane; w points from the scene to the light
    L_DIFFUSE, _, _, L_SPECULAR, _, _,
    L_RADIUS,                       # radius of the luminous disc [m]
    L_SHADOW,                       # 1 if it casts shadows
    L_CUTOFF, L_BLEND,              # cosine of the cone's edge, 1 / (cosine at full intensity - cosine of the edge)
    L_ATTENUATION, _, _,
) = range(25)
LIGHT_COLUMNS = 32

# Three tables are culled in vector code, VECTOR geoms at a time. They are flat, in blocks of VECTOR geoms: column ``C``
# of geom ``i`` of a block that begins at ``b`` is ``table[b + i + C]``. As with the lanes, the compiler then sees that
# columns never overlap.
#
# Bounding boxes in the world: ``boxes``.
# fmt: off
(
    B_ROT, _, _, _, _, _, _, _, _,  # R_world_geom, row major
    B_CENTER, _, _, B_HALF, _, _,   # centre in the world, half extents along the geom's axes [m]; infinite for planes
    B_INDEX,                        # number of the geom
    B_GAP, B_LOW_GAP,               # written by culling: lower bound of its distance to the tested space [m]
) = (VECTOR * k for k in range(18))
BOX_BLOCK = 18 * VECTOR

# The geoms as seen by a light: ``casters[k]``.
(
    C_POS, _, _,                    # the light in the geom frame [m]
    C_LEFT, C_RIGHT, C_TOP, C_BOTTOM,   # upright rectangle in the light's image plane
    C_INVERSE,                      # one over the smallest distance along the light's axis [1/m]; negative: no shadow
    C_DIRECTION, _,                 # of the turned rectangle, unit vector in the image plane
    C_ALONG_LOW, C_ALONG_HIGH, C_ACROSS_LOW, C_ACROSS_HIGH,
) = (VECTOR * k for k in range(14))
CASTER_BLOCK = 14 * VECTOR
# fmt: on
# Beads: ``beads``; centre in the world [m], and a mark written by culling.
E_X, E_Y, E_Z, E_MARK = (VECTOR * k for k in range(4))
BEAD_BLOCK = 4 * VECTOR
# A patch of a light's image plane: left, right, top, bottom, and the largest distance along its axis [m].
PATCH = 5

ZERO = np.float32(0)
ONE = np.float32(1)
HALF = np.float32(0.5)
TINY = np.float32(1e-9)
BIG = np.float32(1e6)

# mjtGeom, as literals that Numba freezes into the kernels.
PLANE, HEIGHT_FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = 0, 1, 2, 3, 4, 5, 6, 7
# A mesh that is not an intersection of a few half spaces: triangles in a bounding volume hierarchy.
TRIANGLES = 9
# Many balls of one size and material; always the last row of the geom table.
BEADS = 10

# A surface of revolution about z. Its rows in the table of half spaces, from G_HULL on: two per piece of its surface
# (r0, z0, r1, z1; normal at both ends, radial and z), one per piece of its outside, one per piece of its cavity.
TURNED = 11

# Lanes are grouped by the geom they show; with more geoms than this in a batch, the last group takes the rest.
GROUPS = 4
# Spaces of a group or a tile: around its surface points, at the height of the upper probe of ambient occlusion above
# them, and, for groups, at the height of the lower one.
SURFACE, ABOVE, BETWEEN = 0, 1, 2

# The surroundings: ``world[COLUMN]``. Light from a direction n is E0 + E1 . n per channel (first-order harmonics).
(
    W_AMBIENT,  # 3 constants, then 3 x 3 gradients
    W_ZENITH,
    W_HORIZON,
    W_NADIR,
    W_EXPOSURE,
    W_AO_LOW,
    W_AO_HIGH,
    W_AO_FLOOR,
    W_WINDOW_COUNT,  # bright panes reflected by shiny surfaces; 0 reflects only the ambient light
    W_WINDOWS,  # MAX_WINDOWS blocks of WINDOW_COLUMNS
) = (0, 12, 15, 18, 21, 22, 23, 24, 25, 26)
# A pane seen in a direction m: w . m > 0, at (u . m, v . m) / (w . m), inside from -1 to 1; u and v are divided by its
# half width and half height. Its light, and the width of its bars as a fraction of its half width (0: none).
P_W, P_U, P_V, P_COLOR, P_BARS = 0, 3, 6, 9, 12
WINDOW_COLUMNS = 13
MAX_WINDOWS = 4
WORLD_COLUMNS = 26 + MAX_WINDOWS * WINDOW_COLUMNS

# One camera: ``view[COLUMN]``.
(
    V_INV_FX,
    V_INV_FY,
    V_CX,
    V_CY,
    V_NEAR,
    V_PIXEL,  # size of a pixel at depth 1 [m]
    V_EYE,  # p_world_camera [m]
    V_AXES,  # R_world_camera, row major
) = (0, 1, 2, 3, 4, 5, 6, 9)
VIEW_COLUMNS = 18
