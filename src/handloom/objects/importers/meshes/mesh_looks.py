"""Look of imported surfaces: their own triangles, with the file's texture or their colours baked into one."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from handloom.arrays import Array
from handloom.objects.importers.import_options import ReportDraft
from handloom.objects.importers.meshes.mesh_blueprint import SourceMesh, thinned
from handloom.objects.parts import Surface

MOST_TRIANGLES = 20_000
"""Maximum number of triangles drawn per surface; denser ones are thinned."""
MOST_PIXELS = 1024
"""Longest side of a texture [px]."""
SWATCH = 4
"""Side of the square that each colour of a palette fills [px], so that filtering does not mix neighbours."""
SHADES = 24
"""Levels per channel to which colours of single triangles are rounded."""


def drawn(
    meshes: Iterable[SourceMesh], draft: ReportDraft, *, material: str, body: str = "object"
) -> tuple[Surface, ...]:
    """Return meshes for drawing; simplifications are noted in the draft."""
    surfaces: list[Surface] = []
    left_out = 0
    for mesh in meshes:
        more, fewer = _drawn(mesh, material=material, body=body)
        surfaces += more
        left_out += fewer
    if left_out:
        draft.converted.append(
            f"{left_out} triangles left out in images: surfaces of more than {MOST_TRIANGLES} are thinned"
        )
    return tuple(surfaces)


def _drawn(mesh: SourceMesh, *, material: str, body: str) -> tuple[list[Surface], int]:
    """Return a mesh for drawing: one surface for each of its textures, and one for all plain colours.

    Args:
        mesh: The surface in the frame of the body.
        material: Substance, for its gloss.
        body: Body it belongs to.

    Returns:
        The surfaces, and the number of triangles left out by thinning.
    """
    plain = np.ones(len(mesh.faces), bool)
    groups: list[tuple[NDArray[np.bool_], Array, NDArray[np.uint8]]] = []
    for mask, image in mesh.textures:
        if mesh.texcoords is not None and mask.any():
            groups.append((mask & plain, mesh.texcoords, _bounded(image)))
            plain &= ~mask
    if plain.any():
        groups.append((plain, *_palette(mesh.colors)))
    surfaces, left_out = [], 0
    for mask, texcoords, image in groups:
        vertices, faces, kept = thinned(mesh.vertices, mesh.faces[mask], MOST_TRIANGLES)
        left_out += int(mask.sum()) - len(faces)
        if len(faces):
            coords = texcoords[mask][kept]
            surfaces.append(
                Surface(vertices=vertices, faces=faces, texcoords=coords, image=image, substance=material, body=body)
            )
    return surfaces, left_out


def _bounded(image: Array) -> NDArray[np.uint8]:
    """Return a texture (h, w, 3), 0 to 1, as bytes, with no side longer than ``MOST_PIXELS``."""
    picture = Image.fromarray(np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8))
    picture.thumbnail((MOST_PIXELS, MOST_PIXELS))
    return np.asarray(picture.convert("RGB"))


def _palette(colors: Array) -> tuple[Array, NDArray[np.uint8]]:
    """Return texture coordinates (m, 3, 2) and an image in which every triangle has its colour (m, 3)."""
    shades = np.rint(np.clip(colors, 0, 1) * (SHADES - 1)).astype(int)
    keys, first, index = np.unique(
        shades @ [SHADES * SHADES, SHADES, 1], return_index=True, return_inverse=True, axis=0
    )
    side = int(np.ceil(np.sqrt(len(keys))))
    swatches = np.zeros((side * side, 3), np.uint8)
    swatches[: len(keys)] = np.rint(255 * np.clip(colors[first], 0, 1))
    image = np.repeat(np.repeat(swatches.reshape(side, side, 3), SWATCH, axis=0), SWATCH, axis=1)
    row, column = np.divmod(index.ravel(), side)
    middle = np.stack([(column + 0.5) / side, 1.0 - (row + 0.5) / side], axis=1)
    return np.repeat(middle[:, None], 3, axis=1), image
