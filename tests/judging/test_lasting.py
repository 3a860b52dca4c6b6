"""What must hold at the end: the goals of every skill that nothing undid on purpose since."""

from itertools import count
from pathlib import Path

import mujoco
import numpy as np

from handloom.episode import run_episode
from handloom.episode.loop import apply_targets
from handloom.judging import Judge, standing_goals
from handloom.judging.lasting import frames_of
from handloom.scene import build_scene
from handloom.skills import Schedule
from handloom.skills.deeds import make_judge
from handloom.tasks import load_task, sample_task
from handloom.values import Check, SkillSpan

OVER = Check(name="over_box", arguments={"object": "cube", "target": "plate"})
HELD = Check(name="calm", arguments={"object": "cube"})


def span(skill: str, *objects: str, arm: str = "left", checks: tuple[Check, ...] = (), kind: str = "") -> SkillSpan:
    return SkillSpan(
        robot="r", arm=arm, skill=skill, objects=objects, start=0, end=1, success=True, checks=checks, kind=kind
    )


def names(*spans: SkillSpan) -> list[list[str]]:
    return [[check.name for check in checks] for _, checks in standing_goals(spans)]


def test_an_earlier_placement_stands_while_nothing_takes_the_object_or_its_target_up_again():
    place = span("place", "cube", "plate", checks=(OVER, HELD))
    assert names(place, span("home", checks=())) == [["over_box"], []]
    assert names(place, span("pick", "apple")) == [["over_box"], []]
    assert names(place, span("pick", "cube")) == [[], []]
    assert names(place, span("pick", "plate", arm="right")) == [["over_box", "calm"], []]


def test_what_was_put_into_a_container_must_still_be_in_it_when_that_was_put_elsewhere():
    inside = Check(name="inside", arguments={"object": "cube", "target": "box", "share": 0.7})
    place = span("place", "cube", "box", arm="right", checks=(OVER, inside))
    home, carried = span("home", arm="right"), span("place", "box", "mat")
    assert names(place, home, carried) == [["inside"], [], []]
    assert names(place, span("pick", "cube", arm="right"), carried)[0] == [], "it was taken out again"


def test_a_cup_that_is_still_in_the_hand_may_be_tilted_on_the_way_home():
    upright = Check(name="points_up", arguments={"object": "cup", "axis": [0, 0, 1], "angle": 0.3})
    held = Check(name="grasped", arguments={"object": "cup"})
    poured = Check(name="poured", arguments={"container": "cup", "target": "bowl"})
    assert names(span("pour", "cup", "bowl", checks=(poured, held, upright)), span("home")) == [["poured"], []]


def test_a_mistake_on_purpose_leaves_no_goal():
    assert names(span("fail_pick", "cube", checks=(OVER,), kind="mistake"), span("home"))[0] == []


def test_a_door_that_one_arm_opens_and_another_shuts_need_not_stay_open():
    def moved(mode: str, joint: str = "door_joint") -> tuple[Check, ...]:
        about = {"object": "oven", "joint": joint}
        state = Check(name="joint_state", arguments={**about, "start": 0.0, "threshold": 0.5, "mode": mode})
        return state, Check(name="joint_still", arguments={**about, "speed": 0.05})

    opened, shut = span("open", "oven", checks=moved("abs")), span("close", "oven", arm="right", checks=moved("zero"))
    assert names(opened, shut) == [["joint_still"], ["joint_state", "joint_still"]]
    other = span("close", "oven", arm="right", checks=moved("zero", "drawer_joint"))
    assert names(opened, other)[0] == ["joint_state", "joint_still"], "another part was shut"


def test_an_object_that_another_arm_takes_away_need_not_stay_at_its_place():
    place = span("place", "cube", "plate", checks=(OVER, HELD))
    assert names(place, span("pick", "cube", arm="right")) == [["calm"], []]


TASK = """
base: setups/fr3.yaml
objects:
  - {name: cube, target_class: RigidObject, category: cube, parameters: {edge: 0.04}}
  - {name: plate, target_class: RigidObject, category: plate}
regions:
  - {object: cube, target: table, random_config: {pos_range: [[-0.2, 0.1, 0], [-0.2, 0.1, 0]], yaw_rotation: [0, 0]}}
  - {object: plate, target: table, random_config: {pos_range: [[0.2, 0.1, 0], [0.2, 0.1, 0]], yaw_rotation: [0, 0]}}
skills: [{pick: cube}, {place: cube, on: plate}, home]
"""


class Meddler:
    """The expert, while somebody takes the cube off the plate as soon as the arm goes home."""

    def __init__(self, scene, stages, rng):
        self.scene, self.expert = scene, Schedule(scene, stages, rng)
        self.done = False

    def __getattr__(self, name):
        return getattr(self.expert, name)

    def next(self, frame):
        targets = self.expert.next(frame)
        if not self.done and any(span.skill == "place" for span in self.expert.timeline):
            world = self.scene.world
            joint = world.model.body_jntadr[world.body_index(self.scene.body_of("cube"))]
            start = world.model.jnt_qposadr[joint]
            world.data.qpos[start : start + 2] += (-0.3, 0.1)
            mujoco.mj_forward(world.model, world.data)
            self.done = True
        return targets


def test_what_was_placed_before_going_home_is_judged_at_the_end(tmp_path: Path):
    file = tmp_path / "task.yaml"
    file.write_text(TASK)
    task = load_task(file)
    for source, reason in ((Schedule, None), (Meddler, "not_lasting_carried_by")):
        scene = build_scene(sample_task(task, 0, 0))
        record = run_episode(scene, source(scene, task.config.skills, np.random.default_rng(0)))
        assert (record.failure.reason if record.failure else None) == reason


def test_one_second_is_one_second_at_every_frame_rate(tmp_path: Path):
    file = tmp_path / "task.yaml"
    for fps in (20, 30, 60):
        file.write_text(TASK + f"data: {{fps: {fps}, max_episode_length: 1500}}\n")
        task = load_task(file)
        scene = build_scene(sample_task(task, 0, 0))
        source = Schedule(scene, task.config.skills, np.random.default_rng(0))
        record = run_episode(scene, source)
        assert record.failure is None
        assert record.frames - max(span.end for span in record.timeline) == fps
        assert frames_of(1.0, fps) == fps


def watched(source, scene, stages) -> Judge:
    """Return the judge of a task who only looked on, at the end of an episode."""
    judge, commands = make_judge(scene, stages, None), source(scene, stages, np.random.default_rng(0))
    rest = iter(range(scene.instance.fps))
    for frame in count():
        judge.look(frame)
        targets = commands.next(frame)
        if targets is None and next(rest, None) is None:
            return judge
        apply_targets(scene, np.full(scene.world.model.nu, np.nan) if targets is None else targets)
        scene.world.step(scene.instance.substeps)


def test_somebody_who_only_looks_on_sees_what_was_undone(tmp_path: Path):
    (file := tmp_path / "task.yaml").write_text(TASK)
    task = load_task(file)
    done, undone = (
        watched(source, build_scene(sample_task(task, 0, 0)), task.config.skills) for source in (Schedule, Meddler)
    )
    assert (done.progress, done.achieved, done.failure(0)) == (1.0, True, None)
    assert [span.skill for span in done.timeline] == ["pick", "place"]
    assert not undone.achieved
    assert undone.progress < 1.0
    assert undone.failure(0).reason == "not_carried_by"


def test_a_task_without_a_deed_is_not_achieved_by_standing_still(tmp_path: Path):
    turn = "rotate__obj, objects: [cube], rotate_obj_euler_delta: [[0, 0, 0], [0, 0, 0]], trans_offset: [0, 0, 9]"
    turn += ", success_threshold_move: 0.03, success_threshold_rotate: 0.2"
    (file := tmp_path / "task.yaml").write_text(
        TASK.replace("[{pick: cube}, {place: cube, on: plate}, home]", f"[{{name: {turn}}}]")
    )
    scene = build_scene(sample_task(task := load_task(file), 0, 0))
    judge = make_judge(scene, task.config.skills, np.random.default_rng(0))
    for frame in range(60):
        judge.look(frame)
        assert not judge.achieved
    assert judge.failure(60).reason == "not_judged"
