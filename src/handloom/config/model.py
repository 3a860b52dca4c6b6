"""The base class of all config models, numbers with units, and the marker for keys that have no effect here."""

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from types import NoneType
from typing import Annotated, Any, Literal, Self, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from handloom.errors import suggest

FURTHEST = 100.0
"""Largest length or coordinate [m]."""


def _metres(value: float) -> float:
    if abs(value) > FURTHEST:
        raise ValueError(f"lengths are in metres, at most {FURTHEST:g}; {value:g} mm would be {value / 1000:g}")
    return value


Metres = Annotated[float, AfterValidator(_metres)]
"""A length or coordinate [m]."""
Degrees = Annotated[float, Field(ge=-3600.0, le=3600.0)]
"""An angle [deg]."""
Position = tuple[Metres, Metres, Metres]
"""x, y, z [m]."""
Angles = tuple[Degrees, Degrees, Degrees]
"""Extrinsic xyz angles [deg]."""


def _not_zero(quat: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if not 1e-6 < sum(value * value for value in quat) < 1e6:
        raise ValueError(f"a quaternion must have length 1, got {list(quat)}")
    return quat


Quaternion = Annotated[tuple[float, float, float, float], AfterValidator(_not_zero)]
"""An orientation, wxyz; normalised when it is used."""


class Config(BaseModel):
    """A frozen config: keyword-only, unknown keys refused with the nearest known one, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True)

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_unknown_keys(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Report each unknown key with the nearest known one, together with all other mistakes; pydantic cannot."""
        if not isinstance(given, dict) or cls.model_config.get("extra") == "allow":
            return handler(given)
        known = _known_keys(cls)
        if known.issuperset(given):
            return handler(given)
        unknown = [key for key in given if key not in known]
        mistakes = [_unknown_key(str(key), known, cls.place_of_key(str(key), given)) for key in unknown]
        try:
            handler({key: value for key, value in given.items() if key in known})
        except ValidationError as error:
            mistakes += [_again(item) for item in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(cls.__name__, mistakes)

    @classmethod
    def more_keys(cls) -> set[str]:
        """Return keys that are accepted although no field has their name."""
        return set()

    @classmethod
    def place_of_key(cls, key: str, given: Mapping[Any, Any]) -> str:
        """Return text about where an unknown key belongs; empty if that is not known.

        Args:
            key: The key.
            given: All keys and values beside it.
        """
        return ""


@cache
def field_docs(model: type[Config]) -> Mapping[str, str]:
    """Return the docstrings of a model's fields, including inherited fields.

    Pydantic can do so when a class is created, but then reads the source of every model in every process that imports
    it.
    """
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not issubclass(cls, Config):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(tree, ast.ClassDef)
        for field, below in zip_longest(tree.body, tree.body[1:]):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            found.pop(field.target.id, None)  # A field that is declared again needs its own docstring.
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                found[field.target.id] = inspect.cleandoc(str(below.value.value))
    return found


@cache
def _known_keys(model: type[Config]) -> frozenset[str]:
    return frozenset({field.alias or name for name, field in model.model_fields.items()} | model.more_keys())


def _unknown_key(key: str, known: frozenset[str], place: str) -> InitErrorDetails:
    hint = place or suggest(key, known).replace("known:", "known keys:")
    return InitErrorDetails(
        type=PydanticCustomError("unknown_key", "unknown key, {hint}", {"key": key, "hint": hint}), loc=(), input=None
    )


def _again(item: Any) -> InitErrorDetails:
    """Return a mistake as an error detail, so that it can be raised together with others."""
    context = {name: value for name, value in item.get("ctx", {}).items() if name in ("key", "keys")}
    kind = PydanticCustomError(item["type"], item["msg"], context)
    return InitErrorDetails(type=kind, loc=item["loc"], input=item["input"])


def mistake_at(keys: Sequence[str | int], text: str) -> PydanticCustomError:
    """Return a mistake for a validator to raise that lies deeper than the validator's own model.

    Args:
        keys: Its path from the model, such as ``("objects", 1, "name")``.
        text: What is wrong.
    """
    return PydanticCustomError("mistake_at", "{text}", {"text": text, "keys": tuple(keys)})


@dataclass(frozen=True)
class UnusedKey:
    """Marks a field that is read and kept but has no effect here: ``Annotated[str | None, UnusedKey("why")]``."""

    why: str
    """Reason shown to the user, e.g. ``only means something to USD``."""


def unused_keys(config: Config, path: str = "") -> tuple[str, ...]:
    """Return one line for every key that was given in the file but has no effect here.

    Args:
        config: A loaded config; nested configs, lists and mappings of configs are visited too.
        path: Dotted path of ``config`` itself, used as a prefix.
    """
    lines: list[str] = []
    for name, key, marks in _fields(type(config)):
        value = getattr(config, name)
        if marks and name in config.model_fields_set:
            lines += [f"{path}.{key} has no effect here: {mark.why}".lstrip(".") for mark in marks]
        if isinstance(value, _CAN_HOLD) and value:
            lines += _unused_inside(value, f"{path}.{key}".lstrip("."))
    return tuple(lines)


_CAN_HOLD = (Config, dict, list, tuple)
"""Containers that may hold a config."""


@cache
def _fields(model: type[Config]) -> tuple[tuple[str, str, tuple[UnusedKey, ...]], ...]:
    """Return name, YAML key and marks of every field of a config that has marks or may hold a config."""
    fields = (
        (name, field.alias or name, tuple(mark for mark in field.metadata if isinstance(mark, UnusedKey)), field)
        for name, field in model.model_fields.items()
    )
    return tuple((name, key, marks) for name, key, marks, field in fields if marks or _may_hold(field.annotation))


def _may_hold(annotation: Any) -> bool:
    """Return whether a value of this type may hold a config."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _may_hold(inside[0])
    if inside:
        return origin is not Literal and any(map(_may_hold, inside))
    return annotation not in (str, bool, int, float, NoneType, Ellipsis)


def _unused_inside(value: Any, path: str) -> list[str]:
    if isinstance(value, Config):
        return list(unused_keys(value, path))
    if isinstance(value, dict):
        return [
            line
            for key, item in value.items()
            if isinstance(item, _CAN_HOLD)
            for line in _unused_inside(item, f"{path}.{key}")
        ]
    return [
        line
        for i, item in enumerate(value)
        if isinstance(item, _CAN_HOLD)
        for line in _unused_inside(item, f"{path}.{i}")
    ]
