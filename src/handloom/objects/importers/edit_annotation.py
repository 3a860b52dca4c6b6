"""Edit the proposed annotation of a joint; mistakes are reported before anything is written."""

from dataclasses import replace

import numpy as np

from handloom.errors import InputError, unknown_name
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.parts import Link, Point, point


def chosen_joint(asset: ObjectAsset, joint: str | None) -> int:
    """Return the index of a moving part among an asset's joints, by its name or its joint's; None: the first.

    Raises:
        InputError: The asset has no joints.
        NotFoundError: No joint of that name; the message lists the joints.
    """
    if not asset.joints:
        raise InputError(f"{asset.name} has no hinge or slide joint, so there is nothing to annotate")
    names = [link.name for link in asset.joints]
    wanted = names[0] if joint is None else joint
    for k, link in enumerate(asset.joints):
        if wanted in (link.name, link.joint):
            return k
    raise unknown_name(f"joint of {asset.name}", wanted, [*names, *(link.joint for link in asset.joints)])


def edited(
    link: Link, *, head: Point | None = None, push: Point | None = None, contact_axis: Point | None = None
) -> Link:
    """Return a link with new points [m] or a new direction along its handle, all in its own frame.

    Raises:
        InputError: A value is not finite, or a direction has no length or points towards the hand.
    """
    for name, values in (("head", head), ("push", push), ("contact_axis", contact_axis)):
        if values is not None and not np.isfinite(values).all():
            raise InputError(f"--{name.replace('_', '-')} must be three numbers, got {list(values)}")
    if head is not None:
        shift = np.subtract(head, link.head)
        link = replace(
            link, head=head, tail=point(np.add(link.tail, shift - np.dot(shift, link.axis) * np.asarray(link.axis)))
        )
    if push is not None:
        link = replace(link, push=push)
    if contact_axis is None:
        return link
    away, length = np.asarray(link.held_from), float(np.linalg.norm(contact_axis))
    if length < 1e-9:
        raise InputError("--contact-axis has no length")
    across = np.asarray(contact_axis, float) / length
    across = across - np.dot(across, away) * away
    if np.linalg.norm(across) < 0.5:
        raise InputError(
            f"--contact-axis {list(contact_axis)} points towards the approaching hand, {np.round(away, 2).tolist()}; "
            "it runs along the handle, across that"
        )
    return replace(link, contact_axis=point(across / np.linalg.norm(across)))
