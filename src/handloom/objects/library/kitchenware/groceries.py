"""Groceries by content: soups, sauces, spreads and drinks in tins, boxes, bottles and cartons."""

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.library.packages import GABLE, PROUD, gable_carton, package
from handloom.objects.materials import rgb, shade
from handloom.objects.shapes import Appearance, Profile, box, cylinder, lathe, printed, slab


def alphabet_soup(c: Choices) -> Blueprint:
    """A tin of soup with a red label and a cream band of letters."""
    radius, height = c.number("radius", 0.033, 0.036), c.number("height", 0.088, 0.100)
    return _tin(("alphabet soup", "soup", "can of soup"), "red", "cream", radius, height)


def tomato_sauce(c: Choices) -> Blueprint:
    """A small tin of tomato sauce with a green label and a red band."""
    radius, height = c.number("radius", 0.032, 0.035), c.number("height", 0.070, 0.082)
    return _tin(("tomato sauce", "can of tomato sauce"), "green", "red", radius, height)


def cream_cheese(c: Choices) -> Blueprint:
    """A carton of cream cheese: silver and blue."""
    size = (c.number("length", 0.085, 0.100), c.number("width", 0.050, 0.060), c.number("height", 0.032, 0.040))
    return _carton(("cream cheese", "box of cream cheese", "cream cheese box"), "light blue", "navy", size)


def butter(c: Choices) -> Blueprint:
    """A stick of butter in yellow paper."""
    size = (c.number("length", 0.090, 0.105), c.number("width", 0.042, 0.052), c.number("height", 0.032, 0.040))
    return _carton(("butter", "stick of butter", "block of butter"), "yellow", "cream", size)


def chocolate_pudding(c: Choices) -> Blueprint:
    """A flat carton of pudding powder: brown with a white field."""
    size = (c.number("length", 0.080, 0.095), c.number("width", 0.058, 0.066), c.number("height", 0.026, 0.032))
    return _carton(("chocolate pudding", "pudding", "box of pudding"), "brown", "white", size)


def cookie_box(c: Choices) -> Blueprint:
    """A flat box of cookies, wide enough to stand something on."""
    size = (c.number("length", 0.150, 0.170), c.number("width", 0.105, 0.120), c.number("height", 0.034, 0.042))
    return _carton(("cookie box", "box of cookies", "cookies"), "red", "yellow", size)


def ketchup(c: Choices) -> Blueprint:
    """A red squeeze bottle with a white cap."""
    return _bottle(c, ("ketchup", "bottle of ketchup", "ketchup bottle"), "red", "white", "cream")


def salad_dressing(c: Choices) -> Blueprint:
    """A bottle of salad dressing: pale, with a green label and cap."""
    return _bottle(c, ("salad dressing", "bottle of dressing", "dressing"), "cream", "green", "lime")


def bbq_sauce(c: Choices) -> Blueprint:
    """A dark bottle of barbecue sauce with an orange label."""
    return _bottle(c, ("bbq sauce", "barbecue sauce", "bottle of bbq sauce"), "brown", "black", "orange")


def milk(c: Choices) -> Blueprint:
    """A gable-top carton of milk: white and blue."""
    return _gable(c, ("milk", "carton of milk", "milk carton"), "white", "blue")


def orange_juice(c: Choices) -> Blueprint:
    """A gable-top carton of juice: orange and green."""
    return _gable(c, ("orange juice", "carton of juice", "juice"), "orange", "green")


def _tin(words: tuple[str, ...], color: str, band: str, radius: float, height: float) -> Blueprint:
    """Return a tin: bare rims, a paper label and a band around its middle."""
    metal, rim = Appearance(color=rgb("silver"), substance="steel", fill=0.25), 0.003
    parts = [
        cylinder(radius, height - 2 * rim, (0.0, 0.0, height / 2), color=rgb("silver"), substance="water", round=True),
        cylinder(radius + 0.0008, rim, (0.0, 0.0, rim / 2), **metal),
        cylinder(radius + 0.0008, rim, (0.0, 0.0, height - rim / 2), **metal),
        cylinder(radius + PROUD, 0.84 * height, (0.0, 0.0, height / 2), **printed(rgb(color))),
        cylinder(radius + 2 * PROUD, 0.30 * height, (0.0, 0.0, 0.46 * height), **printed(rgb(band))),
        *(
            cylinder(radius + 2 * PROUD, 0.012 * height, (0.0, 0.0, share * height), **printed(rgb("white")))
            for share in (0.20, 0.76)
        ),
    ]
    return package(words, None, parts, (2 * radius, 2 * radius, height))


def _carton(words: tuple[str, ...], color: str, second: str, size: tuple[float, float, float]) -> Blueprint:
    """Return a closed flat carton with a printed field on top and on its long sides."""
    x, y, z = size
    field, dot = printed(rgb(second)), printed(shade(rgb(color), 0.8))
    parts = [
        slab(size, 0.004, (0.0, 0.0, z / 2), color=rgb(color), substance="cardboard", fill=0.7),
        box((0.74 * x, 0.66 * y, 0.001), (0.0, 0.0, z), **field),
        cylinder(0.22 * y, 0.0016, (-0.16 * x, 0.0, z), **dot),
        box((0.26 * x, 0.10 * y, 0.0016), (0.17 * x, 0.12 * y, z), **dot),
        box((0.26 * x, 0.10 * y, 0.0016), (0.17 * x, -0.12 * y, z), **dot),
        box((0.62 * x, y + 2 * PROUD, 0.44 * z), (0.0, 0.0, z / 2), **field),
    ]
    return package(words, None, parts, size)


def _bottle(c: Choices, words: tuple[str, ...], color: str, cap: str, paper: str) -> Blueprint:
    """Return a bottle of sauce that narrows towards its cap."""
    radius, body = c.number("radius", 0.028, 0.032), c.number("body", 0.100, 0.115)
    shoulder, neck = c.number("shoulder", 0.030, 0.038), 0.012
    look = Appearance(color=rgb(color), substance="water", fill=0.95, round=True)
    top = body + shoulder + neck
    outline: Profile = [(radius, 0.0), (0.92 * radius, 0.30 * shoulder), (0.45 * radius, shoulder)]
    lid = Appearance(color=rgb(cap), substance="plastic")
    parts = [
        lathe([(0.90 * radius, 0.0), (radius, 0.005)], sides=20, **look),
        cylinder(radius, body - 0.005, (0.0, 0.0, (body + 0.005) / 2), **look),
        lathe(outline, (0.0, 0.0, body), sides=20, **look),
        lathe(
            [(0.55 * radius, 0.0), (0.46 * radius, neck + 0.012)], (0.0, 0.0, body + shoulder - 0.004), sides=18, **lid
        ),
        cylinder(radius + PROUD, 0.55 * body, (0.0, 0.0, 0.50 * body), **printed(rgb(paper))),
        *(
            cylinder(radius + 2 * PROUD, 0.03 * body, (0.0, 0.0, share * body), **printed(rgb(cap)))
            for share in (0.27, 0.73)
        ),
        cylinder(
            0.30 * radius, 2 * radius + 4 * PROUD, (0.0, 0.0, 0.50 * body), euler=(90.0, 0.0, 0.0), **printed(rgb(cap))
        ),
    ]
    return package(words, None, parts, (2 * radius, 2 * radius, top + 0.008))


def _gable(c: Choices, words: tuple[str, ...], color: str, band: str) -> Blueprint:
    """Return a carton with a folded roof."""
    side, height = c.number("side", 0.058, 0.066), c.number("height", 0.115, 0.135)
    parts = [
        *gable_carton(side, height, color, fill=(0.95, 0.4)),
        box(
            (side + 2 * PROUD, side + 2 * PROUD, 0.42 * height),
            (0.0, 0.0, 0.42 * height),
            **printed(rgb(band)),
        ),
        *(
            cylinder(0.24 * side, side + 4 * PROUD, (0.0, 0.0, 0.44 * height), euler=turn, **printed(rgb("cream")))
            for turn in ((90.0, 0.0, 0.0), (0.0, 90.0, 0.0))
        ),
    ]
    return package(words, None, parts, (side, side, height + GABLE * side + 0.013))
