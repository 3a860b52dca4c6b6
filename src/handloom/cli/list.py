"""``handloom list KIND``: what exists."""

from typing import Literal


def run(kind: Literal["robots"], /) -> None:
    """List what exists, one per line with a short description.

    Args:
        kind: What to list.
    """
    LISTS[kind]()


def _robots() -> None:
    from handloom.robots import load_robot, robot_names

    for name in robot_names():
        robot = load_robot(name)
        arms = ", ".join(f"{arm.name} arm with {len(arm.joint_names)} joints" for arm in robot.arms)
        print(f"{name:<18}{arms}")


LISTS = {"robots": _robots}
