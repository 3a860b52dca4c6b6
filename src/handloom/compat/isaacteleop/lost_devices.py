"""Behaviour of nodes where the published ones propagate invalid values, jump or raise: (name, fault) > difference.

``tests/compat/lost_devices.py`` runs both through 99 cases. In all cases not listed here, they agree.
"""

_HOLDS = "holds the last pose"
_ZEROS = "gives zeros and restarts at the next good frame"

LOST_DEVICES: dict[tuple[str, str], str] = {
    ("Se3AbsRetargeter", "flagged invalid"): f"{_HOLDS}; published: a hand jumps to the origin of the device",
    ("Se3AbsRetargeter", "NaN position"): f"{_HOLDS}; published: commands NaN",
    ("Se3AbsRetargeter", "infinite position"): f"{_HOLDS}; published: commands infinity",
    ("Se3AbsRetargeter", "1e30 m"): f"{_HOLDS}: no hand is farther than 1 km; published: commands it",
    ("Se3AbsRetargeter", "zero quaternion"): f"{_HOLDS}; published: raises, which ends the session",
    ("Se3AbsRetargeter", "NaN quaternion"): f"{_HOLDS}; published: raises, which ends the session",
    ("Se3RelRetargeter", "absent"): f"{_ZEROS}; published: the unseen motion of the hand becomes one jump",
    ("Se3RelRetargeter", "flagged invalid"): f"{_ZEROS}; published: a hand's stale joints are used",
    ("Se3RelRetargeter", "NaN position"): f"{_ZEROS}; published: commands NaN from then on",
    ("Se3RelRetargeter", "infinite position"): f"{_ZEROS}; published: commands infinity, and NaN from then on",
    ("Se3RelRetargeter", "1e30 m"): f"{_ZEROS}: no hand is farther than 1 km; published: commands it, there and back",
    ("Se3RelRetargeter", "zero quaternion"): f"{_ZEROS}; published: raises, which ends the session",
    ("Se3RelRetargeter", "NaN quaternion"): f"{_ZEROS}; published: raises, which ends the session",
    (
        "DefaultTeleopStateManager",
        "reset lost",
    ): "a reset button that is down when the device returns does not count as a press; published: it does, although "
    "the kill and run buttons do not",
}
