"""One scene from a task: every random choice of an episode, made here and nowhere else."""

import math
from functools import partial

from handloom.seeding import generator
from handloom.spatial import pose_from_pos_quat
from handloom.tasks.config.task import Task
from handloom.tasks.sampling.cameras import camera_bodies, sample_cameras
from handloom.tasks.sampling.distractors import sample_distractors
from handloom.tasks.sampling.fluid import sample_fluid
from handloom.tasks.sampling.held_objects import hold_objects
from handloom.tasks.sampling.layout import sample_layout
from handloom.tasks.sampling.lights import sample_lights, sample_surroundings
from handloom.tasks.sampling.objects import only_seen, sample_markers, sample_props
from handloom.tasks.sampling.robots import sample_robots
from handloom.tasks.sampling.variant import randomized
from handloom.tasks.sampling.wording import sample_instruction, told_apart, with_words
from handloom.values import ObjectInstance, RobotInstance, TaskInstance

MAX_STEP = 0.002
"""Longest physics step [s]; a frame is divided into equal steps no longer than this."""


def sample_task(task: Task, seed: int, episode: int) -> TaskInstance:
    """Sample the scene of one episode: a pure function of its three arguments.

    Args:
        task: What to sample from.
        seed: Seed of the run.
        episode: Attempt index within the run.

    Raises:
        SamplingError: The regions cannot be met; names the object, how often it was tried and what to widen.
    """
    rng = partial(generator, seed, episode, task=task.name)
    if task.config.data.variant != "clean":
        task = randomized(task, rng("variant"), extreme=task.config.data.variant == "extreme")
    config = task.config
    props = only_seen(task, sample_props(task, rng("objects")))
    robots = sample_robots(task, rng("robots"))
    held = {entry.name for entry in config.objects if entry.init_parent is not None}
    lying = [obj for obj in props if obj.name not in held]
    clutter = sample_distractors(task, props, rng("distractors"))
    objects, robots = sample_layout(task, lying, robots, clutter, rng("regions"))
    objects, robots = hold_objects(task, [obj for obj in props if obj.name in held], objects, robots)
    objects = _told_apart(task, objects, robots)
    objects = (*objects, *sample_markers(task))
    cameras = sample_cameras(task, rng("cameras"), objects, robots)
    return TaskInstance(
        task=task.name,
        seed=seed,
        episode=episode,
        instruction=sample_instruction(task, objects, rng("words")),
        robots=robots,
        objects=(*objects, *camera_bodies(task, cameras)),
        cameras=cameras,
        lights=sample_lights(config.env_map, rng("lights")),
        fps=config.data.fps,
        substeps=substeps(config.data.fps),
        max_frames=config.data.max_episode_length,
        goal=tuple(term.model_dump(mode="json", by_alias=True, exclude_unset=True) for term in config.goal),
        neglect_collisions=config.neglect_collision_names,
        detailed_instruction=with_words(config.data.detailed_language_instruction, objects),
        fluid=sample_fluid(task, objects),
        surroundings=sample_surroundings(config.env_map, rng("surroundings")),
    )


def _told_apart(
    task: Task, objects: tuple[ObjectInstance, ...], robots: tuple[RobotInstance, ...]
) -> tuple[ObjectInstance, ...]:
    """Return the objects with words that fit one of the task's objects only, as its first robot sees them."""
    if not robots:
        return objects
    entries = {entry.name for entry in task.config.objects}
    named = told_apart(
        [o for o in objects if o.name in entries], pose_from_pos_quat(robots[0].position, robots[0].quat)
    )
    renamed = {obj.name: obj for obj in named}
    return tuple(renamed.get(obj.name, obj) for obj in objects)


def substeps(fps: int) -> int:
    """Return how many equal physics steps, none longer than 2 ms, make one frame."""
    # The subtraction keeps 1/500 s, which is exactly the longest step, from being rounded up to two.
    return max(1, math.ceil(1.0 / fps / MAX_STEP - 1e-9))
