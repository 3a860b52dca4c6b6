"""Instructions for an episode at three levels of detail, vague and specific, as a person might phrase them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.dataset.episodes.archive import segments_of
from handloom.labels.words.description import plural
from handloom.labels.words.references import reference
from handloom.labels.words.things import SceneFacts
from handloom.seeding import generator
from handloom.values import EpisodeRecord

LEAST = 30
"""Wordings that every episode has."""
MOST = 48
"""Wordings that are kept."""
FRAMES = (
    "{0}.",
    "Please {1}.",
    "Can you {1}?",
    "Could you {1}, please?",
    "I would like you to {1}.",
    "Your task is to {1}.",
    "The robot should {1}.",
    "Now {1}.",
    "Go ahead and {1}.",
    "I need you to {1}.",
    "Would you {1}?",
    "Let us {1}.",
)
"""What a request can be wrapped in: {0} with a capital letter, {1} without."""
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
    "rotate": ("turn {a}", "give {a} a turn", "twist {a}"),
    "scan": ("show {a} to the scanner", "scan {a}"),
}
"""Skill > clauses; {a} and {b} are its objects."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One way to say what is wanted."""

    grain: str
    """``short``, ``full`` or ``steps``."""
    style: str
    """``vague`` names things by a pronoun or a bare noun, ``specific`` by unambiguous references."""
    text: str


def wordings(facts: SceneFacts, record: EpisodeRecord) -> tuple[Wording, ...]:
    """Return different wordings of an episode: the same for the same episode, at least ``LEAST``, at most ``MOST``.

    Args:
        facts: The scene at the start, in which references are unique.
        record: What happened.
    """
    rng = generator(record.instance.seed, record.instance.episode, "wordings", task=record.instance.task)
    clauses = _Clauses(facts, record)
    pools = [_drawn(rng, list(dict.fromkeys(pool))) for pool in (clauses.short(), clauses.full(), clauses.steps())]
    chosen: dict[str, Wording] = {}
    while any(pools) and len(chosen) < MOST:
        for pool in pools:
            if pool and len(chosen) < MOST:
                wording = pool.pop()
                chosen.setdefault(wording.text, wording)
    return tuple(chosen.values())


def _drawn(rng: np.random.Generator, pool: list[Wording]) -> list[Wording]:
    return [pool[k] for k in rng.permutation(len(pool))]


class _Clauses:
    """The wordings of each grain."""

    def __init__(self, facts: SceneFacts, record: EpisodeRecord) -> None:
        self._facts, self._record = facts, record
        self._deeds = list(self._found_deeds())

    def _found_deeds(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what is done, with its objects: a thing that ends in or on another, or a skill of its own."""
        placed: dict[str, tuple[str, tuple[str, ...]]] = {}
        for term in self._record.goal:
            relation = {"in_cavity": "in", "carried_by": "on"}.get(term.name)
            if relation and self._has(term.arguments.get("object"), term.arguments.get("target")):
                name = str(term.arguments["object"])
                placed[name] = relation, (name, str(term.arguments["target"]))
        told: set[str] = set()
        for span in self._record.timeline:
            first = span.objects[0] if span.objects else ""
            if first in placed:
                if first not in told:
                    told.add(first)
                    yield placed[first]
                continue
            skill = next((word for word in SKILL_VERBS if span.skill.startswith(word)), "")
            needs = 2 if skill in ("pour", "hang") else 1
            key = f"{skill} {span.objects[:needs]}"
            if skill and len(span.objects) >= needs and self._has(*span.objects[:needs]) and key not in told:
                told.add(key)
                # A drawer of a cabinet is known by the skill's own words, not by the name of the cabinet.
                said = span.instruction if skill in ("open", "close", "rotate") else ""
                yield skill, (*span.objects[:needs], said)

    def _has(self, *names: object) -> bool:
        return all(isinstance(name, str) and self._facts.has(name) for name in names)

    def _phrases(self, name: str, style: str) -> list[str]:
        """Return ways to name a thing: unique ones for ``specific``, bare nouns for ``vague``."""
        thing = self._facts.thing(name)
        if style in ("vague", "many"):
            return [f"the {plural(noun) if style == 'many' else noun}" for noun in thing.nouns]
        known = reference(self._facts, name)
        colored = [f"the {thing.color} {noun}" for noun in thing.nouns] if thing.color else []
        unique = [text for text in colored if self._is_unique(name, text)]
        return list(dict.fromkeys([*([known.text] if known else []), *unique])) or [f"the {thing.plain}"]

    def _is_unique(self, name: str, text: str) -> bool:
        """Return whether colour and noun fit one thing only, whichever of its nouns people use."""
        same = [t.name for t in self._facts.things for noun in t.nouns if t.color and text == f"the {t.color} {noun}"]
        return set(same) == {name}

    def _clauses(self, style: str) -> Iterator[str]:
        """Yield the whole task as one clause, in every combination of verbs; names change along with them."""
        if not self._deeds:
            return
        pools = [PLACE_VERBS.get(kind) or SKILL_VERBS[kind] for kind, _ in self._deeds]
        for turn in range(max(map(len, pools))):
            for naming in range(3):
                parts = [self._clause(deed, turn, naming, style) for deed in self._deeds]
                if len(set(parts)) < len(parts):
                    parts = list(dict.fromkeys(self._clause(deed, turn, naming, "many") for deed in self._deeds))
                yield " and then ".join(parts)

    def _clause(self, deed: tuple[str, tuple[str, ...]], turn: int, naming: int, style: str) -> str:
        kind, (*names, last) = deed
        pool = PLACE_VERBS.get(kind) or SKILL_VERBS[kind]
        if kind in PLACE_VERBS:
            names.append(last)
        elif last and style == "specific":
            return last.rstrip(".")[:1].lower() + last.rstrip(".")[1:]
        options = [self._phrases(name, style) for name in names]
        words = {key: phrases[naming % len(phrases)] for key, phrases in zip("ab", options, strict=False)}
        return (pool[turn % min(len(pool), 5)] if style == "many" else pool[turn % len(pool)]).format(**words)

    def short(self) -> Iterator[Wording]:
        """Yield the task in a few words, and underspecified requests."""
        for style in ("vague", "specific"):
            for clause in self._clauses(style):
                yield Wording(grain="short", style=style, text=_capital(clause) + ".")
        for kind, names in self._deeds[:1]:
            noun = self._facts.thing(names[0]).noun
            texts = [f"Take care of the {noun}.", f"Deal with the {noun}.", f"The {noun}, please."]
            if kind in PLACE_VERBS:
                texts += [f"Put the {noun} away.", f"The {noun} goes {kind} the {self._facts.thing(names[1]).noun}."]
            for text in texts:
                yield Wording(grain="short", style="vague", text=text)
        yield Wording(grain="short", style="vague", text="Do the task.")

    def full(self) -> Iterator[Wording]:
        """Yield whole requests."""
        instance = self._record.instance
        base = [(text, "specific") for text in (instance.instruction, instance.detailed_instruction) if text]
        base += [(clause, style) for style in ("specific", "vague") for clause in self._clauses(style)]
        for text, style in base:
            said = text.strip().rstrip(".")
            several = "." in said or ";" in said
            for frame in FRAMES[:1] if several else FRAMES:
                told = frame.format(_capital(said), said[:1].lower() + said[1:])
                yield Wording(grain="full", style=style, text=told)

    def steps(self) -> Iterator[Wording]:
        """Yield the sub-tasks one after another, told in different ways."""
        labels = [segment.label.strip().rstrip(".") for segment in segments_of(self._record)]
        labels = list(dict.fromkeys(label for label in labels if label))
        if not labels:
            return
        small = [label[:1].lower() + label[1:] for label in labels]
        texts = [
            " ".join(f"{number}. {label}." for number, label in enumerate(labels, start=1)),
            ". ".join(f"Step {number}: {label}" for number, label in enumerate(labels, start=1)) + ".",
            "First " + ", then ".join(small) + ".",
            "Do this: " + "; ".join(small) + ".",
            ". Then ".join([labels[0], *small[1:]]) + ".",
            "Please " + ", after that ".join(small) + ".",
            " and ".join([labels[0], *small[1:]]) + "." if len(labels) <= 2 else "; ".join(labels) + ".",
            f"There are {len(labels)} steps: " + ", ".join(small) + "."
            if len(labels) > 1
            else f"One step: {small[0]}.",
            "Begin with this: " + ", and go on with: ".join(small) + ".",
            "Carefully " + ", next ".join(small) + ".",
        ]
        for text in texts:
            yield Wording(grain="steps", style="specific", text=text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
