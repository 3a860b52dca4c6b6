"""Registration of the library's tasks with Gymnasium."""

from pathlib import Path

from gymnasium.envs.registration import register, registry

NAMESPACE = "handloom"
LIBRARY = Path(__file__).parents[1] / "tasks" / "library"
"""The tasks that ship with Handloom; importing ``handloom.tasks`` would load MuJoCo before an environment is
created."""


def register_environments() -> None:
    """Register every task of the library with Gymnasium; called on import."""
    for task in _tasks():
        if f"{NAMESPACE}/{task}-v0" not in registry:
            register(
                id=f"{NAMESPACE}/{task}-v0",
                entry_point="handloom.gym.environment:TaskEnvironment",
                kwargs={"task": task},
            )


def environment_ids() -> tuple[str, ...]:
    """Return the id of every task of the library, e.g. ``handloom/fr3_pick_place-v0``."""
    return tuple(f"{NAMESPACE}/{task}-v0" for task in _tasks())


def _tasks() -> list[str]:
    return [file.stem for file in sorted(LIBRARY.glob("*.yaml"))]
