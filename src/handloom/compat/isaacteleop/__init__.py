"""The published modules of Isaac Teleop: change the import, keep the pipeline.

The modules below this package have no files: they are made from ``table.MODULES`` when this package is imported.
"""

from handloom.compat.isaacteleop.table import MODULES
from handloom.compat.published import add_modules

__all__ = ["MODULES"]

add_modules(__name__, MODULES)
