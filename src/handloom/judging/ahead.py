"""Check that success lasts: another second of physics, simulated and undone."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import StateError
from handloom.judging.checks import check, holds
from handloom.judging.lasting import BELTS, at_rest, frames_of
from handloom.judging.wording.measured import unmet
from handloom.judging.world_terms import in_hand
from handloom.scene import Scene
from handloom.values import Check

AHEAD = 1.0
"""How long success must last [s]."""
DRIFT = 0.01
"""How far an object at rest may move in that time [m]."""
LEAN = float(np.deg2rad(5.0))
"""How far it may tilt in that time [rad]; rotation about the vertical does not count."""
ROCKS = float(np.deg2rad(15.0))
"""Largest lasting tilt [rad]; a rocking object returns to less than that."""
CREEPS = 0.0002
"""Motion in the last half second of that time above which an object creeps, and may topple later [m]."""
TURNS = float(np.deg2rad(0.1))
"""Tilt in that half second above which an object creeps [rad]."""
WINDOW = 0.5
"""The time over which creeping is measured [s]."""
LONGER = 4.0
"""Total time for which a creeping object is observed [s]: a pear that begins to topple takes two seconds."""
TOPPLES, FASTER = float(np.deg2rad(0.2)), 1.5
"""What tilts by more than this in the last second of that time [rad], and that much more than in the first, topples
later: rolling resistance slows that down to ten seconds."""
LASTING = "lasting_after"
"""Name of the term."""
RESTING = frozenset({"in_cavity", "inserted", "carried_by", "apart_along", "placed_at"})
"""Terms of placed objects."""
WITHIN = frozenset({"in_cavity", "inserted"})
"""Those of objects between the walls of a container."""
ROLLS = 0.03
"""How fast an object may roll about in its container meanwhile [m/s]: the walls keep it there. What falls is faster."""
SHIFTS = 0.015
"""How far it may move there at any speed [m]: it rocks, or the container is set down that leaned on a hand."""
STRIDE = 0.2
"""The time over which that speed is measured [s]."""


def lasting_terms(scene: Scene, goal: Sequence[Check], handled: Collection[str] = ()) -> tuple[Check, ...]:
    """Return the term that a goal still holds one second later and that placed objects stay in place.

    Goals without placed objects (held, poured, open) need none. Nor do goals in scenes with a running belt.

    Args:
        scene: The scene.
        goal: All other terms of the goal.
        handled: Objects that a robot must grasp in the task; no hand may hold up any other container or support.
    """
    if any(obj.category in BELTS for obj in scene.instance.objects):
        return ()
    put = [term.arguments["object"] for term in goal if term.name in RESTING and not term.seconds]
    put += [name for term in goal if term.name == "lying_still" for name in term.arguments["objects"]]
    still = [name for term in at_rest(scene, put) for name in term.arguments["objects"]]
    if not still:
        return ()
    about: dict[str, Any] = {"objects": still, "after": AHEAD, "distance": DRIFT, "angle": LEAN, "rocking": ROCKS}
    placed = [(term.arguments["object"], term.name) for term in goal if term.name in RESTING]
    if contained := [name for name in still if set() < {kind for obj, kind in placed if obj == name} <= WITHIN]:
        about["contained"] = contained
    targets = dict.fromkeys(term.arguments.get("target") for term in goal if term.name in RESTING)
    if loose := [name for name in targets if name and name not in handled and _movable(scene, name)]:
        about["let_go"] = loose
    return (Check(name=LASTING, arguments=about),)


def _movable(scene: Scene, name: str) -> bool:
    """Return whether an object is a free body, which a hand could lift."""
    world = scene.world
    joint = int(world.model.body_jntadr[world.body_index(scene.body_of(name))])
    return joint >= 0 and world.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE


@check()
def lasting_after(
    scene: Scene,
    *,
    objects: Sequence[str],
    after: float,
    distance: float,
    angle: float,
    rocking: float = 0.0,
    let_go: Sequence[str] = (),
    contained: Sequence[str] = (),
) -> bool:
    """Return whether objects stay in place for some time, also without support from a robot.

    Args:
        scene: The scene.
        objects: What lies still.
        after: Duration [s].
        distance: How far each may move [m].
        angle: How far each may tilt [rad].
        rocking: Largest lasting tilt of an object that rocks or rolls in place [rad]; 0 allows no rocking.
        let_go: Containers and supports that no hand may hold up meanwhile.
        contained: Those of the objects that may roll about in their container.
    """
    with imagined(scene, let_go):
        return not _moving(scene, objects, after, distance, angle, rocking, contained)


def undone_after(scene: Scene, term: Check, goal: Sequence[Check]) -> str:
    """Return text about the part of a goal that does not last; empty if all of it does.

    Args:
        scene: The scene, whose state is unchanged.
        term: The term ``lasting_after``: the objects that must stay at rest, and for how long.
        goal: Terms that must still hold then.
    """
    about = dict(term.arguments)
    with imagined(scene, about.pop("let_go", ())):
        moving = _moving(scene, **about)
        return moving or "; ".join(
            f"no longer holds: {unmet(scene, other)}" for other in goal if not holds(scene, other)
        )


@contextmanager
def imagined(scene: Scene, let_go: Collection[str] = ()) -> Iterator[None]:
    """Undo, bit for bit, all changes to a scene's state in a block, and let nothing lean on a robot in it.

    An egg is at rest in a basket propped up by a finger, and rolls when the arm leaves. If a hand holds something, or
    there is a fluid, robots stay solid.

    Args:
        scene: The scene.
        let_go: Objects that no hand may hold: a basket caught by its rim between fingers is dropped.
    """
    world, model = scene.world, scene.world.model
    state, masks = world.save_state(), (model.geom_contype.copy(), model.geom_conaffinity.copy())
    solid = [obj.name for obj in scene.instance.objects if obj.solid and obj.name not in let_go]
    if scene.grains is None and not any(in_hand(scene, object=name) for name in solid):
        own = tuple(f"{name}/" for name in scene.robots)
        bodies = [world.body_index(name) for name in world.bodies if name.startswith(own)]
        of_robots = np.isin(model.geom_bodyid, bodies)
        model.geom_contype[of_robots] = model.geom_conaffinity[of_robots] = 0
        world.restore_state(state)
    try:
        yield
    finally:
        model.geom_contype[:], model.geom_conaffinity[:] = masks
        world.restore_state(state)


def _moving(
    scene: Scene,
    objects: Sequence[str],
    after: float,
    distance: float,
    angle: float,
    rocking: float = 0.0,
    contained: Sequence[str] = (),
) -> str:
    """Simulate with all targets held and all bases stopped; return which object did not stay in place."""
    for robot in scene.robots.values():
        if robot.base is not None:
            robot.base.drive_at(scene.world.data.ctrl, np.zeros(3))
    watch, strictly = _Watch(scene, objects, contained), angle if not rocking else np.pi
    moving = watch.runs(after, distance, strictly)
    if not moving and watch.most_lean > angle:
        moving = watch.runs(after, distance, strictly)
    while not moving and watch.creeps() and watch.seconds < LONGER:
        moving = watch.runs(WINDOW, distance, strictly)
    # A fallen object does not return. A rocking one does, and a tomato that rolls by millimetres tilts by degrees.
    return moving or watch.toppling() or watch.fallen(max(angle, rocking))


class _Watch:
    """Lets time pass in a scene and compares the poses of objects before and after.

    Args:
        scene: The scene.
        objects: What is watched.
        contained: Those that may roll about.
    """

    def __init__(self, scene: Scene, objects: Sequence[str], contained: Sequence[str] = ()) -> None:
        self._scene, self._contained = scene, frozenset(contained)
        self._before = {name: scene.object_pose(name) for name in objects}
        self._window = 1 + frames_of(WINDOW, scene.instance.fps)
        self._lately: deque[dict[str, Array]] = deque(maxlen=2 * self._window)
        self._at_first = self._before
        self._fast: set[str] = set()
        self.most_lean = 0.0
        """Largest tilt of each object so far [rad]."""
        self._frames = 0

    @property
    def seconds(self) -> float:
        """Time for which they have been observed [s]."""
        return self._frames / self._scene.instance.fps

    def runs(self, seconds: float, distance: float, angle: float) -> str:
        """Simulate for some time; return the object that moved or tilted too far.

        Args:
            seconds: How long [s].
            distance: How far each may move from its first place [m].
            angle: How far each may tilt [rad].
        """
        for _ in range(frames_of(seconds, self._scene.instance.fps)):
            try:
                self._scene.world.step(self._scene.instance.substeps)
            except StateError as error:
                return str(error)
            now = {name: self._scene.object_pose(name) for name in self._before}
            self._lately.append(now)
            self._frames += 1
            self._at_first = now if self._frames <= self._scene.instance.fps else self._at_first
            for name, T in self._before.items():
                self.most_lean = max(self.most_lean, _lean(T, now[name]))
                moved = float(np.linalg.norm(now[name][:3, 3] - T[:3, 3]))
                if name in self._contained:
                    self._fast |= {name} if self._speed(name) > ROLLS else set()
                    if moved > SHIFTS and self._speed(name) > ROLLS:
                        return f"{name} moves by more than {1000.0 * ROLLS:.0f} mm in a second"
                    continue
                if moved > distance:
                    return f"{name} moves by more than {1000.0 * distance:.0f} mm"
                if _lean(T, now[name]) > angle:
                    return _leaning_words(name, angle)
        return ""

    def _speed(self, name: str) -> float:
        """Return how fast an object has moved lately [m/s]."""
        frames = min(frames_of(STRIDE, self._scene.instance.fps), len(self._lately) - 1)
        before = self._lately[-1 - frames][name] if frames else self._before[name]
        way = float(np.linalg.norm(self._lately[-1][name][:3, 3] - before[:3, 3]))
        return way * self._scene.instance.fps / max(frames, 1)

    def creeps(self) -> bool:
        """Return whether anything has moved in the last half second, even a little."""
        lately = list(self._lately)[-self._window :]
        pairs = [(then[name], lately[-1][name]) for then in lately for name in self._before]
        return any(np.linalg.norm(b[:3, 3] - a[:3, 3]) > CREEPS or _lean(a, b) > TURNS for a, b in pairs)

    def toppling(self) -> str:
        """Return the object that tilts ever faster, after as long as creeping objects are observed."""
        if self.seconds < LONGER:
            return ""
        earlier = self._lately[-1 - self._scene.instance.fps]
        for name, T in self._before.items():
            last = _lean(earlier[name], self._lately[-1][name])
            if name not in self._contained and last > max(TOPPLES, FASTER * _lean(T, self._at_first[name])):
                return f"{name} topples: it tilts by {np.rad2deg(last):.1f} degrees in a second, and ever faster"
        return ""

    def fallen(self, angle: float) -> str:
        """Return the object that was tilted by more than an angle [rad] throughout the last second.

        What only rolled slowly in its container may have turned.
        """
        for name, T in self._before.items():
            if name not in self._contained - self._fast and min(_lean(T, then[name]) for then in self._lately) > angle:
                return _leaning_words(name, angle)
        return ""


def _leaning_words(name: str, angle: float) -> str:
    return f"{name} tilts by more than {np.rad2deg(angle):.0f} degrees"


def _lean(before: Array, now: Array) -> float:
    """Return the tilt of an object between two poses (4, 4) [rad]; rotation about the vertical does not count."""
    return float(np.arccos(np.clip(now[2, :3] @ before[2, :3], -1.0, 1.0)))
