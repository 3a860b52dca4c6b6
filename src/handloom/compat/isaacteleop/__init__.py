"""The published modules of Isaac Teleop: change the import, keep the pipeline.

The modules of this package have no files: they are created from ``table.MODULES`` when the package is imported. Names
that are out of scope (third-party hands, a third-party camera, images in an OpenXR headset) raise ``NotHereError``, an
``ImportError`` with the reason.
"""

from handloom.compat.isaacteleop.table import DIFFERENT, MODULES
from handloom.compat.published import NotHereError, add_modules

__all__ = ["DIFFERENT", "MODULES", "NotHereError"]

add_modules(__name__, MODULES)
