"""Find the wrapper class of a robot: the shared one, or a user's own."""

from typing import TypeVar

from handloom.config import import_named
from handloom.errors import InputError, unknown_name
from handloom.robots.catalog import TARGET_CLASSES
from handloom.robots.robot_description import RobotDescription
from handloom.robots.template_robot import TemplateRobot
from handloom.sim import World

_SHARED = {"handloom.robots:TemplateRobot": "handloom.robots:TemplateRobot"}
"""The class that robot files which `handloom robot add` wrote name."""

Wrapper = TypeVar("Wrapper", bound=type[TemplateRobot])


def register_robot(wrapper: Wrapper) -> Wrapper:
    """Check a user's wrapper class; ``target_class: my_module:MyRobot`` in a robot file then names it.

    Usable as a decorator. Nothing is stored: the robot file says where the class is.
    """
    if not (isinstance(wrapper, type) and issubclass(wrapper, TemplateRobot)):
        raise InputError(f"a robot wrapper derives from TemplateRobot, {wrapper!r} does not")
    if wrapper.__name__ in TARGET_CLASSES:
        raise InputError(f"{wrapper.__name__!r} is the published class of a robot that ships; choose another name")
    return wrapper


def robot_class(target_class: str) -> type[TemplateRobot]:
    """Return the wrapper class a robot file names.

    Published classes all share :class:`TemplateRobot`; a class of your own is named ``my_module:MyRobot``.
    """
    if target_class in TARGET_CLASSES:
        return TemplateRobot
    if ":" not in target_class:
        raise unknown_name("target_class", target_class, [*TARGET_CLASSES, "my_module:MyRobot"])
    return register_robot(import_named("target_class", target_class, _SHARED, own="my_module:MyRobot"))


def make_robot(
    world: World, description: RobotDescription, *, prefix: str = "", name: str | None = None
) -> TemplateRobot:
    """Return the robot of a description in a world, wrapped in the class its file names. Call ``initialize`` next."""
    return robot_class(description.config.target_class)(world, description, prefix=prefix, name=name)
