"""The library's tasks under the names Gymnasium knows them by."""

import gymnasium

from handloom.tasks import library

NAMESPACE = "handloom"


def register_environments() -> None:
    """Tell Gymnasium about every task of the library; called by its plug-in entry point and on import."""
    for task in library():
        if f"{NAMESPACE}/{task}-v0" not in gymnasium.registry:
            gymnasium.register(
                id=f"{NAMESPACE}/{task}-v0",
                entry_point="handloom.gym.environment:TaskEnvironment",
                kwargs={"task": task},
            )


def environment_ids() -> tuple[str, ...]:
    """Return the id of every task of the library, e.g. ``handloom/fr3_pick_place-v0``."""
    return tuple(f"{NAMESPACE}/{task}-v0" for task in library())
