"""Random tasks about sides, spots and headings, as users write them, for judge and oracle."""

import random

from tests.oracle.grammar import Sheet, Written
from tests.oracle.oracle import Deed

TAKEN = ["mug", "can", "cube", "lemon", "snack_box", "cup", "milk_carton", "block", "eraser"]
BY = ["snack_box", "bowl", "cereal_box", "plate", "can", "book"]
SIDES = ("left_of", "right_of", "in_front_of", "behind")
HEADINGS = {"right": 0.0, "away": 90.0, "left": 180.0, "toward": 270.0}


def write_point_task(index: int, seed: int = 0, *, kind: str = "") -> Written:
    """Return a random task on an FR3; the same for the same number and seed."""
    rng = random.Random(f"points {seed}/{index}")
    sheet = Sheet("fr3", rng)
    kind = kind or rng.choice((*SIDES, "at", "facing"))
    category = rng.choice(TAKEN)
    name = sheet.thing("thing", category)
    sheet.at(name, (0.14, 0.24, -0.02, 0.1))
    sheet.pick(name)
    deeds: list[Deed] = []
    if kind in SIDES:
        by = sheet.thing("other", rng.choice(BY))
        sheet.at(by, (-0.16, -0.06, 0.1, 0.16), (-8, 8))
        low, gap = rng.choice([0.02, 0.03, 0.05]), rng.choice([0.04, 0.06])
        asked = f", gap: [{low}, {low + gap:.2f}]" if rng.random() < 0.6 else ""
        sheet.skills.append(f"  - {{place: {name}, {kind}: {by}{asked}}}")
        bounds = (low, low + gap) if asked else (0.0, 0.1)
        deeds.append(Deed(kind=kind, obj=name, target=by, gap=bounds))  # pyright: ignore[reportArgumentType]
    else:
        spot = (round(rng.uniform(-0.2, 0.0), 2), round(rng.uniform(0.0, 0.15), 2))
        word = rng.choice(sorted(HEADINGS))
        turn = f", facing: {word}" if kind == "facing" else ""
        sheet.skills.append(f"  - {{place: {name}, on: table, at: [{spot[0]}, {spot[1]}]{turn}}}")
        deeds.append(Deed(kind="at", obj=name, target="table", spot=spot))
        if kind == "facing":
            axis = FRONTS.get(category, (1.0, 0.0, 0.0))
            deeds.insert(0, Deed(kind="facing", obj=name, heading=HEADINGS[word], axis=axis))
    return Written(f"points_{seed}_{index}", kind, "fr3", sheet.text(), tuple(deeds))


FRONTS: dict[str, tuple[float, float, float]] = {}
"""Categories whose front is not along their x axis, as their drawing shows it."""
