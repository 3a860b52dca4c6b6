"""``omni.usd.get_context().get_stage()`` for ported code: ``from handloom.compat import omni``."""

from handloom.compat.published import add_modules

MODULES = {"usd": {"get_context": "handloom.isaac.names.stage:get_context"}}
"""Path below ``omni`` > published name > ``"module:object"``."""

add_modules(__name__, MODULES)
