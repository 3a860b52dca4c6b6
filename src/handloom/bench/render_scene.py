"""The scene of ``bench render``: an FR3 at a table with ten objects, floor and walls, and more objects if asked."""

import mujoco
import numpy as np

from handloom.render.textures import add_texture, texture
from handloom.robots import load_robot
from handloom.values import CameraSpec

GEOM = mujoco.mjtGeom
# Kind, size [m] and colour of what lies on the table.
OBJECTS = (
    (GEOM.mjGEOM_BOX, (0.03, 0.03, 0.03), (0.80, 0.15, 0.12)),
    (GEOM.mjGEOM_BOX, (0.05, 0.025, 0.02), (0.15, 0.35, 0.75)),
    (GEOM.mjGEOM_SPHERE, (0.035, 0, 0), (0.95, 0.55, 0.10)),
    (GEOM.mjGEOM_CYLINDER, (0.03, 0.05, 0), (0.20, 0.60, 0.25)),
    (GEOM.mjGEOM_CAPSULE, (0.022, 0.05, 0), (0.70, 0.20, 0.55)),
    (GEOM.mjGEOM_ELLIPSOID, (0.05, 0.03, 0.025), (0.90, 0.80, 0.20)),
    (GEOM.mjGEOM_CYLINDER, (0.045, 0.012, 0), (0.85, 0.85, 0.80)),
    (GEOM.mjGEOM_BOX, (0.02, 0.02, 0.07), (0.30, 0.70, 0.75)),
    (GEOM.mjGEOM_ELLIPSOID, (0.03, 0.03, 0.04), (0.55, 0.35, 0.20)),
    (GEOM.mjGEOM_CYLINDER, (0.02, 0.03, 0), (0.50, 0.52, 0.55)),
)
TABLE_TOP = 0.0
HOME = (0.0, 0.05, 0.0, -2.2, 0.0, 2.3, 0.78)


def build_scene(*, objects: int = 10) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return the scene with the arm at home; ``objects`` of the ten kinds in turn, on a grid that covers the table."""
    spec = load_robot("fr3").spec()
    rng = np.random.default_rng(0)
    spec.visual.headlight.ambient = [0.36, 0.36, 0.36]
    spec.visual.headlight.diffuse = [0.12, 0.12, 0.12]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
    spec.visual.map.znear, spec.visual.map.zfar = 0.005, 20.0
    spec.stat.extent, spec.stat.center = 2.0, [0.4, 0.0, 0.1]
    light = spec.worldbody.add_light(pos=[1.3, -0.9, 2.3], dir=[-0.4, 0.35, -0.85], diffuse=[0.72, 0.69, 0.64])
    light.type, light.cutoff, light.castshadow = mujoco.mjtLightType.mjLIGHT_SPOT, 65, True
    materials = {
        name: add_texture(spec, f"bench_{name}", texture(name, rng), repeat=(repeat, repeat))
        for name, repeat in (("wood", 1.3), ("plaster", 0.8), ("stone", 0.7))
    }
    world = spec.worldbody
    world.add_geom(type=GEOM.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, -0.75], material=materials["stone"])
    walls = (([-0.9, 0.0, 0.5], [0.5, 0.5, 0.5, 0.5]), ([0.0, 1.2, 0.5], [0.7071, 0.7071, 0.0, 0.0]))
    for position, quat in walls:
        world.add_geom(type=GEOM.mjGEOM_PLANE, size=[4, 4, 1], pos=position, quat=quat, material=materials["plaster"])
    world.add_geom(type=GEOM.mjGEOM_BOX, size=[0.65, 0.5, 0.02], pos=[0.35, 0, -0.02], material=materials["wood"])
    for x in (-0.25, 0.95):
        for y in (-0.45, 0.45):
            world.add_geom(type=GEOM.mjGEOM_CYLINDER, size=[0.03, 0.35, 0], pos=[x, y, -0.39], rgba=[0.3, 0.3, 0.3, 1])
    _scatter(world, objects, rng)
    model = spec.compile()
    data = mujoco.MjData(model)
    move(model, data, 0)
    return model, data


def _scatter(world: mujoco.MjsBody, count: int, rng: np.random.Generator) -> None:
    """Put objects on a grid over the table, smaller when there are many."""
    columns = int(np.ceil(np.sqrt(count)))
    scale = min(1.0, 4.0 / columns)
    for k in range(count):
        kind, size, color = OBJECTS[k % len(OBJECTS)]
        half = np.array(size) * scale
        height = half[1] if kind == GEOM.mjGEOM_CYLINDER else half[2] if half[2] > 0 else half[0]
        x = 0.30 + 0.60 * (k // columns + 0.5) / columns
        y = -0.42 + 0.84 * (k % columns + 0.5) / columns
        turn = rng.uniform(0, np.pi)
        quat = [np.cos(turn / 2), 0, 0, np.sin(turn / 2)]
        if kind == GEOM.mjGEOM_CAPSULE:
            quat = [0.7071, 0.7071 * np.cos(turn), 0.7071 * np.sin(turn), 0.0]
        world.add_geom(type=kind, size=half, pos=[x, y, TABLE_TOP + height], quat=quat, rgba=[*color, 1.0])


def move(model: mujoco.MjModel, data: mujoco.MjData, frame: int) -> None:
    """Set the arm to a frame of a smooth motion."""
    data.qpos[:7] = np.array(HOME) + 0.25 * np.sin(0.05 * frame + np.arange(7))
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)


def front_camera(width: int, height: int) -> CameraSpec:
    """Return a camera that sees table and arm from the front."""
    focal = height / 2 / np.tan(np.deg2rad(48) / 2)
    return CameraSpec.looking_at(
        "front", (0.3, 0.0, 0.12), eye=(1.5, -0.85, 0.8), width=width, height=height, focal=focal
    )


def hand_camera(width: int, height: int) -> CameraSpec:
    """Return a camera on the hand that looks past the fingers: no two of its pictures share a pixel's ray."""
    focal = height / 2 / np.tan(np.deg2rad(43) / 2)
    return CameraSpec(
        name="hand",
        width=width,
        height=height,
        fx=focal,
        fy=focal,
        cx=width / 2,
        cy=height / 2,
        parent="fr3_hand",
        position=(0.085, 0.0, -0.02),
        quat=(-0.6903, 0.1531, 0.1531, -0.6903),
    )
