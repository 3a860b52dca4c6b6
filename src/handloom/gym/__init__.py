"""Tasks as Gymnasium environments (extra ``gym``): ``gymnasium.make("handloom/fr3_pick_place-v0")``.

Gymnasium finds the library's tasks by itself once Handloom is installed with the extra; a task file of one's own is
opened with ``TaskEnvironment("my_task.yaml")``.
"""

from handloom.errors import require

require("gymnasium", extra="gym")

from handloom.gym.environment import TaskEnvironment  # noqa: E402 - says what to install first
from handloom.gym.registration import environment_ids, register_environments  # noqa: E402

register_environments()

__all__ = ["TaskEnvironment", "environment_ids", "register_environments"]
