"""Terms that must still hold at the end of an episode, and how long they must have held."""

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from handloom.arrays import Array
from handloom.judging.checks import NATURES, Nature, holds
from handloom.judging.wording.measured import unmet
from handloom.judging.wording.whereabouts import taken_away
from handloom.scene import Scene
from handloom.scene.measures import lying_still, world_box
from handloom.values import Check, Failure, FunnelStage, SkillSpan

REST = 1.0
"""Time simulated after the source has ended, in which success must persist [s]."""
SHOWN_REST = 1.0 / 6.0
"""Part of it that belongs to the demonstration [s]; a longer one would teach policies to wait."""
REST_SPEED = 0.02
"""Maximum speed [m/s] of a handled object at the end of that time."""
STILL = 0.5
"""Time for which handled objects must lie still [s]."""
CREEP = 0.0015
"""Largest motion in that time [m]."""
ROCKING = 0.01
"""Largest rocking motion [m] of an object that does not come to rest in the available time."""
SETTLING = 3
"""Factor on that time for an object that still rocks, such as a banana in a bowl."""
JOINT_SKILLS = frozenset({"open", "close", "press", "rotate"})
"""Skills that move a joint of an object, but not the object."""
BELTS = frozenset({"conveyor", "double_conveyor", "turntable"})
"""Categories on which nothing lies still."""


def frames_of(seconds: float, fps: int) -> int:
    """Return a time in frames, rounded up."""
    return math.ceil(seconds * fps - 1e-9)


def at_rest(scene: Scene, objects: Sequence[str]) -> tuple[Check, ...]:
    """Return the term that all loose objects are at rest; empty if a belt runs, on which nothing is."""
    loose = [obj for obj in scene.instance.objects if obj.name in objects and not obj.fixed and obj.solid]
    if not loose or any(obj.category in BELTS for obj in scene.instance.objects):
        return ()
    about = {"objects": [obj.name for obj in loose], "speed": REST_SPEED, "rocking": ROCKING}
    return (Check(name="lying_still", arguments=about),)


def standing_goals(timeline: Sequence[SkillSpan]) -> tuple[tuple[SkillSpan, tuple[Check, ...]], ...]:
    """Return the success terms that must hold at the end, by span.

    These are all terms of each arm's last skill but those that another arm undid later, and, from earlier skills, the
    places of objects not picked up again since.
    """
    last = {(span.robot, span.arm): span for span in timeline}
    goals = []
    for i, span in enumerate(timeline):
        since = timeline[i + 1 :]
        checks = still_standing(span.checks, span.objects, [(other.skill, other.objects) for other in since])
        if span.kind == "mistake":
            checks = tuple(check for check in checks if NATURES[check.name] is Nature.CONTENTS)
        final = last[span.robot, span.arm] is span
        checks = _not_undone(span, since) if final else checks
        goals.append((span, tuple(check for check in checks if not check.share)))
    return tuple(goals)


def _not_undone(span: SkillSpan, since: Sequence[SkillSpan]) -> tuple[Check, ...]:
    """Return the terms of an arm's last skill that no other arm undid since by shutting a door or taking a cup."""
    since = [other for other in since if other.success]
    turned = {joint for other in since for check in other.checks if (joint := joint_of(check))}
    moved = {other.objects[0] for other in since if other.objects and other.skill not in JOINT_SKILLS}
    taken = bool(moved & set(span.objects[:1]))
    return tuple(
        check
        for check in span.checks
        if joint_of(check) not in turned
        and not (taken and NATURES.get(check.name) in (Nature.PLACED, Nature.CONTAINED))
    )


def joint_of(term: Check) -> tuple[str, str] | None:
    """Return the object and the joint whose position a term is about; None for other terms."""
    about = term.arguments
    return (about["object"], about["joint"]) if NATURES.get(term.name) is Nature.JOINT and "joint" in about else None


def still_standing(
    checks: Sequence[Check], objects: Sequence[str], later: Sequence[tuple[str, Sequence[str]]]
) -> tuple[Check, ...]:
    """Return the terms of a skill that remain valid after later skills.

    Args:
        checks: Terms of the skill.
        objects: Its objects.
        later: Names and objects of the skills that follow.
    """
    # A drawer that is closed moves with its contents: only its own joint has changed.
    moved = {names[0] for skill, names in later if names and skill not in JOINT_SKILLS}
    turned = {names[0] for skill, names in later if names and skill in JOINT_SKILLS}
    kept = {Nature.CONTENTS}
    # A cup still in the hand after a pour may be tilted on the way home.
    in_hand = {check.arguments.get("object") for check in checks if check.name in ("grasped", "in_hand")}
    # An object put into a container stays in it, wherever that is carried, until it is taken out.
    if not moved & set(objects[:1]):
        kept.add(Nature.CONTAINED)
    if not moved & set(objects):
        kept |= {Nature.PLACED, Nature.JOINT}
    if turned & set(objects):
        kept.discard(Nature.JOINT)
    return tuple(
        check
        for check in checks
        if (nature := NATURES.get(check.name, Nature.MOMENT)) in kept
        and not (nature is Nature.PLACED and check.arguments.get("object") in in_hand)
    )


class Stillness:
    """Checks that handled objects stay at rest for a while: a rocking object is still at each reversal.

    Args:
        scene: The scene.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._needed = frames_of(STILL, scene.instance.fps)
        self._places: deque[dict[str, Array]] = deque(maxlen=self._needed + 1)
        self._centres: deque[dict[str, Array]] = deque(maxlen=self._needed + 1)
        self._still = self._broken = False

    @property
    def waits(self) -> bool:
        """Whether waiting may help: something moves. A term may still become true once it has come to rest."""
        return not self._still

    def look(self, timeline: Sequence[SkillSpan]) -> None:
        """Update with the state after a frame without contact by a robot."""
        goals = [(span, checks) for span, checks in standing_goals(timeline) if checks]
        terms = [term for span, _ in goals for term in at_rest(self._scene, span.objects)]
        names = dict.fromkeys(name for term in terms for name in term.arguments["objects"])
        self._places.append({name: world_box(self._scene, name).mean(axis=0) for name in names})
        self._centres.append({name: self._centre_of_mass(name) for name in names})
        self._still = lying_still(self._scene, objects=list(names), speed=REST_SPEED) and _stayed(self._places, CREEP)
        self._broken = any(not holds(self._scene, check) for _, checks in goals for check in checks)

    def _centre_of_mass(self, name: str) -> Array:
        world = self._scene.world
        return world.data.subtree_com[world.body_index(self._scene.body_of(name))].copy()

    def failure(self) -> Failure | None:
        """Return the failure that something is not at rest; None if all is, or only rocks in place."""
        # The box around a banana that rocks moves by twice as much as its weight.
        if self._broken or self._still or _stayed(self._centres, ROCKING):
            return None
        detail = f"a handled object did not lie still for {STILL:g} s within {SETTLING * REST:g} s after the end"
        return Failure(stage=FunnelStage.SUCCESS, reason="not_lasting_lying_still", detail=detail)


def _stayed(places: deque[dict[str, Array]], distance: float) -> bool:
    """Return whether everything stayed within a distance [m] of its current place over the recorded time."""
    if len(places) < (places.maxlen or 0):
        return False
    now = places[-1]
    moved = [float(np.linalg.norm(before[name] - at)) for before in places for name, at in now.items()]
    return max(moved, default=0.0) <= distance


def not_lasting(scene: Scene, timeline: Sequence[SkillSpan], states: Sequence[Array] = ()) -> Failure | None:
    """Check the final terms once more; return those that do not hold, and who moved what they are about.

    Args:
        scene: The scene, a second after the end.
        timeline: The skills done.
        states: Integration states of all frames, to find out who moved an object after its skill.
    """
    for span, checks in standing_goals(timeline):
        still = at_rest(scene, span.objects) if checks else ()
        broken = [check for check in (*checks, *still) if not holds(scene, check)]
        if broken:
            said = "; ".join(unmet(scene, check) for check in broken)
            detail = f"{REST:g} s after the last skill this no longer held: {said}"
            about = {str(check.arguments["object"]): None for check in broken if "object" in check.arguments}
            who = [taken_away(scene, name, span, timeline, states) for name in about if len(states) > span.end]
            detail = "; ".join((detail, *filter(None, who)))
            reason = f"not_lasting_{broken[0].name}"
            return Failure(stage=FunnelStage.SUCCESS, reason=reason, detail=detail, skill=span.skill)
    return None
