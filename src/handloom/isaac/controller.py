"""Base class of robot controllers."""

from abc import ABC, abstractmethod
from typing import Any

from handloom.values import ArticulationAction


class BaseController(ABC):
    """A controller turns a command into an action; subclass it to write your own.

    Args:
        name: Name of the controller.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> ArticulationAction:
        """Return the action for a command."""

    def reset(self) -> None:  # noqa: B027 - most controllers are stateless
        """Clear all state kept between commands."""
