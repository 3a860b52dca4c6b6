"""Isaac Sim's control modules by their published paths: change ``isaacsim`` to ``handloom.compat.isaacsim``.

Robots are placed on a stage by prim path, as published. ``handloom.compat.isaac`` has the same classes with a World and
a name prefix in place of the prim path.
"""

from handloom.compat.isaacsim.table import DIFFERENT, MODULES
from handloom.compat.published import add_modules

__all__ = ["DIFFERENT", "MODULES"]

add_modules(__name__, MODULES)
