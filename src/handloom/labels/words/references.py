"""Unambiguous references such as ``the red mug left of the bowl``, found by testing which objects each phrase fits."""

from collections.abc import Iterator
from dataclasses import dataclass

from handloom.labels.words.things import APART, SIDES, SceneFacts, Thing

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SIZE_RATIO = 1.2
"""Minimum size ratio of the largest to all others, and of all others to the smallest."""


@dataclass(frozen=True, kw_only=True)
class ThingReference:
    """A noun phrase as a predicate over objects."""

    noun: str
    color: str = ""
    extreme: str = ""
    """``largest``, ``leftmost``, ``nearest`` and so on among those that match the rest."""
    place: int = -1
    """Position from the left among those that match the rest, from 0; -1: any."""
    relation: str = ""
    landmark: "ThingReference | None" = None

    @property
    def text(self) -> str:
        """The phrase with its article, e.g. ``the red cube left of the white plate``."""
        words = ["the"]
        if self.extreme:
            words.append(self.extreme)
        if self.place >= 0:
            words.append(ORDINALS[self.place])
        words += [word for word in (self.color, self.noun) if word]
        if self.landmark is not None:
            words += [self.relation, self.landmark.text]
        if self.place >= 0:
            words.append("from the left")
        return " ".join(words)


def fitting(facts: SceneFacts, reference: ThingReference) -> tuple[Thing, ...]:
    """Return the objects that a reference may mean."""
    things = [t for t in facts.things if reference.noun in t.nouns and reference.color in ("", t.color)]
    if reference.landmark is not None:
        marks = fitting(facts, reference.landmark)
        things = [t for t in things if any(facts.holds(t.name, reference.relation, mark.name) for mark in marks)]
    if reference.extreme:
        things = _extreme(things, reference.extreme)
    if reference.place >= 0:
        order = _from_the_left(things)
        things = [order[reference.place]] if len(order) > reference.place else []
    return tuple(things)


def _extreme(things: list[Thing], which: str) -> list[Thing]:
    if len(things) < 2:
        return []
    measure = {
        "largest": lambda t: -t.size,
        "smallest": lambda t: t.size,
        "leftmost": lambda t: -t.center[1],
        "rightmost": lambda t: t.center[1],
        "nearest": lambda t: t.center[0],
        "farthest": lambda t: -t.center[0],
    }[which]
    first, second = sorted(things, key=measure)[:2]
    if which in ("largest", "smallest"):
        big, small = max(first.size, second.size), min(first.size, second.size)
        return [first] if big > SIZE_RATIO * small else []
    return [first] if abs(measure(first) - measure(second)) > APART else []


def _from_the_left(things: list[Thing]) -> list[Thing]:
    """Return objects from left to right; empty if two of them are almost side by side."""
    order = sorted(things, key=lambda thing: -thing.center[1])
    gaps = [order[k].center[1] - order[k + 1].center[1] for k in range(len(order) - 1)]
    return order if len(order) > 1 and min(gaps) > APART else []


def references(facts: SceneFacts, name: str) -> Iterator[ThingReference]:
    """Yield references that mean one object and nothing else in the scene, the simplest first."""
    thing = facts.thing(name)
    for candidate in _candidates(facts, thing):
        fits = fitting(facts, candidate)
        if len(fits) == 1 and fits[0].name == name:
            yield candidate


def reference(facts: SceneFacts, name: str) -> ThingReference | None:
    """Return the simplest reference that means one object and nothing else; None if there is none."""
    return next(references(facts, name), None)


def _candidates(facts: SceneFacts, thing: Thing) -> Iterator[ThingReference]:
    colors = ("", thing.color) if thing.color else ("",)
    yield from (ThingReference(noun=thing.noun, color=color) for color in colors)
    for color in colors:
        for extreme in ("leftmost", "rightmost", "nearest", "farthest", "largest", "smallest"):
            yield ThingReference(noun=thing.noun, color=color, extreme=extreme)
    for color in colors:
        yield from _beside(facts, thing, color)
    count = len([t for t in facts.things if thing.noun in t.nouns])
    for color in colors:
        for place in range(min(count, len(ORDINALS))):
            yield ThingReference(noun=thing.noun, color=color, place=place)


def _beside(facts: SceneFacts, thing: Thing, color: str) -> Iterator[ThingReference]:
    """Yield references by a landmark that is known by noun or colour alone."""
    for mark in facts.things:
        if mark.name == thing.name:
            continue
        colors = ("", mark.color) if mark.color else ("",)
        simple = [ThingReference(noun=mark.noun, color=word) for word in colors]
        landmark = next((r for r in simple if [t.name for t in fitting(facts, r)] == [mark.name]), None)
        if landmark is None:
            continue
        for relation in ("on", "in", *SIDES):
            if facts.holds(thing.name, relation, mark.name):
                yield ThingReference(noun=thing.noun, color=color, relation=relation, landmark=landmark)
