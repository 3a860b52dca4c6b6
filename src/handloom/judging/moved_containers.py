"""Containers that are thrown or dragged away with what was put into them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import Nature, check, over_box
from handloom.judging.lasting import BELTS
from handloom.judging.wording.measured import unmet
from handloom.judging.world_terms import in_cavity, in_hand
from handloom.scene import Scene
from handloom.spatial import invert_pose
from handloom.values import Check

MOVED = 0.05
"""How far a container may move once something is in it [m]."""
PUT_IN = frozenset({"in_cavity", "inserted"})
"""Terms of objects that are put into a container."""
IN_PLACE = frozenset({"let_go", "points_up", "unmoved"})
"""Terms of objects that need not move."""


@check(Nature.PLACED)
def container_stays(
    scene: Scene,
    *,
    object: str,
    target: str,
    distance: float,
    along: Sequence[str] = (),
    part: str | None = None,
    before: Mapping[str, Array] | None = None,
) -> bool:
    """Return whether a container is where it was when an object came to lie in it, or rides on something that moves.

    Args:
        scene: The scene.
        object: The object in it.
        target: The container.
        distance: How far it may have moved [m].
        along: Objects that are meant to move; a container that stays on one of them may move with it.
        part: Body of the container in which the object must lie; absent, any.
        before: Poses (4, 4) of the container and of ``along`` at that moment, which ``FilledContainers`` knows; absent,
            the object has not been in it.
    """
    if before is None:
        return True
    moved = scene.object_pose(target)[:3, 3] - before[target][:3, 3]
    if float(np.linalg.norm(moved)) <= distance:
        return True
    rides = (_apart(before[target], before[k]) - _apart(scene.object_pose(target), scene.object_pose(k)) for k in along)
    return any(np.linalg.norm(change) <= distance for change in rides)


def container_terms(scene: Scene, goal: Sequence[Check], handled: Collection[str] = ()) -> tuple[Check, ...]:
    """Return the terms that loose containers stay where they are filled; none in scenes with a running belt.

    A container that a skill handles, or that the goal wants somewhere, is meant to move.

    Args:
        scene: The scene.
        goal: All other terms of the goal.
        handled: Objects that the task's skills grasp.
    """
    if any(obj.category in BELTS for obj in scene.instance.objects):
        return ()
    loose = {obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid}
    put_in = [term for term in goal if term.name in PUT_IN and not term.seconds]
    placed = {term.arguments["object"] for term in goal if "object" in term.arguments and term.name not in IN_PLACE}
    meant = {*handled, *placed}
    terms: list[Check] = []
    for term in put_in:
        name, target, part = (term.arguments.get(key) for key in ("object", "target", "part"))
        if target not in loose or target in meant:
            continue
        contents = {other.arguments["object"] for other in put_in if other.arguments["target"] == target}
        along = sorted((meant & loose) - contents)
        about = {"object": name, "target": target, "distance": MOVED, "along": along, "part": part}
        terms.append(Check(name=container_stays.__name__, arguments=about))
    return tuple(terms)


class FilledContainers:
    """Remembers where containers were when the objects of a goal came to lie in them.

    Args:
        scene: The scene.
        goal: Terms of the task.
    """

    def __init__(self, scene: Scene, goal: Iterable[Check]) -> None:
        self._scene = scene
        self._terms = [term for term in goal if term.name == container_stays.__name__]
        self._before: dict[int, dict[str, Array]] = {}

    def look(self) -> None:
        """Take note of the objects that are in their containers now, and of those that a hand has taken out again."""
        for index, term in enumerate(self._terms):
            about = term.arguments
            pair = {"object": about["object"], "target": about["target"]}
            over = over_box(self._scene, **pair, margin=0.0)
            if over == (index in self._before):
                continue
            held = in_hand(self._scene, object=about["object"])
            if not over and held:
                del self._before[index]
            elif over and not held and in_cavity(self._scene, **pair, part=about["part"]):
                names = (about["target"], *about["along"])
                self._before[index] = {name: self._scene.object_pose(name).copy() for name in names}

    def known(self, term: Check) -> Check:
        """Return a term of the goal with what is remembered about it; other terms as they are."""
        before = self._before.get(self._terms.index(term)) if term in self._terms else None
        return term if before is None else replace(term, arguments=term.arguments | {"before": before})


def moved_in(scene: Scene, terms: Sequence[Check], states: Iterable[Array]) -> str:
    """Return which containers moved after they had been filled, in words; the scene is in the last state afterwards.

    Args:
        scene: The scene.
        terms: Terms ``container_stays``.
        states: State of the scene before each frame, and after the last.
    """
    filled = FilledContainers(scene, terms)
    for state in states if terms else ():
        scene.world.restore_state(state)
        filled.look()
    known = [filled.known(term) for term in terms]
    return "; ".join(unmet(scene, term) for term in known if not container_stays(scene, **term.arguments))


def _apart(T_world_container: Array, T_world_other: Array) -> Array:
    """Return the place of a container (3,) in the frame of another object [m]."""
    return (invert_pose(T_world_other) @ T_world_container)[:3, 3]
