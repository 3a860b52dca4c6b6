"""Instructions for an episode at three levels of detail, vague and specific, as a person might phrase them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from handloom.dataset.episodes.archive import segments_of
from handloom.labels.words.clauses import PLACE_VERBS, Naming, deeds_of
from handloom.labels.words.things import SceneFacts
from handloom.seeding import generator
from handloom.values import EpisodeRecord

LEAST = 30
"""Minimum number of wordings per episode."""
MOST = 48
"""Maximum number of wordings kept."""
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
"""Templates around a request: {0} with a capital letter, {1} without."""
STATEMENTS = frozenset(
    ("the", "there", "a", "an", "i", "we", "this", "could", "would", "can", "please", "your", "its", "both", "all")
)
"""First words of sentences that do not fit into these templates."""


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One phrasing of the request."""

    grain: str
    """``short``, ``full`` or ``steps``."""
    style: str
    """``vague`` refers to objects by a pronoun or a bare noun, ``specific`` by unambiguous references."""
    text: str


def wordings(facts: SceneFacts, record: EpisodeRecord) -> tuple[Wording, ...]:
    """Return different wordings of an episode: the same for the same episode, at least ``LEAST``, at most ``MOST``.

    Args:
        facts: The scene at the start, in which references are unique.
        record: The recorded episode.
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
    """The wordings of each level of detail."""

    def __init__(self, facts: SceneFacts, record: EpisodeRecord) -> None:
        self._facts, self._record = facts, record
        self._deeds, self._naming = deeds_of(facts, record), Naming(facts, record)

    def _clauses(self, style: str) -> Iterator[str]:
        """Yield the whole task as one clause, in every combination of verbs, with varying names."""
        for turn in range(max(map(self._naming.turns, self._deeds), default=0)):
            for naming in range(3):
                parts = self._parts(turn, naming, style)
                if len(set(parts)) < len(parts):
                    parts = list(dict.fromkeys(self._parts(turn, naming, "many")))
                if None not in parts:
                    yield " and then ".join(map(str, parts))

    def _parts(self, turn: int, naming: int, style: str) -> list[str | None]:
        return [self._naming.clause(deed, turn, naming, style) for deed in self._deeds]

    def short(self) -> Iterator[Wording]:
        """Yield the task in a few words, and underspecified requests."""
        for style in ("vague", "specific"):
            for clause in self._clauses(style):
                yield Wording(grain="short", style=style, text=_capital(clause) + ".")
        for deed in self._deeds[:1]:
            noun = self._facts.thing(deed.objects[0]).noun
            texts = [f"Take care of the {noun}.", f"Deal with the {noun}.", f"The {noun}, please."]
            if deed.kind in PLACE_VERBS and len(self._deeds) == 1:
                target = self._facts.thing(deed.objects[1]).noun
                texts += [f"Put the {noun} away.", f"The {noun} goes {deed.kind} the {target}."]
            for text in texts:
                yield Wording(grain="short", style="vague", text=text)
        yield Wording(grain="short", style="vague", text="Do the task.")

    def full(self) -> Iterator[Wording]:
        """Yield complete requests."""
        instance = self._record.instance
        told = [text.strip() for text in (instance.instruction, instance.detailed_instruction) if text.strip()]
        base = [(text, self._style(text)) for text in told]
        base += [(clause, style) for style in ("specific", "vague") for clause in self._clauses(style)]
        for text, style in base:
            said = text.rstrip(".")
            if said.endswith(("?", "!")):
                yield Wording(grain="full", style=style, text=_capital(said))
                continue
            alone = "." in said or ";" in said or said.partition(" ")[0].lower() in STATEMENTS
            for frame in FRAMES[:1] if alone else FRAMES:
                words = frame.format(_capital(said), said[:1].lower() + said[1:])
                yield Wording(grain="full", style=style, text=words)

    def _style(self, text: str) -> str:
        return "specific" if self._naming.is_specific(text) else "vague"

    def steps(self) -> Iterator[Wording]:
        """Yield the sub-tasks in sequence, phrased in different ways."""
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
            yield Wording(grain="steps", style=self._style(text), text=text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
