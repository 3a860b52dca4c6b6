"""Objects: a procedural library, importers for meshes and models, annotations, stable poses."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.importers import Imported, ImportReport, import_object, proxy_category, proxy_object
from handloom.objects.keypoints import JointKeypoints, read_keypoints, write_keypoints
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.parts import Axis, Keypoint, Link, Part
from handloom.objects.registry import CATEGORIES, category_ranges, make_object, object_categories
from handloom.objects.rest_poses import RestPoses

__all__ = [
    "CATEGORIES",
    "Axis",
    "Blueprint",
    "Choices",
    "ImportReport",
    "Imported",
    "JointKeypoints",
    "Keypoint",
    "Link",
    "ObjectAsset",
    "Part",
    "RestPoses",
    "category_ranges",
    "import_object",
    "make_object",
    "object_categories",
    "proxy_category",
    "proxy_object",
    "read_keypoints",
    "write_keypoints",
]
