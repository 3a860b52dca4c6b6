"""How hard the joints of doors, drawers, lids and knobs are to move, per kind."""

from typing import Final, TypedDict

from handloom.objects.choices import Choices


class Feel(TypedDict):
    """Friction of one joint."""

    frictionloss: float
    """Dry friction [N or N m]: what a hand must overcome, and what holds the joint where it is left."""
    damping: float
    """Viscous friction [N s/m or N m s/rad]: keeps a push from slamming the joint into its stop."""


RANGES: Final[dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    # Kind: dry friction [N or N m], viscous friction [N s/m or N m s/rad].
    "drawer": ((1.0, 3.0), (4.0, 10.0)),
    "door": ((0.08, 0.25), (0.20, 0.50)),
    "appliance door": ((0.10, 0.30), (0.20, 0.50)),
    "folding door": ((0.25, 0.45), (0.40, 0.80)),
    "safe door": ((0.15, 0.40), (0.40, 0.90)),
    "box lid": ((0.06, 0.12), (0.02, 0.06)),
    "pot lid": ((0.01, 0.03), (0.02, 0.05)),
    "laptop": ((0.25, 0.40), (0.05, 0.12)),
    "tap": ((0.05, 0.15), (0.01, 0.04)),
    "knob": ((0.03, 0.08), (0.005, 0.02)),
}
"""A kitchen drawer takes 1 to 3 N, a cupboard door 0.1 to 0.3 N m at the hinge; a laptop's hinge carries its screen."""


def joint_feel(c: Choices, kind: str) -> Feel:
    """Choose the friction of a joint. Drawn after an object's shape, so that shapes stay as they were."""
    friction, damping = RANGES[kind]
    return {
        "frictionloss": c.number("joint_friction", *friction),
        "damping": c.number("joint_damping", *damping),
    }
