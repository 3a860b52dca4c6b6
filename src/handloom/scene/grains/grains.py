"""The grains of a fluid in a world: contacts with each other and with the objects around them."""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from handloom.arrays import Array
from handloom.errors import unknown_name
from handloom.scene.grains.grain_kernels import resolve
from handloom.scene.grains.surroundings import DistanceGrid, hollow_nodes, surroundings
from handloom.sim import World
from handloom.values import FluidInstance


class GrainTable(NamedTuple):
    """The grains and the bodies they touch, as the kernel reads them."""

    origin: Array
    """Position (n, 3) of each grain [m] with its joints at zero."""
    radius: float
    """Radius of a grain [m]."""
    mass: float
    """Mass of a grain [kg]."""
    first: int
    """Body of the first grain; the others follow it."""
    bodies: NDArray[np.int64]
    """Bodies (b,) that grains touch."""
    dofs: NDArray[np.int64]
    """First dof of each of these bodies (b,); -1 for a body that is not free to move."""


class Grains:
    """Balls that MuJoCo moves without contacts, and whose contacts are resolved here after every step.

    MuJoCo's solver took 2.4 s of computing per second for a heap of 200 balls; this takes 0.1 s for 300.
    They touch each other and the solids of objects and fixtures, not the robots. Objects that are free to move feel
    their weight and their impacts. Everything follows from the state of the world, so a restored or replayed world
    continues bit for bit.

    Args:
        world: Compiled scene with the bodies that ``add_fluid`` made.
        fluid: The grains.
        objects: Objects and fixtures that the grains touch: name > direction (3,) in its frame that is up when it is
            upright.
    """

    def __init__(self, world: World, fluid: FluidInstance, objects: Mapping[str, Array]) -> None:
        self.count = len(fluid.positions)
        self._world = world
        model = world.model
        prefixes = tuple(f"{name}/" for name in objects)
        solid = np.zeros(model.nbody, bool)
        solid[model.geom_bodyid[(model.geom_contype != 0) | (model.geom_conaffinity != 0)]] = True
        named = {name: index for name, index in world.bodies.items() if name.startswith(prefixes) and solid[index]}
        bodies, self._up = np.array(list(named.values()), np.int64), dict(objects)
        self._around, grids = surroundings(model, bodies.tolist(), 2.0 * fluid.radius)
        self._grids = dict(zip(named, grids, strict=True))
        self._hollows: dict[str, NDArray[np.bool_]] = {}
        begin = world.qpos_index("fluid/0/x")
        self._qpos = slice(begin, begin + 3 * self.count)
        begin = world.dof_index("fluid/0/x")
        self._dofs = slice(begin, begin + 3 * self.count)
        self._table = GrainTable(
            origin=np.array([model.body(f"fluid/{i}").pos for i in range(self.count)]),
            radius=fluid.radius,
            mass=fluid.mass,
            first=world.body_index("fluid/0"),
            bodies=bodies,
            dofs=np.array([_free_joint(model, body) for body in bodies.tolist()], np.int64),
        )
        world.after_step(self._resolve)

    def positions(self) -> Array:
        """Return the centre (n, 3) of every grain [m]."""
        return self._world.data.qpos[self._qpos].reshape(-1, 3) + self._table.origin

    def velocities(self) -> Array:
        """Return the velocity (n, 3) of every grain [m/s]."""
        return self._world.data.qvel[self._dofs].reshape(-1, 3).copy()

    def inside(self, name: str) -> NDArray[np.bool_]:
        """Return for each grain (n,) whether it lies in the cavity of an object: walls on four sides and a floor below.

        Raises:
            NotFoundError: There is no such object, or it is too large to be a container.
        """
        grid, hollow = self._hollow(name)
        T = self._world.body_pose(f"{name}/object")
        nodes, within = grid.nearest_nodes((self.positions() - T[:3, 3]) @ T[:3, :3])
        return within & hollow[tuple(nodes.T)]

    def opening(self, name: str) -> tuple[Array, float]:
        """Return the middle (3,) of the rim of an object in its own frame [m] and its inner radius [m].

        Raises:
            NotFoundError: There is no such object, or it is too large to be a container.
        """
        grid, hollow = self._hollow(name)
        nodes = np.argwhere(hollow)
        axis = int(np.argmax(np.abs(self._up[name])))
        level = nodes[:, axis] * np.sign(self._up[name][axis])
        rim = grid.origin + grid.cell * nodes[level == level.max()]
        middle = (rim.min(axis=0) + rim.max(axis=0)) / 2
        return middle, float(np.linalg.norm(rim - middle, axis=1).max())

    def _hollow(self, name: str) -> tuple[DistanceGrid, NDArray[np.bool_]]:
        grid = self._grids.get(f"{name}/object")
        if grid is None:
            known = [body.removesuffix("/object") for body, grid in self._grids.items() if grid is not None]
            raise unknown_name("container", name, known)
        if name not in self._hollows:
            self._hollows[name] = hollow_nodes(grid, self._up[name])
        return grid, self._hollows[name]

    def _resolve(self) -> None:
        """Resolve all contacts of a step, and push the objects."""
        model, data = self._world.model, self._world.data
        # Right after a step, poses are still those before it.
        before = data.xpos.copy(), data.xmat.copy()
        mujoco.mj_kinematics(model, data)
        q, v = data.qpos[self._qpos].reshape(-1, 3), data.qvel[self._dofs].reshape(-1, 3)
        forces, h = data.qfrc_applied, model.opt.timestep
        resolve(q, v, forces, self._table, h, self._around, *before, data.xpos, data.xmat)


def _free_joint(model: mujoco.MjModel, body: int) -> int:
    """Return the first dof of a body that is free to move, else -1."""
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_FREE:
        return -1
    return int(model.jnt_dofadr[joint])
