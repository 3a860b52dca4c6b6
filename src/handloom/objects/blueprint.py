"""The blueprint of one object: convex parts, links, annotations, words."""

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.errors import InputError
from handloom.objects.finishes import edge_of, finish_of
from handloom.objects.joint_dynamics import catch_of
from handloom.objects.materials import BARE_METALS, substance
from handloom.objects.parts import (
    VECTORS_OF_LINKS,
    Axis,
    Keypoint,
    Link,
    Part,
    Point,
    Quat,
    Surface,
    axes,
    point,
    quad,
    upright_points,
)
from handloom.render.looks import Look
from handloom.render.textures import add_texture
from handloom.spatial import matrix_from_quat, quat_multiply

ROOT = "object"
"""Name of the base body of every object."""

_GEOM = {
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "hull": mujoco.mjtGeom.mjGEOM_MESH,
}
_SHAPES: dict[str, Literal["smooth"]] = {"smooth": "smooth"}
_JOINT = {"hinge": mujoco.mjtJoint.mjJNT_HINGE, "slide": mujoco.mjtJoint.mjJNT_SLIDE}
_Y_UP: Quat = (0.7071067811865476, -0.7071067811865476, 0.0, 0.0)
"""Turns z up to y up: x stays, z becomes y."""
_NEVER = 1e3
"""Rest length [m] above any distance between a catch's noses, so that its spring pushes and never pulls."""
_THIRDS: tuple[Quat, Quat] = ((0.5, 0.5, 0.5, 0.5), (0.5, -0.5, -0.5, -0.5))
"""Turn x to y, y to z, z to x; and back."""
_ROLLING = (0.005, 0.0005)
"""Torsional and rolling friction [m] of round parts: the contact patch of a fruit is a few millimetres wide."""


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """Everything that is needed to build an object, as plain numbers."""

    words: tuple[str, ...]
    """Singular nouns for language, the usual one first."""
    color: str | None
    """Colour word for language; None if a colour would sound odd (a ripe banana)."""
    parts: tuple[Part, ...]
    """Convex pieces of all bodies."""
    links: tuple[Link, ...] = ()
    """Moving bodies; the first one carries the main joint."""
    sections: tuple[str, ...] = ()
    """Named bodies fixed to the object, such as the compartments of a caddy or the boards of a shelf; places, regions
    and goals can refer to them."""
    keypoints: Mapping[str, Keypoint] = field(default_factory=dict)
    """Named points."""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    """Named directions."""
    holds: float = 0.0
    """Diameter of the largest ball that fits through the opening and into the cavity [m]; 0: not a container."""
    rests: str = "any"
    """``any``: every stable pose is used; ``upright``: only the pose of the drawing (furniture, appliances)."""
    up: Point = (0.0, 0.0, 1.0)
    """Up direction of the drawing."""
    surfaces: tuple[Surface, ...] = ()
    """Visible surfaces of an imported object, if they differ from its parts."""

    def aabb(self) -> Array:
        """Return lower and upper corner (2, 3) [m] of all parts in the object frame, joints at zero."""
        origin = self._body_origins()
        six = np.concatenate([np.eye(3), -np.eye(3)])
        reach = np.array([p.support(six) + six @ origin[p.body] for p in self.parts]).max(axis=0)
        return np.stack([-reach[3:], reach[:3]])

    def scaled(self, scale: float) -> "Blueprint":
        """Return the object in another size; masses follow with the third power."""
        if scale == 1.0:
            return self
        return replace(
            self,
            parts=tuple(p.scaled(scale) for p in self.parts),
            links=tuple(link.scaled(scale) for link in self.links),
            keypoints={
                name: replace(k, position=point(np.multiply(k.position, scale))) for name, k in self.keypoints.items()
            },
            holds=self.holds * scale,
        )

    def stretched(self, factors: tuple[float, float, float]) -> "Blueprint":
        """Return the object with separate scales for its axes; masses follow with the volume.

        Raises:
            InputError: The object has joints, whose frames would no longer be rigid.
        """
        if self.links:
            raise InputError(f"a {self.words[0]} has joints and scales by one factor only, got {list(factors)}")
        return replace(
            self,
            parts=tuple(p.stretched(factors) for p in self.parts),
            keypoints={
                name: replace(k, position=point(np.multiply(k.position, factors))) for name, k in self.keypoints.items()
            },
            holds=self.holds * min(factors),
        )

    def y_up(self) -> "Blueprint":
        """Return the object in a frame with y up and its front to +z, as published assets have it."""
        return self._turned(_Y_UP)

    def along(self, axis: str) -> "Blueprint":
        """Return the object with its axes permuted so that its longest side lies along an axis."""
        turns = ("xyz".index(axis) - int(np.argmax(np.ptp(self.aabb(), axis=0)))) % 3
        return self if turns == 0 else self._turned(_THIRDS[turns - 1])

    def _turned(self, quat: Quat) -> "Blueprint":
        """Return the object in a frame in which it is rotated by a quaternion wxyz."""
        R = matrix_from_quat(quat)

        def turned(vector: Point) -> Point:
            return point(R @ vector)

        return replace(
            self,
            parts=tuple(
                replace(p, position=turned(p.position), quat=quad(quat_multiply(quat, p.quat))) for p in self.parts
            ),
            links=tuple(
                replace(link, **{k: turned(v) for k in VECTORS_OF_LINKS if (v := getattr(link, k)) is not None})
                for link in self.links
            ),
            keypoints={name: replace(k, position=turned(k.position)) for name, k in self.keypoints.items()},
            axes={name: replace(axis, direction=turned(axis.direction)) for name, axis in self.axes.items()},
            up=turned(self.up),
        )

    def centered(self) -> "Blueprint":
        """Return the object with its origin at the centre of its bounding box, as in reference assets."""
        shift = point(-self.aabb().mean(axis=0))
        return replace(
            self,
            parts=tuple(p.moved(shift) if p.body in (ROOT, *self.sections) else p for p in self.parts),
            links=tuple(link.moved(shift) if link.parent == ROOT else link for link in self.links),
            keypoints={
                name: replace(k, position=point(np.add(k.position, shift))) if k.body in (ROOT, *self.sections) else k
                for name, k in self.keypoints.items()
            },
        )

    def fingerprint(self) -> str:
        """Return a hash of everything that affects physics, images or planners, with lengths to a nanometre."""
        digest = hashlib.sha256()
        rows: list[object] = [(self.words, self.color, self.rests)]
        numbers: list[float] = [self.holds]
        for p in self.parts:
            rows.append((p.shape, p.substance, p.body, p.visible, p.solid, p.round, len(p.vertices)))
            numbers += (*p.size, *p.position, *p.quat, *p.color, p.fill, *p.belt_velocity)
            numbers += (x for vertex in p.vertices for x in vertex)
            numbers += (p.belt_turn,) if p.belt_turn else ()
        for link in self.links:
            rows.append((link.name, link.kind, link.parent, link.drives))
            numbers += (*link.origin, *link.axis, *link.range, *link.head, *link.tail, *link.contact_axis)
            numbers += (*link.normal, *(link.push or link.head), *(link.grip or ()), *(link.turns or ()))
            numbers += (*link.front_axis, link.damping, link.frictionloss, link.stiffness)
            numbers += (link.rest,) if link.rest else ()  # Objects without any keep their earlier hash.
            numbers += (link.counterbalance, link.ratio, link.latch, link.stop)
        rows += [self.sections] if self.sections else []
        for name, keypoint in sorted(self.keypoints.items()):
            rows.append((name, keypoint.body))
            numbers += keypoint.position
        for name, axis in sorted(self.axes.items()):
            rows.append((name, axis.body))
            numbers += axis.direction
        for surface in self.surfaces:
            rows.append((surface.body, surface.substance, surface.image.shape))
            for values in (np.round(surface.vertices, 9), surface.faces, surface.texcoords, surface.image):
                digest.update(np.ascontiguousarray(values).tobytes())
        digest.update(repr(rows).encode())
        # Rounding hides the last bit of a library's sine; adding zero turns -0 into 0.
        digest.update((np.round(np.array(numbers, "<f8"), 9) + 0.0).tobytes())
        return digest.hexdigest()

    def spec(self) -> mujoco.MjSpec:
        """Return a new model: one root body ``object`` at the origin, no free joint."""
        spec = mujoco.MjSpec()
        spec.modelname = ROOT
        spec.compiler.degree = False
        bodies = {ROOT: spec.worldbody.add_body(name=ROOT)}
        for link in self.links:
            bodies[link.name] = _add_link(bodies[link.parent], link)
            _add_catch(spec, bodies[link.parent], bodies[link.name], link)
            # A free parent is exempt from contact with its child, a welded one is not: make both cases equal.
            spec.add_exclude(bodyname1=link.parent, bodyname2=link.name)
        for section in self.sections:
            bodies[section] = bodies[ROOT].add_body(name=section)
        for link in self.links:
            if link.drives is not None:
                _add_drive(spec, link, next(other for other in self.links if other.name == link.drives))
        materials: dict[tuple[object, ...], str] = {}
        for i, part in enumerate(self.parts):
            _add_part(spec, bodies[part.body], part, f"{part.body}_{i}", materials)
        for i, surface in enumerate(self.surfaces):
            _add_surface(spec, bodies[surface.body], surface, f"look_{i}")
        return spec

    def looks(self) -> tuple[Look, ...]:
        """Return the visible surfaces that replace parts whose look differs from their collision shape."""
        hides: list[list[str]] = []
        heads: list[Part] = []
        for i, part in enumerate(self.parts):
            name = f"{part.body}_{i}"
            if part.drawn != "with the last":
                heads.append(part)
                hides.append([name])
            else:
                hides[-1].append(name)
        # Objects of other sizes and colours are other pieces, with their own grain, print and wear.
        piece = zlib.crc32(repr((self.words[:1], self.color, np.round(self.aabb(), 5).tolist())).encode())
        return tuple(
            Look(
                body=p.body,
                hides=tuple(names),
                shape=_SHAPES.get(p.drawn, "as collides") if isinstance(p.drawn, str) else p.drawn,
                position=p.position,
                quat=p.quat,
                edge=edge_of(p),
                finish=finish_of(p, seed=piece % 1009 + i),
            )
            for i, (p, names) in enumerate(zip(heads, hides, strict=True))
            if p.visible
        )

    def _body_origins(self) -> dict[str, Array]:
        origins = {ROOT: np.zeros(3), **{section: np.zeros(3) for section in self.sections}}
        for link in self.links:
            origins[link.name] = origins[link.parent] + link.origin
        return origins


def _add_link(parent: "mujoco.MjsBody", link: Link) -> "mujoco.MjsBody":
    body = parent.add_body(name=link.name, pos=link.origin, gravcomp=link.counterbalance)
    body.add_joint(
        name=link.joint,
        type=_JOINT[link.kind],
        axis=link.axis,
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        range=link.range,
        damping=[link.damping, 0.0, 0.0],
        frictionloss=link.frictionloss,
        stiffness=[link.stiffness, 0.0, 0.0],
        springref=link.rest,
        armature=1e-4,
        solref_limit=[link.stop, 1.0],
    )
    return body


def _add_catch(spec: mujoco.MjSpec, parent: "mujoco.MjsBody", body: "mujoco.MjsBody", link: Link) -> None:
    """Hold the joint at its closed end: a passive spring between a nose on each body, see ``Catch``."""
    catch = catch_of(link)
    if catch is None:
        return
    noses = (f"{link.name}_nose", f"{link.name}_catch")
    body.add_site(name=noses[0], pos=catch.on_link, group=4)
    parent.add_site(name=noses[1], pos=catch.on_parent, group=4)
    spring = spec.add_tendon(name=f"{link.name}_latch", stiffness=[catch.stiffness, 0.0, 0.0])
    spring.springlength[:] = [catch.reach, _NEVER]
    for nose in noses:
        spring.wrap_site(nose)


def _add_drive(spec: mujoco.MjSpec, link: Link, driven: Link) -> None:
    """Couple the driven joint to the driver by a linear equality: driven = ratio * driver."""
    tie = spec.add_equality(name=f"{link.name}_drives_{driven.name}", type=mujoco.mjtEq.mjEQ_JOINT)
    tie.name1, tie.name2 = driven.joint, link.joint
    tie.data[:5] = [0.0, link.ratio, 0.0, 0.0, 0.0]


def _add_part(
    spec: mujoco.MjSpec, body: "mujoco.MjsBody", part: Part, name: str, materials: dict[tuple[object, ...], str]
) -> None:
    stuff = substance(part.substance)
    geom = body.add_geom(
        name=name,
        type=_GEOM[part.shape],
        pos=part.position,
        quat=part.quat,
        material=_material(spec, part, materials),
        group=2 if part.visible else 3,
        contype=int(part.solid),
        conaffinity=int(part.solid),
        condim=6 if part.round else 3,
        friction=[stuff.friction, *(_ROLLING if part.round else (0.005, 0.0001))],
        surfacevel=[*part.belt_velocity, 0.0, 0.0, part.belt_turn],
    )
    if part.shape == "hull":
        mesh = spec.add_mesh(name=name, uservert=np.asarray(part.vertices).ravel())
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.meshname = name
    else:
        geom.size[: len(part.size)] = part.size
    if part.fill > 0.0:
        geom.density = stuff.density * part.fill
    else:
        geom.mass = 0.0


def _add_surface(spec: mujoco.MjSpec, body: "mujoco.MjsBody", surface: Surface, name: str) -> None:
    """Add visible triangles; MuJoCo counts texture coordinates from the upper left."""
    coords = surface.texcoords.reshape(-1, 2) * [1.0, -1.0] + [0.0, 1.0]
    mesh = spec.add_mesh(
        name=name,
        uservert=surface.vertices.ravel(),
        userface=surface.faces.ravel(),
        usertexcoord=coords.ravel(),
        userfacetexcoord=np.arange(surface.faces.size, dtype=np.int32),
    )
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    stuff = substance(surface.substance)
    material = spec.material(add_texture(spec, name, surface.image, per_metre=False))
    material.specular, material.shininess = stuff.specular, stuff.shininess
    geom = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, material=name, group=2)
    geom.contype, geom.conaffinity, geom.mass = 0, 0, 0.0


def _material(spec: mujoco.MjSpec, part: Part, materials: dict[tuple[object, ...], str]) -> str:
    key = (part.color, part.substance)
    if key not in materials:
        materials[key] = f"{part.substance}_{len(materials)}"
        stuff = substance(part.substance)
        spec.add_material(
            name=materials[key],
            rgba=[*part.color, 1.0],
            specular=stuff.specular,
            shininess=stuff.shininess,
            metallic=stuff.metallic if part.color in BARE_METALS else 0.0,
            roughness=1.0 - stuff.shininess,
        )
    return materials[key]


def one_piece(words: tuple[str, ...], color: str | None, parts: Sequence[Part], size: Point) -> Blueprint:
    """Return an object without joints that lies along x and rests in any stable pose, by its full size [m]."""
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        keypoints=upright_points(size[2], center=(0.0, 0.0, size[2] / 2)),
        axes=axes(up=(0.0, 0.0, 1.0), long=(1.0, 0.0, 0.0)),
    )


def upright(
    words: tuple[str, ...],
    color: str | None,
    parts: Sequence[Part],
    links: Sequence[Link],
    keypoints: Mapping[str, Keypoint],
    holds: float,
) -> Blueprint:
    """Return a container with moving bodies that stands upright; the arguments are fields of ``Blueprint``."""
    return Blueprint(
        words=words,
        color=color,
        parts=tuple(parts),
        links=tuple(links),
        keypoints=keypoints,
        holds=holds,
        rests="upright",
    )
