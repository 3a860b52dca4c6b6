"""A ray against several boxes or triangles at once, in vector registers.

Numba vectorises only loops over many lanes; the eight boxes of a node are too few, and scalar code took half the time
of an image with meshes. These two tests are therefore written as LLVM vector instructions, which give the same bits on
any processor: plain IEEE operations, element by element.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from handloom.render.cpu.layout import BIG
from handloom.render.cpu.model.bvh import BLOCK, WIDTH

FLOAT = ir.FloatType()
ROUNDING = 1.0000005
"""Factor on the exit distance of boxes, so that three 32-bit roundings do not make a ray miss a box that it touches."""
SEAM = 1e-6
"""Neighbouring triangles overlap by this much in barycentric coordinates, so that no ray slips between them."""


def _vector_code(function: Any) -> Any:
    """Decorate a function that generates instructions, so that kernels can call it without its first argument."""
    return intrinsic(function)


class _Vector:
    """Values in a vector register during code generation: operators append instructions, numbers are repeated."""

    def __init__(self, builder: ir.IRBuilder, value: Any) -> None:
        self.builder = builder
        self.value = value

    def _with(self, instruction: Any, other: Any) -> "_Vector":
        return _Vector(self.builder, instruction(self.value, _repeated(self, other)))

    def __add__(self, other: Any) -> "_Vector":
        return self._with(self.builder.fadd, other)

    def __sub__(self, other: Any) -> "_Vector":
        return self._with(self.builder.fsub, other)

    def __mul__(self, other: Any) -> "_Vector":
        return self._with(self.builder.fmul, other)

    def __and__(self, other: "_Vector") -> "_Vector":
        return self._with(self.builder.and_, other)

    def compare(self, sign: str, other: Any) -> "_Vector":
        """Return the mask where this is ``sign`` the other; false for NaN."""
        return _Vector(self.builder, self.builder.fcmp_ordered(sign, self.value, _repeated(self, other)))

    def least(self, other: Any) -> "_Vector":
        return self.compare("<", other).choose(self, other)

    def greatest(self, other: Any) -> "_Vector":
        return self.compare(">", other).choose(self, other)

    def choose(self, yes: "_Vector", no: Any) -> "_Vector":
        """Return ``yes`` where the mask is true, ``no`` elsewhere."""
        return _Vector(self.builder, self.builder.select(self.value, yes.value, _repeated(yes, no)))


def _repeated(like: _Vector, other: Any) -> Any:
    """Return the register of a vector, or one that repeats a number for all elements of ``like``."""
    if isinstance(other, _Vector):
        return other.value
    kind = like.value.type
    if isinstance(other, float):
        return ir.Constant(kind, [other] * kind.count)
    first = like.builder.insert_element(ir.Constant(kind, ir.Undefined), other, ir.Constant(ir.IntType(32), 0))
    return like.builder.shuffle_vector(
        first, ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), kind.count), None)
    )


def _address(context: Any, builder: ir.IRBuilder, kind: Any, array: Any, *index: Any) -> Any:
    """Return the address of an element of a contiguous array."""
    box = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, box, list(index))


def _load(builder: ir.IRBuilder, address: Any, element: Any, count: int, k: int) -> _Vector:
    """Return the ``k``-th vector after an address."""
    place = builder.bitcast(address, ir.VectorType(element, count).as_pointer())
    place = builder.gep(place, [ir.Constant(ir.IntType(64), k)])
    return _Vector(builder, builder.load(place, align=2))


def _store(builder: ir.IRBuilder, vector: _Vector, address: Any) -> None:
    builder.store(vector.value, builder.bitcast(address, vector.value.type.as_pointer()), align=4)


@_vector_code
def enter_boxes(typing, nodes, node, eye, slow, fast, spread, start, best, lanes, at):
    """Store the distances at which rays enter a node's children, from ``lanes[at]``; return the bits of those hit.

    A bundle of rays from one point counts as between two planes from the time its first ray enters until its last ray
    leaves; a single ray is a bundle without width.

    Args:
        typing: Numba's.
        nodes: Nodes of a ``Hierarchy``.
        node: Number of the node.
        eye: Origin of the rays, in steps of the mesh's grid.
        slow: One over the lowest speed along each axis [1/steps].
        fast: One over the highest.
        spread: Per axis, whether rays go in both directions along it.
        start: Boxes left before this do not count.
        best: Boxes entered after this do not count.
        lanes: Flat batch.
        at: First of WIDTH places in it.
    """
    signature = types.int64(nodes, node, eye, slow, fast, spread, start, best, lanes, at)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)
        address = _address(context, builder, signature.args[0], args[0], args[1], zero)
        eye, slow, fast, spread = (cgutils.unpack_tuple(builder, arg) for arg in args[2:6])
        enters, leaves = [], []
        for axis in range(3):
            planes = [_load(builder, address, ir.IntType(16), WIDTH, axis + k) for k in (0, 3)]
            low, high = (
                _Vector(builder, builder.uitofp(plane.value, ir.VectorType(FLOAT, WIDTH))) - eye[axis]
                for plane in planes
            )
            p, q = low * fast[axis], high * slow[axis]
            first, last = p.least(q), p.greatest(q)
            endless = _repeated(last, float(BIG))
            enters.append(_Vector(builder, builder.select(spread[axis], last.value, first.value)))
            leaves.append(_Vector(builder, builder.select(spread[axis], endless, last.value)))
        enter = enters[0].greatest(enters[1]).greatest(enters[2])
        leave = leaves[0].least(leaves[1]).least(leaves[2]) * ROUNDING
        hit = enter.compare("<=", leave) & leave.compare(">", args[6]) & enter.compare("<", args[7])
        _store(builder, enter, _address(context, builder, signature.args[8], args[8], args[9]))
        return builder.zext(builder.bitcast(hit.value, ir.IntType(WIDTH)), ir.IntType(64))

    return signature, generate


@_vector_code
def first_bit(typing, bits):
    """Return the position of the lowest set bit of a non-zero number."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@_vector_code
def cross_triangles(typing, triangles, block, eye, ray, lanes, at):
    """Store the distances at which a ray crosses the triangles of a block, from ``lanes[at]``; BIG if it misses.

    Möller and Trumbore's test.

    Args:
        typing: Numba's.
        triangles: Blocks of triangles of a ``Hierarchy``.
        block: Number of the block.
        eye: Origin of the ray [m].
        ray: Its direction; t is in units of its length.
        lanes: Flat batch.
        at: First of BLOCK places in it.
    """
    signature = types.void(triangles, block, eye, ray, lanes, at)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)
        address = _address(context, builder, signature.args[0], args[0], args[1], zero)
        ax, ay, az, px, py, pz, qx, qy, qz = (_load(builder, address, FLOAT, BLOCK, k) for k in range(9))
        ox, oy, oz = (_Vector(builder, _repeated(ax, value)) for value in cgutils.unpack_tuple(builder, args[2]))
        x, y, z = cgutils.unpack_tuple(builder, args[3])
        sx, sy, sz = ox - ax, oy - ay, oz - az
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
        ux, uy, uz = qy * sz - qz * sy, qz * sx - qx * sz, qx * sy - qy * sx
        vx, vy, vz = sy * pz - sz * py, sz * px - sx * pz, sx * py - sy * px
        facing = nx * x + ny * y + nz * z
        one = ir.Constant(facing.value.type, [-1.0] * BLOCK)
        inverse = _Vector(builder, builder.fdiv(one, facing.value))
        u = (ux * x + uy * y + uz * z) * inverse
        v = (vx * x + vy * y + vz * z) * inverse
        t = (qx * vx + qy * vy + qz * vz) * inverse
        inside = u.compare(">=", -SEAM) & v.compare(">=", -SEAM) & (u + v).compare("<=", 1 + SEAM)
        _store(builder, inside.choose(t, float(BIG)), _address(context, builder, signature.args[4], args[4], args[5]))
        return context.get_dummy_value()

    return signature, generate
