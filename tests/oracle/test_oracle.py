"""The judge against an independent oracle: what people write, and wrongs planted on purpose."""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.oracle.grammar import KINDS, Written, write_task
from tests.oracle.oracle import Deed
from tests.oracle.planted import held_wrongs, make_bench, plant_wrongs
from tests.oracle.run_oracle import Attempt, attempt, load_written, oracle_of

from handloom.errors import HandloomError
from handloom.judging import holds
from handloom.scene import build_scene
from handloom.skills.deeds import make_judge
from handloom.tasks import load_task, sample_task

ANSWERS = sorted(file.stem for file in (Path(__file__).parent / "answers").glob("*.py"))
IN_BIN = Written(
    "in_bin",
    "in",
    "fr3",
    """
base: setups/fr3.yaml
objects:
  - {name: can, target_class: RigidObject, category: can}
  - {name: bin, target_class: RigidObject, category: bin}
regions:
  - {object: can, target: table, random_config: {pos_range: [[-0.22, 0.02, 0], [-0.12, 0.12, 0]]}}
  - {object: bin, target: table, random_config: {pos_range: [[0.14, 0.04, 0], [0.22, 0.12, 0]]}}
skills: [{pick: can}, {place: can, in: bin}]
""",
    (Deed(kind="in", obj="can", target="bin"),),
)
ON_PLATE = Written(
    "on_plate",
    "on",
    "fr3",
    """
base: setups/fr3.yaml
objects:
  - {name: mug, target_class: RigidObject, category: mug}
  - {name: plate, target_class: RigidObject, category: plate}
regions:
  - {object: mug, target: table, random_config: {pos_range: [[-0.22, 0.02, 0], [-0.12, 0.12, 0]]}}
  - {object: plate, target: table, random_config: {pos_range: [[0.14, 0.04, 0], [0.22, 0.12, 0]]}}
skills: [{pick: mug}, {place: mug, on: plate}]
""",
    (Deed(kind="on", obj="mug", target="plate"),),
)


def tries(written: Written, folder: Path, seed: int, episodes: range) -> list[Attempt]:
    """Let the expert try; a task that is refused or finds no scene tries nothing."""
    try:
        task = load_written(written, folder)
        return [attempt(task, written.deeds, seed, episode)[0] for episode in episodes]
    except HandloomError:
        return []


@pytest.mark.parametrize("module", ["oracle.py", *(f"answers/{name}.py" for name in ANSWERS)])
def test_the_oracle_shares_nothing_with_the_judge(module):
    tree = ast.parse((Path(__file__).parent / module).read_text(encoding="utf-8"))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert [name for name in names if name.startswith("handloom")] == []


@pytest.mark.parametrize("written", [IN_BIN, ON_PLATE], ids=["in a bin", "on a plate"])
def test_planted_wrongs_are_judged_wrong(written, tmp_path):
    bench, why = make_bench(written, tmp_path, 0)
    assert bench is not None, why
    wrongs = [*plant_wrongs(bench, 15), *held_wrongs(bench, 2)]
    assert len(wrongs) >= 14
    assert len({wrong.plant for wrong in wrongs}) >= 8
    assert [wrong for wrong in wrongs if wrong.judge] == []


def test_the_judge_agrees_with_the_oracle_on_what_people_write(tmp_path):
    for kind in ("beside", "stack_on"):
        written = write_task(3, 0, kind=kind, robot="fr3")
        tried = tries(written, tmp_path, 0, range(2))
        assert len(tried) == 2
        assert [t for t in tried if t.false_success or t.false_failure] == []


def test_a_toothbrush_is_not_laid_across_a_narrow_book(tmp_path):
    (tried,) = tries(write_task(284, 61118), tmp_path, 61118, range(4, 5))
    assert tried.success
    assert not tried.false_success, tried.verdict.why


def test_a_mug_on_a_cup_in_a_crate_may_lean_on_the_rim(tmp_path):
    (tried,) = tries(write_task(104, 81234), tmp_path, 81234, range(2, 3))
    assert tried.success
    assert tried.verdict.done is True, tried.verdict.why


def test_the_oracle_tells_a_thing_in_a_bin_from_one_beside_it(tmp_path):
    bench, why = make_bench(IN_BIN, tmp_path, 0)
    assert bench is not None, why
    assert bench.verdict().done is True
    low, high = bench.box("bin")
    bench.put("can", np.array([high[0] + 0.06, 0.5 * (low + high)[1], bench.table() + 0.001]))
    bench.settle()
    assert bench.verdict().done is False


KNOBS = """
base: setups/fr3.yaml
cameras: []
objects: [{name: panel, category: knob, fix_base: true, parameters: {knobs: 3}}]
regions: [{object: panel, target: table, random_config: {pos_range: [[0, 0.35, 0], [0, 0.35, 0]]}}]
skills: [{turn: panel.knob_1, by: 60}]
"""


def test_the_judge_agrees_with_the_oracle_on_knobs_turned_too_far_or_with_their_neighbours(tmp_path):
    (file := tmp_path / "knobs.yaml").write_text(KNOBS)
    task = load_task(file)
    scene = build_scene(sample_task(task, 0, 0))
    judge = make_judge(scene, task.config.skills, None)
    first, deeds = scene.world.save_state(), (Deed(kind="turn", obj="panel", part="knob_1", by=60.0),)
    told = []
    for turned in (0.0, 30.0, 55.0, 60.0, 68.0, 95.0, 150.0):
        for beside in (0.0, 5.0, 30.0, 90.0):
            scene.world.restore_state(first)
            for knob, angle in (("knob_1", turned), ("knob_2", beside)):
                scene.world.data.qpos[scene.world.qpos_index(f"panel/{knob}_joint")] = np.deg2rad(angle)
            state = scene.world.save_state()
            verdict = oracle_of(scene, state, first).judge(deeds)
            scene.world.restore_state(state)
            assert verdict.done == all(holds(scene, term) for term in judge.goal), (turned, beside, verdict.why)
            told.append(verdict.done)
    assert told.count(True) == 6


def test_the_grammar_writes_300_tasks_that_load_but_for_few(tmp_path):
    refused: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for index in range(300):
        written = write_task(index)
        kinds[written.kind] += 1
        if index % 10 == 0:
            try:
                load_written(written, tmp_path)
            except HandloomError as error:
                refused[str(error)] += 1
    assert set(kinds) == set(KINDS)
    assert not refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_tasks_have_no_false_success_and_few_false_failures(seed, tmp_path):
    tried = [one for index in range(20) for one in tries(write_task(index, 100 + seed), tmp_path, seed, range(2))]
    assert len(tried) >= 30
    assert [one for one in tried if one.false_success] == []
    assert sum(one.false_failure for one in tried) <= 0.05 * len(tried)


@pytest.mark.slow
def test_many_planted_wrongs_are_judged_wrong(tmp_path):
    wrongs = []
    for index in range(12):
        bench, _ = make_bench(write_task(index, 200), tmp_path, 200)
        if bench is not None:
            wrongs += [*plant_wrongs(bench, 12), *held_wrongs(bench, 2)]
    assert len(wrongs) >= 80
    assert [wrong for wrong in wrongs if wrong.judge] == []
