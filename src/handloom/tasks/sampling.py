"""One scene from a task: every random choice of an episode, made here and nowhere else."""

import math

from handloom.seeding import generator
from handloom.tasks.distractors import sample_distractors
from handloom.tasks.fluid import sample_fluid
from handloom.tasks.held import hold_objects
from handloom.tasks.lights import sample_lights
from handloom.tasks.markers import sample_markers
from handloom.tasks.placing import sample_layout
from handloom.tasks.props import sample_props, shown_by_regions
from handloom.tasks.robots import sample_robots
from handloom.tasks.task import Task
from handloom.tasks.views import sample_cameras
from handloom.tasks.words import sample_instruction, with_words
from handloom.values import TaskInstance

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
    config = task.config
    props = shown_by_regions(task, sample_props(task, generator(seed, episode, "objects")))
    robots = sample_robots(task, generator(seed, episode, "robots"))
    held = {entry.name for entry in config.objects if entry.init_parent is not None}
    lying = [obj for obj in props if obj.name not in held]
    clutter = sample_distractors(task, props, generator(seed, episode, "distractors"))
    objects, robots = sample_layout(task, lying, robots, clutter, generator(seed, episode, "regions"))
    objects, robots = hold_objects(task, [obj for obj in props if obj.name in held], objects, robots)
    objects = (*objects, *sample_markers(task))
    return TaskInstance(
        task=task.name,
        seed=seed,
        episode=episode,
        instruction=sample_instruction(task, objects, generator(seed, episode, "words")),
        robots=robots,
        objects=objects,
        cameras=sample_cameras(task, generator(seed, episode, "cameras"), objects, robots),
        lights=sample_lights(config.env_map, generator(seed, episode, "lights")),
        fps=config.data.fps,
        substeps=substeps(config.data.fps),
        max_frames=config.data.max_episode_length,
        neglect_collisions=config.neglect_collision_names,
        detailed_instruction=with_words(task, config.data.detailed_language_instruction, objects),
        fluid=sample_fluid(task, objects),
    )


def substeps(fps: int) -> int:
    """Return how many equal physics steps, none longer than 2 ms, make one frame."""
    # The subtraction keeps 1/500 s, which is exactly the longest step, from being rounded up to two.
    return max(1, math.ceil(1.0 / fps / MAX_STEP - 1e-9))
