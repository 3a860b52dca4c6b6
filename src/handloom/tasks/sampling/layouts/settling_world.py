"""A world without robots in which layouts are tested: which objects overlap, and whether everything comes to rest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from json import dumps, loads

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import ConfigError, HandloomError
from handloom.objects import ObjectAsset
from handloom.scene.assets import asset_of
from handloom.scene.build import add_object, empty_spec
from handloom.scene.fixtures import plain_parameters
from handloom.scene.regions import Placed
from handloom.values import Failure, FunnelStage, ObjectInstance

STEP = 0.002
"""Physics step [s]."""
PARKED = -1000.0
"""Height [m] at which objects without a place wait."""
CHUNK = 25
"""Steps between two checks of whether everything sleeps."""
PATIENCE = 1.0
"""How long objects may take to fall asleep, each time [s]."""
WATCH = 0.16
"""Time for which objects at rest are observed [s]; a rocking object stands still for a moment at each end of its
swing."""
CREEP = 0.0002
"""Largest motion [m], or tenfold in radians, of an object at rest while it is observed."""
NUDGE = 0.1
"""Angular speed [rad/s] that only topples objects balanced on a tip."""


class SamplingError(HandloomError):
    """A scene could not be sampled; carries the typed reason for the funnel.

    Args:
        reason: One word for the funnel.
        detail: Description of the failure; recorded, so it names no file.
        where: File, line and key to change; for messages only.
        near: For an object out of reach: its name, and spots (2,) from the middle of its table where it would be within
            reach, nearest to its region first [m].
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        where: str = "",
        near: tuple[str, Sequence[tuple[float, float]]] = ("", ()),
    ) -> None:
        super().__init__(f"{where}: {reason}: {detail}" if where else f"{reason}: {detail}")
        self.near = near
        self.failure = Failure(stage=FunnelStage.SAMPLE, reason=reason, detail=detail)


class NoPlaceError(HandloomError):
    """One layout failed; the next one may succeed."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")
        self.name = name
        self.why = why


@dataclass(frozen=True)
class Overlap:
    """A penetrating pair of objects."""

    name: str
    other: str
    depth: float
    """[m]"""


class SettlingWorld:
    """All objects of a scene in one model; those that may be moved have free joints.

    Bodies at rest fall asleep in it, which makes settling cheap and shows when it is over; belts stand still, since an
    episode begins when they start.

    Args:
        objects: All objects; purely visual ones are left out.
        loose: Names of fixed objects that are also moved.
    """

    def __init__(self, objects: Sequence[ObjectInstance], *, loose: Iterable[str] = ()) -> None:
        loose = set(loose)
        self.objects = {obj.name: obj for obj in objects if obj.solid}
        self.loose = {name for name, obj in self.objects.items() if name in loose or not obj.fixed}
        spec = empty_spec(STEP)
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        for name, obj in self.objects.items():
            # Rolling resistance would make a pear topple out of a shallow rest pose more slowly than this waits.
            parameters = plain_parameters(obj.category, obj.parameters)
            plain = replace(obj, parameters=parameters, look={}, rolling_resistance=None)
            add_object(spec, plain, asset_of(plain), free=name in self.loose)
        try:
            self.model = spec.compile()
        except ValueError as error:
            raise ConfigError(f"the objects of this scene cannot be simulated: {error}") from error
        self.model.geom_surfacevel[:] = 0.0
        self.data = mujoco.MjData(self.model)
        bodies = [self.model.body(b).name.partition("/")[0] for b in range(self.model.nbody)]
        self._owner = [bodies[b] for b in self.model.geom_bodyid]
        self._free = {name: self.model.joint(f"{name}/free").qposadr[0] for name in self.loose}
        self._dof = {name: self.model.joint(f"{name}/free").dofadr[0] for name in self.loose}
        self._tree = {name: int(self.model.body_treeid[self.model.body(f"{name}/object").id]) for name in self.loose}
        self._joints = {
            (name, joint): int(self.model.joint(f"{name}/{joint}").qposadr[0])
            for name, obj in self.objects.items()
            for joint in obj.joints
        }
        self.reset()

    def reset(self) -> None:
        """Reset every object to its instance's pose, awake and at rest."""
        mujoco.mj_resetData(self.model, self.data)
        for (name, joint), address in self._joints.items():
            self.data.qpos[address] = self.objects[name].joints[joint]

    def put(self, name: str, position: Array, quat: Array) -> None:
        """Move an object to a place."""
        address = self._free[name]
        self.data.qpos[address : address + 3] = position
        self.data.qpos[address + 3 : address + 7] = quat

    def park(self, name: str) -> None:
        """Park an object far below the scene."""
        address = self._free[name]
        self.data.qpos[address : address + 3] = (10.0 * address, 0.0, PARKED)

    def place(self, name: str) -> Placed:
        """Return the position of an object."""
        address = self._free[name]
        quat = self.data.qpos[address + 3 : address + 7].copy()
        mujoco.mju_normalize4(quat)
        return Placed(self.data.qpos[address : address + 3].copy(), quat, np.zeros((1, 3)))

    def overlaps(self, name: str | None = None) -> list[Overlap]:
        """Return penetrating pairs, deepest first, movable object first; with a name, only pairs with it."""
        self._wake()
        mujoco.mj_fwdPosition(self.model, self.data)
        found: dict[tuple[str, str], float] = {}
        contact = self.data.contact
        for (geom_a, geom_b), distance in zip(contact.geom.tolist(), contact.dist.tolist(), strict=True):
            a, b = self._owner[geom_a], self._owner[geom_b]
            if a == b or (name is not None and name not in (a, b)):
                continue
            pair = (a, b) if (a in self.loose if name is None else a == name) else (b, a)
            found[pair] = max(found.get(pair, 0.0), -distance)
        return sorted((Overlap(a, b, depth) for (a, b), depth in found.items()), key=lambda o: -o.depth)

    def touching(self) -> dict[str, set[str]]:
        """Return, for every object, the names of those it touches."""
        found: dict[str, set[str]] = {}
        for overlap in self.overlaps():
            found.setdefault(overlap.name, set()).add(overlap.other)
            found.setdefault(overlap.other, set()).add(overlap.name)
        return found

    def settle(self, watched: Sequence[str]) -> None:
        """Run physics until these objects are at rest; their joints start at the given positions.

        Raises:
            NoPlaceError: An object does not come to rest.
        """
        self.data.qvel[:] = 0.0
        self._until_asleep(watched)
        self._nudge(watched)
        moved: list[str] = list(watched)
        for _ in range(2):
            self._until_asleep(watched)
            moved = self._moved_when_woken(watched)
            if not moved:
                break
        if moved:
            raise NoPlaceError(moved[0], "did not come to rest")

    def _until_asleep(self, watched: Sequence[str]) -> None:
        """Step until all of these objects sleep, or ``PATIENCE`` has passed."""
        trees = [self._tree[name] for name in watched]
        self._wake()
        for _ in range(round(PATIENCE / STEP / CHUNK)):
            mujoco.mj_step(self.model, self.data, nstep=CHUNK)
            if np.all(self.data.tree_asleep[trees] >= 0):
                return

    def _nudge(self, watched: Sequence[str]) -> None:
        """Push everything a little, so that nothing stays balanced on a tip."""
        for name in watched:
            dof = self._dof[name]
            self.data.qvel[dof + 3 : dof + 5] = NUDGE, 0.7 * NUDGE

    def _moved_when_woken(self, watched: Sequence[str]) -> list[str]:
        """Wake every object and return the names of those that move."""
        before = {name: self.place(name) for name in watched}
        self._wake()
        mujoco.mj_step(self.model, self.data, nstep=round(WATCH / STEP))
        moved: list[str] = []
        for name, then in before.items():
            now = self.place(name)
            turn = 2.0 * np.arccos(min(1.0, abs(float(then.quat @ now.quat))))
            if np.abs(now.position - then.position).max() > CREEP or turn > 10.0 * CREEP:
                moved.append(name)
        return moved

    def _wake(self) -> None:
        """Wake every body; a sleeping one does not react to being moved."""
        state = self.data.qpos.copy(), self.data.qvel.copy()
        time = self.data.time
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = state
        self.data.time = time


def poses_that_stay(asset: ObjectAsset) -> tuple[int, ...]:
    """Return the rest poses of an asset that are stable in physics; rolling ones only if there are no others.

    A rest pose is computed from the hull: some are so shallow that the object creeps out of them.
    """
    return _poses_that_stay(asset.category, dumps(dict(asset.parameters), sort_keys=True))


@lru_cache(maxsize=512)
def _poses_that_stay(category: str, parameters: str) -> tuple[int, ...]:
    obj = ObjectInstance(name="object", category=category, parameters=loads(parameters))
    rest = asset_of(obj).rest_poses
    table = ObjectInstance(
        name="table", category="table", parameters={"size": [2.0, 2.0, 0.5], "color": [0.5] * 3}, fixed=True
    )
    stays: list[int] = []
    for pose, height in enumerate(rest.heights.tolist()):
        world = SettlingWorld([table, obj])
        world.put("object", np.array([0.0, 0.0, 0.25 + height]), rest.quats[pose])
        try:
            world.settle(["object"])
        except NoPlaceError:
            continue
        stays.append(pose)
    return tuple(pose for pose in stays if not rest.rolls[pose]) or tuple(stays) or (0,)


def at_place(obj: ObjectInstance, place: Placed) -> ObjectInstance:
    """Return an object at a place."""
    x, y, z = place.position.tolist()
    w, i, j, k = place.quat.tolist()
    return replace(obj, position=(x, y, z), quat=(w, i, j, k))
