"""An independent oracle: were the deeds of a task done? Asked of the last state, answered by another method.

The judge is never imported here. The oracle samples points in the volume of things, casts rays to find out whether a
place is enclosed, takes the robot away and lets four seconds of physics pass (up to twelve while something creeps) to
find out whether things stay, and reads the contacts that are left. ``None`` as an answer means that people would
disagree, too: a mug that leans by 25 degrees.
"""

import copy
from collections.abc import Iterable
from functools import partial

import mujoco
import numpy as np
from tests.oracle.answers.deed import Deed, Verdict
from tests.oracle.answers.inserts import is_inserted
from tests.oracle.answers.joints import is_closed, is_open, is_turned, left_alone
from tests.oracle.answers.rims import best_over, rim_bears
from tests.oracle.answers.sides import WAYS, faces, is_at_spot, is_on_side
from tests.oracle.answers.solids import Array, Rays, Solids, sphere_directions

_STANDING = "cup mug bottle can milk_carton bowl glass wine_glass potted_plant beaker carafe food_tin vase jar"
STANDING = frozenset([*_STANDING.split(), "stacking_cup"])
"""Categories of things that stand: cups, mugs, bottles, cans, cartons, bowls, glasses, plants."""
ROUND = frozenset(["ball", "orange", "apple", "tomato", "lemon", "egg"])
"""Categories of things that may roll on the spot."""
BELTS = frozenset(["conveyor", "double_conveyor", "turntable"])
"""Categories of things that carry away what lies on them."""
ENCLOSED = 0.52
"""Share of directions in which a place inside something is blocked. On top of a convex thing it is at most a half."""
DEEP = 0.75
"""From this share on, a thing stands deep in something, as a pen in a cup, and may lean out of it."""
INSIDE_OUTLINE = 0.6
"""Share of a thing's volume that must be above or in its container, seen from above."""
OFF, ON_OUTLINE, OF_BEST = 0.5, 0.65, 0.6
"""Up to which share it hangs over the rim of what it lies on, and from which it does not, unless it is the larger; and
the share of what could lie over it that does where it is too long."""
RIM_BEARS, ALL_OF_IT = 0.5, 0.9
"""Share of a thing's weight up to which the rim of what it is in may bear it, and from which it lies across it."""
SAMPLED = 0.05
"""How much a share of a volume differs with how it is sampled, and with the hull or the box that it is in."""
STAYS = 0.02
"""How far a thing may move without the robot meanwhile [m]. A pear that begins to topple takes more than one,
and what rocks may topple later."""
ROLLS = 0.004
"""How far a thing that is enclosed by walls may roll in a tenth of a second [m]; what falls or slides is faster."""
FALLS, SWINGS = 20.0, 45.0
"""How far it may lean over in that time for good, and how far it may rock in the last second [deg]."""
SOFT = 0.002
"""How far contacts give way [m]; what is deeper in something has been pushed through it."""
BESIDE, NEAR = 0.1, 0.15
"""Gap up to which things are beside each other, as the documentation has it, and from which they are not [m]."""
LEANS, FALLEN = 20.0, 35.0
"""Tilt up to which a thing is upright, and from which it is not [deg]."""
SHORTEST, LONGEST, CREEPS = 40, 120, 0.0005
"""Least and most moments that are watched, a tenth of a second each, and how far a body may go in the last second for
the watch to end [m]: a pear on its end topples after nine seconds."""


class Oracle:
    """Looks at one state of a scene.

    Args:
        model: The compiled scene.
        state: Its integration state.
        categories: Name of every object > its category.
        robots: Names of the robots.
        grains: Whether a fluid is in the scene; its contacts are no business of MuJoCo, so time is not let pass.
        start: Joint positions at the start of the episode, for what was to be turned.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        state: Array,
        *,
        categories: dict[str, str],
        robots: Iterable[str],
        grains: bool = False,
        start: dict[str, float] | None = None,
    ) -> None:
        self.model, self.categories, self.start = copy.copy(model), categories, start or {}
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.model, self.data)
        prefixes = tuple(f"{robot}/" for robot in robots)
        self.robot = {b for b in range(model.nbody) if model.body(b).name.startswith(prefixes)}
        self.later_model = copy.copy(model)
        gone = np.isin(model.geom_bodyid, list(self.robot))
        self.later_model.geom_contype[gone] = 0
        self.later_model.geom_conaffinity[gone] = 0
        self.later = mujoco.MjData(self.later_model)
        mujoco.mj_setState(self.later_model, self.later, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        self.grains = grains
        self.wanted_in_hand: set[str] = set()
        self.moments: list[Array] = []
        self.ups: list[Array] = []
        for k in range(0 if grains else LONGEST):
            if k >= SHORTEST and np.abs(self.moments[-1] - self.moments[-10]).max() < CREEPS:
                break
            mujoco.mj_step(self.later_model, self.later, round(0.1 / model.opt.timestep))
            mujoco.mj_kinematics(self.later_model, self.later)
            self.moments.append(np.array(self.later.xpos))
            self.ups.append(np.array(self.later.xmat[:, 6:]))
        mujoco.mj_forward(self.later_model, self.later)

    # -- the parts of a scene --------------------------------------------------------------------------------------

    def bodies(self, name: str, part: str = "") -> list[int]:
        """Return the ids of the bodies of an object, or of one of its parts."""
        names = [self.model.body(b).name for b in range(self.model.nbody)]
        return [b for b, n in enumerate(names) if (n == f"{name}/{part}" if part else n.startswith(f"{name}/"))]

    def _root(self, name: str) -> int:
        return self.bodies(name)[0]

    def owner(self, body: int) -> str:
        """Return the name of the object or robot that a body belongs to."""
        return self.model.body(body).name.partition("/")[0]

    def solids(self, name: str, part: str = "", *, later: bool = True) -> Solids:
        """Return the solids of an object, as they are at the end of that time unless told otherwise."""
        model, data = (self.later_model, self.later) if later else (self.model, self.data)
        return Solids(model, data, self.bodies(name, part))

    def centre(self, name: str) -> Array:
        """Return the centre of mass of an object at the end of that time [m]."""
        return np.array(self.later.subtree_com[self._root(name)])

    def touched(self, name: str, *, later: bool = True) -> set[int]:
        """Return the bodies that touch an object."""
        data, own = (self.later if later else self.data), set(self.bodies(name))
        found: set[int] = set()
        for contact in data.contact:
            a, b = (int(self.model.geom_bodyid[g]) for g in contact.geom)
            if contact.dist < 1e-3 and (a in own) != (b in own):
                found.add(b if a in own else a)
        return found

    # -- what every deed asks for ----------------------------------------------------------------------------------

    def let_go(self, name: str) -> str:
        """Return what speaks against an object being let go."""
        hand = self.touched(name, later=False) & self.robot
        return f"the robot touches it: {self.model.body(min(hand)).name}" if hand else ""

    def stays(self, name: str, relative_to: str = "", *, rolls: bool = False) -> str:
        """Return what speaks against an object staying where it is when the robot is taken away; it may roll slowly."""
        if self.grains or self.categories.get(relative_to) in BELTS:
            return ""
        root = self._root(name)
        moves = np.array([moment[root] for moment in self.moments]) - self.data.xpos[root]
        if relative_to:
            other = self._root(relative_to)
            moves -= np.array([moment[other] for moment in self.moments]) - self.data.xpos[other]
        if rolls and np.linalg.norm(np.diff(moves, axis=0), axis=1).max() <= ROLLS:
            return ""
        if (far := float(np.linalg.norm(moves, axis=1).max())) > STAYS:
            return f"it moves {far:.3f} m afterwards"
        # Which way is up for it, before and after: a thing may turn about the vertical, but not fall over. What rocks
        # comes back in the last second; what swings by half a right angle is not at rest.
        ups = np.array([up[root] for up in self.ups[-10:]])
        turns = np.degrees(np.arccos(np.clip(ups @ self.data.xmat[root, 6:], -1, 1)))
        if self.categories[name] in ROUND or (turns.min() <= FALLS and np.ptp(turns) <= SWINGS):
            return ""
        return f"it falls by {turns.min():.0f} degrees afterwards, or swings by {np.ptp(turns):.0f}"

    def tilt(self, name: str) -> float:
        """Return the angle between up and an object's own z axis [deg]."""
        return float(np.degrees(np.arccos(np.clip(self.later.xmat[self._root(name)].reshape(3, 3)[2, 2], -1, 1))))

    def standing(self, deed: Deed) -> Verdict:
        """Return whether an object that stands is upright."""
        if not deed.upright or self.categories.get(deed.obj) not in STANDING:
            return Verdict(True)
        tilt = self.tilt(deed.obj)
        if tilt > FALLEN:
            return Verdict(False, f"tilted {tilt:.0f} degrees")
        return Verdict(True if tilt <= LEANS else None, f"leans {tilt:.0f} degrees")

    def carriers(self, name: str, stop: str) -> set[str]:
        """Return what carries an object, through other free objects; ``stop`` is not looked through."""
        found, queue, seen = set(), [name], {name}
        while queue:
            for body in self.touched(queue.pop()):
                other = self.owner(body)
                if other in seen or body in self.robot:
                    continue
                seen.add(other)
                joint = self.model.body_jntadr[self._root(other)] if other else -1
                free = joint >= 0 and self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
                found |= {other}
                if other != stop and free:
                    queue.append(other)
        return found

    # -- relations -------------------------------------------------------------------------------------------------

    def _carried(self, deed: Deed) -> str:
        """Return what speaks against the target alone carrying the object, which was let go and stays."""
        stays = self.stays(deed.obj, deed.target, rolls=deed.kind in ("in", "insert"))
        if why := self.let_go(deed.obj) or stays or self._caught(deed):
            return why
        if deed.target not in self.carriers(deed.obj, deed.target):
            return f"it does not rest on the {deed.target}"
        others = {self.owner(b) for b in self.touched(deed.obj) if b not in self.robot}
        ground = {o for o in others if o != deed.target and self._is_ground(o)}
        if not ground or self._through_a_thin_floor(deed):
            return ""
        return f"it also rests on the {min(ground)}"

    def _caught(self, deed: Deed) -> str:
        """Return whether a hand holds up the target, which no deed asks it to hold: a basket caught by its rim."""
        held = self.touched(deed.target, later=False) & self.robot
        if deed.kind not in ("in", "insert", "on", "stack_on") or deed.target in self.wanted_in_hand or not held:
            return ""
        return f"the robot holds up the {deed.target}: without it {why}" if (why := self.stays(deed.target)) else ""

    def _through_a_thin_floor(self, deed: Deed) -> bool:
        """Return whether it touches the ground only because what it lies on is thinner than contacts are soft."""
        target = self.solids(deed.target)
        own = set(self.bodies(deed.obj))
        for contact in self.later.contact:
            pair = {int(self.model.geom_bodyid[g]) for g in contact.geom}
            if not pair & own or contact.dist > 0:
                continue
            other = self.owner(min(pair - own, default=0))
            if other == deed.target and contact.dist < -SOFT:
                return False
            if self._is_ground(other) and not target.above(np.array([contact.pos]))[0]:
                return False
        return Rays(target).blocked(self.centre(deed.obj), np.array([[0.0, 0.0, -1.0]])) > 0

    def _is_ground(self, name: str) -> bool:
        return name.startswith(("table", "floor", "wall"))

    def is_in(self, deed: Deed) -> Verdict:
        """In: the target alone carries it, its foot is enclosed, and no more than a part hangs out."""
        if why := self._carried(deed):
            return Verdict(False, why)
        body = self.solids(deed.obj)
        foot = body.points[body.points[:, 2] <= body.low + max(0.01, 0.1 * (body.high - body.low))]
        foot = foot[:: max(1, len(foot) // 12)] if len(foot) else body.surface[[body.surface[:, 2].argmin()]]
        answers = [self._in_part(deed, body, foot, part) for part in self._cavity_parts(deed)]
        best = next((a for a in answers if not a), None)
        if best is None:
            return Verdict(False, "; ".join(answers) or f"the {deed.target} has no part that could hold it")
        share = float(np.mean(self.solids(deed.target).above(body.points)))
        if share < OFF:
            return Verdict(None, f"its foot is deep in it, and only {share:.0%} of it is within the outline")
        across = self.across_a_rim(deed)
        return across if across.done is False else self.standing(deed) if across.done else across

    def across_a_rim(self, deed: Deed) -> Verdict:
        """Return whether a rim does not bear it: all of its weight on two sides is no, most of it cannot be told."""
        own, target = set(self.bodies(deed.obj)), set(self.bodies(deed.target))
        share, around = rim_bears(self.later_model, self.later, self.solids(deed.target), own=own, target=target)
        if share <= RIM_BEARS:
            return Verdict(True)
        return Verdict(None if share < ALL_OF_IT or around else False, f"the rim bears {share:.0%} of it")

    def _cavity_parts(self, deed: Deed) -> list[str]:
        """Return the parts that can hold something: not doors and lids, which turn about a hinge."""
        if deed.part:
            return [deed.part]
        parts: list[str] = []
        for body in self.bodies(deed.target):
            joint = self.model.body_jntadr[body]
            hinged = joint >= 0 and self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
            parts += [] if hinged else [self.model.body(body).name.partition("/")[2]]
        return parts

    def _in_part(self, deed: Deed, body: Solids, foot: Array, part: str) -> str:
        """Return what speaks against a part of the target holding the object."""
        walls = self.solids(deed.target, part)
        if not walls.geoms:
            return f"{part} has no walls"
        touching = {self.model.body(b).name for b in self.touched(deed.obj)}
        others = {self.owner(b) for b in self.touched(deed.obj)} - {deed.target}
        if f"{deed.target}/{part}" not in touching and not any(not self._is_ground(o) for o in others):
            return f"{part} does not touch it"
        rays = Rays(walls)
        directions = sphere_directions()
        enclosed = float(np.mean([rays.blocked(point, directions) for point in foot]))
        if enclosed < ENCLOSED:
            return f"{part} encloses its foot by {enclosed:.0%} only"
        share = float(np.mean(walls.above(body.points)))
        centred = bool(walls.above(self.centre(deed.obj)[None])[0])
        if centred and (share >= INSIDE_OUTLINE or enclosed >= DEEP):
            return ""
        return f"only {share:.0%} of it is within the outline of {part}"

    def is_on(self, deed: Deed) -> Verdict:
        """On: the target alone carries it, directly; it does not hang over the rim; nothing of the target is above."""
        if why := self._carried(deed):
            return Verdict(False, why)
        body, top = self.solids(deed.obj), self.solids(deed.target, deed.part)
        centre = self.centre(deed.obj)
        direct = deed.target in {self.owner(b) for b in self.touched(deed.obj)}
        if not direct or not top.above(centre[None])[0]:
            return Verdict(False, "its middle is not over it" if direct else f"it does not touch the {deed.target}")
        share = float(np.mean(top.above(body.points)))
        if share < OFF and share < OF_BEST * best_over(body, top) and body.area < top.area:
            return Verdict(False, f"only {share:.0%} of it is over it: it hangs over the rim")
        roofed = Rays(top).blocked(centre, np.array([[0.0, 0.0, 1.0]])) > 0
        if roofed and self.categories.get(deed.target) not in ("shelf", "dish_rack"):
            return Verdict(False, "it is in it or under it, not on it")
        upright = self.standing(deed)
        if share < ON_OUTLINE and body.area < top.area and upright.done:
            return Verdict(None, f"only {share:.0%} of it is over it")
        return upright

    def is_beside(self, deed: Deed) -> Verdict:
        """Beside: on what the target stands on, near it, on the side that was asked for, and not on or under it."""
        if why := self.let_go(deed.obj) or self.stays(deed.obj):
            return Verdict(False, why)
        ground = {o for o in (self.owner(b) for b in self.touched(deed.obj)) if self._is_ground(o)}
        below = {o for o in self.carriers(deed.target, deed.obj) if self._is_ground(o)}
        if not ground & below:
            return Verdict(False, f"it is carried by {sorted(ground)}, the {deed.target} by {sorted(below)}")
        body, other = self.solids(deed.obj), self.solids(deed.target)
        if (gap := body.distance(other)) > NEAR:
            return Verdict(False, f"{gap:.2f} m away")
        way = self.centre(deed.obj) - 0.5 * (other.surface.min(axis=0) + other.surface.max(axis=0))
        along = way[0] if deed.side == "right" else -way[0]
        if along <= 0 or along < 0.6 * abs(way[1]):
            return Verdict(False, f"it is at {np.degrees(np.arctan2(way[1], way[0])):.0f} degrees, not {deed.side}")
        return self.standing(deed) if gap <= BESIDE else Verdict(None, f"{gap:.2f} m away")

    def rests(self, deed: Deed) -> Verdict:
        """In or on: the published place does not say which."""
        inside, on = self.is_in(deed), self.is_on(deed)
        return inside if inside.done is not False else Verdict(on.done, f"{inside.why}; {on.why}")

    def is_within(self, deed: Deed) -> Verdict:
        """Within: ``amount`` of its volume lies in the hull of the target, which may lie on its side."""
        share = float(np.mean(self.solids(deed.target, deed.part).in_hull(self.solids(deed.obj).points)))
        if why := self._carried(deed) or ("" if share > deed.amount - SAMPLED else f"only {share:.0%} of it is within"):
            return Verdict(False, why)
        return Verdict(True if share > deed.amount else None, f"{share:.0%} of it is within")

    # -- grains and hands --------------------------------------------------------------------------------------------

    def is_poured(self, deed: Deed) -> Verdict:
        """Poured: most grains are in the target, few are in neither."""
        grains = [b for b in range(self.model.nbody) if self.model.body(b).name.startswith("fluid/")]
        points = np.array(self.data.xpos[grains])
        target, source = self.solids(deed.target, later=False), self.solids(deed.obj, later=False)
        heap = points - [0.0, 0.0, 0.015]  # A heap stands a little over the rim.
        left = source.in_hull(points)
        there = (target.in_hull(points) | target.in_hull(heap)) & ~left
        poured, spilled = float(there.mean()), float((~there & ~left).mean())
        text = f"{poured:.0%} poured, {spilled:.0%} spilled"
        if poured >= 0.7 and spilled <= 0.1:
            return Verdict(True, text)
        return Verdict(None if poured >= 0.6 and spilled <= 0.15 else False, text)

    def is_held(self, deed: Deed) -> Verdict:
        """Picked: the hand touches it, nothing else does, and it falls when the hand is taken away."""
        touching = self.touched(deed.obj, later=False)
        if not touching & self.robot:
            return Verdict(False, "no robot touches it")
        others = {self.owner(b) for b in touching - self.robot}
        return Verdict(not others, f"it touches {sorted(others)}" if others else "")

    def asks(self, deed: Deed) -> Verdict:
        """Return whether one deed was done."""
        ways = {
            "in": self.is_in, "insert": partial(is_inserted, self), "on": self.is_on, "stack_on": self.is_on,
            "beside": self.is_beside, "open": partial(is_open, self), "close": partial(is_closed, self),
            "turn": partial(is_turned, self), "pour": self.is_poured, "pick": self.is_held,
            "rest": self.rests, "within": self.is_within, **dict.fromkeys(WAYS, partial(is_on_side, self)),
            "at": partial(is_at_spot, self), "facing": partial(faces, self),
        }  # fmt: skip
        verdict, where = ways[deed.kind](deed), f"{deed.target}{deed.part and '/' + deed.part}"
        return Verdict(verdict.done, f"{deed.kind} {deed.obj} {where}: {verdict.why}")

    def judge(self, deeds: Iterable[Deed]) -> Verdict:
        """Return whether all deeds were done: the first that was not, or one that cannot be told."""
        deeds = tuple(deeds)
        self.wanted_in_hand = {deed.obj for deed in deeds if deed.kind == "pick"}
        answers = [*(self.asks(deed) for deed in deeds), left_alone(self, deeds)]
        for wanted in (False, None):
            for answer in answers:
                if answer.done is wanted:
                    return answer
        return Verdict(True, "; ".join(a.why for a in answers))
