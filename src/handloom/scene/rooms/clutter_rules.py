"""Clutter rules per kind of room, relative to fixtures: a dish rack beside the sink."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One kind of clutter object."""

    what: tuple[str, ...]
    """Categories of which one is drawn."""
    where: tuple[str, ...]
    """Fixtures it may stand on, the first with room; a name includes its numbered siblings."""
    share: float = 0.7
    """Probability that it is present."""
    beside: str = ""
    """Fixture it stands near; absent: anywhere on the fixture."""
    row: Literal["back", "front", "middle", "any"] = "back"
    """Position across the depth of the fixture."""
    level: str = "top"
    """Point of the fixture that gives its height: ``top``, ``board_0``, ``burner_1``."""
    turn: float = 12.0
    """Largest turn from facing the room [deg]."""
    count: int = 1
    """Maximum number."""
    holds: tuple[str, ...] = ()
    """Categories of its content."""
    parameters: Mapping[str, Any] = field(default_factory=dict)


COUNTERS = ("counter", "island")
KITCHEN: tuple[Rule, ...] = (
    Rule(what=("dish_rack",), where=COUNTERS, beside="sink", row="back", share=0.8, holds=("plate",), turn=3.0),
    Rule(what=("spray_bottle",), where=("sink_counter",), row="back", share=0.8),
    Rule(what=("sponge",), where=("sink_counter", *COUNTERS), beside="sink", row="back", share=0.6),
    Rule(what=("spice_rack",), where=COUNTERS, beside="stove", row="back", share=0.8, turn=4.0),
    Rule(what=("utensil_pot",), where=COUNTERS, beside="stove", row="back", share=0.8, turn=180.0),
    Rule(what=("knife_block",), where=COUNTERS, beside="stove", row="back", share=0.7),
    Rule(what=("pot", "frying_pan"), where=("stove",), level="burner_1", row="middle", share=0.75, turn=40.0),
    Rule(what=("kettle",), where=COUNTERS, row="back", share=0.7, turn=40.0),
    Rule(what=("coffee_machine",), where=COUNTERS, row="back", share=0.6),
    Rule(what=("toaster",), where=COUNTERS, row="back", share=0.6),
    Rule(
        what=("bowl",),
        where=("island", "table", "counter"),
        row="middle",
        share=0.85,
        holds=("apple", "orange", "lemon", "pear"),
        turn=180.0,
        parameters={"scale": 1.35},
    ),
    Rule(what=("paper_towel",), where=COUNTERS, row="back", share=0.6, turn=180.0),
    Rule(what=("cutting_board",), where=COUNTERS, row="back", share=0.5, turn=8.0),
    Rule(what=("jar", "food_tin"), where=COUNTERS, beside="stove", row="back", share=0.7, count=2, turn=180.0),
    Rule(what=("cereal_box", "bottle", "milk_carton"), where=COUNTERS, beside="fridge", row="back", share=0.6, count=2),
    Rule(what=("mug", "cup"), where=("shelf",), level="board_0", row="middle", share=0.9, count=3, turn=180.0),
    Rule(what=("bowl", "plate"), where=("high_shelf",), level="board_0", row="middle", share=0.8, count=2, turn=180.0),
    Rule(what=("jar", "food_tin", "teapot"), where=("high_shelf",), level="board_0", row="middle", share=0.8, count=2),
    Rule(what=("potted_plant", "vase"), where=("high_shelf", "table", "island"), level="top", row="middle", share=0.5),
    Rule(what=("mug", "glass"), where=("table", "island"), row="any", share=0.6, count=2, turn=180.0),
    Rule(what=("magazine_stack", "book"), where=("table", "island"), row="any", share=0.5, turn=30.0),
)
LIVING: tuple[Rule, ...] = (
    Rule(what=("magazine_stack", "book"), where=("coffee_table", "side_table"), row="any", share=0.9, turn=25.0),
    Rule(what=("remote_control",), where=("coffee_table",), row="any", share=0.8, turn=60.0),
    Rule(what=("mug", "cup", "glass"), where=("coffee_table", "side_table"), row="any", share=0.7, count=2, turn=180.0),
    Rule(what=("vase", "potted_plant"), where=("sideboard", "coffee_table", "bookcase"), row="middle", share=0.9),
    Rule(
        what=("bowl",),
        where=("sideboard", "table", "coffee_table"),
        row="middle",
        share=0.6,
        holds=("apple", "orange", "pear"),
        turn=180.0,
        parameters={"scale": 1.3},
    ),
    *(
        Rule(what=("book_row",), where=("bookcase",), level=f"board_{k}", row="middle", share=1.0, count=2, turn=2.0)
        for k in range(3)
    ),
    Rule(what=("vase", "toy_car"), where=("bookcase",), level="board_3", row="middle", share=0.8, count=2),
    Rule(what=("wine_glass", "carafe"), where=("sideboard",), row="middle", share=0.6, count=2, turn=180.0),
    Rule(what=("tissue_box",), where=("sideboard", "coffee_table"), row="any", share=0.5),
)
STUDY: tuple[Rule, ...] = (
    Rule(what=("pen_holder",), where=("desk",), row="back", share=0.9),
    Rule(what=("letter_tray",), where=("desk",), row="back", share=0.8, turn=5.0),
    Rule(what=("stapler", "tape_roll"), where=("desk",), row="back", share=0.7, turn=60.0),
    Rule(what=("mug",), where=("desk",), row="back", share=0.7, turn=180.0),
    Rule(what=("book", "magazine_stack"), where=("desk",), row="back", share=0.7, turn=20.0),
    Rule(what=("potted_plant",), where=("desk", "bookcase"), row="back", share=0.6),
    *LIVING[5:9],
)
WORKSHOP: tuple[Rule, ...] = (
    Rule(what=("hammer", "wrench"), where=("bench",), row="back", share=0.8, turn=30.0),
    Rule(what=("screwdriver", "pliers"), where=("bench",), row="back", share=0.8, turn=60.0),
    Rule(what=("tape_roll",), where=("bench",), row="back", share=0.7, turn=180.0),
    Rule(what=("flashlight", "paint_brush"), where=("bench",), row="back", share=0.6, turn=60.0),
    Rule(what=("crate", "bin"), where=("rack", "bench"), level="board_1", row="middle", share=0.9, turn=4.0),
    Rule(what=("cardboard_box", "bin"), where=("rack",), level="board_2", row="middle", share=0.9, count=2, turn=6.0),
    Rule(what=("food_tin", "spray_bottle", "jar"), where=("rack",), level="board_3", row="middle", share=0.9, count=3),
)
RULES: Mapping[str, tuple[Rule, ...]] = {
    "kitchen": KITCHEN,
    "dining_room": LIVING,
    "living_room": LIVING,
    "study": STUDY,
    "workbench": WORKSHOP,
}
"""Kind of room > its clutter."""
