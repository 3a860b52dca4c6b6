"""Stand-ins from the library for assets that are not there."""

import re
from pathlib import Path
from typing import Final

import numpy as np

from handloom.errors import NotFoundError, suggest
from handloom.objects.choices import Value
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.registry import CATEGORIES, make_object

PROXIES: Final[dict[str, str]] = {
    "aubergine": "eggplant",
    "baijiu": "bottle",
    "beef": "sandwich",
    "belt": "conveyor",
    "beverage": "can",
    "biscuit": "snack_box",
    "bookshelf": "shelf",
    "box": "cardboard_box",
    "bread": "bread_roll",
    "brick": "studded_brick",
    "broccoli": "pear",
    "brush": "paint_brush",
    "bucket": "bin",
    "bun": "bread_roll",
    "cabinet": "hinged_cabinet",
    "cake": "donut",
    "candle": "cylinder_block",
    "candy": "chocolate_bar",
    "canned": "food_tin",
    "car": "toy_car",
    "carton": "milk_carton",
    "cherry": "strawberry",
    "chili": "carrot",
    "chocolate": "chocolate_bar",
    "coke": "can",
    "cola": "can",
    "container": "bin",
    "cooker": "electric_cooker",
    "cookie": "donut",
    "corn": "cucumber",
    "cupboard": "hinged_cabinet",
    "detergent": "spray_bottle",
    "dice": "cube",
    "dinosaur": "rubber_duck",
    "dish": "plate",
    "doll": "teddy_bear",
    "drawer": "drawer_cabinet",
    "drink": "can",
    "drum": "cylinder_block",
    "duck": "rubber_duck",
    "dumpling": "bread_roll",
    "dustbin": "trash_can",
    "facial": "tissue_box",
    "flashlight": "flashlight",
    "garlic": "egg",
    "ginger": "potato",
    "goblet": "wine_glass",
    "ham": "sandwich",
    "hamburger": "bread_roll",
    "jug": "teapot",
    "juice": "milk_carton",
    "kettle": "teapot",
    "kiwi": "egg",
    "kiwifruit": "egg",
    "knife": "table_knife",
    "knot": "hex_nut",
    "lego": "studded_brick",
    "lime": "lemon",
    "lipstick": "marker",
    "mandarin": "orange",
    "mango": "pear",
    "marker": "marker",
    "markpen": "marker",
    "medicine": "jar",
    "milk": "milk_carton",
    "mouse": "computer_mouse",
    "mushroom": "bread_roll",
    "notebook": "laptop",
    "nut": "hex_nut",
    "onion": "apple",
    "package": "cardboard_box",
    "pan": "frying_pan",
    "parcel": "cardboard_box",
    "part": "hex_nut",
    "pastry": "donut",
    "peach": "apple",
    "pencil": "pen",
    "pepper": "pear",
    "persimmon": "tomato",
    "plum": "apple",
    "plush": "teddy_bear",
    "pomegranate": "apple",
    "pumpkin": "tomato",
    "rack": "dish_rack",
    "remote": "remote_control",
    "ricecooker": "electric_cooker",
    "rubik": "cube",
    "sausage": "cucumber",
    "scissor": "scissors",
    "shampoo": "bottle",
    "skillet": "frying_pan",
    "soap": "sponge",
    "soda": "can",
    "spanner": "wrench",
    "spray": "spray_bottle",
    "sprayer": "spray_bottle",
    "squash": "pear",
    "storage": "drawer_cabinet",
    "storagefurniture": "drawer_cabinet",
    "tangerine": "orange",
    "tape": "tape_roll",
    "tea": "snack_box",
    "teacup": "cup",
    "teddy": "teddy_bear",
    "telephone": "phone",
    "thermos": "bottle",
    "tin": "food_tin",
    "tissue": "tissue_box",
    "toast": "sandwich",
    "toothpaste": "snack_box",
    "torch": "flashlight",
    "toy": "rubber_duck",
    "trashcan": "trash_can",
    "tube": "test_tube",
    "tumbler": "cup",
    "washingmachine": "washing_machine",
    "washer": "washing_machine",
    "watermelon": "ball",
    "wine": "wine_glass",
    "wineglass": "wine_glass",
    "yogurt": "jar",
}
"""Word in a reference category > category of the library that looks and handles most like it."""

_COLLECTIONS = re.compile(r"^(google_scan|omniobject3d|phocal|real|objaverse|partnet)[-_]", re.IGNORECASE)
_LAYOUT_FILES = {"aligned_obj", "aligned", "instance", "model", "mesh", "object", "mobility"}


def category_of_path(path: str | Path) -> str:
    """Return the category an asset file belongs to: ``<category>/<instance>/Aligned_obj.usd``, or its own name."""
    file = Path(path)
    name = file.stem
    if name.lower() in _LAYOUT_FILES:
        # The folder of the instance lies in the folder of the category.
        folders = [folder.name for folder in file.parents if folder.name]
        name = folders[1] if len(folders) > 1 else folders[0] if folders else name
    return clean_category(name)


def clean_category(name: str) -> str:
    """Return a reference category in our spelling: no collection, no numbers, lower case, underscores."""
    plain = re.sub(r"[^a-z]+", "_", _COLLECTIONS.sub("", name).lower()).strip("_")
    return plain or "object"


def proxy_category(category_or_path: str | Path) -> str:
    """Return the category of the library that stands in for a reference category or asset file.

    Raises:
        NotFoundError: Nothing in the library is like it; the text lists what there is.
    """
    text = str(category_or_path)
    category = category_of_path(text) if "/" in text or "." in text else clean_category(text)
    words = category.split("_")
    # The last noun of an English compound is what it is: a "coffee cup" is a cup, a "cup holder" is a holder.
    candidates = [category, *("_".join(words[k:]) for k in range(1, len(words))), *reversed(words)]
    for candidate in candidates:
        for spelling in (candidate, candidate.removesuffix("es"), candidate.removesuffix("s")):
            if spelling in CATEGORIES:
                return spelling
            if spelling in PROXIES:
                return PROXIES[spelling]
    raise NotFoundError(
        f"no object of the library can stand in for {text!r} (category {category!r}); {suggest(category, CATEGORIES)}"
    )


def proxy_object(
    category_or_path: str | Path,
    *,
    rng: np.random.Generator | None = None,
    parameters: dict[str, Value] | None = None,
) -> ObjectAsset:
    """Make a library object that stands in for an asset that is not there.

    Args:
        category_or_path: A reference category such as ``omniobject3d-banana``, or the path of an asset file.
        rng: Draws the looks.
        parameters: Fixed parameters, see ``make_object``.
    """
    return make_object(proxy_category(category_or_path), rng=rng, parameters=parameters)
