"""What the published interfaces log instead of raising."""

import logging
from typing import Literal

LOGGER = logging.getLogger("handloom.isaac.motion_generation")


def warn(message: str) -> Literal[False]:
    """Log a warning; return False, which is what the caller answers."""
    LOGGER.warning(message)
    return False


def fail(message: str) -> None:
    """Log an error; return None, which is what the caller answers."""
    LOGGER.error(message)
