"""The actions of an episode as clauses: ``put the red cube on the plate``, with vague or unique references."""

from collections.abc import Iterator
from dataclasses import dataclass

from handloom.labels.words.description import plural
from handloom.labels.words.references import reference
from handloom.labels.words.things import SceneFacts
from handloom.skills.deeds import MERE_MOTIONS
from handloom.tasks.sampling.wording import SPOKEN_COLORS
from handloom.values import MARK, EpisodeRecord

PLACE_VERBS = {
    "on": ("put {a} on {b}", "place {a} on {b}", "set {a} down on {b}", "move {a} onto {b}", "lay {a} on {b}",
           "pick up {a} and put it on {b}", "take {a} and place it on {b}", "bring {a} over to {b} and set it down"),
    "in": ("put {a} into {b}", "place {a} in {b}", "drop {a} into {b}", "move {a} into {b}", "stow {a} in {b}",
           "pick up {a} and put it into {b}", "take {a} and place it in {b}", "get {a} into {b}"),
}  # fmt: skip
SKILL_VERBS = {
    "pick": ("pick up {a}", "grasp {a}", "take {a}", "lift {a}", "get hold of {a}"),
    "open": ("open {a}", "pull {a} open", "get {a} open"),
    "close": ("close {a}", "shut {a}", "push {a} shut"),
    "pour": ("pour what is in {a} into {b}", "empty {a} into {b}", "tip {a} out over {b}"),
    "hang": ("hang {a} on {b}", "put {a} on a peg of {b}"),
    "flip": ("turn {a} over", "flip {a}"),
    "scan": ("show {a} to the scanner", "scan {a}"),
}
"""Skill > clauses; {a} and {b} are its objects."""
TOLD_BY_PART = ("open", "close")
"""Skills on a part, such as a drawer, that only their own sentence names."""
SAID = "said"
"""Kind of an action that only its own sentence describes correctly."""
SYNONYMS = {
    "put": ("put", "place", "set"), "lay": ("lay", "put", "place"), "stack": ("stack", "put", "place"),
    "press": ("press", "push"), "push": ("push", "slide"), "slide": ("slide", "push"), "wipe": ("wipe", "rub"),
    "carry": ("carry", "bring"), "touch": ("touch", "tap"), "strike": ("strike", "hit"), "hit": ("hit", "strike"),
    "turn": ("turn", "rotate"), "lift": ("lift", "raise"), "insert": ("insert", "put"), "take": ("take", "grasp"),
}  # fmt: skip
"""First word of a sentence > synonyms that fit any continuation."""


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One action."""

    kind: str
    """``on`` or ``in`` for final placements, a skill of ``SKILL_VERBS``, or ``SAID``."""
    objects: tuple[str, ...]
    said: str = ""
    """The sentence of the skill, if names alone do not describe it."""


def deeds_of(facts: SceneFacts, record: EpisodeRecord) -> list[Deed]:
    """Return the actions in order: a pick is implied before anything else is done with the object.

    Args:
        facts: The scene at the start.
        record: The recorded episode.
    """
    return list(dict.fromkeys(_found(facts, record)))


def _found(facts: SceneFacts, record: EpisodeRecord) -> Iterator[Deed]:
    ends = _ends(facts, record)
    spans = [
        span
        for span in record.timeline
        if span.kind != "mistake" and span.objects and span.skill not in (MARK, *MERE_MOTIONS)
    ]
    spans = [span for span in spans if all(facts.has(name) for name in span.objects[:2])]
    told: set[str] = set()
    for k, span in enumerate(spans):
        first = span.objects[0]
        skill = next((word for word in SKILL_VERBS if span.skill.startswith(word)), "")
        if span.skill.endswith("pick"):
            if not any(first in later.objects[:1] for later in spans[k + 1 :]) and first not in ends:
                yield Deed(kind="pick", objects=(first,))
        elif "place" in span.skill and first in ends:
            told.add(first)
            yield ends[first]
        elif skill and (len(span.objects) > 1 or skill not in ("pour", "hang")):
            needed = 2 if skill in ("pour", "hang") else 1
            said = span.instruction if skill in TOLD_BY_PART else ""
            yield Deed(kind=skill, objects=span.objects[:needed], said=said)
        elif span.instruction:
            yield Deed(kind=SAID, objects=span.objects[:2], said=span.instruction)
    moved = {name for span in spans for name in span.objects[:1]}
    yield from (deed for name, deed in ends.items() if name not in told and name in moved)


def _ends(facts: SceneFacts, record: EpisodeRecord) -> dict[str, Deed]:
    """Return which objects end in or on another, according to the goal."""
    found: dict[str, Deed] = {}
    for term in record.goal:
        relation = {"in_cavity": "in", "inserted": "in", "carried_by": "on"}.get(term.name)
        names = (str(term.arguments.get("object")), str(term.arguments.get("target")))
        if relation and all(facts.has(name) for name in names):
            found[names[0]] = Deed(kind=relation, objects=names)
    return found


class Naming:
    """Returns names for the objects of a scene.

    Args:
        facts: The scene at the start.
        record: The episode, whose objects have their own words.
    """

    def __init__(self, facts: SceneFacts, record: EpisodeRecord) -> None:
        self._facts = facts
        self._words = {obj.name: obj.words for obj in record.instance.objects if obj.words and facts.has(obj.name)}

    def clause(self, deed: Deed, turn: int, naming: int, style: str) -> str | None:
        """Return an action in words; None if a unique name is required but does not exist.

        Args:
            deed: The action.
            turn: Index of the verb.
            naming: Index of the name.
            style: ``specific``, ``vague``, or ``many`` for several objects with the same noun.
        """
        if style == "specific" and deed.said and deed.kind in TOLD_BY_PART:
            return _small(deed.said) if self.is_specific(deed.said) else None
        pool = self._templates(deed)
        options = [self._phrases(name, style) for name in deed.objects]
        if not all(options):
            return None
        names = [phrases[naming % len(phrases)] for phrases in options]
        if len(set(names)) < len(names):  # "Put one cube on the other cube."
            names = [f"one {names[0].removeprefix('the ')}", f"the other {names[1].removeprefix('the ')}"]
        usual = pool[:5] if style == "many" else pool
        return usual[turn % len(usual)].format(**dict(zip("ab", names, strict=False)))

    def turns(self, deed: Deed) -> int:
        """Return the number of verbs for an action."""
        return len(self._templates(deed))

    def is_specific(self, text: str) -> bool:
        """Return whether a sentence's words for the task's objects fit nothing else in the scene."""
        for name, words in self._words.items():
            if f"the {words}" not in text.lower():
                continue
            others = [thing for thing in self._facts.things if thing.name != name]
            if any(words in (*t.nouns, *(f"{t.color} {noun}" for noun in t.nouns)) for t in others):
                return False
        return True

    def _templates(self, deed: Deed) -> tuple[str, ...]:
        """Return clauses with {a} and {b} for the objects."""
        if deed.kind != SAID:
            return PLACE_VERBS.get(deed.kind) or SKILL_VERBS[deed.kind]
        text = _small(deed.said).replace("{", "").replace("}", "")
        for key, name in zip("ab", deed.objects, strict=False):
            text = text.replace(f"the {self._words.get(name, name)}", f"{{{key}}}", 1)
        verb, _, rest = text.partition(" ")
        return tuple(f"{word} {rest}" for word in SYNONYMS.get(verb, (verb,)))

    def _phrases(self, name: str, style: str) -> list[str]:
        """Return names for an object: unique ones for ``specific``, bare nouns for ``vague``."""
        thing = self._facts.thing(name)
        # A blue block is not a wooden block.
        nouns = [noun for noun in thing.nouns if not set(noun.split()) & (SPOKEN_COLORS - {thing.color})]
        nouns = nouns or [thing.noun]
        if style in ("vague", "many"):
            return [f"the {plural(noun) if style == 'many' else noun}" for noun in nouns]
        known = reference(self._facts, name)
        colored = [f"the {thing.color} {noun}" for noun in nouns] if thing.color else []
        unique = [text for text in colored if self._is_unique(name, text)]
        return list(dict.fromkeys([*([known.text] if known else []), *unique]))

    def _is_unique(self, name: str, text: str) -> bool:
        """Return whether colour and noun fit only one object, whichever of its nouns people use."""
        same = [t.name for t in self._facts.things for noun in t.nouns if t.color and text == f"the {t.color} {noun}"]
        return set(same) == {name}


def _small(text: str) -> str:
    said = text.strip().rstrip(".")
    return said[:1].lower() + said[1:]
