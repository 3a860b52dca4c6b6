"""Tasks as Gymnasium environments (extra ``gym``): ``gymnasium.make("handloom/fr3_pick_place-v0")``.

Importing this package registers the library's tasks; ``gymnasium.make("handloom.gym:handloom/fr3_pick_place-v0")`` does
both. Open your own task file with ``TaskEnvironment("my_task.yaml")``. Large libraries are loaded only when an
environment is created.
"""

from typing import TYPE_CHECKING, Any

from handloom.errors import require

require("gymnasium", extra="gym")

from handloom.gym.registration import environment_ids, register_environments  # noqa: E402 - after the check

if TYPE_CHECKING:
    from handloom.gym.environment import TaskEnvironment

register_environments()

__all__ = ["TaskEnvironment", "environment_ids", "register_environments"]


def __getattr__(name: str) -> Any:
    if name == "TaskEnvironment":
        from handloom.gym.environment import TaskEnvironment

        return TaskEnvironment
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
