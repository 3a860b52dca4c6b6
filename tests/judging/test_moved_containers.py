"""A container that is thrown with what was put into it is no success; one that is meant to move is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.judging.conftest import Make, put
from tests.oracle.answers.containers import dragged
from tests.oracle.answers.deed import Deed

from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.verification.resampled import goal_differs
from handloom.episode import replay, run_episode
from handloom.episode.loop import apply_targets
from handloom.judging import Judge, holds
from handloom.judging.moved_containers import container_stays, container_terms
from handloom.judging.relations import relation_terms
from handloom.scene import Scene, build_scene
from handloom.scene.measures import world_box
from handloom.skills.deeds import make_judge
from handloom.spatial import quat_from_matrix
from handloom.tasks import Task, load_task, sample_task, worded_skills
from handloom.values import Check

AWAY = np.array([0.17, 0.0, 0.0])
FILL = """
base: setups/fr3.yaml
objects:
  - {name: cube, category: cube, parameters: {edge: 0.05}}
  - {name: bowl, category: bowl}
regions:
  - {object: cube, target: table, random_config: {pos_range: [[-0.15, 0.1, 0], [-0.15, 0.1, 0]]}}
  - {object: bowl, target: table, random_config: {pos_range: [[0.15, 0.1, 0], [0.15, 0.1, 0]]}}
skills: [{pick: cube}, {place: cube, in: bowl}]
"""


def inside(name: str, target: str) -> Check:
    return Check(name="in_cavity", arguments={"object": name, "target": target, "part": None})


def shift(scene: Scene, by: np.ndarray, *names: str) -> None:
    for name in names:
        T = scene.object_pose(name)
        put(scene, name, T[:3, 3] + by, quat_from_matrix(T[:3, :3]))


def fill(scene: Scene, name: str, target: str) -> None:
    put(scene, name, world_box(scene, target).mean(axis=0) + np.array([0.0, 0.0, 0.03]), settle=1.0)


@pytest.fixture
def fill_task(tmp_path: Path) -> Task:
    (file := tmp_path / "fill.yaml").write_text(FILL)
    return load_task(file)


def test_a_container_that_moves_by_more_than_5_cm_after_something_was_put_in_fails(table: Make):
    scene = table(cube="category: cube, parameters: {edge: 0.03}", bowl="category: bowl")
    goal = (inside("cube", "bowl"),)
    judge = Judge(scene, (*goal, *container_terms(scene, goal, {"cube"})))
    judge.look(0)
    shift(scene, AWAY, "bowl")
    judge.look(1)
    fill(scene, "cube", "bowl")
    judge.look(2)
    assert judge.missing() is None, "it was moved before"
    shift(scene, AWAY / 5.0, "bowl", "cube")
    judge.look(3)
    assert judge.missing() is None, "by 3 cm"
    shift(scene, AWAY * 4.0 / 5.0, "bowl", "cube")
    judge.look(4)
    failure = judge.missing()
    assert failure is not None
    assert failure.reason == "not_container_stays"
    said = "bowl stays where cube was put into it (it has moved 17.0 cm since, 5.0 cm allowed)"
    assert failure.detail.endswith(said)
    assert holds(scene, inside("cube", "bowl"))


def test_what_is_lying_in_a_hand_is_not_put_in_yet_and_what_was_taken_out_is_put_in_anew(table: Make, monkeypatch):
    scene = table(cube="category: cube, parameters: {edge: 0.03}", bowl="category: bowl")
    hand = {"holds": True}
    monkeypatch.setattr("handloom.judging.moved_containers.in_hand", lambda scene, object: hand["holds"])
    goal = (inside("cube", "bowl"),)
    judge = Judge(scene, (*goal, *container_terms(scene, goal)))
    fill(scene, "cube", "bowl")
    judge.look(0)
    shift(scene, AWAY, "bowl", "cube")
    hand["holds"] = False
    judge.look(1)
    assert judge.missing() is None, "the hand that put it in moved the bowl"
    shift(scene, -AWAY, "bowl", "cube")
    judge.look(2)
    assert judge.missing() is not None
    hand["holds"] = True
    shift(scene, np.array([0.0, 0.0, 0.1]) + 2.0 * AWAY, "cube")
    judge.look(3)
    hand["holds"] = False
    fill(scene, "cube", "bowl")
    judge.look(4)
    assert judge.missing() is None, "a hand took it out"


def test_a_container_that_a_skill_or_the_goal_moves_may_move(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl", tray="category: tray")
    goal = (inside("cube", "bowl"),)
    assert len(container_terms(scene, goal)) == 1
    assert container_terms(scene, goal, {"cube", "bowl"}) == ()
    assert container_terms(scene, (*goal, *relation_terms(scene, "bowl", "on", "tray"))) == ()
    (kept,) = container_terms(scene, (*goal, Check(name="points_up", arguments={"object": "bowl"})), {"tray"})
    assert kept.arguments["along"] == ["tray"]


def test_a_container_that_rides_on_what_a_skill_moves_may_move(table: Make):
    scene = table(cube="category: cube", bowl="category: bowl", tray="category: tray")
    before = {name: scene.object_pose(name).copy() for name in ("bowl", "tray")}
    about = {"object": "cube", "target": "bowl", "distance": 0.05, "before": before}
    shift(scene, AWAY, "bowl", "tray")
    assert container_stays(scene, **about, along=["tray"])
    assert not container_stays(scene, **about)
    shift(scene, AWAY, "bowl")
    assert not container_stays(scene, **about, along=["tray"]), "it was thrown off the tray"


@pytest.mark.parametrize(("when", "done"), [("before", True), ("after", False), ("asked", True)])
def test_the_oracle_sees_a_bowl_that_was_moved_when_it_was_full(table: Make, when: str, done: bool):
    scene, states = table(cube="category: cube, parameters: {edge: 0.03}", bowl="category: bowl"), []

    def note() -> None:
        states.extend([scene.world.save_state()] * 20)

    note()
    if when == "before":
        shift(scene, AWAY, "bowl")
        note()
    fill(scene, "cube", "bowl")
    note()
    if when != "before":
        shift(scene, AWAY, "bowl", "cube")
    note()
    deeds = [Deed(kind="in", obj="cube", target="bowl")]
    deeds += [Deed(kind="beside", obj="bowl", target="plate")] if when == "asked" else []
    assert dragged(scene.world.model, states, deeds).done is done


class Throw:
    """Replays commands, and pushes the bowl away at the end of them."""

    failure, timeline, recording = None, (), True

    def __init__(self, scene: Scene, commands: np.ndarray, push: bool) -> None:
        self._scene, self._commands, self._push = scene, commands, push

    def next(self, frame: int) -> np.ndarray | None:
        pushed(self._scene, frame - len(self._commands), self._push)
        return self._commands[min(frame, len(self._commands) - 1)] if frame < len(self._commands) + 40 else None


def pushed(scene: Scene, since: int, push: bool) -> None:
    """Move the bowl with what is in it to another place of the table, at the moment 0."""
    if push and since == 0:
        shift(scene, AWAY, "bowl", "cube")


def test_the_gym_and_an_episode_give_one_verdict_on_a_bowl_that_is_dragged_away_when_it_is_full(fill_task: Task):
    gym = pytest.importorskip("handloom.gym")
    _, shown = simulate(fill_task, 0, 0, Stopwatch())
    assert shown.failure is None
    names = [term.name for term in shown.goal]
    assert names == ["in_cavity", "let_go", "lying_still", "container_stays", "lasting_after"]
    environment = gym.TaskEnvironment(fill_task, actions="controls", cameras=())
    commands = shown.applied[: shown.timeline[-1].end, : environment.action_space.shape[0]]
    reasons = []
    for push in (False, True):
        scene = build_scene(sample_task(fill_task, 0, 0))
        judge = make_judge(scene, worded_skills(fill_task, scene.instance), None)
        start = float(scene.object_pose("bowl")[0, 3])
        record = run_episode(scene, Throw(scene, commands, push), goal=judge.goal)
        assert (abs(float(scene.object_pose("bowl")[0, 3]) - start) > 0.06) == push
        reasons.append("" if record.failure is None else record.failure.reason)
        environment.reset(options={"episode": 0})
        success = False
        for frame in range(len(commands) + 80):
            pushed(environment.scene, frame - len(commands), push)
            _, _, success, over, _ = environment.step(commands[min(frame, len(commands) - 1)])
            if success or over:
                break
        assert success == record.success
    assert reasons == ["", "not_container_stays"]


def test_a_recording_from_before_the_term_replays_and_is_judged_by_its_states(fill_task: Task, tmp_path: Path):
    scene, record = simulate(fill_task, 0, 0, Stopwatch())
    assert record.failure is None
    run = RunSettings.of_task(fill_task, seed=0)
    assert goal_differs(run, tmp_path, scene, record) == ""
    earlier = replace(record, goal=tuple(term for term in record.goal if term.name != "container_stays"))
    assert replay(earlier).exact
    assert goal_differs(run, tmp_path, scene, earlier) == "", "the bowl stayed"
    states = list(record.states)
    for _ in range(4):
        scene.world.restore_state(states[-1])
        shift(scene, AWAY / 4.0, "bowl", "cube")
        states.append(scene.world.save_state())
    forged = replace(earlier, states=np.array(states))
    assert "does not require this, and it does not hold: bowl stays" in goal_differs(run, tmp_path, scene, forged)


def test_what_is_put_in_is_remembered_by_the_physics_too(table: Make):
    scene = table(cube="category: cube, parameters: {edge: 0.03}", bowl="category: bowl")
    goal = (inside("cube", "bowl"),)
    judge = Judge(scene, (*goal, *container_terms(scene, goal)), hold=0.1)
    fill(scene, "cube", "bowl")
    for frame in range(3):
        apply_targets(scene, np.full(scene.world.model.nu, np.nan))
        scene.world.step(scene.instance.substeps)
        judge.look(frame)
    assert judge.achieved
