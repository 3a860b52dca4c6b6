"""Objects to press or switch: bell, alarm clock, stapler, toggle and rocker switch. Fronts face -y."""

import math
from dataclasses import replace

import numpy as np

from handloom.objects.blueprint import Blueprint
from handloom.objects.choices import Choices
from handloom.objects.materials import BRIGHT, rgb, shade
from handloom.objects.parts import Keypoint, Link, Part, Point, axes, points
from handloom.objects.shapes import Appearance, bar, box, curved, cylinder, hull, lathe, printed, prism, rod, slab
from handloom.render.looks import Turned

_DARK = (0.08, 0.08, 0.09)
_BRASS = (0.80, 0.65, 0.36)


def _button(c: Choices, name: str, top: Point, *, travel: tuple[float, float]) -> Link:
    """Return a button that slides down against a spring; its origin is at the rest position of its top."""
    return Link(
        name=name,
        kind="slide",
        origin=top,
        axis=(0.0, 0.0, -1.0),
        range=(0.0, c.number("travel", *travel)),
        head=(0.0, 0.0, 0.0),
        tail=(0.0, 0.006, 0.0),
        contact_axis=(1.0, 0.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        push=(0.0, 0.0, 0.0),
        # 1 to 2 N of preload and rate: a light push of one finger.
        stiffness=c.number("spring", 200.0, 350.0, step=1.0),
        damping=1.0,
        frictionloss=0.02,
        stop=0.01,
    )


def desk_bell(c: Choices) -> Blueprint:
    """A reception bell: a dome on a foot, rung by the button on top."""
    color = c.color(("silver", "copper", "black", "red"))
    radius, height = c.number("radius", 0.036, 0.044), c.number("height", 0.036, 0.044)
    foot, gap = 0.012, 0.003
    metal = Appearance(
        color=_BRASS if color == "copper" else rgb(color),
        substance="steel",
        material="brass" if color == "copper" else "chrome" if color == "silver" else None,
        fill=0.45,
    )
    arch = [(math.cos(a), math.sin(a)) for a in np.linspace(0.0, 0.46 * math.pi, 5)]
    dome = [(radius * x, foot + gap + height * y) for x, y in arch]
    top = foot + gap + height
    wooden = Appearance(color=rgb("black"), substance="wood", fill=1.2)
    base = lathe([(1.08 * radius, 0.0), (1.08 * radius, 0.5 * foot), (0.92 * radius, foot)], sides=20, **wooden)
    shine = replace(lathe(dome, sides=10, **metal), drawn=Turned(outer=tuple(curved(dome)), edge=0.0015))
    link = _button(c, "button", (0.0, 0.0, top + 0.014), travel=(0.005, 0.007))
    knob = [(0.0055, -0.020), (0.0055, -0.009), (0.0085, -0.008), (0.0085, -0.003), (0.006, 0.0)]
    press = lathe(knob, sides=10, color=rgb("silver"), substance="steel", material="chrome", body="button")
    return _with_button(
        ("bell", "desk bell", "reception bell"),
        color,
        (base, cylinder(0.75 * radius, gap + 0.002, (0.0, 0.0, foot + gap / 2), **wooden), shine, press),
        link,
        rim=(radius, 0.0, foot + gap),
    )


def alarm_clock(c: Choices) -> Blueprint:
    """An alarm clock with hands, round on two feet or square; a wide button on top silences it."""
    color, style = c.color((*BRIGHT, "black", "white", "mint")), c.pick("style", ("round", "square"))
    radius, deep = c.number("radius", 0.040, 0.050), c.number("depth", 0.040, 0.048)
    shell = Appearance(color=rgb(color), substance="plastic", fill=0.9)
    z = radius + (0.010 if style == "round" else 0.002)
    front = -deep / 2
    parts: list[Part] = []
    if style == "round":
        parts.append(bar((0.0, front, z), (0.0, -front, z), radius, **shell))
        parts += [box((0.016, deep - 0.004, 0.024), (s * 0.66 * radius, 0.0, 0.012), **shell) for s in (-1.0, 1.0)]
    else:
        parts.append(box((2 * radius, deep, 2 * radius), (0.0, 0.0, z), **{**shell, "edge": 0.006}))
        parts.append(box((1.7 * radius, deep - 0.006, 0.004), (0.0, 0.0, 0.002), color=_DARK, substance="rubber"))
    face = 0.84 * radius
    ink = rgb("black")
    parts += [
        bar((0.0, front + 0.002, z), (0.0, front - 0.0006, z), face, **printed(rgb("white"))),
        box((0.004, 0.0016, 0.62 * face), (0.0, front - 0.0010, z + 0.27 * face), **printed(ink)),
        box((0.50 * face, 0.0016, 0.005), (0.21 * face, front - 0.0010, z), **printed(ink)),
        bar((0.0, front, z), (0.0, front - 0.0020, z), 0.004, **printed(rgb("red"))),
    ]
    for k in range(12):
        a = math.radians(30.0 * k)
        at = (0.86 * face * math.sin(a), front - 0.0009, z + 0.86 * face * math.cos(a))
        size = (0.003, 0.0012, 0.007 if k % 3 == 0 else 0.004)
        parts.append(box(size, at, euler=(0.0, math.degrees(a), 0.0), **printed(ink)))
    top = z + radius
    rise = 0.010
    link = _button(c, "button", (0.0, 0.0, top + rise), travel=(0.005, 0.007))
    key = Appearance(color=rgb("silver") if color != "silver" else rgb("red"), substance="plastic", body="button")
    parts += [
        slab((0.046, 0.024, 0.007), 0.010, (0.0, 0.0, -0.0035), **key),
        bar((0.0, 0.0, -0.004), (0.0, 0.0, -rise - 0.004), 0.006, **key),
    ]
    return _with_button(("alarm clock", "clock"), color, tuple(parts), link, face=(0.0, front, z))


def _with_button(
    words: tuple[str, ...], color: str, parts: tuple[Part, ...], button: Link, **named: Point
) -> Blueprint:
    """Return an upright object whose top is its button."""
    return Blueprint(
        words=words,
        color=color,
        parts=parts,
        links=(button,),
        keypoints={
            **points(bottom=(0.0, 0.0, 0.0), **named),
            "top": Keypoint(position=(0.0, 0.0, 0.0), body=button.name),
            "button": Keypoint(position=(0.0, 0.0, 0.0), body=button.name),
        },
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )


def lever_stapler(c: Choices) -> Blueprint:
    """A stapler whose arm moves down against a spring: it is hinged at its rear end (-x) and pressed at the front."""
    color = c.color(("black", "red", "blue", "gray", "teal"))
    length, width = c.number("length", 0.11, 0.13), c.number("width", 0.030, 0.036)
    look = Appearance(color=rgb(color), substance="plastic", fill=0.9)
    steel = Appearance(color=rgb("silver"), substance="steel", fill=0.5)
    hinge = (-0.42 * length, 0.0, 0.026)
    dark = shade(rgb(color), 0.55)
    parts = [
        slab((length, width, 0.010), 0.010, (0.0, 0.0, 0.005), color=dark, substance="steel", fill=1.0),
        box((0.10 * length, 0.80 * width, 0.022), (-0.42 * length, 0.0, 0.019), **look),
        box((0.020, 0.016, 0.003), (0.40 * length, 0.0, 0.0112), **steel),
    ]
    # Profile of the arm in the link's frame: x from the hinge, height above it.
    arm = [
        (-0.06 * length, -0.008),
        (0.92 * length, 0.006),
        (0.93 * length, 0.018),
        (0.74 * length, 0.030),
        (0.12 * length, 0.026),
        (-0.06 * length, 0.012),
    ]
    moving = {**look, "body": "lever"}
    parts += [
        prism(arm, 0.66 * width, euler=(90.0, 0.0, 0.0), **moving),
        box((0.78 * length, 0.40 * width, 0.007), (0.50 * length, 0.0, 0.0), **{**steel, "body": "lever"}),
        slab((0.030, 0.50 * width, 0.003), 0.006, (0.80 * length, 0.0, 0.0272), **printed(_DARK, body="lever")),
    ]
    press: Point = (0.80 * length, 0.0, 0.0270)
    link = Link(
        name="lever",
        kind="hinge",
        origin=hinge,
        # The front end goes down.
        axis=(0.0, 1.0, 0.0),
        range=(0.0, 0.13),
        head=press,
        tail=(0.40 * length, 0.0, 0.028),
        contact_axis=(0.0, 1.0, 0.0),
        normal=(0.0, 0.0, 1.0),
        # A few newtons at the front end.
        stiffness=c.number("spring", 3.0, 4.5),
        damping=0.01,
        frictionloss=0.002,
        stop=0.01,
        counterbalance=1.0,
    )
    return Blueprint(
        words=("stapler", "office stapler"),
        color=color,
        parts=tuple(parts),
        links=(link,),
        keypoints={
            **points(bottom=(0.0, 0.0, 0.0), anvil=(0.40 * length, 0.0, 0.0127)),
            "top": Keypoint(position=press, body="lever"),
        },
        axes=axes(up=(0.0, 0.0, 1.0), front=(1.0, 0.0, 0.0), long=(1.0, 0.0, 0.0)),
        rests="upright",
    )


def toggle_switch(c: Choices) -> Blueprint:
    """A lever switch on a heavy box: the lever leans to the user (off) and is flipped away from them (on)."""
    color = c.color(("white", "gray", "black", "yellow", "navy"))
    x, y, z = c.number("width", 0.075, 0.095), c.number("depth", 0.085, 0.105), c.number("height", 0.040, 0.055)
    lean, reach = math.radians(28.0), c.number("lever", 0.040, 0.050)
    grip = Appearance(color=rgb("red" if color != "red" else "black"), substance="plastic", body="lever")
    metal = Appearance(color=rgb("silver"), substance="steel", material="chrome", body="lever")
    tip: Point = (0.0, -reach * math.sin(lean), reach * math.cos(lean))
    neck: Point = (0.0, 0.45 * tip[1], 0.45 * tip[2])
    parts = [
        *_housing((x, y, z), rgb(color)),
        slab((0.42 * x, 0.60 * y, 0.003), 0.006, (0.0, 0.0, z + 0.0015), color=rgb("silver"), substance="steel"),
        bar((0.0, 0.0, 0.004), neck, 0.0045, **metal),
        rod(neck, tip, 0.008, **grip),
        cylinder(0.003, 0.001, (0.36 * x, 0.30 * y, z), **printed(rgb("green"))),
        cylinder(0.003, 0.001, (0.36 * x, -0.30 * y, z), **printed(rgb("red"))),
    ]
    link = _switch((0.0, 0.0, z + 0.003), (-1.0, 0.0, 0.0), 2 * lean, tip, c)
    return _switch_blueprint(("switch", "toggle switch", "lever switch"), color, parts, link, tip, z)


def rocker_switch(c: Choices) -> Blueprint:
    """A wall switch on a heavy box: the far half of the rocker is up, pressing it down switches on."""
    color = c.color(("white", "cream", "gray", "black"))
    x, y, z = c.number("width", 0.080, 0.095), c.number("depth", 0.085, 0.105), c.number("height", 0.035, 0.050)
    wide, half, swing = 0.46 * x, 0.30 * y, math.radians(9.0)
    key = Appearance(color=shade(rgb(color), 0.92), substance="plastic", body="rocker")
    # Two faces that meet in a blunt ridge; the near one lies level when off.
    rise = half * math.tan(swing)
    side = [(-half, 0.004), (0.0, 0.004), (half, 0.004 + rise), (half, -0.006), (-half, -0.006)]
    corners = [(sx * wide / 2, py, pz) for sx in (-1.0, 1.0) for py, pz in side]
    push: Point = (0.0, 0.78 * half, 0.004 + 0.78 * rise)
    parts = [
        *_housing((x, y, z), rgb(color)),
        slab((0.62 * x, 0.78 * y, 0.003), 0.006, (0.0, 0.0, z + 0.0015), color=rgb(color), substance="plastic"),
        hull(corners, **key),
        box((0.003, 0.012, 0.0012), (0.0, 0.55 * half, 0.0042 + 0.55 * rise), **printed(rgb("green"), body="rocker")),
    ]
    link = _switch((0.0, 0.0, z + 0.008), (-1.0, 0.0, 0.0), 1.6 * swing, push, c)
    link = replace(link, axis=(-1.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0))
    return _switch_blueprint(("switch", "rocker switch", "light switch"), color, parts, link, push, z)


def _housing(size: Point, color: tuple[float, float, float]) -> list[Part]:
    """Return a box weighted with a steel plate in its base."""
    x, y, z = size
    return [
        box((x, y, z - 0.008), (0.0, 0.0, 0.008 + (z - 0.008) / 2), color=color, substance="plastic", edge=0.004),
        box((x - 0.004, y - 0.004, 0.008), (0.0, 0.0, 0.004), color=_DARK, substance="steel", material="rubber"),
    ]


def _switch(origin: Point, axis: Point, swing: float, head: Point, c: Choices) -> Link:
    return Link(
        name="lever" if head[1] < 0.0 else "rocker",
        kind="hinge",
        origin=origin,
        axis=axis,
        range=(0.0, swing),
        head=head,
        tail=(0.0, 0.5 * head[1], 0.5 * head[2]),
        contact_axis=(1.0, 0.0, 0.0),
        normal=(0.0, -1.0, 0.0),
        frictionloss=c.number("friction", 0.02, 0.04),
        damping=0.004,
        stop=0.01,
    )


def _switch_blueprint(
    words: tuple[str, ...], color: str, parts: list[Part], link: Link, head: Point, height: float
) -> Blueprint:
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        links=(link,),
        keypoints={
            **points(bottom=(0.0, 0.0, 0.0), housing=(0.0, 0.0, height)),
            "top": Keypoint(position=head, body=link.name),
            link.name: Keypoint(position=head, body=link.name),
        },
        axes=axes(up=(0.0, 0.0, 1.0), front=(0.0, -1.0, 0.0)),
        rests="upright",
    )
