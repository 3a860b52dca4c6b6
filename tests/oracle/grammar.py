"""Random tasks as users write them: objects x relations x robots x words, as the text of a YAML file."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.oracle.oracle import Deed

SMALL = ["lemon", "egg", "strawberry", "tomato", "eraser", "cube", "block", "pear", "apple", "orange", "cheese"]
SMALL += ["donut", "sponge", "tape_roll", "toy_car"]
LONG = ["banana", "carrot", "cucumber", "marker", "toothbrush", "spoon", "pen", "screwdriver"]
STAND = ["can", "mug", "cup", "bottle", "milk_carton", "glass", "food_tin", "stacking_cup", "jar"]
BOXY = ["snack_box", "studded_brick", "chocolate_bar", "remote_control", "rubber_duck", "potato", "bread_roll"]
BOXY += ["hex_nut"]
FOR_SMALL_ARM = ["egg", "lemon", "strawberry", "eraser", "cube", "tomato"]
HOLLOW = ["bowl", "bin", "crate", "basket", "low_basket", "tray", "cardboard_tray", "frying_pan"]
FLAT = ["plate", "tray", "cutting_board", "place_mat", "book"]
NEIGHBOURS = ["bowl", "plate", "mug", "cup", "can", "cube", "book"]
SIZES = {"cube": "{edge: 0.04}", "block": "{length: 0.06, width: 0.035, height: 0.03}"}
"""Sizes that a user gives because the library's own may be too wide for a hand."""

RIGID = "target_class: RigidObject"
FIXED = "target_class: ArticulatedObject, fix_base: true"


@dataclass(frozen=True)
class Corner:
    """Where a robot finds things and where it can bring them: ranges of x and y on the table [m]."""

    source: tuple[float, float, float, float]
    second: tuple[float, float, float, float]
    target: tuple[float, float, float, float]
    cabinet: tuple[float, float, float, float, float, float]
    """Place of a cabinet, then its least and largest yaw [deg]."""
    beside_cabinet: tuple[float, float, float, float]


CORNERS = {
    "fr3": Corner((-0.25, -0.1, 0.0, 0.2), (-0.3, -0.2, -0.16, -0.08), (0.12, 0.25, 0.0, 0.18),
                  (0.05, 0.15, 0.44, 0.47, -6, 6), (-0.34, -0.26, -0.06, 0.06)),
    "franka_robotiq85": Corner((-0.25, -0.1, 0.0, 0.2), (-0.3, -0.2, -0.16, -0.08), (0.12, 0.25, 0.0, 0.18),
                               (0.05, 0.15, 0.42, 0.46, -6, 6), (-0.34, -0.26, -0.06, 0.06)),
    "genie1": Corner((-0.42, -0.3, -0.18, -0.08), (-0.42, -0.36, -0.3, -0.26), (-0.2, -0.12, -0.18, -0.1),
                     (-0.52, -0.46, 0.31, 0.34, -8, 0), (-0.2, -0.14, -0.18, -0.1)),
    "split_aloha": Corner((-0.48, -0.4, -0.3, -0.2), (-0.4, -0.34, -0.4, -0.36), (-0.26, -0.2, -0.28, -0.2),
                          (-0.32, -0.26, 0.02, 0.06, -8, 8), (-0.5, -0.44, -0.32, -0.26)),
    "lift2": Corner((-0.44, -0.38, -0.34, -0.22), (-0.34, -0.3, -0.4, -0.36), (-0.24, -0.2, -0.3, -0.22),
                    (-0.32, -0.24, 0.1, 0.14, -8, 8), (-0.46, -0.4, -0.3, -0.24)),
    "so101": Corner((0.19, 0.25, 100, 130), (0.19, 0.25, 140, 150), (0.19, 0.24, 50, 75),
                    (-0.04, 0.04, 0.18, 0.21, -10, 10), (0.2, 0.24, 140, 150)),
}  # fmt: skip
"""Those of ``so101`` are distances from its base and angles about it [deg], except the cabinet's."""


@dataclass(frozen=True)
class Written:
    """A task as text, and what its words ask for."""

    name: str
    kind: str
    robot: str
    text: str
    deeds: tuple[Deed, ...]


class Sheet:
    """A task file while it is written."""

    def __init__(self, robot: str, rng: random.Random) -> None:
        self.robot, self.rng, self.corner = robot, rng, CORNERS[robot]
        self.objects: list[str] = []
        self.regions: list[str] = []
        self.skills: list[str] = []
        self.extra: list[str] = []

    def thing(self, name: str, category: str, keys: str = RIGID, more: str = "") -> str:
        """Write the line of an object and return its name."""
        size = SIZES.get(category, "")
        if size and self.robot == "so101" and category == "cube":
            size = "{edge: 0.03}"
        vary = ", apply_randomization: true" if self.rng.random() < 0.25 and not size and not more else ""
        parameters = f", parameters: {size}" if size and "parameters" not in more else ""
        self.objects.append(f"  - {{name: {name}, {keys}, category: {category}{parameters}{vary}{more}}}")
        return name

    def at(self, name: str, where: tuple[float, ...], yaw: tuple[float, float] = (-180, 180)) -> None:
        """Write the region of an object."""
        a, b, c, d = where[:4]
        if self.robot == "so101" and c > 10:
            self.regions.append(
                f"  - {{object: {name}, target: so101, random_type: A_by_B_circle_sampler,\n     random_config: "
                f"{{r_range: [{a}, {b}], theta_range: [{c}, {d}], yaw_rotation: [{yaw[0]}, {yaw[1]}]}}}}"
            )
            return
        self.regions.append(
            f"  - {{object: {name}, target: table, random_config: "
            f"{{pos_range: [[{a}, {c}, 0], [{b}, {d}, 0]], yaw_rotation: [{yaw[0]}, {yaw[1]}]}}}}"
        )

    def pick(self, name: str) -> None:
        """Write a pick."""
        self.skills.append(f"  - {{pick: {name}}}")

    def text(self) -> str:
        """Return the file."""
        if self.rng.random() < 0.3:
            self.skills.append("  - home")
        parts = [f"base: setups/{self.robot}.yaml", "objects:", *self.objects, "regions:", *self.regions, *self.extra]
        return "\n".join([*parts, "skills:", *self.skills]) + "\n"


def _name(category: str, rng: random.Random, taken: str = "") -> str:
    name = rng.choice([category, category, f"my_{category}", f"{category}_1", f"the_{category}"])
    return name if name != taken else f"{name}_b"


def _thing(sheet: Sheet, *, small: bool = False) -> str:
    """Choose the category of something that the robot's hand can take."""
    if sheet.robot == "so101":
        return sheet.rng.choice(FOR_SMALL_ARM)
    return sheet.rng.choice(SMALL if small else SMALL + STAND * 2 + BOXY + LONG)


def _into(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    target = "petri_dish" if sheet.robot == "so101" and rng.random() < 0.5 else rng.choice(HOLLOW)
    target = rng.choice(("tray", "bowl", "petri_dish")) if sheet.robot == "so101" else target
    two = (
        sheet.robot != "so101" and target in ("bin", "crate", "tray", "basket", "cardboard_tray") and rng.random() < 0.3
    )
    box = sheet.thing(_name(target, rng), target)
    sheet.at(box, sheet.corner.target)
    deeds: list[Deed] = []
    for place in (sheet.corner.source, sheet.corner.second)[: 1 + two]:
        category = _thing(sheet)
        name = sheet.thing(_name(category, rng, deeds[0].obj if deeds else ""), category)
        sheet.at(name, place)
        sheet.pick(name)
        word = rng.choice(("in", "in", "in", "to")) if target not in ("tray",) else "in"
        sheet.skills.append(f"  - {{place: {name}, {word}: {box}}}")
        deeds.append(Deed(kind="in", obj=name, target=box))
    return tuple(deeds)


def _onto(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    target, category = rng.choice(FLAT if sheet.robot != "so101" else ["plate", "tray"]), _thing(sheet)
    base = sheet.thing(_name(target, rng), target)
    name = sheet.thing(_name(category, rng, base), category)
    sheet.at(base, sheet.corner.target, rng.choice([(-180, 180), (-10, 10)]))
    sheet.at(name, sheet.corner.source)
    sheet.pick(name)
    sheet.skills.append(f"  - {{place: {name}, on: {base}}}")
    return (Deed(kind="on", obj=name, target=base),)


def _stack(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    edge = (0.03, 0.035) if sheet.robot == "so101" else (0.04, 0.06)
    colours = rng.sample(["red", "green", "blue", "yellow", "white"], 2)
    if sheet.robot == "so101" or rng.random() < 0.6:
        a, b = (
            ("cube", f", parameters: {{edge: {edge[0]}}}, color: {colours[0]}"),
            ("cube", f", parameters: {{edge: {edge[1]}}}, color: {colours[1]}"),
        )
    else:
        a, b = rng.choice(
            [
                (("block", ""), ("block", "")),
                (("snack_box", ""), ("book", "")),
                (("can", ""), ("cube", ", parameters: {edge: 0.07}")),
                (("cube", ""), ("food_tin", "")),
            ]
        )
    top = sheet.thing("top", a[0], more=a[1])
    bottom = sheet.thing("bottom", b[0], more=b[1])
    sheet.at(bottom, sheet.corner.target, (-45, 45))
    sheet.at(top, sheet.corner.source, (-45, 45))
    sheet.pick(top)
    sheet.skills.append(f"  - {{place: {top}, stack_on: {bottom}}}")
    return (Deed(kind="stack_on", obj=top, target=bottom),)


def _beside(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    target = rng.choice(NEIGHBOURS if sheet.robot != "so101" else ["cube", "petri_dish"])
    category = _thing(sheet)
    base = sheet.thing(_name(target, rng), target)
    name = sheet.thing(_name(category, rng, base), category)
    sheet.at(base, sheet.corner.target)
    sheet.at(name, sheet.corner.source)
    side = rng.choice(("left", "right", ""))
    sheet.pick(name)
    sheet.skills.append(f"  - {{place: {name}, beside: {base}{side and f', side: {side}'}}}")
    return (Deed(kind="beside", obj=name, target=base, side=side or "right"),)


def _cabinet(sheet: Sheet, more: str = "") -> str:
    size = ", width: 0.16, depth: 0.14, drawer_height: 0.065" if sheet.robot == "so101" else ""
    name = sheet.thing("cabinet", "drawer_cabinet", FIXED, f", parameters: {{drawers: 2{size}}}{more}")
    sheet.at(name, sheet.corner.cabinet, sheet.corner.cabinet[4:])
    return name


def _drawer(sheet: Sheet) -> tuple[Deed, ...]:
    rng, name = sheet.rng, _cabinet(sheet)
    category = _thing(sheet, small=True)
    thing = sheet.thing(_name(category, rng), category)
    sheet.at(thing, sheet.corner.beside_cabinet)
    sheet.extra.append("data: {max_episode_length: 1500}")
    sheet.skills.append(f"  - {{name: open, objects: [{name}], amount: 0.75}}")
    sheet.pick(thing)
    part = rng.choice(("", "drawer_1"))
    sheet.skills.append(f"  - {{place: {thing}, in: {f'{{{name}: {part}}}' if part else name}}}")
    deeds = [Deed(kind="in", obj=thing, target=name, part=part)]
    if rng.random() < 0.5:
        sheet.skills.append(f"  - {{name: close, objects: [{name}]}}")
        deeds.append(Deed(kind="close", obj=name, part="drawer_1"))
    return tuple(deeds)


def _open_drawer_given(sheet: Sheet) -> tuple[Deed, ...]:
    """The drawer stands open from the start; something is put into it."""
    pulled = "[0.06, 0.08]" if sheet.robot == "so101" else "[0.12, 0.14]"
    rng, name = sheet.rng, _cabinet(sheet, f", joint_position_range: {pulled}")
    category = _thing(sheet, small=True)
    thing = sheet.thing(_name(category, rng), category)
    sheet.at(thing, sheet.corner.beside_cabinet)
    sheet.extra.append("data: {max_episode_length: 1500}")
    sheet.pick(thing)
    sheet.skills.append(f"  - {{place: {thing}, in: {name}}}")
    return (Deed(kind="in", obj=thing, target=name),)


def _microwave(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    sheet.thing("microwave", "microwave", FIXED, ", joint_position_range: [1.5, 1.7]")
    sheet.at("microwave", (0.0, 0.08, 0.30, 0.33), (-4, 4))
    category = rng.choice(["can", "mug", "cup", "lemon", "snack_box"])
    name = sheet.thing(_name(category, rng), category)
    sheet.at(name, (0.26, 0.34, -0.06, 0.02))
    sheet.extra.append("data: {max_episode_length: 2000}")
    side = ", approach: [front, 45]" if category != "lemon" and rng.random() < 0.7 else ""
    sheet.skills.append(f"  - {{pick: {name}{side}}}")
    sheet.skills.append(f"  - {{place: {name}, in: microwave}}")
    deeds = [Deed(kind="in", obj=name, target="microwave")]
    if rng.random() < 0.3:
        sheet.skills.append("  - {name: close, objects: [microwave]}")
        deeds.append(Deed(kind="close", obj="microwave", part="door"))
    return tuple(deeds)


JOINTS = [
    ("open", "microwave", "door", (-0.12, 0.08, 0.34, 0.38, -10, 10), "", 0.42),
    ("open", "lidded_box", "lid", (-0.12, 0.12, -0.02, 0.10, -15, 15), ", parameters: {grip: bar}", 0.5),
    ("close", "microwave", "door", (-0.1, 0.1, 0.45, 0.48, -10, 10), ", joint_position_range: [0.5, 0.9]", 0.6),
    ("rotate", "faucet", "handle", (-0.15, 0.15, 0.02, 0.15, -30, 30), "", 0.65),
    ("rotate", "knob", "knob_0", (-0.15, 0.15, 0.2, 0.3, -15, 15), ", parameters: {knobs: 1, height: 0.36}", 0.22),
]
"""Skill, category, joint, place, more keys of the object, amount: for a Franka."""


def _joint(sheet: Sheet) -> tuple[Deed, ...]:
    rng = sheet.rng
    if sheet.robot in ("fr3", "franka_robotiq85") and rng.random() < 0.7:
        verb, category, joint, where, more, amount = rng.choice(JOINTS)
        name = sheet.thing("thing", category, FIXED, more)
        sheet.at(name, where, where[4:])
    else:
        verb, joint, amount = rng.choice(("open", "close")), "drawer_1", 0.45
        name = _cabinet(sheet, ", joint_position_range: [0.06, 0.1]" if verb == "close" else "")
    share = f", amount: {amount}" if verb != "close" else ""
    if rng.random() < 0.5:
        short = {"rotate": "turn"}.get(verb, verb)
        sheet.skills.append(f"  - {{{short}: {name}{share if verb == 'rotate' else ''}}}")
        amount = 0.5 if verb == "open" else amount  # As far as the arm can, and half of the way at least.
    else:
        sheet.skills.append(f"  - {{name: {verb}, objects: [{name}]{share}}}")
    kind = {"open": "open", "close": "close", "rotate": "turn"}[verb]
    return (Deed(kind=kind, obj=name, part=joint, amount=amount),)  # pyright: ignore[reportArgumentType]


def _pour(sheet: Sheet) -> tuple[Deed, ...]:
    sheet.thing("cup", "cup", more=", parameters: {bottom_radius: 0.029, height: 0.11, flare: 0.006, style: plain}")
    target = sheet.thing(sheet.rng.choice(("bowl", "pot_bowl")), "bowl", more=", color: navy")
    sheet.at(target, (0.1, 0.18, 0.04, 0.12))
    sheet.at("cup", (-0.2, -0.12, 0.0, 0.08))
    grains = "numParticlesX: 4, numParticlesY: 4, numParticlesZ: 6"
    sheet.extra.append(f"fluid: {{container_name: cup, particleContactOffset: 0.005, {grains}}}")
    sheet.skills += ["  - {pick: cup, approach: [front, 50]}", f"  - {{pour: cup, into: {target}}}"]
    return (Deed(kind="pour", obj="cup", target=target),)


ALL = ("fr3", "franka_robotiq85", "genie1", "split_aloha", "lift2", "so101")
FRANKAS = ("fr3", "franka_robotiq85")
KINDS: dict[str, tuple[Callable[[Sheet], tuple[Deed, ...]], float, tuple[str, ...]]] = {
    "in": (_into, 0.3, ALL),
    "on": (_onto, 0.22, ALL),
    "stack_on": (_stack, 0.1, ALL),
    "beside": (_beside, 0.12, ALL),
    "drawer": (_drawer, 0.08, ALL),
    "open_drawer_given": (_open_drawer_given, 0.04, ALL),
    "microwave": (_microwave, 0.04, FRANKAS),
    "joint": (_joint, 0.07, ALL),
    "pour": (_pour, 0.03, ("fr3",)),
}
"""Kind of a task > how it is written, how often, and with which robots."""


def write_task(index: int, seed: int = 0, *, kind: str = "", robot: str = "") -> Written:
    """Return a random task; the same for the same number and seed."""
    rng = random.Random(f"{seed}/{index}")
    chosen = rng.choices(list(KINDS), [weight for _, weight, _ in KINDS.values()])[0]
    kind = kind or chosen
    write, _, robots = KINDS[kind]
    likely = [3 if name in FRANKAS else 1.5 if name != "so101" else 1 for name in robots]
    robot = robot or rng.choices(robots, likely)[0]
    sheet = Sheet(robot, rng)
    deeds = write(sheet)
    return Written(f"task_{seed}_{index}", kind, robot, sheet.text(), deeds)
