"""The ``goal:`` of a task file: the wanted state, and the terms to which it expands."""

from collections.abc import Collection
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from handloom.config import Config
from handloom.errors import ConfigError, unknown_name
from handloom.judging.ahead import lasting_terms
from handloom.judging.lasting import REST_SPEED, ROCKING
from handloom.judging.moved_containers import container_terms
from handloom.judging.relations import BESIDE_WITHIN, facing_terms, relation_terms, upright_terms
from handloom.scene import Scene
from handloom.scene.named_points import SIDES, point_of
from handloom.values import Check

DISTURBED = 0.05
"""How far an object that must stay in place may move [m]."""
Share = Annotated[float, Field(ge=0, le=1)]
Where = str | dict[str, str]
"""An object, or ``{object: part}``."""
RELATIONS = ("in", "on", "beside", "left_of", "right_of", "in_front_of", "behind", "between", "at", "heading", "facing")
RELATIONS += ("upright",)
RELATIONS += ("open", "closed", "held", "poured_into", "pressed", "touched_with", "wiped_with", "at_rest")
OTHERS = "others"
TOUCHED_NEAR = 0.03
"""Largest distance of a tool's contact from its named point [m]."""
WIPED = 0.5
"""How long something must have been wiped [s]."""


class GoalTerm(Config):
    """One condition that must hold at the end. State an ``object`` and one or more conditions."""

    object: str = ""
    """What it is about."""
    inside: Where | None = Field(default=None, alias="in")
    """In a cavity of it; ``{cabinet: drawer_1}``: in that of a part."""
    on: Where | None = None
    """Carried by it."""
    beside: str | None = None
    """Next to it, on any side, no farther than ``within``."""
    left_of: str | None = None
    right_of: str | None = None
    """Next to it in world -x or +x; with ``gap``, as the robot sees it, straight beside it."""
    in_front_of: str | None = None
    behind: str | None = None
    """Straight in front of it, nearer to the robot, or behind it, no farther than ``within`` or with a ``gap``."""
    gap: tuple[float, float] | None = None
    """For ``left_of``, ``right_of``, ``in_front_of`` and ``behind``: minimum and maximum gap [m]."""
    between: tuple[str, str] | None = None
    """On the line between two other objects, to within ``within``."""
    at: tuple[float, float] | None = None
    """Its middle at x, y in the world [m], to within ``within``."""
    within: float = Field(default=0.0, ge=0, le=10)
    """Distance [m]; 0 means 10 cm beside others and 3 cm at a place."""
    heading: float | None = Field(default=None, ge=-360, le=360)
    """Heading of its x axis in the world [deg], to within 15 degrees."""
    facing: Annotated[float, Field(ge=-360, le=360)] | Literal["left", "right", "away", "toward"] | None = None
    """Direction of its ``front``, or of its x axis if it has none, as the robot sees it: a word, or degrees, 0 to the
    right and 90 away; to within 15 degrees."""
    upright: bool | Annotated[float, Field(gt=0, le=90)] | None = None
    """Upright, to within 15 degrees or a given angle [deg]; false allows it to lie; absent: with a relation, objects
    that stand, such as mugs and bottles, must."""
    joint: str | None = None
    """Moving part for ``open`` and ``closed``; absent: the main one."""
    open: bool | Share | None = None
    """Open by at least this fraction of its range; true: half."""
    closed: bool | Share | None = None
    """Open by at most this fraction of its range; true: 3 %."""
    held: bool | Literal["both"] | None = None
    """In some hand; ``both``: in two hands at once."""
    poured_into: str | None = None
    """Most of its contents are in the other one."""
    share: Share = 0.7
    spilled: Share = 0.1
    """Minimum fraction poured, and maximum fraction lost."""
    pressed: float | bool | None = None
    """A finger has pressed on it from above, with at least this force [N]; true: 0.5 N. At its named ``point``, if that
    is given."""
    point: str | None = None
    """Named point of it for ``pressed`` and ``touched_with``."""
    touched_with: Where | None = None
    """The other, in a hand, has touched it; ``{hammer: head}``: with that point of the other, to within 3 cm."""
    wiped_with: Where | None = None
    """The other has rubbed on it for half a second; ``{brush: bristles}``: with that part."""
    at_rest: bool | None = None
    """It lies still."""
    stacked: tuple[str, ...] = ()
    """Each stands on the previous one, from the lowest up."""
    untouched: tuple[str, ...] | str = ()
    """Objects that must not have moved by more than 5 cm, nor fallen; ``others``: every object in no other term."""

    @model_validator(mode="before")
    @classmethod
    def _yaml_reads_on_as_true(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {("on" if key is True else key): value for key, value in given.items()}

    @model_validator(mode="after")
    def _says_something(self) -> "GoalTerm":
        said = [key for key in RELATIONS if getattr(self, "inside" if key == "in" else key) is not None]
        alone = bool(self.stacked) + bool(self.untouched)
        if (said and not self.object) or (not said and not alone) or alone > 1 or (said and alone):
            raise ValueError(
                f"name an object and a relation: {{object: apple, in: bowl}}, with one of {', '.join(RELATIONS)}; "
                "or {stacked: [a, b]}, or {untouched: others}"
            )
        if len(self.stacked) == 1:
            raise ValueError("stacked needs two objects or more, from the lowest up")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Every object that the entry names."""
        places = [
            place if isinstance(place, str) else next(iter(place), "")
            for place in (self.inside, self.on, self.wiped_with, self.touched_with)
            if place
        ]
        sides = (self.beside, self.left_of, self.right_of, self.in_front_of, self.behind)
        others = [name for name in (*sides, self.poured_into) if name]
        untouched = () if isinstance(self.untouched, str) else self.untouched
        named = (self.object, *places, *others, *(self.between or ()), *self.stacked, *untouched)
        return tuple(name for name in named if name)


def goal_terms(scene: Scene, goal: tuple[GoalTerm, ...], handled: Collection[str] = ()) -> tuple[Check, ...]:
    """Return the terms to which a goal expands.

    Args:
        scene: The scene in its first state.
        goal: The goal in the task file.
        handled: Objects that the task's skills grasp.

    Raises:
        ConfigError: An object or a part does not exist, or cannot satisfy the statement.
    """
    for name in dict.fromkeys(name for term in goal for name in term.names):
        if name not in scene.assets:
            raise unknown_name("object", name, scene.assets)
    terms: list[Check] = []
    for entry in goal:
        terms += _placed(scene, entry) + _states(scene, entry)
    about = {name for entry in goal for name in (entry.object, *entry.stacked) if name}
    for entry in goal:
        names = _movable(scene) if entry.untouched == OTHERS else entry.untouched
        terms += [_unmoved(scene, name) for name in names if entry.untouched != OTHERS or name not in about]
    held = {entry.object for entry in goal if entry.held}
    terms += container_terms(scene, terms, {*handled, *held})
    terms += lasting_terms(scene, terms, {*handled, *held})
    return tuple({_key(term): term for term in terms}.values())


def _key(term: Check) -> str:
    return f"{term.name} {sorted(term.arguments.items(), key=str)}"


def _placed(scene: Scene, entry: GoalTerm) -> list[Check]:
    name, terms = entry.object, []
    for relation, place in (("in", entry.inside), ("on", entry.on)):
        if place is not None:
            target, part = _place_and_part(place)
            terms += relation_terms(scene, name, relation, target, part=part, upright=entry.upright)
    near = entry.within or BESIDE_WITHIN
    for side, target in ((None, entry.beside), ("left", entry.left_of), ("right", entry.right_of)):
        if target is not None and (side is None or entry.gap is None):
            terms += relation_terms(scene, name, "beside", target, side=side, within=near, upright=entry.upright)
    for relation in SIDES:
        target = getattr(entry, relation)
        if target is not None and (entry.gap is not None or relation in ("in_front_of", "behind")):
            keys = {"within": near, "upright": entry.upright, "gap": entry.gap}
            terms += relation_terms(scene, name, relation, target, **keys)
    if entry.between is not None:
        first, second = entry.between
        terms.append(
            Check(name="between", arguments={"object": name, "first": first, "second": second, "within": near})
        )
    if entry.at is not None:
        off = entry.within or 0.03
        low, high = [value - off for value in entry.at], [value + off for value in entry.at]
        terms.append(Check(name="placed_at", arguments={"object": name, "low": low, "high": high}))
    for lower, upper in zip(entry.stacked, entry.stacked[1:], strict=False):
        terms += relation_terms(scene, upper, "stack_on", lower)
    return terms


def _place_and_part(place: Where) -> tuple[str, str | None]:
    return (place, None) if isinstance(place, str) else next(iter(place.items()))


def _states(scene: Scene, entry: GoalTerm) -> list[Check]:
    name, terms = entry.object, []
    if entry.heading is not None:
        yaw = {"object": name, "yaw": float(np.deg2rad(entry.heading)), "angle": float(np.deg2rad(15.0))}
        terms.append(Check(name="headed", arguments=yaw))
    terms += facing_terms(scene, name, entry.facing)
    if entry.upright is not None and entry.upright is not False:
        terms += upright_terms(scene, name, entry.upright)
    if entry.open is not None or entry.closed is not None:
        terms.append(_joint(scene, entry))
    if entry.held is not None:
        word = "held_by_both" if entry.held == "both" else "in_hand" if entry.held else "let_go"
        terms.append(Check(name=word, arguments={"object": name}))
    if entry.poured_into is not None:
        amounts = {"container": name, "target": entry.poured_into, "share": entry.share, "spilled": entry.spilled}
        terms.append(Check(name="poured", arguments=amounts))
    if entry.pressed:
        force = 0.5 if entry.pressed is True else float(entry.pressed)
        once = 1.0 / scene.instance.fps
        if entry.point is None:
            terms.append(Check(name="pushed_down", arguments={"object": name, "force": force}, seconds=once))
        else:
            body = point_of(scene.assets[name], name, entry.point).body
            down = -scene.world.body_pose(f"{name}/{body}")[2, :3]
            about = {"object": name, "point": entry.point, "way": down.tolist(), "force": force}
            terms.append(Check(name="pressed_at", arguments=about, seconds=once))
    if entry.touched_with is not None:
        tool, part = _place_and_part(entry.touched_with)
        about = {"object": tool, "target": name, "point": part, "target_point": entry.point, "within": TOUCHED_NEAR}
        terms.append(Check(name="used_on", arguments=about, seconds=1.0 / scene.instance.fps))
    if entry.wiped_with is not None:
        tool, part = _place_and_part(entry.wiped_with)
        about = {"object": tool, "target": name, "part": part}
        terms.append(Check(name="wipes", arguments=about, seconds=WIPED))
    if entry.at_rest:
        about = {"objects": [name], "speed": REST_SPEED, "rocking": ROCKING}
        terms.append(Check(name="lying_still", arguments=about))
    return terms


def _joint(scene: Scene, entry: GoalTerm) -> Check:
    """Return the term that a joint is open or closed by a fraction of its range."""
    asset = scene.assets[entry.object]
    if not asset.articulated:
        raise ConfigError(f"goal: {entry.object} ({asset.name}) has nothing to open or close")
    link = asset.joints[asset.joint_index(entry.joint)]
    low, high = link.range
    closed = min(max(0.0, low), high)
    end = high if abs(high - closed) >= abs(low - closed) else low
    if entry.open is not None:
        share = 0.5 if entry.open is True else float(entry.open)
        bounds = sorted((closed + share * (end - closed), end + np.sign(end - closed) * 1.0))
    else:
        share = 0.03 if entry.closed is True else float(entry.closed or 0.0)
        bounds = sorted((closed - np.sign(end - closed) * 1.0, closed + share * (end - closed)))
    about = {"object": entry.object, "joint": link.joint, "low": float(bounds[0]), "high": float(bounds[1])}
    return Check(name="joint_between", arguments=about)


def _movable(scene: Scene) -> tuple[str, ...]:
    return tuple(obj.name for obj in scene.instance.objects if not obj.fixed and obj.solid)


def _unmoved(scene: Scene, name: str) -> Check:
    T = scene.object_pose(name)
    about = {"position": T[:3, 3].tolist(), "up": T[2, :3].tolist(), "distance": DISTURBED}
    return Check(name="unmoved", arguments={"object": name, **about})
