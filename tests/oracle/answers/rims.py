"""What rims and edges bear of a thing, for the oracle: forces of contacts, heights and shares seen from above."""

import mujoco
import numpy as np
from tests.oracle.answers.solids import Array, Rays, Solids

AROUND = 0.85 * np.pi
"""Largest angle between neighbouring contacts that hold a thing from all around [rad]."""
LEANS = 0.25
"""Share of a thing's whole weight up to which it only leans on a rim: a mug on a cup in a crate."""


def rim_bears(
    model: mujoco.MjModel, data: mujoco.MjData, walls: Solids, *, own: set[int], target: set[int]
) -> tuple[float, bool]:
    """Return the share of a thing's weight on its container that the rim bears, and whether it does so all around.

    It is nothing if what else is in the container bears nearly all of the thing. A contact is on a rim where the
    surface of the container, looked at from above, is nowhere higher around it, and falls towards the middle of it.

    Args:
        model: The compiled scene.
        data: Its state, with contact forces computed.
        walls: The container.
        own: Bodies of the thing, the first of them its root.
        target: Bodies of the container.
    """
    middle = 0.5 * (walls.surface.min(axis=0) + walls.surface.max(axis=0))[:2]
    centre = np.array(data.subtree_com[min(own)])
    rays, force, borne, others, rims = Rays(walls), np.zeros(6), 0.0, 0.0, list[tuple[float, Array]]()
    for k, contact in enumerate(data.contact):
        a, b = (int(model.geom_bodyid[g]) for g in contact.geom)
        if (a in own) == (b in own):
            continue
        mujoco.mj_contactForce(model, data, k, force)
        up = float(contact.frame.reshape(3, 3)[:, 2] @ force[:3]) * (1.0 if b in own else -1.0)
        if not target & {a, b}:
            others += max(up, 0.0)
            continue
        borne += max(up, 0.0)
        if up > 0.0 and _on_a_rim(rays, np.array(contact.pos), middle):
            rims.append((up, np.array(contact.pos) - centre))
    on_rims = sum(up for up, _ in rims)
    share = on_rims / borne if on_rims > LEANS * (borne + others) else 0.0
    angles = np.sort([np.arctan2(way[1], way[0]) for _, way in rims])
    around = len(rims) > 2 and float(np.diff([*angles, angles[0] + 2.0 * np.pi]).max()) < AROUND
    return share, around


def _on_a_rim(rays: Rays, at: Array, middle: Array) -> bool:
    """Return whether a place (3,) is on top of a wall, where ``middle`` (2,) is that of what the wall is around."""
    inwards = np.arctan2(middle[1] - at[1], middle[0] - at[0])
    angles = inwards + np.arange(8) * np.pi / 4.0
    around = [at[:2] + r * np.array([np.cos(t), np.sin(t)]) for t in angles for r in (0.006, 0.012)]
    highest = max(rays.height(place, at[2] + 0.05) for place in around)
    within = at[:2] + 0.02 * np.array([np.cos(inwards), np.sin(inwards)])
    return highest <= at[2] + 0.004 and rays.height(within, at[2] + 0.05) <= at[2] - 0.008


def best_over(body: Solids, top: Solids) -> float:
    """Return the largest share of a thing that could be over another, turned any way: a ruler hangs over a cup."""
    middle = 0.5 * (top.surface.min(axis=0) + top.surface.max(axis=0))
    points, shares = body.points - body.points.mean(axis=0), list[float]()
    for angle in np.arange(0.0, np.pi, np.pi / 18.0):
        c, s = np.cos(angle), np.sin(angle)
        shares.append(float(np.mean(top.above(points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + middle))))
    return max(shares)
