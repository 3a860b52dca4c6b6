"""What is said of an episode is true of its world."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from independent_words import World, answer, faults_of_scene
from labelled_episodes import Labelled

from handloom.episode.loop import user_inputs
from handloom.labels.entities import Entities
from handloom.labels.labeller import episode_words
from handloom.labels.motion import motion_of
from handloom.labels.surfaces import Surfaces
from handloom.labels.words.clauses import Naming
from handloom.labels.words.things import SceneFacts
from handloom.scene import Scene, build_scene
from handloom.tasks import load_task, sample_task
from handloom.tasks.sampling.wording import faults_of_sentence, with_words
from handloom.values import EpisodeRecord, SkillSpan

TASKS = ["fr3_sort_by_colour", "fr3_store_fruit", "fr3_put_in_drawer", "lift2_store_in_box", "fr3_stack_bowls",
         "split_aloha_tidy_shelf", "franka_robotiq85_arrange_tableware", "lift2_dual_pick_place"]  # fmt: skip


def still_record(scene: Scene, timeline: tuple[SkillSpan, ...] = ()) -> EpisodeRecord:
    """Return a record of one frame in which nothing moves."""
    state = scene.world.save_state()
    return EpisodeRecord(
        instance=scene.instance,
        states=np.array([state, state]),
        asked=np.full((1, scene.world.model.nu), np.nan),
        applied=user_inputs(scene)[None],
        timeline=timeline,
    )


def words_of_scene(
    task: str, seed: int, episode: int, *, timeline: tuple[SkillSpan, ...] = (), instruction: str = "", **instance
) -> tuple[World, dict]:
    """Sample a scene and return it with what is said of it, as if nothing, or a few skills, had happened in it."""
    sampled = sample_task(load_task(task, overrides=instance.get("overrides", ())), seed, episode)
    scene = build_scene(replace(sampled, instruction=instruction or sampled.instruction))
    state, record = scene.world.save_state(), still_record(scene, timeline)
    motion = motion_of(scene, record, contacts=True)
    words = episode_words(motion, Entities(motion, Surfaces(scene)))
    scene.world.restore_state(state)
    return World(scene), words


@pytest.mark.parametrize("task", TASKS[:4])
def test_references_relations_and_answers_are_true(task: str):
    world, words = words_of_scene(task, 3, 0)
    count, faults = faults_of_scene(world, words)
    assert count > 2
    assert faults == []
    asked = [(q, answer(world, q)) for q in words["questions"]]
    assert [(q["question"], right) for q, right in asked if right is not None and right != q["answer"]] == []
    assert sum(right is not None for _, right in asked) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_twelve_more_scenes_of_eight_tasks_are_told_right(task: str):
    for episode in range(12):
        world, words = words_of_scene(task, 11, episode)
        assert faults_of_scene(world, words)[1] == []
        for question in words["questions"]:
            assert answer(world, question) in (None, question["answer"]), question


def test_things_alike_are_told_apart_by_words_that_fit_one_of_them():
    world, words = words_of_scene("fr3_sort_by_colour", 3, 1)
    assert len(set(words["references"].values())) == len(words["references"])
    assert all(world.meant(phrase) == [name] for name, phrase in words["references"].items())


def test_a_phrase_that_fits_two_things_is_not_a_reference():
    world, _ = words_of_scene("fr3_sort_by_colour", 3, 1)
    assert len(world.meant("the cube")) == 2  # The check itself can fail.


def test_an_episode_has_thirty_wordings_in_three_grains_vague_and_specific(picked: Labelled):
    found = picked.labels.words["wordings"]
    texts = [wording["text"] for wording in found]
    assert len(texts) >= 30
    assert len(set(texts)) == len(texts)
    kinds = Counter((wording["grain"], wording["style"]) for wording in found)
    assert {"short", "full", "steps"} == {grain for grain, _ in kinds}
    assert {"vague", "specific"} == {style for _, style in kinds}
    assert all(re.fullmatch(r"[A-Z0-9].*[.?]", text) for text in texts)
    assert not any("_" in text or "{" in text for text in texts)


def span(skill: str, instruction: str, *objects: str) -> SkillSpan:
    return SkillSpan(
        robot="franka", arm="left", skill=skill, objects=objects, start=0, end=1, success=True, instruction=instruction
    )


CLUTTER = ("distractors={target: table, min_num: 2, max_num: 4, pos_range: [[-0.5, -0.3], [0.5, 0.4]]}",)


@pytest.mark.parametrize(
    ("task", "spans", "deed", "never"),
    [
        ("press_bell", (span("press", "Press the {bell}.", "bell"),), r"[Pp](ress|ush) the", ()),
        (
            "beside_plate",
            (
                span("pick", "Pick up the {bar}.", "bar"),
                span("place", "Put the {bar} beside the {plate}.", "bar", "plate"),
            ),
            r"[Bb]eside the",
            ("lift", "grasp", "get hold"),
        ),
        (
            "shake_bottle",
            (span("pick", "Pick up the {bottle}.", "bottle"), span("shake", "Shake the {bottle}.", "bottle")),
            r"[Ss]hake the",
            ("lift", "grasp", "get hold"),
        ),
    ],
)
def test_every_wording_tells_the_whole_deed_whatever_the_skill(task, spans, deed, never):
    instance = sample_task(load_task(task, overrides=CLUTTER), 21, 0)
    timeline = tuple(replace(s, instruction=with_words(s.instruction, instance.objects)) for s in spans)
    _, words = words_of_scene(task, 21, 0, timeline=timeline, overrides=CLUTTER)
    texts = [w["text"] for w in words["wordings"] if w["grain"] != "steps"]
    assert len(words["wordings"]) >= 30
    assert {(w["grain"], w["style"]) for w in words["wordings"]} >= {
        ("short", "vague"), ("short", "specific"), ("full", "vague"), ("full", "specific"), ("steps", "specific")
    }  # fmt: skip
    told = [text for text in texts if re.search(deed, text)]
    assert len(told) >= 20
    assert not [text for text in texts if any(word in text.lower() for word in never)]
    assert [text for text in texts if faults_of_sentence(text)] == []


@pytest.mark.parametrize(
    ("said", "wrapped"),
    [
        ("The red cube belongs on the plate.", False),
        ("Could you put the red cube on the plate?", False),
        ("Put the red cube on the plate.", True),
    ],
)
def test_only_requests_are_wrapped_in_please(said, wrapped):
    _, words = words_of_scene("fr3_pick_place", 5, 0, instruction=said)
    texts = [wording["text"] for wording in words["wordings"]]
    assert said in texts
    assert any(text.startswith("Please put the red cube") for text in texts) == wrapped
    assert not [text for text in texts if "?." in text or re.match(r"Please (the|could)|Now the", text)]


def test_a_sentence_whose_words_fit_two_things_is_called_vague():
    scene = build_scene(sample_task(load_task("fr3_sort_by_colour"), 3, 1))
    record = still_record(scene)
    motion = motion_of(scene, record, contacts=True)
    facts = SceneFacts(motion, Entities(motion, Surfaces(scene)), 0)
    cube = next(obj.name for obj in scene.instance.objects if obj.category == "cube")
    bare = tuple(replace(obj, words="cube") if obj.name == cube else obj for obj in scene.instance.objects)
    assert Naming(facts, record).is_specific(f"Take the {facts.thing(cube).plain}.")
    renamed = replace(record, instance=replace(scene.instance, objects=bare))
    assert not Naming(facts, renamed).is_specific("Take the cube.")


def test_wordings_name_the_right_things(picked: Labelled):
    picked.at(0)
    world = World(picked.scene)
    for wording in picked.labels.words["wordings"]:
        if wording["style"] == "specific" and wording["grain"] == "short":
            for phrase in re.findall(r"the (?:\w+ )?(?:cube|block|toy cube)\b", wording["text"]):
                assert world.meant(phrase) == ["cube"], wording


def test_answers_about_the_deed_follow_from_the_recording(picked: Labelled):
    asked = {q["kind"]: q["answer"] for q in picked.labels.words["questions"]}
    assert asked["first_step"] == picked.record.timeline[0].instruction
    assert asked["success"] == "yes"
    assert asked["duration"] == f"{len(picked.record.kept) / picked.record.instance.fps:.1f} s"
    assert asked["first_grasp"] in ("the cube", "the red cube")
    assert asked["grasps"] == "once"
    assert asked["ends"] in ("on the plate", "on the white plate")


def test_drawers_are_told_apart_and_their_state_is_that_of_the_joint(opened: Labelled):
    asked = [q for q in opened.labels.words["questions"] if q["kind"] == "opening"]
    first = {q["question"]: q["answer"] for q in asked if q["frame"] == 0}
    last = {q["question"]: q["answer"] for q in asked if q["frame"] > 0}
    assert set(first.values()) == {"no"}
    assert [question for question, said in last.items() if said == "yes"] == ["Is the top drawer of the cabinet open?"]
    assert len(first) == len(set(first)) == 3


@pytest.mark.parametrize("task", ["fr3_pick_place", "fr3_open_drawer", "fr3_pour_cup_bowl"])
def test_sentences_have_no_faults(task: str):
    _, words = words_of_scene(task, 5, 2)
    for text in [words["scene"], *(row["text"] for row in words["relations"]["first"])]:
        for sentence in re.findall(r"[^.]+\.", text):
            assert [
                f for f in faults_of_sentence(sentence.strip()) if "repeats" not in f and "two colours" not in f
            ] == []
