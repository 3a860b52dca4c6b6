"""Stand-ins from the library for missing assets."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np

from handloom.errors import NotFoundError, suggest
from handloom.objects.choices import Value
from handloom.objects.object_asset import ObjectAsset
from handloom.objects.registry import CATEGORIES, make_object

ALIKE: Final[dict[str, str]] = {
    "apple": "peach plum pomegranate onion nectarine guava mangosteen passion_fruit beet turnip radish fig persimmon",
    "ball": "watermelon coconut baseball tennis_ball soccer_ball football basketball volleyball globe hami_melon melon "
    "durian pinecone yarn cabbage red_cabbage cauliflower lettuce christmas_ball snowball pumpkin grapefruit",
    "banana": "plantain boomerang",
    "basket": "picnic_basket hamper shopping_basket wicker",
    "bin": "bucket container pail tub storage_box organizer plastic_box sink washbasin flower_pot planter kennel",
    "block": "domino soap_bar battery brick_toy power_bank ingot magnet plug adapter charger power_strip",
    "book": "magazine album notepad diary dictionary picture_frame photo_frame tablet pad calendar folder envelope "
    "card postcard novel insole",
    "bottle": "shampoo thermos flask_bottle liquor liquors baijiu wine_bottle beer water_bottle sauce vinegar ketchup "
    "conditioner lotion facial_cleaner oil perfume syrup bodywash whiskey dropper decanter mouthwash drinking_bottle "
    "soy_sauce bowling_pin fire_extinguisher laundry_detergent washing_liquid dish_soap hand_sanitizer medicine_bottle",
    "bowl": "ashtray basin colander strainer mortar gravy_boat salad_bowl soup_bowl ramekin",
    "bread_roll": "bread bun steamed_bun hamburger burger mushroom dumpling shaomai mantou croissant bagel muffin "
    "cupcake cake mooncake puff pastry chinese_pastry egg_tart tart pie zongzi rice_cake bread_bun biscuit_roll "
    "lotus_root pork meat steak shoe slipper sneaker gloves glove hat",
    "can": "coke cola soda beverage drink beer_can pepsi sprite energy_drink canister tin_can pop "
    "garbage rubbish trash litter waste",
    "cardboard_box": "box package parcel packet gift_box carton_box shoebox shipping_box jewelry_box treasure_chest "
    "suitcase briefcase chest wooden_box",
    "carrot": "chili radish_long parsnip wooden_stick baton candle chalk asparagus",
    "cereal_box": "cereal oatmeal cornflakes detergent_box milk_powder",
    "cheese": "butter tofu cheese_slice cheesecake",
    "chocolate_bar": "chocolate candy energy_bar candy_bar wafer chewing_gum sugar lollipop",
    "computer_mouse": "mouse trackball conch seashell shell oyster",
    "crate": "toolbox beer_crate",
    "cube": "dice rubik rubiks_cube rubik_cube rubix_cube die building_block wood_cube ice_cube sugar_cube timer",
    "cucumber": "corn sausage zucchini squash hotdog hot_dog burrito sushi loofah sword_bean bamboo_shoots yam "
    "chicken_leg leek celery spring_roll dumbbell eel bitter_gourd okra sweet_potato_long",
    "cup": "teacup tumbler paper_cup coffee_cup beaker_cup measuring_cup plastic_cup drinking_cup",
    "cutting_board": "chopping_board board breadboard",
    "cylinder_block": "drum cylinder spool canister_lid cork lid salt_shaker pepper_shaker pepper_mill spice "
    "light_bulb bulb light thread thimble snare_drum tambourine speaker metronome candle_jar",
    "dish_rack": "rack plate_rack drying_rack",
    "donut": "doughnut cookie biscuit pancake bracelet pretzel frisbee pizza waffle",
    "drawer_cabinet": "storage storagefurniture storage_furniture drawer dresser nightstand drawers",
    "egg": "garlic kiwi kiwifruit haw_thorn hawthorn red_jujube jujube date walnut peanut pistachio chestnut "
    "waterchestnut litchi lychee longan loquat grape nut_fruit almond brussels_sprout acorn pebble stone rock anise",
    "egg_box": "egg_placer egg_tray egg_carton egg_holder egg_crate",
    "eggplant": "aubergine avocado papaya",
    "electric_cooker": "cooker ricecooker rice_cooker pressure_cooker",
    "eraser": "rubber whiteboard_eraser soap nail_file",
    "faucet": "tap water_tap",
    "flashlight": "flash_light torch lighter microphone hair_dryer hairdryer whistle laser_pointer flute shakuhachi "
    "telescope razor shaver electric_razor toy_gun gun pistol water_gun drill",
    "flower": "rose tulip sunflower bouquet dandelion daisy toy_plant",
    "food_tin": "canned tin tuna spam fish_can canned_food caviar facial_cream cream jam_tin",
    "fork": "pitchfork salad_fork",
    "frying_pan": "pan skillet wok saucepan griddle table_tennis_bat paddle racket bat",
    "fridge": "refrigerator icebox freezer minifridge",
    "glass": "drinking_glass juice_glass water_glass shot_glass liquors_glass liquor_glass whiskey_glass",
    "hammer": "mallet axe gavel hatchet",
    "hex_nut": "nut part knot bolt screw bearing washer_ring gear chess chinese_chess checkers coin button",
    "hinged_cabinet": "cabinet cupboard wardrobe locker",
    "jar": "medicine yogurt jam honey jelly pickle vitamin pill pill_bottle cookie_jar glass_jar lacquerware antique "
    "china tang_sancai ornaments ornament incense",
    "laptop": "notebook notebook_computer macbook",
    "lemon": "lime yuzu kumquat",
    "lidded_box": "cardboard_lid hinged_box package_box toolkit box_lid",
    "marker": "markpen marker_pen highlighter lipstick eyeliner crayon glue_stick chapstick mascara lip_balm cigarette",
    "microwave": "microwaveoven microwave_oven",
    "milk_carton": "carton milk juice juice_box orange_juice tea_carton cream_carton house building castle",
    "mug": "coffee_mug beer_mug",
    "orange": "mandarin tangerine clementine pitaya dragon_fruit starfruit pineapple artichoke bell_pepper",
    "oven": "stove toaster_oven",
    "paint_brush": "brush paintbrush hairbrush comb makeup_brush broom duster chinese_knot feather_duster toilet_brush",
    "pear": "mango pepper broccoli quince guacamole avocado_pear bell",
    "pen": "pencil ballpoint stylus chopstick chopsticks straw thermometer stick needle knitting_needle incense_stick",
    "pen_holder": "pencil_cup pencil_holder brush_holder toothbrush_holder chopstick_holder pen_container",
    "phone": "telephone smartphone cellphone mobile calculator wallet purse power_supply glasses_case walkie_talkie "
    "ipod mp3 camera watch clock projector keyboard router game_controller joystick switch hard_disk earphone headset",
    "place_mat": "mat towel cloth rag napkin carpet rug",
    "plate": "dish saucer tray_round lid_plate platter plate_dish",
    "pliers": "tongs clamp tweezers forceps clip stapler_remover nail_clipper",
    "pot": "saucepot stockpot casserole hotpot",
    "potato": "ginger sweet_potato taro stone_potato truffle shrimp starfish",
    "remote_control": "remote controller tv_remote",
    "rubber_duck": "duck toy toy_animals toy_animal dinosaur animal figurine garage_kit puppet bird chicken dog cat "
    "elephant lion horse cow pig rabbit penguin turtle frog fish shark whale dolphin monkey tiger giraffe zebra goose",
    "safe": "strongbox",
    "sandwich": "toast beef ham hamburger_slice tortilla taco ham_slice bacon lasagna beef_sandwich",
    "scissors": "scissor shears",
    "screwdriver": "chisel awl file_tool paper_knife corkscrew wand magic_wand",
    "shelf": "bookshelf bookcase rack_shelf tvstand bread_shelf beef_shelf plate_shelf",
    "snack_box": "biscuit_box tea toothpaste tooth_paste toothpick_box cracker crackers popcorn chips gelatin pudding "
    "cigarette_box medicine_box tissue_pack facial_tissue_package candy_box hand_cream card_box matchbox cookie_box "
    "pillow handbag backpack bag discarded_bag discarded sofa chair bed stool guitar drawing kite umbrella helmet",
    "spatula": "turner scraper shovel slotted_turner",
    "sponge": "scrubber loofah_sponge dish_sponge scouring_pad nipple popcorn_bag",
    "spoon": "ladle scoop teaspoon tablespoon",
    "spray_bottle": "spray sprayer detergent cleaner windex disinfectant hairspray sunscreen",
    "spinning_top": "gyro top",
    "stapler": "hole_punch hole_puncher",
    "strawberry": "cherry raspberry blueberry",
    "studded_brick": "brick lego building_brick duplo",
    "table_knife": "knife kitchen_knife fruit_knife butter_knife dagger sword cleaver",
    "tape_roll": "tape toilet_paper paper_roll scotch_tape bandage belt tape_measure rope ribbon earplug headband",
    "teapot": "kettle jug pitcher coffee_pot gooseneck oil_can",
    "teddy_bear": "teddy plush doll toy_bear stuffed_animal bear panda plush_toy",
    "test_tube": "tube vial",
    "tissue_box": "tissue facial napkin_box kleenex",
    "tomato": "cherry_tomato",
    "toothbrush": "tooth_brush electric_toothbrush",
    "toy_boat": "boat ship ferry canoe",
    "toy_car": "car bus truck train toy_bus toy_truck toy_train toy_plane plane airplane toy_motorcycle motorcycle "
    "bicycle tractor tank van taxi jeep helicopter rocket skateboard",
    "trash_can": "dustbin trashcan garbage_can wastebasket",
    "tray": "serving_tray tray_rectangular food_tray",
    "valve": "handwheel hand_wheel",
    "potted_plant": "plant houseplant bonsai",
    "vase": "urn flower_vase pitcher_vase",
    "washing_machine": "washingmachine washer dishwasher",
    "wine_glass": "goblet wine wineglass redwine redwine_glass red_wine_glass champagne chalice",
    "wrench": "spanner",
}
"""Category of the library > words of the reference categories, folders and objects most similar to it."""
SPLITS: Final = frozenset(("train", "test", "val", "eval"))
"""Folder names that denote a split of the assets, not a category."""
PROXIES: Final[dict[str, str]] = {word: category for category, words in ALIKE.items() for word in words.split()}
"""Word > category of the library that stands in for it."""
STAINS: Final = frozenset(("wuzi", "dirt", "stain", "spot", "smudge"))
"""Words for patches on a table, which become small flat mats here."""
ANYTHING: Final = "block"
"""Used if no word of the name identifies the object: it can be grasped in any pose."""

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
        NotFoundError: Nothing in the library is similar; the message lists the categories.
    """
    text = str(category_or_path)
    category = category_of_path(text) if "/" in text or "." in text else clean_category(text)
    found = _alike(category)
    if found is None:
        raise NotFoundError(
            f"no object of the library can stand in for {text!r} (category {category!r}); "
            f"{suggest(category, CATEGORIES)}"
        )
    return found


def _alike(category: str) -> str | None:
    words = category.split("_")
    if words[-1] in SPLITS and len(words) > 1 and category not in PROXIES:
        words.pop()
    # The last noun of an English compound decides: a "coffee cup" is a cup, a "cup holder" is a holder.
    candidates = [*("_".join(words[k:]) for k in range(len(words))), *reversed(words)]
    for candidate in candidates:
        for spelling in (candidate, candidate.removesuffix("es"), candidate.removesuffix("s")):
            # Rows of the table first: a chair or stove of a room is furniture, and a task needs something to handle.
            if spelling in PROXIES:
                return PROXIES[spelling]
            if spelling in CATEGORIES:
                return spelling
    return None


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """Stand-in for a missing asset."""

    category: str
    """Category of the library."""
    word: str
    """The word that matched; empty if none did."""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    """Fixed parameters."""


def stand_in_for(path: str, name: str, category: str) -> StandIn:
    """Return the substitute for an asset file, by its folder, then its name in the task, then the category given there.

    The category comes last: in published tasks it is often left over from another object.

    Args:
        path: Asset file, or a folder of articulated assets.
        name: Name of the object in the task.
        category: Category that the task gives.
    """
    file = PurePosixPath(path)
    folder = (file.parent.parent.name or file.stem) if file.suffix else file.name
    for given in (folder, file.parent.name if file.suffix else "", name, category):
        word = clean_category(given) if given else ""
        if set(word.split("_")) & STAINS:
            return StandIn(category="place_mat", word=word, parameters={"scale": 0.25, "color": "brown"})
        found = _alike(word) if word else None
        if found is not None:
            return StandIn(category=found, word=word)
    return StandIn(category=ANYTHING, word="")


def proxy_object(
    category_or_path: str | Path,
    *,
    rng: np.random.Generator | None = None,
    parameters: dict[str, Value] | None = None,
) -> ObjectAsset:
    """Make a library object that stands in for a missing asset.

    Args:
        category_or_path: A reference category such as ``omniobject3d-banana``, or the path of an asset file.
        rng: Draws the looks.
        parameters: Fixed parameters, see ``make_object``.
    """
    return make_object(proxy_category(category_or_path), rng=rng, parameters=parameters)
