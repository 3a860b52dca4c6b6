"""Questions about a scene and a task, with answers computed from the recording."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from handloom.dataset.episodes.archive import segments_of
from handloom.labels.touches import Grasp
from handloom.labels.words.description import name_of, part_name, plural
from handloom.labels.words.references import ThingReference, fitting, reference
from handloom.labels.words.things import SIDES, SceneFacts
from handloom.values import EpisodeRecord

Question = dict[str, Any]
"""``kind``, ``frame``, ``question``, ``answer``, and the names it is ``about``."""
MOST_PAIRS = 12
"""Number of pairs of objects to ask about, per frame."""


def questions(first: SceneFacts, last: SceneFacts, record: EpisodeRecord, grasps: tuple[Grasp, ...]) -> list[Question]:
    """Return the questions of an episode.

    Args:
        first: Facts of the first frame.
        last: Facts of the last frame.
        record: The recorded episode.
        grasps: Grasps by hand.
    """
    return [*_scene(first), *_relations(first), *_relations(last), *_parts(first), *_parts(last),
            *_deed(first, last, record, grasps)]  # fmt: skip


def _ask(kind: str, facts: SceneFacts, question: str, answer: str, *about: str) -> Question:
    text = question[0].upper() + question[1:]
    return {"kind": kind, "frame": facts.frame, "question": text, "answer": answer, "about": list(about)}


def _scene(facts: SceneFacts) -> Iterator[Question]:
    things = [thing for thing in facts.things if not thing.support]
    for noun in dict.fromkeys(thing.noun for thing in things):
        count = len([t for t in facts.things if noun in t.nouns])
        yield _ask("count", facts, f"how many {plural(noun)} are there?", str(count), noun)
    for color in dict.fromkeys(thing.color for thing in things if thing.color):
        count = len([thing for thing in facts.things if thing.color == color])
        yield _ask("count_color", facts, f"how many {color} things are there?", str(count), color)
    for thing in things:
        if thing.color and len(fitting(facts, ThingReference(noun=thing.noun))) == 1:
            yield _ask("color", facts, f"what colour is the {thing.noun}?", thing.color, thing.name)
    for support in (thing for thing in facts.things if thing.support):
        count = sum(facts.is_on(thing.name, support.name) for thing in things)
        yield _ask(
            "count_on", facts, f"how many things are on {name_of(facts, support.name)}?", str(count), support.name
        )
    placed = [thing for thing in things if reference(facts, thing.name)]
    for which, sign in (("leftmost", -1.0), ("rightmost", 1.0)):
        order = sorted(placed, key=lambda t: sign * t.center[1])
        if len(order) > 1 and len(placed) == len(things) and abs(order[0].center[1] - order[1].center[1]) > 0.03:
            answer = name_of(facts, order[0].name)
            yield _ask(which, facts, f"which thing is {which}, as the robot sees it?", answer, order[0].name)


def _relations(facts: SceneFacts) -> Iterator[Question]:
    """Ask about true relations and their opposites, which are false."""
    things = [thing for thing in facts.things if reference(facts, thing.name)]
    asked = 0
    for a in (thing for thing in things if not thing.support):
        for b in things:
            if a.name == b.name or asked == MOST_PAIRS:
                continue
            side = facts.side(a.name, b.name)
            pairs = [(side, "yes"), (opposite(side), "no")] if side else []
            for relation in ("on", "in"):
                if facts.holds(a.name, relation, b.name):
                    pairs.append((relation, "yes"))
                elif facts.holds(b.name, relation, a.name):
                    pairs.append((relation, "no"))
            for relation, answer in pairs:
                text = f"is {name_of(facts, a.name)} {relation} {name_of(facts, b.name)}?"
                yield _ask("relation", facts, text, answer, a.name, relation, b.name)
            asked += bool(pairs)


def opposite(side: str) -> str:
    """Return the opposite side; empty for an empty one."""
    return SIDES[SIDES.index(side) ^ 1] if side in SIDES else ""


def _parts(facts: SceneFacts) -> Iterator[Question]:
    for name, part in facts.parts():
        if (state := facts.opening(name, part)) and reference(facts, name) is not None:
            where = part_name(facts, name, part)
            yield _ask("opening", facts, f"is {where} open?", "yes" if state == "open" else "no", name, part)


def _deed(first: SceneFacts, last: SceneFacts, record: EpisodeRecord, grasps: tuple[Grasp, ...]) -> Iterator[Question]:
    segments = segments_of(record)
    fps = record.instance.fps
    if segments:
        yield _ask("first_step", first, "what does the robot do first?", segments[0].label)
        yield _ask("last_step", last, "what does the robot do last?", segments[-1].label)
        yield _ask("steps", last, "in how many steps is it done?", str(len(segments)))
    for before, after in pairwise(segments):
        said = before.label.rstrip(".")
        if sum(segment.label == before.label for segment in segments) == 1:
            yield _ask("next_step", first, f"what comes after this step: {said}?", after.label)
    yield _ask("success", last, "is the task done at the end?", "yes" if record.success else "no")
    length = f"{len(record.kept) / fps:.1f} s"
    yield _ask("duration", last, "how long does it take?", length)
    held = [grasp for grasp in grasps if first.has(grasp.object) and reference(first, grasp.object)]
    if held and held[0] is grasps[0]:
        answer = name_of(first, held[0].object)
        yield _ask("first_grasp", first, "what does the robot take hold of first?", answer, held[0].object)
    for name in dict.fromkeys(grasp.object for grasp in held):
        mine = [grasp for grasp in grasps if grasp.object == name]
        arms = sorted({f"{grasp.robot}/{grasp.arm}" for grasp in mine})
        known = name_of(first, name)
        count = "once" if len(mine) == 1 else f"{len(mine)} times"
        yield _ask("grasps", last, f"how often does the robot take hold of {known}?", count, name)
        if sum(len(robot.arms) for robot in first.motion.scene.robots.values()) > 1 and len(arms) == 1:
            yield _ask("arm", last, f"which arm takes {known}?", arms[0].rpartition("/")[2], name)
        start = f"{mine[0].start / fps:.1f} s"
        yield _ask("grasp_time", last, f"when does the robot take hold of {known}?", start, name)
        on = [t.name for t in last.things if t.name != name and last.is_on(name, t.name)]
        inside = [t.name for t in last.things if t.name != name and last.is_in(name, t.name)]
        ends = [("in", other) for other in inside] or [("on", other) for other in on]
        if len(ends) == 1 and (target := reference(last, ends[0][1])) is not None:
            answer = f"{ends[0][0]} {target.text}"
            yield _ask("ends", last, f"where is {known}, as it was at the start, in the end?", answer, name, *ends[0])
