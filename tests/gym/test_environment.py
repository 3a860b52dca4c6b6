"""A task as a Gymnasium environment."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import handloom.gym  # noqa: E402
from handloom.engine.attempt import Stopwatch, simulate  # noqa: E402
from handloom.episode.columns import episode_columns  # noqa: E402
from handloom.errors import InputError, StateError  # noqa: E402
from handloom.gym import TaskEnvironment  # noqa: E402
from handloom.scene import build_scene  # noqa: E402
from handloom.seeding import TEST_SEEDS  # noqa: E402
from handloom.skills.deeds import make_judge  # noqa: E402
from handloom.tasks import Task, library, load_task, sample_task, worded_skills  # noqa: E402
from handloom.values import EpisodeRecord  # noqa: E402

TASK = "fr3_pick_place"


@pytest.fixture(scope="module")
def record() -> EpisodeRecord:
    """An expert's episode."""
    return simulate(load_task(TASK), 3, 1, Stopwatch())[1]


@pytest.fixture(scope="module")
def environment() -> Iterator[TaskEnvironment]:
    environment = TaskEnvironment(TASK, cameras=(), objects=True)
    yield environment
    environment.close()


def test_every_library_task_is_registered() -> None:
    assert set(handloom.gym.environment_ids()) <= set(gymnasium.registry)
    assert handloom.gym.environment_ids() == tuple(f"handloom/{task}-v0" for task in library())


def test_registering_the_tasks_loads_nothing_heavy() -> None:
    code = (
        "import sys, gymnasium, handloom.gym; gymnasium.spec('handloom/fr3_pick_place-v0'); "
        "assert 'mujoco' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_gymnasium_makes_a_task_by_its_id_and_finds_nothing_to_warn_of() -> None:
    environment = gymnasium.make("handloom.gym:handloom/fr3_pick_place-v0", cameras=())
    seen, _ = environment.reset(seed=0)
    environment.step(np.r_[seen["observation.state"][:-1], 1.0])
    environment.close()


def test_an_expert_episode_through_step_gives_the_recorded_states_and_columns(record: EpisodeRecord) -> None:
    environment = TaskEnvironment(TASK, cameras=(), actions="joint")
    columns = episode_columns(build_scene(record.instance), record).values
    seen, _ = environment.reset(seed=3, options={"episode": 1})
    last: dict[str, object] = {}
    for frame in range(record.frames):
        assert environment.scene.world.save_state().tobytes() == record.states[frame].tobytes(), frame
        shown = min(frame, len(record.kept) - 1)  # The end of the rest is no part of the demonstration.
        for name, value in seen.items() if shown == frame else ():
            assert np.array_equal(value, columns[name][frame].astype(np.float32)), (name, frame)
        seen, reward, terminated, truncated, last = environment.step(columns["action"][shown])
        assert not truncated
        if terminated:
            assert reward == 1.0
            break
    assert last["is_success"]
    assert last["progress"] == 1.0


def test_doing_nothing_is_no_success(environment: TaskEnvironment) -> None:
    environment.reset(seed=5)
    hold = np.r_[environment.scene.robot("franka").arms[0].joints, 1.0]
    for _ in range(20):
        _, reward, terminated, truncated, info = environment.step(hold)
        assert (reward, terminated, truncated, info["progress"]) == (0.0, False, False, 0.0)


def test_observations_are_inside_their_space(environment: TaskEnvironment) -> None:
    seen, info = environment.reset(seed=2)
    assert environment.observation_space.contains(seen)
    assert {"observation.state", "observation.ee_pose.base", "observation.objects.cube"} <= set(seen)
    assert info["instruction"]


def test_pictures_have_the_size_that_was_asked_for() -> None:
    environment = TaskEnvironment(TASK, cameras=("hand",), size=(64, 48))
    seen, _ = environment.reset(seed=0)
    assert seen["observation.images.hand"].shape == (48, 64, 3)
    assert environment.observation_space.contains(seen)
    assert len(np.unique(seen["observation.images.hand"])) > 10


def test_test_scenes_are_no_training_scenes() -> None:
    train, test = (TaskEnvironment(TASK, cameras=(), split=split) for split in ("train", "test"))
    _, trained = train.reset(seed=4)
    _, tested = test.reset(seed=4)
    assert trained["seed"] == 4
    assert tested["seed"] == TEST_SEEDS + 4
    assert train.scene.instance.objects != test.scene.instance.objects


def test_the_same_seed_gives_the_same_scenes_in_the_same_order(environment: TaskEnvironment) -> None:
    def scenes() -> list[str]:
        environment.reset(seed=6)
        first = environment.scene.instance.to_json()
        environment.reset()
        return [first, environment.scene.instance.to_json()]

    once = scenes()
    assert once == scenes()
    assert once[0] != once[1]


def test_tool_poses_lead_the_hand_there(environment: TaskEnvironment) -> None:
    environment = TaskEnvironment(TASK, cameras=(), actions="tool_pose", frames_per_step=3)
    seen, _ = environment.reset(seed=1)
    goal = seen["observation.ee_pose.base"].astype(float)
    goal[:3] += (0.03, -0.02, -0.04)
    for _ in range(15):
        seen, *_ = environment.step(np.r_[goal, 1.0])
    assert np.linalg.norm(seen["observation.ee_pose.base"][:3] - goal[:3]) < 0.005


def test_steps_of_the_tool_add_up() -> None:
    environment = TaskEnvironment(TASK, cameras=(), actions="tool_delta")
    seen, _ = environment.reset(seed=1)
    start = seen["observation.ee_pose.world"].astype(float)
    for _ in range(20):
        seen, *_ = environment.step(np.array([0.0, 0.0, 0.003, 0.0, 0.0, 0.0, 1.0]))
    for _ in range(15):
        seen, *_ = environment.step(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
    # The tool points down, so that its z leads down.
    moved = seen["observation.ee_pose.world"][:3] - start[:3]
    assert np.linalg.norm(moved - (0.0, 0.0, -0.06)) < 0.01


def test_a_step_after_the_end_says_what_to_do(record: EpisodeRecord) -> None:
    environment = TaskEnvironment(load_task(TASK, overrides=["data.max_episode_length=2"]), cameras=())
    environment.reset(seed=0)
    hold = np.r_[environment.scene.robot("franka").arms[0].joints, 1.0]
    environment.step(hold)
    assert environment.step(hold)[3]
    with pytest.raises(StateError, match="reset"):
        environment.step(hold)


def test_wrong_actions_and_options_are_refused(environment: TaskEnvironment) -> None:
    environment.reset(seed=0)
    with pytest.raises(InputError, match="8 values"):
        environment.step(np.zeros(7))
    with pytest.raises(InputError, match="not finite"):
        environment.step(np.full(8, np.nan))
    with pytest.raises(InputError, match="episode"):
        environment.reset(options={"scene": 3})


@pytest.mark.slow
def test_environments_run_side_by_side_in_processes(tmp_path: Path) -> None:
    several = gymnasium.make_vec(
        "handloom/fr3_pick_place-v0",
        num_envs=2,
        vectorization_mode="async",
        cameras=(),
        vector_kwargs={"context": "spawn"},
    )
    try:
        seen, info = several.reset(seed=[0, 1])
        assert seen["observation.state"].shape == (2, 8)
        assert not np.array_equal(seen["observation.ee_pose.base"][0], seen["observation.ee_pose.base"][1])
        assert list(info["seed"]) == [0, 1]
    finally:
        several.close()


def test_the_reward_of_progress_grows_along_a_demonstration(record: EpisodeRecord) -> None:
    environment = TaskEnvironment(TASK, actions="controls", cameras=(), reward="progress", discount=1.0)
    environment.reset(seed=3, options={"episode": 1})
    controls = environment.action_space.shape[0]
    rewards = []
    for applied in record.applied:
        _, reward, terminated, truncated, _ = environment.step(applied[:controls])
        rewards.append(reward)
        if terminated or truncated:
            break
    assert terminated
    # All that was missing at the start is gained on the way, and one for success.
    assert 1.3 < sum(rewards) < 2.0
    way = np.cumsum(rewards[:-1])
    assert way[-1] > way[len(way) // 3] > way[0] - 0.05


def test_a_reward_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="success or progress"):
        TaskEnvironment("fr3_pick_cube", reward="dense")  # type: ignore[arg-type]


def test_the_state_of_the_goal_is_observed_if_asked() -> None:
    environment = TaskEnvironment(TASK, cameras=(), goal=True)
    record = simulate(load_task(TASK), 3, 1, Stopwatch())[1]
    actions = episode_columns(build_scene(record.instance), record).values["action"]
    seen, _ = environment.reset(seed=3, options={"episode": 1})
    steps, terms = [seen["observation.goal.steps"]], [seen["observation.goal.terms"]]
    for frame in range(record.frames):
        seen, _, terminated, _, _ = environment.step(actions[min(frame, len(record.kept) - 1)])
        assert environment.observation_space.contains(seen)
        steps.append(seen["observation.goal.steps"])
        terms.append(seen["observation.goal.terms"])
        if terminated:
            break
    # Two steps: pick the cube, place it. The second has no closeness before the first was done.
    picked = next(i for i, values in enumerate(steps) if values[0] == 1.0)
    assert 0.0 < steps[0][0] < steps[picked - 1][0]
    assert all(values[1] == 0.0 for values in steps[:picked])
    assert np.array_equal(steps[-1], [1.0, 1.0])
    assert not terms[0].all()
    assert terms[-1].all()


VARYING = """
base: setups/fr3.yaml
objects:
  - {name: thing, category: lemon THING}
  - {name: plate, category: plate}
regions:
  - {object: thing, target: table, random_config: {pos_range: [[-0.3, 0.1, 0], [0.0, 0.1, 0]]}}
  - {object: plate, target: table, random_config: {pos_range: [[0.15, 0.1, 0], [0.15, 0.1, 0]]}}
skills: [{pick: thing}, PLACE]
"""


def goal_size(task: Task, episode: int) -> int:
    scene = build_scene(sample_task(task, 0, episode))
    return len(make_judge(scene, worded_skills(task, scene.instance), None).goal)


def varying(folder: Path, thing: str, place: str) -> TaskEnvironment:
    (file := folder / "varying.yaml").write_text(VARYING.replace("THING", thing).replace("PLACE", place))
    return TaskEnvironment(load_task(file), cameras=(), goal=True)


def test_the_observed_goal_has_one_size_also_in_a_scene_in_which_it_holds_at_the_start(tmp_path: Path) -> None:
    environment = varying(tmp_path, "", "{place: thing, beside: plate, side: left}")
    asked = set()
    for episode in range(8):
        seen, _ = environment.reset(options={"episode": episode})
        assert environment.observation_space.contains(seen)
        asked.add(len(environment._judge.goal))
    assert len(asked) == 2, "where it is beside it already, it must have been in a hand meanwhile"


def test_a_scene_whose_goal_has_other_terms_than_the_first_one_is_refused_in_words(tmp_path: Path) -> None:
    kinds = ", apply_randomization: true, randomization_scope: [mug, lemon]"
    environment = varying(tmp_path, kinds, "{place: thing, on: plate}")
    first = len(environment._judge.goal)
    sizes = {k: goal_size(environment.task, k) for k in range(12)}
    other = next(k for k, size in sizes.items() if size != first)
    with pytest.raises(
        InputError, match=r"scene \d+ of varying has others than the first: points_up only (here|there)"
    ):
        environment.reset(options={"episode": other})
    same = varying(tmp_path, kinds, "{place: thing, on: plate, upright: false}")
    for episode in range(4):
        same.reset(options={"episode": episode})


def test_a_cabinet_without_other_doors_is_observed_like_one_with_them(tmp_path: Path) -> None:
    text = """
base: setups/fr3.yaml
objects: [{name: chest, category: drawer_cabinet, fix_base: true, parameters: {drawers: DRAWERS}}]
regions: [{object: chest, target: table, random_config: {pos_range: [[0.05, 0.44, 0], [0.05, 0.44, 0]]}}]
skills: [{open: chest}]
"""
    seen = []
    for drawers in (1, 3):
        (file := tmp_path / f"chest_{drawers}.yaml").write_text(text.replace("DRAWERS", str(drawers)))
        environment = TaskEnvironment(load_task(file), cameras=(), goal=True)
        assert ("other_joints_kept" in [term.name for term in environment._judge.goal]) == (drawers > 1)
        seen.append(environment.reset(seed=0)[0]["observation.goal.terms"])
    assert seen[0].tolist() == seen[1].tolist() == [0.0, 1.0]
