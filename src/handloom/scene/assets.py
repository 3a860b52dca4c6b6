"""From an object instance to the asset it is made of."""

from functools import lru_cache
from json import dumps, loads

from handloom.objects import ObjectAsset, make_object
from handloom.scene.fixtures import FIXTURES, fixture_asset
from handloom.values import ObjectInstance


def asset_of(thing: ObjectInstance) -> ObjectAsset:
    """Return the asset of an instance; equal instances share one, since assets are frozen and slow to compile."""
    return _cached(thing.category, dumps(thing.parameters, sort_keys=True))


@lru_cache(maxsize=256)
def _cached(category: str, parameters: str) -> ObjectAsset:
    values = loads(parameters)
    return fixture_asset(category, values) if category in FIXTURES else make_object(category, parameters=values)
