"""The oracle's answers about deeds that take time: pressed, struck, shaken, pushed, handed over, lifted together.

A film is the list of states of an episode. The judge and its terms are never imported: contacts are read from the
states themselves, reversals from the path of a body, which arm holds what from who touches it.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import mujoco
import numpy as np

Array = np.ndarray
STROKE = 0.012
"""How far a thing must go and come back for a stroke of a shake to count [m]."""
RAISED = 0.012
"""How far what is pushed may leave the ground [m]: round feet tip a little."""
DEEP = 0.5
"""Share of a joint's way from which on it was pressed in."""


class Film:
    """The states of an episode.

    Args:
        model: The compiled scene.
        states: Integration states (n, k), in order.
        hands: Name of an arm > how the names of the bodies of its hand and fingers begin.
    """

    def __init__(self, model: mujoco.MjModel, states: Sequence[Array], hands: dict[str, tuple[str, ...]]) -> None:
        self.model, self.states, self.hands = model, states, hands
        self.data = mujoco.MjData(model)
        names = [model.body(b).name for b in range(model.nbody)]
        self.of_hand = {arm: {b for b, n in enumerate(names) if n.startswith(own)} for arm, own in hands.items()}
        self.names = names

    def bodies(self, name: str) -> set[int]:
        """Return the ids of the bodies of an object."""
        return {b for b, n in enumerate(self.names) if n.startswith(f"{name}/")}

    @cached_property
    def touches(self) -> list[list[tuple[int, int, Array]]]:
        """Who touches whom in every frame, and where: bodies a and b, point (3,) [m]."""
        found = []
        for state in self.states:
            mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_forward(self.model, self.data)
            pairs = [(int(self.model.geom_bodyid[c.geom[0]]), int(self.model.geom_bodyid[c.geom[1]]), np.array(c.pos))
                     for c in self.data.contact if c.dist < 5e-4 and min(c.geom) >= 0]  # fmt: skip
            found.append(pairs)
        return found

    def path(self, name: str) -> Array:
        """Return where an object was, frame by frame (n, 3) [m]."""
        root, found = min(self.bodies(name)), []
        for state in self.states:
            mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_kinematics(self.model, self.data)
            found.append(np.array(self.data.xpos[root]))
        return np.array(found)

    def joint(self, name: str) -> Array:
        """Return where a joint stood, frame by frame (n,), as a share of its range."""
        at = self.model.jnt_qposadr[self.model.joint(name).id]
        low, high = self.model.jnt_range[self.model.joint(name).id]
        # The integration state begins with the time, then qpos.
        return (np.array([state[1 + at] for state in self.states]) - low) / (high - low)

    def _holders(self, frame: int, name: str) -> set[str]:
        """Return the arms whose hands touch an object in a frame."""
        own = self.bodies(name)
        pairs = [{a, b} for a, b, _ in self.touches[frame] if (a in own) != (b in own)]
        return {arm for arm, hand in self.of_hand.items() if any(pair & hand for pair in pairs)}

    def pressed(self, name: str, body: str, joint: str) -> str:
        """Say what speaks against a hand having pushed a part in: it moved far while a hand touched it."""
        link, share = self.names.index(f"{name}/{body}"), self.joint(f"{name}/{joint}")
        moved = np.abs(share - share[0])
        hands = set().union(*self.of_hand.values())
        for frame, pairs in enumerate(self.touches):
            if moved[frame] >= DEEP and any(link in (a, b) and {a, b} & hands for a, b, _ in pairs):
                return ""
        return f"it moved by {moved.max():.0%} at most, or no hand was at it then"

    def struck(self, tool: str, target: str, *, end: Array, within: float = 0.04) -> str:
        """Say what speaks against a held tool having touched a target with one end of it.

        Args:
            tool: The tool.
            target: What it should touch.
            end: The end that should touch (3,), in the frame of the tool [m].
            within: How far from it the contact may be [m].
        """
        own, other, root = self.bodies(tool), self.bodies(target), min(self.bodies(tool))
        for frame, pairs in enumerate(self.touches):
            here = [p for a, b, p in pairs if (a in own and b in other) or (b in own and a in other)]
            if not here or not self._holders(frame, tool):
                continue
            mujoco.mj_setState(self.model, self.data, self.states[frame], mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_kinematics(self.model, self.data)
            at = self.data.xpos[root] + self.data.xmat[root].reshape(3, 3) @ end
            if min(float(np.linalg.norm(p - at)) for p in here) <= within:
                return ""
        return "no frame in which it is held and touches with that end"

    def shaken(self, name: str, times: int, way: Array) -> str:
        """Say what speaks against an object having been moved to and fro in a hand, so often along a way (3,)."""
        along = self.path(name) @ np.asarray(way, float)
        held = np.array([bool(self._holders(frame, name)) for frame in range(len(self.states))])
        turns, direction, extreme = 0, 0, along[0]
        for place, inside in zip(along, held, strict=True):
            if not inside:
                direction, extreme = 0, place
                continue
            if (direction >= 0 and place > extreme) or (direction <= 0 and place < extreme):
                direction = direction or (1 if place > extreme else -1)
                extreme = place
            elif abs(place - extreme) > STROKE:
                turns, direction, extreme = turns + 1, -direction, place
        return "" if turns + 1 >= 2 * times else f"it turned back {turns} times"

    def pushed(self, name: str, least: float = 0.02) -> str:
        """Say what speaks against an object having been pushed: moved by a hand, never off the ground."""
        path = self.path(name)
        if float(np.ptp(path[:, 2])) > RAISED:
            return f"it was raised by {np.ptp(path[:, 2]):.3f} m"
        if float(np.linalg.norm((path[-1] - path[0])[:2])) < least:
            return "it did not move"
        return "" if any(self._holders(k, name) for k in range(len(self.states))) else "no hand touched it"

    def handed_over(self, name: str) -> str:
        """Say what speaks against one hand having given an object to another: one, both, the other alone."""
        seen = [frozenset(self._holders(frame, name)) for frame in range(len(self.states))]
        order = [who for k, who in enumerate(seen) if who and (k == 0 or who != seen[k - 1])]
        both = next((k for k, who in enumerate(order) if len(who) > 1), None)
        if both in (None, 0) or not order:
            return f"it was held by {[sorted(who) for who in order]}"
        last = seen[-1]
        return "" if len(last) == 1 and last != order[0] else f"in the end it is in {sorted(last)}"

    def lifted_together(self, name: str, by: float) -> str:
        """Say what speaks against two hands holding an object up in the end."""
        path, last = self.path(name), self._holders(len(self.states) - 1, name)
        rise = float(path[-1, 2] - path[0, 2])
        return "" if len(last) > 1 and rise >= 0.6 * by else f"in {sorted(last)}, raised by {rise:.3f} m"


def hands_of(robots: Iterable[tuple[str, Sequence[tuple[str, Sequence[str]]]]]) -> dict[str, tuple[str, ...]]:
    """Return the hands of robots: name of robot and arm > names of its finger bodies.

    Args:
        robots: Name of each robot, and of each of its arms the names of its finger bodies.
    """
    return {f"{robot}/{arm}": tuple(fingers) for robot, arms in robots for arm, fingers in arms}
