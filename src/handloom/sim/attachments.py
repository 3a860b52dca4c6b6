"""Holding one body to another by a weld that is switched on and off while the simulation runs.

A weld must exist in the model before it is compiled: ``add_attachment`` adds it, inactive. Its relative pose is a model
parameter of MuJoCo and so not part of the integration state; a copy is therefore kept in the user data of the state, so
that a restored state holds exactly as the saved one did.
"""

import mujoco
import numpy as np

from handloom.errors import InputError, NotFoundError, StateError
from handloom.sim.name_table import NameTable
from handloom.spatial import pos_quat_from_pose

_PREFIX = "attach:"
_POSE = 7
"""Numbers of user data per attachment: position [m] and quaternion wxyz of the child in its parent."""
_SOLREF = (0.005, 1.0)
"""Time constant [s] and damping ratio of the weld: two and a half steps of 2 ms, critically damped."""
_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
"""Impedance of the weld, stiffer than MuJoCo's default; a 0.3 kg cube sags by 0.01 mm instead of 0.3 mm."""


def add_attachment(spec: mujoco.MjSpec, child_body: str, parent_body: str) -> None:
    """Prepare a spec so that ``World.attach(child_body, parent_body)`` works; the weld starts inactive.

    Call it on the spec that will be compiled, after other specs have been attached to it: attaching gives names a
    prefix and drops sizes.

    Args:
        spec: The spec to change.
        child_body: Body that will be held.
        parent_body: Body that will hold it.

    Raises:
        InputError: The pair is already prepared, or the two are the same body.
    """
    name = f"{_PREFIX}{child_body}|{parent_body}"
    if child_body == parent_body:
        raise InputError(f"a body cannot be attached to itself: {child_body!r}")
    if spec.equality(name) is not None:
        raise InputError(f"{child_body!r} can already be attached to {parent_body!r}; add the pair once")
    weld = spec.add_equality()
    weld.name = name
    weld.type = mujoco.mjtEq.mjEQ_WELD
    weld.objtype = mujoco.mjtObj.mjOBJ_BODY
    # The first body of a weld is the one whose frame carries the relative pose.
    weld.name1, weld.name2 = parent_body, child_body
    weld.active = False
    weld.solref[:] = _SOLREF
    weld.solimp[:] = _SOLIMP
    # A given relative pose, even a placeholder, stops the compiler from computing its own.
    weld.data[:11] = [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    spec.nuserdata = max(spec.nuserdata, 0) + _POSE


class Attachments:
    """The attachments prepared in one model, and their state.

    Args:
        model: Compiled model.
        data: Its data.
        equalities: Names of the equality constraints.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, equalities: NameTable) -> None:
        self._model, self._data = model, data
        self._slots: dict[tuple[str, str], int] = {}
        for name, index in equalities.items():
            if name.startswith(_PREFIX):
                child, _, parent = name.removeprefix(_PREFIX).partition("|")
                self._slots[child, parent] = index
        if model.nuserdata < _POSE * len(self._slots):
            raise InputError(
                f"the model has {len(self._slots)} attachments but room for {model.nuserdata // _POSE}; "
                "call add_attachment on the spec that is compiled, not on a spec attached to it"
            )
        self._by_parent: dict[str, list[tuple[str, int]]] = {}
        for (child, parent), index in self._slots.items():
            self._by_parent.setdefault(parent, []).append((child, index))
        self._equality = np.array(list(self._slots.values()), dtype=np.int64)
        self.user_data_size = _POSE * len(self._slots)
        """Number of leading user data entries used by the attachments."""

    def attach(self, child: str, parent: str, T_parent_child: np.ndarray) -> None:
        """Switch a weld on that holds the child in the given pose (4, 4) of its parent."""
        if (child, parent) not in self._slots:
            known = ", ".join(f"{c!r} to {p!r}" for c, p in self._slots) or "none"
            raise NotFoundError(
                f"the model was not prepared to attach {child!r} to {parent!r}; prepared: {known}; "
                "call sim.add_attachment(spec, child_body, parent_body) before compiling"
            )
        held = self.parent_of(child)
        # Several points of one rigid body may hold the same child: they cannot pull against each other.
        if held is not None and (held == parent or self._rigid_body(held) != self._rigid_body(parent)):
            raise StateError(f"{child!r} is already attached to {held!r}; release it first")
        slot = list(self._slots).index((child, parent))
        position, quat = pos_quat_from_pose(T_parent_child)
        self._data.userdata[_POSE * slot : _POSE * slot + 3] = position
        self._data.userdata[_POSE * slot + 3 : _POSE * (slot + 1)] = quat
        self._data.eq_active[self._equality[slot]] = True
        self.read_state()

    def release(self, child: str, parent: str | None = None) -> None:
        """Switch off all welds that hold the child, or only that of one parent."""
        held = [pair for pair in self.active() if pair[0] == child and parent in (None, pair[1])]
        if not held:
            raise StateError(f"{child!r} is not attached to {'anything' if parent is None else repr(parent)}")
        for pair in held:
            self._data.eq_active[self._slots[pair]] = False

    def active(self) -> list[tuple[str, str]]:
        """Return child and parent of every weld that holds."""
        return [pair for pair, equality in self._slots.items() if self._data.eq_active[equality]]

    def force(self, child: str, parent: str) -> np.ndarray:
        """Return the force (3,) [N] in world that the child exerts on its parent, from the last solver step."""
        data = self._data
        # Equalities are the first constraints, and the first three rows of a weld are those of the position.
        rows = np.flatnonzero(data.efc_id[: data.ne] == self._slots[child, parent])[:3]
        return data.efc_force[rows] if len(rows) else np.zeros(3)

    def parent_of(self, child: str) -> str | None:
        """Return the body that holds the child, or None."""
        return next((parent for name, parent in self.active() if name == child), None)

    def child_of(self, parent: str) -> str | None:
        """Return the body that a parent holds, or None."""
        slots = self._by_parent.get(parent, ())
        return next((child for child, equality in slots if self._data.eq_active[equality]), None)

    def children_of(self, parent: str) -> tuple[str, ...]:
        """Return the bodies that can be attached to a parent."""
        return tuple(child for child, _ in self._by_parent.get(parent, ()))

    def _rigid_body(self, name: str) -> int:
        return int(self._model.body(name).weldid[0])

    def read_state(self) -> None:
        """Make the welds hold in the poses that the user data of the state gives."""
        if self._equality.size:
            poses = self._data.userdata[: _POSE * self._equality.size].reshape(-1, _POSE)
            held = np.flatnonzero(self._data.eq_active[self._equality])
            self._model.eq_data[self._equality[held], 3:10] = poses[held]
