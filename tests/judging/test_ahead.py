"""Success must last: what stands still only for a moment is no success, and looking ahead changes nothing."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from tests.judging.conftest import TABLE, Make, put
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import oracle_of

from handloom.engine.attempt import Stopwatch, simulate
from handloom.engine.runs.run_settings import RunSettings
from handloom.engine.verification.resampled import goal_differs
from handloom.episode import replay
from handloom.judging import Judge, holds
from handloom.judging.ahead import LASTING, lasting_after, lasting_terms
from handloom.judging.relations import relation_terms
from handloom.scene import Scene
from handloom.scene.measures import lying_still, world_box
from handloom.spatial import matrix_from_quat, matrix_from_rotvec, quat_from_matrix
from handloom.tasks import load_task
from handloom.values import Check

ON_EDGE = (np.cos(np.deg2rad(30.0)), np.sin(np.deg2rad(30.0)), 0.0, 0.0)
NEARLY_UPRIGHT = (np.cos(np.deg2rad(41.0)), 0.0, np.sin(np.deg2rad(41.0)), 0.0)
CASES = {
    "brick": ("category: studded_brick", "basket", ON_EDGE, 0.0),
    "pen": ("category: pen", "frying_pan", NEARLY_UPRIGHT, 0.0),
    "egg": ("category: egg", "bowl", None, 0.035),
}
"""Thing > its keys, what it is in, how it is turned there, and how far from the middle it is held [m]."""

LIFTED_BASKET = """
robot: fr3
objects:
  - {name: cube, category: cube, parameters: {edge: 0.03}}
  - {name: basket, category: basket}
regions:
  - {object: basket, at: [0.1, 0.0]}
  - {object: cube, at: [-0.15, 0.0]}
skills:
  - {pick: cube}
  - {place: cube, in: basket}
  - {pick: basket}
"""


def goal_of(scene: Scene, target: str) -> tuple[Check, ...]:
    terms = (
        *relation_terms(scene, "thing", "in", target, upright=False),
        Check(name="lying_still", arguments={"objects": ["thing"], "speed": 0.02}),
    )
    return (*terms, *lasting_terms(scene, terms))


def balance(scene: Scene, quat: tuple[float, ...] | None, shift: float) -> None:
    """Put the thing, which lies at rest, where it touches its container and will not stay; it does not move yet."""
    T, low = scene.object_pose("thing"), world_box(scene, "thing")[0, 2]
    R = T[:3, :3] if quat is None else matrix_from_quat(np.array(quat))
    at = T[:3, 3] + np.array([shift, 0.0, 0.1])
    put(scene, "thing", at, quat_from_matrix(R))
    if not shift:
        down = world_box(scene, "thing")[0, 2] - low - 0.0005
        put(scene, "thing", at - np.array([0.0, 0.0, down]), quat_from_matrix(R))
    while shift and not scene.world.touching(scene.body_of("thing"), scene.body_of("box")):
        at[2] -= 0.0005
        put(scene, "thing", at, quat_from_matrix(R))


@pytest.mark.parametrize("thing", CASES)
def test_what_falls_or_rolls_in_the_next_second_is_judged_wrong_and_at_rest_right(table: Make, thing: str):
    keys, container, quat, shift = CASES[thing]
    scene = table(thing=keys, box=f"category: {container}")
    middle = world_box(scene, "box").mean(axis=0)
    put(scene, "thing", middle + np.array([-0.02 if thing == "pen" else 0.0, 0.0, 0.04]), settle=4.0)
    goal = goal_of(scene, "box")
    assert goal[-1].name == LASTING
    assert Judge(scene, goal).missing() is None
    balance(scene, quat, shift)
    assert not holds(scene, goal[-1])
    missing = Judge(scene, [term for term in goal if term.name in ("lying_still", LASTING)]).missing()
    assert missing is not None
    assert missing.reason == "not_lasting_after"
    assert "thing moves by" in missing.detail or "thing tilts by" in missing.detail


@pytest.mark.parametrize(
    ("container", "relation", "speed", "stays"),
    [("bin", "in", 0.02, True), ("bin", "in", 0.2, False), ("tray", "on", 0.1, False)],
)
def test_what_rolls_slowly_between_walls_stays_and_elsewhere_does_not(
    table: Make, container: str, relation: str, speed: float, stays: bool
):
    scene = table(thing="category: ball", box=f"category: {container}")
    middle = world_box(scene, "box").mean(axis=0)
    put(scene, "thing", middle + np.array([0.0, 0.0, 0.03]), settle=2.0)
    goal = relation_terms(scene, "thing", relation, "box", upright=False)
    term = lasting_terms(scene, goal)[0]
    assert holds(scene, term)
    joint = scene.world.model.body_jntadr[scene.world.body_index(scene.body_of("thing"))]
    velocity = scene.world.data.qvel[scene.world.model.jnt_dofadr[joint] :][:6]
    radius = float(np.ptp(world_box(scene, "thing")[:, 2])) / 2.0
    velocity[0], velocity[4] = speed, speed / radius
    assert holds(scene, term) is stays


@pytest.mark.parametrize(("speed", "stays"), [(0.25, True), (0.9, False)])
def test_what_shifts_by_millimetres_between_walls_stays_however_fast_and_what_slides_further_does_not(
    table: Make, speed: float, stays: bool
):
    scene = table(thing="category: cube, parameters: {edge: 0.04}", box="category: bin")
    put(scene, "thing", world_box(scene, "box").mean(axis=0), settle=2.0)
    term = lasting_terms(scene, relation_terms(scene, "thing", "in", "box", upright=False))[0]
    assert holds(scene, term)
    joint = scene.world.model.body_jntadr[scene.world.body_index(scene.body_of("thing"))]
    scene.world.data.qvel[scene.world.model.jnt_dofadr[joint]] = speed
    assert holds(scene, term) is stays
    fastest = holds(scene, replace(term, arguments={**term.arguments, "contained": [], "distance": 0.002}))
    assert not fastest, "it does move"


def test_looking_ahead_changes_no_bit_and_what_comes_after_is_the_same(table: Make):
    scene = table(thing="category: studded_brick", box="category: basket")
    put(scene, "thing", world_box(scene, "box").mean(axis=0) + np.array([0.0, 0.0, 0.04]), settle=0.2)
    world, state = scene.world, scene.world.save_state()
    world.step(50)
    after = world.save_state()
    world.restore_state(state)
    Judge(scene, goal_of(scene, "box")).missing()
    holds(scene, goal_of(scene, "box")[-1])
    assert world.save_state().tobytes() == state.tobytes()
    world.step(50)
    assert world.save_state().tobytes() == after.tobytes()


def test_the_judge_looks_ahead_only_once_all_has_held_for_long_enough(table: Make):
    scene = table(thing="category: studded_brick", box="category: basket")
    put(scene, "thing", world_box(scene, "box").mean(axis=0) + np.array([0.0, 0.0, 0.04]), settle=2.0)
    judge = Judge(scene, goal_of(scene, "box"), hold=0.1)
    for frame in range(1, 4):
        assert not judge.achieved
        judge.look(frame)
    assert judge.achieved
    balance(scene, ON_EDGE, 0.0)
    other = Judge(scene, goal_of(scene, "box")[-2:], hold=0.0)
    other.look(1)
    assert not other.achieved
    assert other.failure(1).reason == "not_lasting_after"
    assert other.progress < 1.0
    put(scene, "thing", world_box(scene, "box").mean(axis=0) + np.array([0.0, 0.0, 0.04]), settle=2.0)
    other.look(2)
    assert other.achieved, "it is looked at anew when it was put right"


def test_nothing_that_moves_by_right_is_asked_to_stay(table: Make):
    scene = table(thing="category: cube", belt="category: conveyor")
    assert lasting_terms(scene, relation_terms(scene, "thing", "on", "belt")) == ()
    held = Check(name="in_hand", arguments={"object": "thing"})
    assert lasting_terms(table(thing="category: cube"), (held,)) == ()


def test_a_recording_says_whether_it_was_asked_to_last_and_replays_by_that(tmp_path: Path):
    task = load_task("fr3_pick_place")
    scene, record = simulate(task, 0, 1, Stopwatch())
    assert record.failure is None
    assert record.goal[-1].name == LASTING
    assert replay(record).exact
    run = RunSettings.of_task(task, seed=0)
    assert goal_differs(run, tmp_path, scene, record) == ""
    earlier = replace(record, goal=record.goal[:-1])
    assert replay(earlier).exact
    assert goal_differs(run, tmp_path, scene, earlier) == "", "it was made before success had to last, and it does"
    strict = [replace(t, arguments={k: v for k, v in t.arguments.items() if k != "rocking"}) for t in record.goal]
    assert goal_differs(run, tmp_path, scene, replace(record, goal=tuple(strict))) == "", "it was asked for more"
    assert "a goal other than the task's" in goal_differs(run, tmp_path, scene, replace(record, goal=record.goal[1:]))
    scene.world.restore_state(record.states[-1])
    name = record.goal[-1].arguments["objects"][0]
    put(scene, name, scene.object_pose(name)[:3, 3] + np.array([0.0, 0.0, 0.03]))
    forged = replace(earlier, states=np.vstack([record.states[:-1], scene.world.save_state()[None]]))
    assert "does not require success to last, and it does not last" in goal_differs(run, tmp_path, scene, forged)
    never = replace(record.goal[-1], arguments={**record.goal[-1].arguments, "distance": 0.0, "angle": 0.0})
    assert not replay(replace(record, goal=(*record.goal[:-1], never))).success_again


def test_what_only_a_robot_props_up_does_not_stay_and_the_model_is_left_as_it_was(table: Make):
    scene = table(thing="category: cube, parameters: {edge: 0.03}")
    world, model = scene.world, scene.world.model
    robot = [name for name in world.bodies if name.startswith("franka/")]
    put(scene, "thing", world.body_pose("franka/fr3_link4")[:3, 3] + np.array([0.0, 0.0, 0.2]), settle=1.5)
    before, hashed = scene.object_pose("thing"), world.model_hash()
    masks = model.geom_contype.tobytes() + model.geom_conaffinity.tobytes()
    about = {"objects": ["thing"], "after": 1.0, "distance": 0.01, "angle": 0.1}
    assert not holds(scene, Check(name=LASTING, arguments=about))
    assert model.geom_contype.tobytes() + model.geom_conaffinity.tobytes() == masks
    assert world.model_hash() == hashed
    world.step(round(1.0 / world.timestep))
    assert world.touching(scene.body_of("thing"), robot), "it does lie on the arm"
    assert np.linalg.norm(scene.object_pose("thing")[:3, 3] - before[:3, 3]) < 0.01


def test_what_slides_or_rocks_by_little_lies_still_and_what_rolls_away_does_not(table: Make):
    for category, speed, still in (("cube", 0.08, True), ("orange", 0.2, False)):
        scene = table(thing=f"category: {category}")
        scene.world.step(round(0.5 / scene.world.timestep))
        joint = scene.world.model.body_jntadr[scene.world.body_index(scene.body_of("thing"))]
        scene.world.data.qvel[scene.world.model.jnt_dofadr[joint]] = speed
        mujoco.mj_forward(scene.world.model, scene.world.data)
        scene.world.invalidate()
        before = scene.world.save_state()
        assert not lying_still(scene, objects=["thing"], speed=0.02)
        assert lying_still(scene, objects=["thing"], speed=0.02, rocking=0.01) is still, category
        assert (scene.world.save_state() == before).all()


def test_what_rocks_stays_and_what_leans_ever_farther_falls(table: Make):
    scene = table(cup="category: cup")
    T = scene.object_pose("cup")
    put(scene, "cup", T[:3, 3] + np.array([0.0, 0.0, 0.002]), quat_from_matrix(T[:3, :3] @ _about_x(8.0)))
    strict = {"objects": ["cup"], "after": 1.0, "distance": 0.05, "angle": np.deg2rad(5.0)}
    assert not lasting_after(scene, **strict)
    assert lasting_after(scene, **strict, rocking=np.deg2rad(15.0)), "it falls back onto its foot"
    put(scene, "cup", T[:3, 3] + np.array([0.0, 0.0, 0.05]), quat_from_matrix(T[:3, :3] @ _about_x(50.0)))
    assert not lasting_after(scene, **{**strict, "distance": 1.0}, rocking=np.deg2rad(15.0)), "it falls over"


def _about_x(degrees: float) -> np.ndarray:
    return matrix_from_rotvec(np.array([np.deg2rad(degrees), 0.0, 0.0]))


def test_a_container_that_a_hand_caught_counts_only_where_the_task_takes_hold_of_it(tmp_path: Path):
    file = tmp_path / "lift_basket.yaml"
    file.write_text(LIFTED_BASKET, encoding="utf-8")
    scene, record = simulate(load_task(file), 3, 0, Stopwatch())
    assert record.success, record.failure
    scene.world.restore_state(record.states[-1])
    assert holds(scene, Check(name="in_hand", arguments={"object": "basket"}))
    inside = relation_terms(scene, "cube", "in", "basket")
    (wanted,) = lasting_terms(scene, inside, handled={"basket", "cube"})
    (caught,) = lasting_terms(scene, inside, handled={"cube"})
    assert "let_go" not in wanted.arguments
    assert caught.arguments["let_go"] == ["basket"]
    assert holds(scene, wanted)
    assert not holds(scene, caught), "the cube falls with the basket when the hand goes"
    (on_table,) = lasting_terms(scene, (Check(name="carried_by", arguments={"object": "cube", "target": "table"}),))
    assert "let_go" not in on_table.arguments, "no hand lifts a table"
    oracle, within = oracle_of(scene, record.states[-1]), Deed(kind="in", obj="cube", target="basket")
    assert "holds up" not in oracle.judge([within, Deed(kind="pick", obj="basket")]).why
    assert "holds up the basket" in oracle.judge([within]).why


@pytest.mark.parametrize(("tilt", "stays"), [(1.0, False), (3.0, False), (5.0, False), (0.0, True)])
def test_what_creeps_and_topples_later_than_a_second_does_not_stay(table: Make, tilt: float, stays: bool):
    scene = table(pear="category: pear")
    rest = scene.object_pose("pear")
    lying = rest[:3, :3] @ _about_x(103.0)
    R = rest[:3, :3] @ _about_x(tilt) if tilt else lying
    for _ in range(2):
        gap = world_box(scene, "pear")[0, 2] - TABLE
        put(scene, "pear", scene.object_pose("pear")[:3, 3] - np.array([0.0, 0.0, gap]), quat_from_matrix(R))
    scene.world.step(1 if tilt else round(2.0 / scene.world.timestep))
    term = {"objects": ["pear"], "after": 1.0, "distance": 0.01, "angle": np.deg2rad(5.0), "rocking": np.deg2rad(15.0)}
    assert lasting_after(scene, **term) is stays
    start = scene.object_pose("pear")
    leans = []
    for _ in range(4):
        scene.world.step(round(1.0 / scene.world.timestep))
        up = float(np.clip(scene.object_pose("pear")[2, :3] @ start[2, :3], -1.0, 1.0))
        leans.append(float(np.rad2deg(np.arccos(up))))
    assert leans[0] < 1.2, "it keeps still for a second"
    assert (leans[-1] < 1.0) is stays
