"""Session state by its published names."""

from handloom.compat.published import published

NAMES = {
    "DefaultTeleopStateManager": "handloom.retarget:DefaultTeleopStateManager",
    "create_bool_selector": "handloom.retarget:create_bool_selector",
    "bool_signal": "handloom.retarget:bool_signal",
}

__getattr__, __dir__ = published(__name__, NAMES)
