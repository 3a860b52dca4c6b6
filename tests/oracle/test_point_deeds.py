"""The judge against the oracle: sides, spots and headings, and deeds that take time; with wrongs planted on purpose."""

import ast
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.film import Film
from tests.oracle.planted import make_bench, plant_wrongs
from tests.oracle.point_grammar import write_point_task
from tests.oracle.run_oracle import attempt, load_written

from handloom.engine.attempt import Stopwatch, simulate
from handloom.judging.judge import Judge
from handloom.scene import Scene
from handloom.tasks import load_task
from handloom.values import EpisodeRecord


@pytest.mark.parametrize("module", ["answers/sides.py", "film.py"])
def test_the_oracle_shares_nothing_with_the_judge(module):
    tree = ast.parse((Path(__file__).parent / module).read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [name for name in names if name.startswith("handloom")] == []


@pytest.mark.parametrize("kind", ["left_of", "behind", "at", "facing"])
def test_planted_wrongs_are_judged_wrong(kind, tmp_path):
    bench, why = None, ""
    for index in range(4):
        bench, why = make_bench(write_point_task(index, 0, kind=kind), tmp_path, 0)
        if bench is not None:
            break
    assert bench is not None, why
    wrongs = [*plant_wrongs(bench, 8)]
    assert len(wrongs) >= 5
    assert [wrong for wrong in wrongs if wrong.judge] == []


@pytest.mark.slow
def test_the_judge_agrees_with_the_oracle_on_sides_spots_and_headings(tmp_path):
    tried = []
    for index in range(16):
        written = write_point_task(index, 5)
        tried.append(attempt(load_written(written, tmp_path), written.deeds, 5, 0)[0])
    assert [one for one in tried if one.false_success] == []
    assert sum(one.false_failure for one in tried) <= 1
    assert sum(one.success for one in tried) >= 13


TASKS = {
    "press": ("fr3", "[{name: a, category: desk_bell}]", "{press: a}"),
    "strike": (
        "fr3",
        "[{name: a, category: mallet}, {name: b, category: cube}]",
        "{pick: a}, {strike: b, with: a.head}",
    ),
    "shake": ("fr3", "[{name: a, category: pill_bottle}]", "{pick: a}, {shake: a, times: 2}"),
    "push": ("fr3", "[{name: a, category: snack_box}]", "{push: a, by: [0.08, 0.03]}"),
    "handover": ("lift2", "[{name: a, category: microphone}]", "{handover: a}"),
    "lift": ("lift2", "[{name: a, category: soup_pot}]", "{lift: a, with: both, by: 0.08}"),
}
PLACES = {"a": "[[0.08, -0.02], [0.14, 0.02]]", "b": "[[-0.14, -0.02], [-0.1, 0.02]]"}
MIDDLE = "[[-0.01, -0.01], [0.01, 0.01]], yaw: [-5, 5]"


def filmed(folder: Path, deed: str) -> tuple[Scene, EpisodeRecord, Film]:
    robot, objects, skills = TASKS[deed]
    names = ["a", "b"][: objects.count("name:")]
    spots = ", ".join(f"{{object: {n}, at: {MIDDLE if deed == 'lift' else PLACES[n]}}}" for n in names)
    text = f"robot: {robot}\ncameras: []\nobjects: {objects}\nregions: [{spots}]\nskills: [{skills}]\n"
    (file := folder / "task.yaml").write_text(text)
    scene, record = simulate(load_task(file), 4, 0, Stopwatch())
    assert record.success, record.failure
    return scene, record, film_of(scene, record.states)


def film_of(scene: Scene, states) -> Film:
    hands = {f"{arm.robot_name}/{arm.name}": arm.finger_bodies for r in scene.robots.values() for arm in r.arms}
    return Film(scene.world.model, states, hands)


def judged(scene: Scene, record: EpisodeRecord, states) -> bool:
    """Ask the judge about a film."""
    judge = Judge(scene, [term for term in record.goal if term.name != "lasting_after"], hold=0.0)
    for frame, state in enumerate(states):
        scene.world.restore_state(state)
        judge.look(frame)
    return judge.achieved


def asked(film: Film, deed: str, scene: Scene) -> str:
    """Ask the oracle about a film; empty when the deed was done."""
    answers = {
        "press": lambda: film.pressed("a", "button", "button_joint"),
        "strike": lambda: film.struck("a", "b", end=np.array(scene.assets["a"].keypoints["head"].position)),
        "shake": lambda: film.shaken("a", 2, np.array([0.0, 0.0, 1.0])),
        "push": lambda: film.pushed("a"),
        "handover": lambda: film.handed_over("a"),
        "lift": lambda: film.lifted_together("a", 0.08),
    }
    return answers[deed]()


def tampered(deed: str, scene: Scene, record: EpisodeRecord) -> list:
    """Return films in which the deed was not done, though much looks like it."""
    states = [np.array(state) for state in record.states]
    model, half = scene.world.model, len(states) // 2
    first = [states[0]] * len(states)
    if deed == "press":  # The button goes in by itself, the hand stays where it was at first.
        at = 1 + model.jnt_qposadr[model.joint("a/button_joint").id]
        alone = [np.array(states[0]) for _ in states]
        for still, state in zip(alone, states, strict=True):
            still[at] = state[at]
        return [first, alone]
    if deed == "push":  # It stands there in the end, and no hand was near it in between.
        return [first, states[: half // 2]]
    if deed == "strike":  # It is picked up, and then nothing more.
        return [states[:half]]
    if deed == "shake":  # One stroke, and back.
        turn = int(np.argmax([state[1 + model.jnt_qposadr[model.joint("a/free").id] + 2] for state in states]))
        return [states[:turn], states[: turn - 2] + states[turn - 2 :: -1][: turn // 3]]
    if deed == "handover":  # The first hand keeps it.
        film = film_of(scene, states)
        both = next(k for k in range(len(states)) if len(film._holders(k, "a")) > 1)
        return [states[: both - 1]]
    return [states[: int(0.6 * len(states))]]


@pytest.mark.parametrize("deed", TASKS)
def test_judge_and_oracle_agree_on_films_and_on_those_that_were_tampered_with(deed, tmp_path):
    scene, record, film = filmed(tmp_path, deed)
    assert asked(film, deed, scene) == ""
    for states in tampered(deed, scene, record):
        assert asked(film_of(scene, states), deed, scene) != ""
        assert not judged(scene, record, states)
