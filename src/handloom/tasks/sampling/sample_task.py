"""One scene from a task: every random choice of an episode, made here and nowhere else."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from handloom.errors import ConfigError
from handloom.scene.assets import asset_of, robot_description
from handloom.scene.build import add_object, add_robot, empty_spec, set_joints
from handloom.scene.object_config import ObjectConfig
from handloom.seeding import generator
from handloom.sim import World
from handloom.spatial import pose_from_pos_quat, quat_normalize
from handloom.tasks.config.loading import load_task
from handloom.tasks.config.stand_ins import episode_stand_ins
from handloom.tasks.config.task import Task
from handloom.tasks.reach.chosen_arms import choose_arms
from handloom.tasks.retelling.retold_scene import retold_instance
from handloom.tasks.rooms.room_lights import room_lights
from handloom.tasks.rooms.room_of_episode import calmed, in_room
from handloom.tasks.sampling.cameras import camera_bodies, sample_cameras
from handloom.tasks.sampling.distractors import sample_distractors
from handloom.tasks.sampling.fluid import sample_fluid
from handloom.tasks.sampling.layouts.layout import sample_layout
from handloom.tasks.sampling.layouts.settling_world import STEP
from handloom.tasks.sampling.lights import sample_lights, sample_surroundings
from handloom.tasks.sampling.objects import only_seen, sample_markers, sample_props
from handloom.tasks.sampling.robots import body_pose, sample_robots
from handloom.tasks.sampling.variant import randomized
from handloom.tasks.sampling.wording import sample_instruction, told_apart, with_words
from handloom.values import ObjectInstance, RobotInstance, TaskInstance

GRIP_SECONDS = 0.3
"""Time for a gripper to close on the object it holds at the start."""


def hold_objects(
    task: Task, held: Sequence[ObjectInstance], objects: tuple[ObjectInstance, ...], robots: tuple[RobotInstance, ...]
) -> tuple[tuple[ObjectInstance, ...], tuple[RobotInstance, ...]]:
    """Put every object with an ``init_parent`` at its place, and close the grippers that start closed on it.

    The object is fixed while the robot holds its start position; the gripper's joints then start where the object
    stopped them. As in the reference system the offset is in the world's axes.

    Args:
        task: The task.
        held: Objects with an ``init_parent``.
        objects: All others, at rest.
        robots: The robots.
    """
    if not held:
        return objects, robots
    entries = {entry.name: (i, entry) for i, entry in enumerate(task.config.objects)}
    placed = tuple(_at_parent(task, *entries[obj.name], obj, objects, robots) for obj in held)
    carriers = {(entries[obj.name][1].init_parent or "").strip("/").partition("/")[0] for obj in held}
    return (*objects, *placed), tuple(_gripping(r, placed) if r.name in carriers else r for r in robots)


def _at_parent(
    task: Task,
    index: int,
    entry: ObjectConfig,
    obj: ObjectInstance,
    objects: Sequence[ObjectInstance],
    robots: Sequence[RobotInstance],
) -> ObjectInstance:
    first, _, rest = (entry.init_parent or "").strip("/").partition("/")
    robot = next((r for r in robots if r.name == first), None)
    other = next((o for o in objects if o.name == first), None)
    if robot is not None:
        try:
            origin, _ = body_pose(robot, rest or robot_description(robot.robot, robot.overrides).arms[0].tool_body)
        except ConfigError as error:
            raise ConfigError(f"{task.where('objects', index, 'init_parent')}: {error}") from error
    elif other is not None:
        origin = np.array(other.position)
    else:
        known = ", ".join([*(r.name for r in robots), *(o.name for o in objects)])
        where = task.where("objects", index, "init_parent")
        raise ConfigError(f"{where}: {entry.init_parent!r} starts with no robot or object: {known}")
    x, y, z = (origin + np.array(entry.init_translation or (0.0, 0.0, 0.0))).tolist()
    w, i, j, k = quat_normalize(entry.init_orientation or obj.quat).tolist()
    return replace(obj, position=(x, y, z), quat=(w, i, j, k))


def _gripping(robot: RobotInstance, held: Sequence[ObjectInstance]) -> RobotInstance:
    """Return the robot with its gripper joints stopped by the objects."""
    description = robot_description(robot.robot, robot.overrides)
    spec = empty_spec(STEP, [description])
    for obj in held:
        add_object(spec, obj, asset_of(obj))
    add_robot(spec, robot, description)
    world = World.from_spec(spec)
    set_joints(world, robot.name, robot.joints)
    world.forward()
    grippers = [name for arm in description.arms for name in arm.gripper_joint_names if name in robot.joints]
    places = [(world.qpos_index(f"{o.name}/free"), world.dof_index(f"{o.name}/free"), o) for o in held if not o.fixed]
    for _ in range(round(GRIP_SECONDS / STEP)):
        world.step(1)
        for address, dof, obj in places:
            world.data.qpos[address : address + 7] = (*obj.position, *obj.quat)
            world.data.qvel[dof : dof + 6] = 0.0
    stopped = {name: float(world.data.qpos[world.qpos_index(f"{robot.name}/{name}")]) for name in grippers}
    return replace(robot, joints={**robot.joints, **stopped})


MAX_STEP = 0.002
"""Longest physics step [s]; a frame is divided into equal steps no longer than this."""


def sample_task(task: Task | str | Path, seed: int, episode: int, *, layout: int = 0) -> TaskInstance:
    """Sample the scene of one episode: a pure function of its arguments.

    Args:
        task: The task to sample from: loaded, one of the library, or a YAML file.
        seed: Seed of the run.
        episode: Attempt index within the run.
        layout: Index of the attempt's layout: all layouts have the same objects in different poses.

    Raises:
        SamplingError: The regions cannot be met; names the object, the number of attempts and the range to widen.
        FileError: The task reuses recorded scenes, and their file cannot be used.
    """
    task = task if isinstance(task, Task) else load_task(task)
    if task.config.retold is not None:
        return retold_instance(task, seed, episode)
    rng = partial(generator, seed, episode, task=task.name)
    if task.config.data.variant != "clean":
        task = randomized(task, rng("variant"), extreme=task.config.data.variant == "extreme")
    task, place = in_room(task, rng("room"))
    config = task.config
    props = only_seen(task, sample_props(task, rng("objects")))
    robots = sample_robots(task, rng("robots"))
    held = {entry.name for entry in config.objects if entry.init_parent is not None}
    lying = [obj for obj in calmed(props, place) if obj.name not in held]
    lying += place.clutter if place is not None else ()
    clutter = sample_distractors(task, props, rng("distractors"))
    places = rng(f"regions_{layout}" if layout else "regions")
    objects, robots = sample_layout(task, lying, robots, clutter, places, patient=layout == 0)
    objects, robots = hold_objects(task, [obj for obj in props if obj.name in held], objects, robots)
    objects = _told_apart(task, objects, robots)
    objects = (*objects, *sample_markers(task))
    cameras, fluid = sample_cameras(task, rng("cameras"), objects, robots), sample_fluid(task, objects)
    return TaskInstance(
        task=task.name,
        seed=seed,
        episode=episode,
        instruction=sample_instruction(task, objects, rng("words")),
        robots=robots,
        objects=(*objects, *camera_bodies(task, cameras)),
        cameras=cameras,
        lights=sample_lights(config.env_map, rng("lights"))
        if place is None
        else room_lights(place.room, config.env_map, rng("lights")),
        fps=config.data.fps,
        substeps=substeps(config.data.fps),
        max_frames=config.data.max_episode_length,
        goal=tuple(term.model_dump(mode="json", by_alias=True, exclude_unset=True) for term in config.goal),
        neglect_collisions=config.neglect_collision_names,
        detailed_instruction=with_words(config.data.detailed_language_instruction, objects),
        fluid=fluid,
        surroundings=sample_surroundings(config.env_map, rng("surroundings")),
        room={} if place is None else place.room.choices(),
        work_point=config.work_point or (0.0, 0.0),
        arms=choose_arms(task, objects, robots),
        layout=layout,
        stand_ins=episode_stand_ins(task, objects, fluid),
    )


def _told_apart(
    task: Task, objects: tuple[ObjectInstance, ...], robots: tuple[RobotInstance, ...]
) -> tuple[ObjectInstance, ...]:
    """Return the objects with words that each fit only one of the task's objects, as seen by its first robot."""
    if not robots:
        return objects
    entries = {entry.name for entry in task.config.objects}
    named = told_apart(
        [o for o in objects if o.name in entries], pose_from_pos_quat(robots[0].position, robots[0].quat)
    )
    renamed = {obj.name: obj for obj in named}
    return tuple(renamed.get(obj.name, obj) for obj in objects)


def substeps(fps: int) -> int:
    """Return the number of equal physics steps, at most 2 ms each, per frame."""
    # The subtraction keeps 1/500 s, which is exactly the longest step, from being rounded up to two.
    return max(1, math.ceil(1.0 / fps / MAX_STEP - 1e-9))
