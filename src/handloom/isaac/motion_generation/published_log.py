"""Logging for published interfaces that log errors instead of raising them."""

import logging
from typing import Literal

LOGGER = logging.getLogger("handloom.isaac.motion_generation")


def warn(message: str) -> Literal[False]:
    """Log a warning; return False, for the caller to return."""
    LOGGER.warning(message)
    return False


def fail(message: str) -> None:
    """Log an error; return None, for the caller to return."""
    LOGGER.error(message)
