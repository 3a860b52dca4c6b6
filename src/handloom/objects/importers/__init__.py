"""Importers: MJCF, URDF, mesh and USD files, and stand-ins for files that are missing."""

from handloom.objects.importers.asset_files import find_asset
from handloom.objects.importers.import_object import READERS, Imported, import_object
from handloom.objects.importers.import_options import ImportReport
from handloom.objects.importers.proxy import PROXIES, category_of_path, proxy_category, proxy_object

__all__ = [
    "PROXIES",
    "READERS",
    "ImportReport",
    "Imported",
    "category_of_path",
    "find_asset",
    "import_object",
    "proxy_category",
    "proxy_object",
]
