"""A task as a Gymnasium environment: the loop of ``generate``, with external actions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from handloom.config.own_code import allow_folders
from handloom.dataset import read_archive, record_of_archive
from handloom.engine.trust import demand_trusted
from handloom.episode.actions import Actions
from handloom.episode.loop import apply_targets
from handloom.episode.observer import Observer
from handloom.episode.policy_source import interpolated
from handloom.errors import InputError, StateError
from handloom.judging import Judge
from handloom.judging.closeness import potential, steps_closeness
from handloom.judging.joint_terms import other_joints_kept
from handloom.scene import Scene, build_scene
from handloom.seeding import TEST_SEEDS, generator
from handloom.skills.deeds import make_judge
from handloom.tasks import SamplingError, Task, load_task, sample_task, worded_skills
from handloom.values import Check, TaskInstance

Observation = dict[str, NDArray[Any]]
GOAL_STEPS, GOAL_TERMS = "observation.goal.steps", "observation.goal.terms"
"""Names of the observations of the goal's state."""
UNSAMPLED = 20
"""Consecutive infeasible scenes before an error is raised."""


class TaskEnvironment(gymnasium.Env[Observation, NDArray[Any]]):
    """One task; every episode is a different scene.

    Observations have the names, shapes and units of the dataset's columns and images. The reward is 1 in the step
    that ends with success, else 0; optionally, a shaping term is added. ``info`` has
    ``is_success``, ``progress`` (fraction of the task's skills whose success terms have been met), ``instruction``,
    ``seed`` and ``episode``.

    ``reset(seed=k)`` starts with scene 0 of run seed ``k``; without a seed, the next scene follows.
    ``reset(options={"episode": 7})`` takes scene 7, ``reset(options={"episode": "dataset/extras/episode_000007"})`` the
    scene of an archive.

    Args:
        task: A task of the library, a YAML file, or a loaded task.
        actions: ``joint`` (the dataset's ``action``), ``tool_pose``, ``tool_delta`` or ``controls``.
        split: ``train`` takes the run seeds that ``generate`` uses, ``test`` those reserved for testing.
        cameras: Names of the cameras to render; None renders all of them, an empty tuple none.
        size: Width and height of the images [px]; None keeps each camera's own.
        preset: Image quality: ``fast``, ``balanced`` or ``quality``.
        backend: Renderer: ``cpu``, or ``cuda`` for an NVIDIA GPU.
        objects: Whether the true poses of objects and of their moving parts are also observed.
        goal: Whether the state of the goal is also observed: ``observation.goal.steps``, the closeness of each step of
            the task to completion, 0 to 1, and ``observation.goal.terms``, 1 for each term of the goal that holds. A
            scene whose goal has other terms than that of the first scene, as with a mug in place of a lemon, raises an
            error.
        frames_per_step: Number of dataset frames per step; targets are interpolated evenly up to those of the action.
        reward: ``success``, or ``progress``, which adds the increase of a potential: the completed steps of the task,
            and the proximity of hands and objects to the next ones. It affects how fast a policy learns, not which
            policy is best.
        discount: Discount of the learner, which weights the potential of the next state.
        render_mode: ``rgb_array`` for ``render()``, which renders the first camera.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        task: str | Task,
        *,
        actions: str = "joint",
        split: Literal["train", "test"] = "train",
        cameras: Sequence[str] | None = None,
        size: tuple[int, int] | None = None,
        preset: str = "balanced",
        backend: str = "cpu",
        objects: bool = False,
        goal: bool = False,
        frames_per_step: int = 1,
        reward: Literal["success", "progress"] = "success",
        discount: float = 0.99,
        render_mode: str | None = None,
    ) -> None:
        if split not in ("train", "test"):
            raise InputError(f"split is train or test, got {split!r}")
        if frames_per_step < 1:
            raise InputError(f"a step takes at least one frame, got {frames_per_step}")
        if reward not in ("success", "progress"):
            raise InputError(f"reward is success or progress, got {reward!r}")
        self.task = task if isinstance(task, Task) else load_task(task)
        self.render_mode = render_mode
        self._kind = actions
        self._frames_per_step = frames_per_step
        self._shaped, self._discount, self._potential = reward == "progress", discount, 0.0
        self._seen = {"cameras": cameras, "size": size, "preset": preset, "backend": backend, "objects": objects}
        self._goal = goal
        self._first_seed = TEST_SEEDS if split == "test" else 0
        self._run_seed, self._episode = self._first_seed, -1
        self._scene: Scene | None = None
        self._frame = 0
        self._over = False
        self._begin(self._next_instance())
        self._episode = -1  # Scene 0 was only built to determine the shapes of the spaces.
        self._goal_names = _names_of(self._judge)
        self.observation_space: spaces.Space[Any] = _observation_space(self._observer, self._goal_state())
        low, high = self._actions.bounds()
        self.action_space = spaces.Box(low, high, dtype=np.float64)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode; the class describes ``seed`` and ``options``."""
        super().reset(seed=seed)
        if seed is not None:
            self._run_seed, self._episode = self._first_seed + seed, -1
        wanted = (options or {}).get("episode")
        unknown = set(options or {}) - {"episode"}
        if unknown:
            raise InputError(f"reset only takes the option 'episode', got {sorted(unknown)}")
        if wanted is None:
            self._begin(self._next_instance())
        elif isinstance(wanted, int | np.integer):
            self._episode = int(wanted)
            self._begin(sample_task(self.task, self._run_seed, self._episode))
        else:
            self._begin(_archived(wanted, self.task))
        return self._observe(), self._facts()

    def step(self, action: NDArray[Any]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Execute an action; return observation, reward, terminated, truncated, info."""
        if self._over:
            raise StateError("this episode is over; call reset first")
        scene = self.scene
        targets = self._actions.targets(action)
        unstable = ""
        for waypoint in interpolated(scene, targets, self._frames_per_step):
            apply_targets(scene, waypoint)
            try:
                scene.world.step(scene.instance.substeps)
            except StateError as error:
                unstable = str(error)
                break
            self._frame += 1
            self._judge.look(self._frame)
        success = self._judge.achieved
        truncated = not success and (bool(unstable) or self._frame >= scene.instance.max_frames)
        self._over = success or truncated
        info = self._facts() | ({"unstable": unstable} if unstable else {})
        return self._observe(), float(success) + self._progress(success), success, truncated, info

    def _progress(self, success: bool) -> float:
        """Return the shaping term of this step's reward: the increase of the potential; 0 if only success counts."""
        if not self._shaped:
            return 0.0
        # Zero at the end of a successful episode, so that the best policy stays the best.
        before, self._potential = self._potential, 0.0 if success else potential(self.scene, self._judge) - 1.0
        return self._discount * self._potential - before

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override] - Gymnasium's is wider
        """Return the image of the first camera (h, w, 3)."""
        if self.render_mode != "rgb_array":
            return None
        names = [camera.name for camera in self.scene.instance.cameras][:1]
        how = {key: self._seen[key] for key in ("preset", "backend")}
        seen = Observer(self.scene, cameras=names, **how).observe()
        return seen[f"observation.images.{names[0]}"] if names else None

    @property
    def scene(self) -> Scene:
        """The scene of the current episode."""
        if self._scene is None:
            raise StateError("there is no episode yet; call reset first")
        return self._scene

    def _begin(self, instance: TaskInstance) -> None:
        self._scene = scene = build_scene(instance)
        self._frame, self._over = 0, False
        self._actions = Actions(scene, self._kind)
        self._observer = Observer(scene, **self._seen)
        rng = generator(instance.seed, instance.episode, "skills", task=self.task.name)
        self._judge = make_judge(scene, worded_skills(self.task, instance), rng)
        self._judge.look(0)
        self._potential = potential(scene, self._judge) - 1.0 if self._shaped else 0.0

    def _next_instance(self) -> TaskInstance:
        """Return the next feasible scene."""
        for tries_left in reversed(range(UNSAMPLED)):
            self._episode += 1
            try:
                return sample_task(self.task, self._run_seed, self._episode)
            except SamplingError:
                if not tries_left:
                    raise
        raise AssertionError("the last try raises")

    def _observe(self) -> Observation:
        return self._observer.observe() | self._goal_state()

    def _goal_state(self) -> Observation:
        """Return the state of the goal if it is observed."""
        if not self._goal:
            return {}
        names = _names_of(self._judge)
        if tuple(map(len, names)) != tuple(map(len, self._goal_names)):
            raise InputError(
                f"goal=True observes one number per step and term, and scene {self.scene.instance.episode} of "
                f"{self.task.name} has others than the first: {_differing(names, self._goal_names)}; ask the same "
                "of every scene, such as upright: false, or leave goal=True out"
            )
        terms = [float(held) for _, held in _observed_terms(self._judge)]
        steps = steps_closeness(self.scene, self._judge)
        return {GOAL_STEPS: steps.astype(np.float32), GOAL_TERMS: np.array(terms, np.float32)}

    def _facts(self) -> dict[str, Any]:
        instance = self.scene.instance
        return {
            "is_success": self._judge.achieved,
            "progress": self._judge.progress,
            "instruction": instance.instruction,
            "seed": instance.seed,
            "episode": instance.episode,
        }


def _is_for_this_scene(judge: Judge, term: Check) -> bool:
    """Return whether a term is only asked since the goal holds at the start: then a step must have been done meanwhile.

    The closeness of that step is observed anyway.
    """
    return bool(term.seconds) and any(replace(term, seconds=0.0) in step.terms for step, _ in judge.steps_done)


def _names_of(judge: Judge) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the steps and of the observed terms of a goal."""
    steps = tuple(step.skill for step, _ in judge.steps_done)
    return steps, tuple(name for name, _ in _observed_terms(judge))


def _observed_terms(judge: Judge) -> list[tuple[str, bool]]:
    """Return the names of the observed terms of a goal, and whether each holds.

    Some cabinets have other joints than the one that is opened, some do not: these terms are observed as one, the last.
    """
    kept, joints = other_joints_kept.__name__, any("joint" in term.arguments for term in judge.goal)
    terms = [(term.name, held) for term, held in judge.terms if not _is_for_this_scene(judge, term)]
    all_kept = all(held for name, held in terms if name == kept)
    return [*((name, held) for name, held in terms if name != kept), *([(kept, all_kept)] if joints else [])]


def _differing(now: tuple[tuple[str, ...], ...], first: tuple[tuple[str, ...], ...]) -> str:
    """Return which names two tuples of names do not share, in words."""
    here, there = (Counter(name for part in names for name in part) for names in (now, first))
    more, less = ", ".join((here - there).elements()), ", ".join((there - here).elements())
    return "; ".join(text for text in (more and f"{more} only here", less and f"{less} only there") if text)


def _archived(folder: str | Path, task: Task) -> TaskInstance:
    """Return the scene of an archived episode of a task."""
    instance = record_of_archive(read_archive(Path(folder))).instance
    if instance.task != task.name:
        raise InputError(f"{folder} is an episode of {instance.task}, this environment is {task.name}")
    with allow_folders(task.asset_folders):
        demand_trusted(instance, Path(folder))
    return instance


def _observation_space(observer: Observer, goal: Observation) -> spaces.Dict:
    """Return the space of an observer's observations and of the state of the goal."""
    parts: dict[str, spaces.Space[Any]] = {}
    for feature in observer.features:
        picture = feature.is_video
        low, high, dtype = (0, 255, np.uint8) if picture else (-np.inf, np.inf, np.float32)
        parts[feature.name] = spaces.Box(low, high, feature.shape, dtype)
    parts |= {name: spaces.Box(0.0, 1.0, values.shape, np.float32) for name, values in goal.items()}
    return spaces.Dict(parts)
