"""The scene in a few sentences, and every relation in it as a sentence."""

from collections import Counter

import numpy as np

from handloom.labels.words.references import ORDINALS, reference
from handloom.labels.words.things import Fact, SceneFacts, Thing
from handloom.values import TaskInstance

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def name_of(facts: SceneFacts, name: str) -> str:
    """Return a phrase for an object: unique if possible, otherwise colour and noun."""
    known = reference(facts, name)
    return known.text if known is not None else f"the {facts.thing(name).plain}"


def part_words(part: str) -> str:
    """Return a part as words: ``drawer_0`` is a drawer."""
    return part.rstrip("0123456789").replace("_", " ").strip()


def part_name(facts: SceneFacts, name: str, part: str) -> str:
    """Return a phrase for one part of an object, distinguished from similar parts by height, or else by side."""
    same = [p for owner, p in facts.parts() if owner == name and part_words(p) == part_words(part)]
    noun, whole = part_words(part), name_of(facts, name)
    if len(same) == 1:
        return f"the {noun} of {whole}"
    centers = {p: facts.part_center(name, p) for p in same}
    spread = np.ptp(np.array(list(centers.values())), axis=0)
    upright = spread[2] >= spread[1]
    order = sorted(same, key=lambda p: -centers[p][2 if upright else 1])
    place, count = order.index(part), len(order)
    first, last = ("top", "bottom") if upright else ("left", "right")
    if place in (0, count - 1):
        return f"the {first if place == 0 else last} {noun} of {whole}"
    if count == 3:
        return f"the middle {noun} of {whole}"
    return f"the {ORDINALS[place]} {noun} from the {first} of {whole}"


def sentence(facts: SceneFacts, fact: Fact) -> str:
    """Return a fact as a sentence."""
    owner, _, part = fact.subject.partition("/")
    subject = name_of(facts, owner)
    if part:
        subject = part_name(facts, owner, part)
    words = f"{subject} is {fact.relation}" + (f" {name_of(facts, fact.object)}" if fact.object else "")
    return words[0].upper() + words[1:] + "."


def relation_sentences(facts: SceneFacts) -> list[dict[str, str]]:
    """Return every fact with its sentence."""
    return [
        {"subject": f.subject, "relation": f.relation, "object": f.object, "text": sentence(facts, f)}
        for f in facts.facts()
    ]


def describe(facts: SceneFacts, instance: TaskInstance) -> str:
    """Return the scene in words: the robots, the objects, and which are on, in or beside which."""
    robots = [robot.robot.rstrip("/").rpartition("/")[2].replace("_", " ").upper() for robot in instance.robots]
    told = [f"Robot: {_listed(robots)}."] if robots else []
    things = [thing for thing in facts.things if not thing.support]
    counts = Counter(thing.plain for thing in things)
    if counts:
        items = [_counted(count, words) for words, count in counts.items()]
        verb = "is" if sum(counts.values()) == 1 else "are"
        supports = [t for t in facts.things if t.support and any(facts.is_on(o.name, t.name) for o in things)]
        place = f" on {name_of(facts, supports[0].name)}" if _all_on(facts, things, supports) else " in the scene"
        told.append(f"There {verb} {_listed(items)}{place}.")
    support = {thing.name for thing in facts.things if thing.support}
    sides: set[frozenset[str]] = set()
    for fact in facts.facts():
        pair = frozenset((fact.subject, fact.object))
        if fact.object in support or (fact.object and pair in sides):
            continue
        sides.add(pair)
        told.append(sentence(facts, fact))
    return " ".join(told)


def _all_on(facts: SceneFacts, things: list[Thing], supports: list[Thing]) -> bool:
    return len(supports) == 1 and all(facts.is_on(thing.name, supports[0].name) for thing in things)


def _counted(count: int, words: str) -> str:
    return _a(words) if count == 1 else f"{NUMBERS[count] if count < len(NUMBERS) else count} {plural(words)}"


def plural(words: str) -> str:
    """Return a noun phrase in the plural."""
    if words.endswith("knife"):
        return words[:-2] + "ves"
    if words.endswith("shelf"):
        return words[:-1] + "ves"
    if words.endswith(("s", "x", "ch", "sh", "z")):
        return words + "es"
    if words.endswith("y") and words[-2] not in "aeiou":
        return words[:-1] + "ies"
    return words + "s"


def _a(words: str) -> str:
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
