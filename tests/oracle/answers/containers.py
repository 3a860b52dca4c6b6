"""The oracle's answer about containers that were moved after something was put into them."""

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np
from tests.oracle.answers.deed import Deed, Verdict
from tests.oracle.answers.solids import Solids

Array = np.ndarray
MOVED, UNCLEAR = 0.06, 0.04
"""How far a container may have gone since [m]: beyond the first it was dragged away, below the second it stayed."""
EVERY = 10
"""Number of states from one look to the next."""


def dragged(model: mujoco.MjModel, states: Sequence[Array], deeds: Iterable[Deed]) -> Verdict:
    """Return whether loose containers stayed where things were put into them.

    Containers that a deed moves may be anywhere. What was in from the beginning was not put in.

    Args:
        model: The compiled scene.
        states: Integration states of the episode, in order.
        deeds: What was asked for.
    """
    deeds = list(deeds)
    moved = {deed.obj for deed in deeds}
    answer, data = Verdict(True), mujoco.MjData(model)
    for deed in deeds:
        if deed.kind != "in" or deed.target in moved or not _free(model, deed.target):
            continue
        root = _bodies(model, deed.target)[0]
        _look(model, data, states[-1])
        end = np.array(data.xpos[root])
        way = 0.0
        for state in states[-1::-EVERY]:
            _look(model, data, state)
            if not Solids(model, data, _bodies(model, deed.target)).in_hull(_centre(model, data, deed.obj)[None])[0]:
                break
            way = float(np.linalg.norm(data.xpos[root] - end))
        text = f"the {deed.target} was moved by {100 * way:.0f} cm with the {deed.obj} in it"
        if way > MOVED:
            return Verdict(False, text)
        if way > UNCLEAR:
            answer = Verdict(None, text)
    return answer


def _look(model: mujoco.MjModel, data: mujoco.MjData, state: Array) -> None:
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)


def _bodies(model: mujoco.MjModel, name: str) -> list[int]:
    return [b for b in range(model.nbody) if model.body(b).name.startswith(f"{name}/")]


def _centre(model: mujoco.MjModel, data: mujoco.MjData, name: str) -> Array:
    return np.array(data.subtree_com[_bodies(model, name)[0]])


def _free(model: mujoco.MjModel, name: str) -> bool:
    joint = int(model.body_jntadr[_bodies(model, name)[0]])
    return joint >= 0 and bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE)
