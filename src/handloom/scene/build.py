"""From a task instance to a compiled world."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import mujoco
import numpy as np

from handloom.errors import ConfigError, InputError
from handloom.objects import ObjectAsset
from handloom.render.appearance.surroundings import add_surroundings
from handloom.robots import RobotDescription
from handloom.scene.assets import asset_of, robot_description
from handloom.scene.belts import add_belt_marks, run_belts
from handloom.scene.fixtures import add_surface
from handloom.scene.grains import Grains
from handloom.scene.mobile_base import bind_base, free_base
from handloom.scene.named_points import with_names
from handloom.scene.scene import Scene, SceneArm, SceneRobot, ctrl_of_joint
from handloom.scene.surface_gripper.suction import add_suction, bind_suction
from handloom.sim import World
from handloom.spatial import make_pose, matrix_from_quat, transform_points
from handloom.values import FluidInstance, LightInstance, ObjectInstance, RobotInstance, TaskInstance

DEFAULT_LIGHT = LightInstance(
    name="key", directional=False, position=(1.2, -1.4, 2.8), direction=(-0.4, 0.45, -0.8), diffuse=(0.8, 0.78, 0.74)
)
"""A lamp above the front left, for instances without their own light."""
HIDDEN_GROUP = 3
"""Geoms of this group and above are not drawn."""
_BALLS = (int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_ELLIPSOID))
_ROLLS = 6
"""Dimension of contacts with torsional and rolling friction."""


def add_fluid(spec: mujoco.MjSpec, fluid: FluidInstance) -> None:
    """Add every grain as a body ``fluid/<i>`` that slides along x, y and z.

    MuJoCo moves them without contacts; ``Grains`` resolves those.
    """
    spec.add_material(name="fluid", rgba=[*fluid.color, fluid.opacity], specular=0.6, shininess=0.8)
    for i, position in enumerate(fluid.positions):
        body = spec.worldbody.add_body(name=f"fluid/{i}", pos=list(position))
        for k, axis in enumerate("xyz"):
            body.add_joint(
                name=f"fluid/{i}/{axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[float(k == j) for j in range(3)]
            )
        body.add_geom(
            name=f"fluid/{i}",
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[fluid.radius, 0, 0],
            mass=fluid.mass,
            contype=0,
            conaffinity=0,
            material="fluid",
            group=2,
        )


class InstanceSpec(NamedTuple):
    """The uncompiled model of an instance, and its robots and assets."""

    spec: mujoco.MjSpec
    descriptions: dict[str, RobotDescription]
    assets: dict[str, ObjectAsset]


def instance_spec(instance: TaskInstance) -> InstanceSpec:
    """Read the robots and objects of an instance and put them into one model."""
    descriptions = {r.name: robot_description(r.robot, r.overrides) for r in instance.robots}
    assets = {o.name: with_names(asset_of(o), o) for o in instance.objects}
    return InstanceSpec(scene_spec(instance, descriptions, assets), descriptions, assets)


def build_scene(instance: TaskInstance | Mapping[str, Any]) -> Scene:
    """Compile the scene of an instance, with robots and objects at their start poses and every joint held there.

    Args:
        instance: A sampled scene, or its JSON values, as in ``DatasetReader.archive(0).instance``.
    """
    instance = _instance(instance)
    spec, descriptions, assets = instance_spec(instance)
    world = World.from_spec(spec)
    robots = {name: _bind(world, name, d, fps=instance.fps) for name, d in descriptions.items()}
    for robot in instance.robots:
        set_joints(world, robot.name, robot.joints)
    for obj in instance.objects:
        set_joints(world, obj.name, obj.joints)
        if any(obj.rolling):
            _set_rolling(world, obj, assets[obj.name])
    run_belts(world, instance)
    for bound in robots.values():
        if bound.base is not None:
            bound.base.hold()
    world.forward()
    solid = {obj.name: np.array(assets[obj.name].up) for obj in instance.objects if obj.solid}
    grains = None if instance.fluid is None else Grains(world, instance.fluid, solid)
    return Scene(instance=instance, world=world, robots=robots, assets=assets, grains=grains)


def _instance(given: TaskInstance | Mapping[str, Any]) -> TaskInstance:
    if isinstance(given, TaskInstance):
        return given
    if isinstance(given, Mapping):
        return TaskInstance.from_json(json.dumps(given))
    raise InputError(
        f"build_scene takes a TaskInstance or the instance of an archive, got {type(given).__name__}; "
        "sample_task(task, seed, episode) makes one from a task"
    )


def _set_rolling(world: World, obj: ObjectInstance, asset: ObjectAsset) -> None:
    """Let an object roll: its centre moves, its lowest point is at rest."""
    model, dof = world.model, world.dof_index(f"{obj.name}/free")
    R, middle = matrix_from_quat(np.array(obj.quat)), model.body_ipos[world.body_index(f"{obj.name}/object")]
    x, y, z = np.meshgrid(*asset.aabb.T, indexing="ij")
    corners = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    height = float((R @ middle)[2] - (corners @ R.T)[:, 2].min())
    turn = np.cross([0.0, 0.0, 1.0], obj.rolling) / height
    world.data.qvel[dof : dof + 3] = np.array(obj.rolling) - np.cross(turn, R @ middle)
    world.data.qvel[dof + 3 : dof + 6] = R.T @ turn


def scene_spec(
    instance: TaskInstance, descriptions: Mapping[str, RobotDescription], assets: Mapping[str, ObjectAsset]
) -> mujoco.MjSpec:
    """Return the uncompiled model of a scene; names are ``<object or robot>/<name in its own model>``."""
    spec = empty_spec(instance.timestep, descriptions.values())
    for light in instance.lights or (DEFAULT_LIGHT,):
        _add_light(spec, light)
    if instance.surroundings is not None:
        add_surroundings(spec, instance.surroundings)
    for obj in instance.objects:
        add_object(spec, obj, assets[obj.name])
    for robot in instance.robots:
        add_robot(spec, robot, descriptions[robot.name])
    if instance.fluid is not None:
        add_fluid(spec, instance.fluid)
    add_belt_marks(spec)
    add_suction(spec, instance, descriptions)
    _exclude_neglected(spec, instance)
    return spec


def empty_spec(timestep: float, descriptions: Iterable[RobotDescription] = ()) -> mujoco.MjSpec:
    """Return an empty model with the solver options the grippers were tuned with.

    Attaching a model drops its options, so the strictest of all robots are set here, on the parent.
    """
    physics = [description.config.physics for description in descriptions]
    spec = mujoco.MjSpec()
    spec.modelname = "scene"
    spec.compiler.degree = False
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = max([p.impratio for p in physics], default=10.0)
    spec.visual.headlight.ambient = [0.32, 0.32, 0.33]
    spec.visual.headlight.diffuse = [0.12, 0.12, 0.12]
    spec.visual.headlight.specular = [0.0, 0.0, 0.0]
    return spec


def add_object(spec: mujoco.MjSpec, obj: ObjectInstance, asset: ObjectAsset, *, free: bool | None = None) -> None:
    """Put an object into the model: fixed to the world, or free to move.

    Args:
        spec: The model under construction.
        obj: The object.
        asset: Asset of the object.
        free: Whether it moves; None follows the instance.
    """
    child = asset.spec()
    root = child.body("object")
    if (not obj.fixed) if free is None else free:
        root.add_freejoint(name="free")
    elif obj.fixed and not obj.solid:
        root.mocap = True  # Purely visual objects can be moved by skills.
    _vary_physics(child, obj)
    if obj.calm:
        _calm_joints(child)
    _vary_look(child, obj)
    frame = spec.worldbody.add_frame(pos=list(obj.position), quat=list(obj.quat))
    spec.attach(child, prefix=f"{obj.name}/", frame=frame)


def _vary_physics(child: mujoco.MjSpec, obj: ObjectInstance) -> None:
    for geom in child.geoms:
        if obj.friction is not None:
            geom.friction = [obj.friction, *geom.friction[1:]]
        if obj.rolling_resistance is not None and (geom.condim == _ROLLS or int(geom.type) in _BALLS):
            geom.condim = _ROLLS
            geom.friction = [*geom.friction[:2], obj.rolling_resistance]
        if not obj.solid:
            geom.contype, geom.conaffinity = 0, 0
        if obj.mass_scale != 1.0:
            if np.isfinite(geom.mass):
                geom.mass *= obj.mass_scale
            else:
                geom.density *= obj.mass_scale
    for body in child.bodies if obj.mass_scale != 1.0 else ():
        if body.explicitinertial:
            body.mass *= obj.mass_scale
            body.inertia = np.asarray(body.inertia) * obj.mass_scale
            body.fullinertia = np.asarray(body.fullinertia) * obj.mass_scale


def _calm_joints(child: mujoco.MjSpec) -> None:
    """Simplify joints out of reach: no dry friction or catches; gravity compensation keeps them closed."""
    for tendon in list(child.tendons):
        child.delete(tendon)
    for joint in child.joints:
        joint.frictionloss = 0.0
    for body in child.bodies:
        body.gravcomp = 1.0


def _vary_look(child: mujoco.MjSpec, obj: ObjectInstance) -> None:
    if obj.look:
        add_surface(child, "look", obj.look)
    for geom in child.geoms:
        if geom.group < HIDDEN_GROUP:
            geom.group = geom.group if obj.visible else HIDDEN_GROUP
            geom.material = "look" if obj.look else geom.material


def add_robot(spec: mujoco.MjSpec, robot: RobotInstance, description: RobotDescription) -> None:
    """Put a robot into the model, at its pose."""
    frame = spec.worldbody.add_frame(pos=list(robot.position), quat=list(robot.quat))
    child = description.spec()
    # The scene's options apply; MuJoCo would warn of every option that differs in the robot's own file.
    for option in ("timestep", "integrator", "cone", "impratio"):
        setattr(child.option, option, getattr(spec.option, option))
    for actuator in child.actuators if robot.gain_scale != 1.0 else ():
        if actuator.biasprm[1] != 0.0:  # A position servo; a motor has no stiffness to vary.
            actuator.gainprm = np.asarray(actuator.gainprm) * robot.gain_scale
            actuator.biasprm = np.asarray(actuator.biasprm) * robot.gain_scale
    if description.config.drives:
        free_base(child, description)
    spec.attach(child, prefix=f"{robot.name}/", frame=frame)


def _add_light(spec: mujoco.MjSpec, light: LightInstance) -> None:
    kinds = mujoco.mjtLightType
    spec.worldbody.add_light(
        name=f"light/{light.name}",
        type=kinds.mjLIGHT_DIRECTIONAL if light.directional else kinds.mjLIGHT_SPOT,
        pos=list(light.position),
        dir=list(light.direction),
        diffuse=list(light.diffuse),
        ambient=list(light.ambient),
        specular=[0.3 * c for c in light.diffuse],
        castshadow=light.shadows,
        bulbradius=light.radius,
        cutoff=80.0,
        exponent=1.0,
        attenuation=[1.0, 0.0, 0.0],
    )


def _exclude_neglected(spec: mujoco.MjSpec, instance: TaskInstance) -> None:
    """Switch off contacts between robots and the objects that the task lets them pass through."""
    neglected = [o.name for o in instance.objects if any(part in o.name for part in instance.neglect_collisions)]
    robots = tuple(f"{r.name}/" for r in instance.robots)
    names = [body.name for body in spec.bodies]
    for robot_body in (name for name in names if name.startswith(robots)):
        for obj in neglected:
            for body in (name for name in names if name.startswith(f"{obj}/")):
                spec.add_exclude(bodyname1=robot_body, bodyname2=body)


def _bind(world: World, name: str, description: RobotDescription, *, fps: int) -> SceneRobot:
    prefix = f"{name}/"
    arms = tuple(
        SceneArm(world=world, robot_name=name, prefix=prefix, spec=arm, suction=bind_suction(world, prefix, arm))
        for arm in description.arms
    )
    return SceneRobot(name=name, description=description, arms=arms, base=bind_base(world, name, description, fps=fps))


def set_joints(world: World, prefix: str, joints: Mapping[str, float]) -> None:
    """Put the joints of a robot or object at their start positions and hold the driven ones there."""
    driven = set(world.model.actuator_trnid[:, 0].tolist())
    for name, value in joints.items():
        joint = f"{prefix}/{name}"
        if joint not in world.joints:
            raise ConfigError(f"{prefix}: the instance sets joint {name!r}, which the model does not have")
        world.data.qpos[world.qpos_index(joint)] = value
        if world.joint_index(joint) in driven:
            world.data.ctrl[ctrl_of_joint(world, joint)] = value


def model_xml(instance: TaskInstance) -> str:
    """Return the scene of an instance as MJCF that needs no other file.

    It is the model of the recording as far as MJCF can express it: numbers have six digits, meshes are given by their
    vertices, and textures are replaced by their mean colour, since there is no room for pixels.
    """
    spec = instance_spec(instance).spec
    model = spec.compile()
    for texture in spec.textures:
        _flatten(texture, model)
    for mesh in spec.meshes:
        if mesh.file:
            _embed(mesh, model)
    spec.compile()
    return spec.to_xml()


def _flatten(texture: mujoco.MjsTexture, model: mujoco.MjModel) -> None:
    """Replace the pixels of a texture by their mean colour."""
    compiled = model.tex(texture.name)
    start, channels = int(compiled.adr[0]), int(compiled.nchannel[0])
    count = int(compiled.width[0]) * int(compiled.height[0])
    pixels = model.tex_data[start : start + count * channels].reshape(count, channels)[:, :3]
    texture.data, texture.file, texture.cubefiles = b"", "", []
    texture.builtin = mujoco.mjtBuiltin.mjBUILTIN_FLAT
    texture.rgb1 = texture.rgb2 = pixels.mean(axis=0) / 255.0
    texture.width = texture.height = 1


def _embed(mesh: mujoco.MjsMesh, model: mujoco.MjModel) -> None:
    """Replace the file of a mesh by its vertices and faces."""
    compiled = model.mesh(mesh.name)
    vertices, faces = (
        slice(int(first[0]), int(first[0] + number[0]))
        for first, number in ((compiled.vertadr, compiled.vertnum), (compiled.faceadr, compiled.facenum))
    )
    # The compiler moved the vertices into the frame of the mesh's inertia; geoms refer to the frame of the file.
    T_file_inertia = make_pose(matrix_from_quat(model.mesh_quat[compiled.id]), model.mesh_pos[compiled.id])
    mesh.file, mesh.scale = "", [1.0, 1.0, 1.0]
    mesh.uservert = transform_points(T_file_inertia, model.mesh_vert[vertices].astype(float)).ravel()
    mesh.userface = np.asarray(model.mesh_face[faces]).ravel()
