"""The categories of the library and the function that makes an object of one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from handloom.arrays import Array
from handloom.config import import_named
from handloom.errors import InputError, unknown_name
from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices, Offer, Value
from handloom.objects.keypoints import joint_keypoints
from handloom.objects.materials import SPOKEN
from handloom.objects.object_asset import ObjectAsset

Drawing = Callable[[Choices], Blueprint]

CATEGORIES: Final[dict[str, str]] = {
    "faucet": "handloom.objects.library.appliances:faucet",
    "knob": "handloom.objects.library.appliances:knob_panel",
    "laptop": "handloom.objects.library.appliances:laptop",
    "microwave": "handloom.objects.library.appliances:microwave",
    "oven": "handloom.objects.library.appliances:oven",
    "washing_machine": "handloom.objects.library.appliances:washing_machine",
    "block": "handloom.objects.library.blocks:block",
    "cube": "handloom.objects.library.blocks:cube",
    "cylinder_block": "handloom.objects.library.blocks:cylinder_block",
    "hex_nut": "handloom.objects.library.blocks:hex_nut",
    "studded_brick": "handloom.objects.library.blocks:studded_brick",
    "triangle_block": "handloom.objects.library.blocks:triangle_block",
    "barcode_scanner": "handloom.objects.library.desktop.devices:barcode_scanner",
    "book": "handloom.objects.library.desk:book",
    "computer_mouse": "handloom.objects.library.desk:computer_mouse",
    "eraser": "handloom.objects.library.desk:eraser",
    "flower": "handloom.objects.library.desk:flower",
    "marker": "handloom.objects.library.desk:marker",
    "pen": "handloom.objects.library.desk:pen",
    "pen_holder": "handloom.objects.library.desk:pen_holder",
    "phone": "handloom.objects.library.desk:phone",
    "remote_control": "handloom.objects.library.desk:remote_control",
    "sponge": "handloom.objects.library.desk:sponge",
    "stapler": "handloom.objects.library.desk:stapler",
    "tissue_box": "handloom.objects.library.desk:tissue_box",
    "vase": "handloom.objects.library.desk:vase",
    "shoe": "handloom.objects.library.desktop.footwear:shoe",
    "shoe_box": "handloom.objects.library.desktop.footwear:shoe_box",
    "desk_fan": "handloom.objects.library.desktop.devices:desk_fan",
    "hand_scanner": "handloom.objects.library.desktop.devices:hand_scanner",
    "kitchen_scale": "handloom.objects.library.desktop.devices:kitchen_scale",
    "microphone": "handloom.objects.library.desktop.devices:microphone",
    "phone_stand": "handloom.objects.library.desktop.devices:phone_stand",
    "qr_stand": "handloom.objects.library.desktop.devices:qr_stand",
    "burger": "handloom.objects.library.desktop.goods:burger",
    "card_box": "handloom.objects.library.desktop.goods:card_box",
    "coffee_box": "handloom.objects.library.desktop.goods:coffee_box",
    "fries_box": "handloom.objects.library.desktop.goods:fries_box",
    "pill_bottle": "handloom.objects.library.desktop.goods:pill_bottle",
    "soap": "handloom.objects.library.desktop.goods:soap",
    "tea_box": "handloom.objects.library.desktop.goods:tea_box",
    "mallet": "handloom.objects.library.desktop.hand_tools:mallet",
    "roller": "handloom.objects.library.desktop.hand_tools:roller",
    "seal": "handloom.objects.library.desktop.hand_tools:seal",
    "bread_basket": "handloom.objects.library.desktop.holders:bread_basket",
    "coaster": "handloom.objects.library.desktop.holders:coaster",
    "display_stand": "handloom.objects.library.desktop.holders:display_stand",
    "dustbin": "handloom.objects.library.desktop.holders:dustbin",
    "mouse_pad": "handloom.objects.library.desktop.holders:mouse_pad",
    "nesting_bowl": "handloom.objects.library.desktop.holders:nesting_bowl",
    "plastic_box": "handloom.objects.library.desktop.holders:plastic_box",
    "skillet": "handloom.objects.library.desktop.holders:skillet",
    "soup_pot": "handloom.objects.library.desktop.holders:soup_pot",
    "alarm_clock": "handloom.objects.library.desktop.pressed:alarm_clock",
    "desk_bell": "handloom.objects.library.desktop.pressed:desk_bell",
    "lever_stapler": "handloom.objects.library.desktop.pressed:lever_stapler",
    "rocker_switch": "handloom.objects.library.desktop.pressed:rocker_switch",
    "toggle_switch": "handloom.objects.library.desktop.pressed:toggle_switch",
    "carafe": "handloom.objects.library.drinkware:carafe",
    "cup": "handloom.objects.library.drinkware:cup",
    "glass": "handloom.objects.library.drinkware:glass",
    "mug": "handloom.objects.library.drinkware:mug",
    "potted_plant": "handloom.objects.library.drinkware:potted_plant",
    "watering_can": "handloom.objects.library.drinkware:watering_can",
    "wine_glass": "handloom.objects.library.drinkware:wine_glass",
    "apple": "handloom.objects.library.fruit:apple",
    "banana": "handloom.objects.library.fruit:banana",
    "bread_roll": "handloom.objects.library.fruit:bread_roll",
    "carrot": "handloom.objects.library.fruit:carrot",
    "cheese": "handloom.objects.library.fruit:cheese",
    "chocolate_bar": "handloom.objects.library.fruit:chocolate_bar",
    "cucumber": "handloom.objects.library.fruit:cucumber",
    "donut": "handloom.objects.library.fruit:donut",
    "egg": "handloom.objects.library.fruit:egg",
    "eggplant": "handloom.objects.library.fruit:eggplant",
    "lemon": "handloom.objects.library.fruit:lemon",
    "orange": "handloom.objects.library.fruit:orange",
    "pear": "handloom.objects.library.fruit:pear",
    "potato": "handloom.objects.library.fruit:potato",
    "sandwich": "handloom.objects.library.fruit:sandwich",
    "strawberry": "handloom.objects.library.fruit:strawberry",
    "tomato": "handloom.objects.library.fruit:tomato",
    "double_conveyor": "handloom.objects.library.furniture:double_conveyor",
    "drawer_cabinet": "handloom.objects.library.furniture:drawer_cabinet",
    "hinged_cabinet": "handloom.objects.library.furniture:hinged_cabinet",
    "safe": "handloom.objects.library.furniture:safe",
    "fridge": "handloom.objects.library.household:fridge",
    "sliding_cabinet": "handloom.objects.library.household:sliding_cabinet",
    "tool_chest": "handloom.objects.library.household:tool_chest",
    "valve": "handloom.objects.library.household:valve",
    "moka_pot": "handloom.objects.library.kitchenware.cookware:moka_pot",
    "ramekin": "handloom.objects.library.kitchenware.cookware:ramekin",
    "table_stove": "handloom.objects.library.kitchenware.cookware:table_stove",
    "wine_bottle": "handloom.objects.library.kitchenware.cookware:wine_bottle",
    "wine_rack": "handloom.objects.library.kitchenware.cookware:wine_rack",
    "alphabet_soup": "handloom.objects.library.kitchenware.groceries:alphabet_soup",
    "bbq_sauce": "handloom.objects.library.kitchenware.groceries:bbq_sauce",
    "butter": "handloom.objects.library.kitchenware.groceries:butter",
    "chocolate_pudding": "handloom.objects.library.kitchenware.groceries:chocolate_pudding",
    "cookie_box": "handloom.objects.library.kitchenware.groceries:cookie_box",
    "cream_cheese": "handloom.objects.library.kitchenware.groceries:cream_cheese",
    "ketchup": "handloom.objects.library.kitchenware.groceries:ketchup",
    "milk": "handloom.objects.library.kitchenware.groceries:milk",
    "orange_juice": "handloom.objects.library.kitchenware.groceries:orange_juice",
    "salad_dressing": "handloom.objects.library.kitchenware.groceries:salad_dressing",
    "tomato_sauce": "handloom.objects.library.kitchenware.groceries:tomato_sauce",
    "desk_caddy": "handloom.objects.library.kitchenware.holders:desk_caddy",
    "two_tier_shelf": "handloom.objects.library.kitchenware.holders:two_tier_shelf",
    "wooden_cabinet": "handloom.objects.library.kitchenware.holders:wooden_cabinet",
    "beaker": "handloom.objects.library.laboratory:beaker",
    "flask": "handloom.objects.library.laboratory:flask",
    "petri_dish": "handloom.objects.library.laboratory:petri_dish",
    "test_tube": "handloom.objects.library.laboratory:test_tube",
    "test_tube_rack": "handloom.objects.library.laboratory:test_tube_rack",
    "electric_cooker": "handloom.objects.library.lidded:electric_cooker",
    "lidded_box": "handloom.objects.library.lidded:lidded_box",
    "pot": "handloom.objects.library.lidded:pot",
    "trash_can": "handloom.objects.library.lidded:trash_can",
    "bottle": "handloom.objects.library.packages:bottle",
    "can": "handloom.objects.library.packages:can",
    "cardboard_box": "handloom.objects.library.packages:cardboard_box",
    "cereal_box": "handloom.objects.library.packages:cereal_box",
    "food_tin": "handloom.objects.library.packages:food_tin",
    "jar": "handloom.objects.library.packages:jar",
    "milk_carton": "handloom.objects.library.packages:milk_carton",
    "snack_box": "handloom.objects.library.packages:snack_box",
    "spray_bottle": "handloom.objects.library.packages:spray_bottle",
    "kitchen_drawers": "handloom.objects.library.rooms.cabinets:kitchen_drawers",
    "kitchen_cabinet": "handloom.objects.library.rooms.cabinets:kitchen_cabinet",
    "upper_cabinet": "handloom.objects.library.rooms.cabinets:upper_cabinet",
    "tall_cabinet": "handloom.objects.library.rooms.cabinets:tall_cabinet",
    "cabinet_panel": "handloom.objects.library.rooms.cabinets:cabinet_panel",
    "wall_shelf": "handloom.objects.library.rooms.cabinets:wall_shelf",
    "worktop": "handloom.objects.library.rooms.worktops:worktop",
    "kitchen_sink": "handloom.objects.library.rooms.worktops:kitchen_sink",
    "kitchen_tap": "handloom.objects.library.rooms.worktops:kitchen_tap",
    "stove": "handloom.objects.library.rooms.cooking:stove",
    "built_in_oven": "handloom.objects.library.rooms.cooking:built_in_oven",
    "dishwasher": "handloom.objects.library.rooms.cooking:dishwasher",
    "hood": "handloom.objects.library.rooms.cooking:hood",
    "kitchen_fridge": "handloom.objects.library.rooms.cooking:kitchen_fridge",
    "spice_rack": "handloom.objects.library.rooms.small:spice_rack",
    "knife_block": "handloom.objects.library.rooms.small:knife_block",
    "kettle": "handloom.objects.library.rooms.small:kettle",
    "toaster": "handloom.objects.library.rooms.small:toaster",
    "coffee_machine": "handloom.objects.library.rooms.small:coffee_machine",
    "paper_towel": "handloom.objects.library.rooms.small:paper_towel",
    "utensil_pot": "handloom.objects.library.rooms.small:utensil_pot",
    "magazine_stack": "handloom.objects.library.rooms.small:magazine_stack",
    "book_row": "handloom.objects.library.rooms.small:book_row",
    "letter_tray": "handloom.objects.library.rooms.small:letter_tray",
    "window": "handloom.objects.library.rooms.shell:window",
    "room_sheet": "handloom.objects.library.rooms.shell:room_sheet",
    "picture_frame": "handloom.objects.library.rooms.shell:picture_frame",
    "wall_clock": "handloom.objects.library.rooms.shell:wall_clock",
    "pendant_lamp": "handloom.objects.library.rooms.shell:pendant_lamp",
    "floor_lamp": "handloom.objects.library.rooms.shell:floor_lamp",
    "rug": "handloom.objects.library.rooms.shell:rug",
    "room_door": "handloom.objects.library.rooms.shell:room_door",
    "robot_stand": "handloom.objects.library.rooms.shell:robot_stand",
    "room_table": "handloom.objects.library.rooms.seating:room_table",
    "chair": "handloom.objects.library.rooms.seating:chair",
    "sofa": "handloom.objects.library.rooms.seating:sofa",
    "bookcase": "handloom.objects.library.rooms.seating:bookcase",
    "desk": "handloom.objects.library.rooms.seating:desk",
    "sideboard": "handloom.objects.library.rooms.seating:sideboard",
    "television": "handloom.objects.library.rooms.seating:television",
    "pegboard": "handloom.objects.library.rooms.seating:pegboard",
    "basket": "handloom.objects.library.storage:basket",
    "bin": "handloom.objects.library.storage:bin_box",
    "cardboard_tray": "handloom.objects.library.storage:cardboard_tray",
    "conveyor": "handloom.objects.library.storage:conveyor",
    "crate": "handloom.objects.library.storage:crate",
    "cutting_board": "handloom.objects.library.storage:cutting_board",
    "dish_rack": "handloom.objects.library.storage:dish_rack",
    "egg_box": "handloom.objects.library.storage:egg_box",
    "low_basket": "handloom.objects.library.storage:low_basket",
    "mug_tree": "handloom.objects.library.storage:mug_tree",
    "pallet": "handloom.objects.library.storage:pallet",
    "place_mat": "handloom.objects.library.storage:place_mat",
    "shelf": "handloom.objects.library.storage:shelf",
    "tray": "handloom.objects.library.storage:tray",
    "turntable": "handloom.objects.library.storage:turntable",
    "bowl": "handloom.objects.library.tableware:bowl",
    "fork": "handloom.objects.library.tableware:fork",
    "frying_pan": "handloom.objects.library.tableware:frying_pan",
    "plate": "handloom.objects.library.tableware:plate",
    "spatula": "handloom.objects.library.tableware:spatula",
    "spoon": "handloom.objects.library.tableware:spoon",
    "table_knife": "handloom.objects.library.tableware:table_knife",
    "teapot": "handloom.objects.library.tableware:teapot",
    "flashlight": "handloom.objects.library.tools:flashlight",
    "hammer": "handloom.objects.library.tools:hammer",
    "paint_brush": "handloom.objects.library.tools:paint_brush",
    "pliers": "handloom.objects.library.tools:pliers",
    "scissors": "handloom.objects.library.tools:scissors",
    "screwdriver": "handloom.objects.library.tools:screwdriver",
    "tape_roll": "handloom.objects.library.tools:tape_roll",
    "toothbrush": "handloom.objects.library.tools:toothbrush",
    "wrench": "handloom.objects.library.tools:wrench",
    "ball": "handloom.objects.library.toys:ball",
    "rubber_duck": "handloom.objects.library.toys:rubber_duck",
    "spinning_top": "handloom.objects.library.toys:spinning_top",
    "stacking_cup": "handloom.objects.library.toys:stacking_cup",
    "stacking_ring": "handloom.objects.library.toys:stacking_ring",
    "teddy_bear": "handloom.objects.library.toys:teddy_bear",
    "toy_boat": "handloom.objects.library.toys:toy_boat",
    "toy_car": "handloom.objects.library.toys:toy_car",
}
"""Category > ``module:function``; the function draws a blueprint from its choices."""
ROOM_CATEGORIES: Final = tuple(name for name, place in CATEGORIES.items() if ".library.rooms." in place)
"""Furniture and appliances of rooms, with the items on them; they come with a room and are never table clutter."""
SUITE_CATEGORIES: Final = tuple(
    name for name, place in CATEGORIES.items() if ".library.desktop." in place or ".library.kitchenware." in place
)
"""Objects of the packs; as clutter they would change the draws of existing seeds."""
MOUNTED: Final = frozenset(
    (
        "kitchen_tap",
        "pegboard",
        "pendant_lamp",
        "picture_frame",
        "wall_clock",
        "wall_shelf",
        "window",
        "hood",
        "kitchen_sink",
    )
)
"""Categories that hang on a wall or a ceiling, or are screwed to a worktop; they do not stand on their own."""


def object_categories() -> tuple[str, ...]:
    """Return the names of all categories in the library, sorted."""
    return tuple(sorted(CATEGORIES))


def make_object(
    category: str,
    *,
    rng: np.random.Generator | None = None,
    scale: float | Sequence[float] | None = None,
    color: str | None = None,
    parameters: Mapping[str, Value] | None = None,
) -> ObjectAsset:
    """Make one object: the same generator state or the same parameters give the same object.

    Args:
        category: A name in the library, or ``my_module:my_function`` for a function of your own.
        rng: Random generator for missing parameters; not needed if ``parameters`` is complete.
        scale: Factor on all lengths, or one for each axis; masses follow with the volume. Default 1.
        color: Colour word of the main part, e.g. ``"red"``.
        parameters: Fixed parameters, for example all of another object's; with a ``path`` the file is imported. ``up``
            is ``y`` for an object frame with y up, as in published assets, ``long_axis`` the axis of that frame along
            which its longest side lies, ``balanced`` makes lids stay in any position.

    Raises:
        NotFoundError: No such category or colour.
        InputError: A parameter is unknown, missing or invalid.
    """
    given = dict(parameters or {})
    if "path" in given:
        if scale is not None or color is not None:
            raise InputError(f"{category}: a file has its own colours, and its scale is one of the parameters")
        return _imported(category, given)
    factor = tuple(scale) if isinstance(scale, Sequence) else scale
    given.update({k: v for k, v in (("scale", factor), ("color", color)) if v is not None})
    factors, up = _factors(category, given.pop("scale", 1.0)), given.pop("up", None)
    if up not in (None, "y", "z"):
        raise InputError(f"{category}: up must be y or z, got {up!r}")
    long_axis = given.pop("long_axis", None)
    if long_axis not in (None, "x", "y", "z"):
        raise InputError(f"{category}: long_axis must be x, y or z, got {long_axis!r}")
    balanced = bool(given.pop("balanced", False))
    choices = Choices(rng, given, category)
    drawing = _drawing(category)(choices)
    taken: dict[str, Value] = {"scale": factors[0] if len(set(factors)) == 1 else factors, **choices.finish()}
    if up is not None:
        drawing, taken = drawing.y_up() if up == "y" else drawing, {**taken, "up": up}
    if long_axis is not None:
        drawing, taken = drawing.along(str(long_axis)), {**taken, "long_axis": long_axis}
    if balanced:
        links = tuple(link.balanced() if link.kind == "hinge" else link for link in drawing.links)
        drawing, taken = replace(drawing, links=links), {**taken, "balanced": True}
    scaled = drawing.scaled(factors[0]) if len(set(factors)) == 1 else drawing.stretched(factors)
    return asset_from_blueprint(category, scaled.centered(), taken)


@dataclass(frozen=True, kw_only=True)
class CategoryRanges:
    """Shared properties of the objects of a category."""

    parameters: Mapping[str, Offer]
    """Range of each parameter; lengths in m, angles in rad."""
    smallest: Array
    """Minimum width, depth and height of all variants drawn (3,) [m]."""
    largest: Array


def category_ranges(category: str, *, draws: int = 24) -> CategoryRanges:
    """Return the parameters of a category with their ranges, and the sizes of its objects.

    Some parameters belong to some variants only, and ranges may depend on other choices: several variants are drawn.
    """
    parameters: dict[str, Offer] = {}
    extents = []
    for k in range(draws):
        choices = Choices(np.random.default_rng(k), {}, category)
        low, high = _drawing(category)(choices).aabb()
        extents.append(high - low)
        for name, offer in choices.offers.items():
            parameters[name] = parameters[name].with_also(offer) if name in parameters else offer
    return CategoryRanges(parameters=parameters, smallest=np.min(extents, axis=0), largest=np.max(extents, axis=0))


def _factors(category: str, scale: Any) -> tuple[float, float, float]:
    """Return the factor on each axis of the object frame."""
    given = (scale, scale, scale) if isinstance(scale, int | float) and not isinstance(scale, bool) else scale
    if isinstance(given, str | bool) or len(given) != 3 or not all(0.01 <= factor <= 100.0 for factor in given):
        raise InputError(f"{category}: scale must be a number from 0.01 to 100, or three of them, got {scale!r}")
    x, y, z = (float(factor) for factor in given)
    return x, y, z


def _imported(category: str, given: Mapping[str, Value]) -> ObjectAsset:
    """Import a file again from the parameters of its imported object."""
    from handloom.objects.importers.import_object import import_object  # It imports this module.
    from handloom.objects.importers.import_options import demand_known

    options: dict[str, Any] = {name: value for name, value in given.items() if name != "path"}
    demand_known(options)
    return import_object(str(given["path"]), category=category, **options).asset


def asset_from_blueprint(category: str, blueprint: Blueprint, parameters: Mapping[str, Value]) -> ObjectAsset:
    """Wrap a finished blueprint; the main joint's annotation joins the keypoints and axes."""
    keypoints, axes = dict(blueprint.keypoints), dict(blueprint.axes)
    if blueprint.links:
        annotation = joint_keypoints(blueprint.links[0], 0)
        keypoints.update(annotation.points)
        axes.update(annotation.axes)
    noun = blueprint.words[0]
    color = SPOKEN.get(blueprint.color or "", blueprint.color)
    return ObjectAsset(
        category=category,
        name=f"{color} {noun}" if color else noun,
        synonyms=blueprint.words,
        color=color,
        parameters=dict(parameters),
        aabb=blueprint.aabb(),
        keypoints=keypoints,
        axes=axes,
        joints=blueprint.links,
        holds=blueprint.holds,
        rests=blueprint.rests,
        up=blueprint.up,
        source=blueprint,
        looks=blueprint.looks(),
    )


def _drawing(category: str) -> Drawing:
    """Import the function behind a category, or behind a user's ``module:function``."""
    if category not in CATEGORIES and ":" not in category:
        raise unknown_name("object category", category, CATEGORIES)
    return import_named("object category", category, CATEGORIES, own="my_module:my_function")
