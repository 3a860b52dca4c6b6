"""``import handloom``: its names, what they are, and what importing it does not do."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import handloom

ROOT = Path(__file__).parents[1]
HEAVY = ("mujoco", "numba", "numpy", "pyarrow", "pydantic", "rich", "tyro", "yaml", "av", "PIL")

LOOK_IN = """
import json, os, sys
before = dict(os.environ)
import handloom
names = dir(handloom)
print(json.dumps({"modules": sorted(sys.modules), "same": dict(os.environ) == before, "names": names}))
"""


def test_importing_loads_nothing_heavy_and_leaves_the_environment_alone():
    child = subprocess.run(
        [sys.executable, "-c", LOOK_IN], env={"MUJOCO_GL": "nonsense"}, capture_output=True, text=True, check=True
    )
    seen = json.loads(child.stdout)
    loaded = {name.partition(".")[0] for name in seen["modules"]}
    assert not loaded & set(HEAVY)
    assert [name for name in seen["modules"] if name.startswith("handloom")] == ["handloom", "handloom.version"]
    assert seen["same"]
    assert set(handloom.__all__) <= set(seen["names"])


def test_the_door_has_a_page_of_names_each_documented_where_it_lives():
    assert 15 <= len(handloom.__all__) <= 25
    assert len(set(handloom.__all__)) == len(handloom.__all__)
    assert set(handloom.__all__) == set(handloom._OWNER)
    for name in handloom.__all__:
        value = getattr(handloom, name)
        assert inspect.getdoc(value), name
        assert inspect.isclass(value) or inspect.isfunction(value), name


def test_type_checkers_see_the_same_names_from_the_same_owners():
    text = inspect.getsource(handloom)
    typed = text.partition("if TYPE_CHECKING:")[2].partition("__version__")[0]
    found = {
        name: owner
        for owner, group in re.findall(r"from handloom\.([\w.]+) import (\([^)]*\)|[^\n]*)", typed)
        for name in re.findall(r"\w+", group)
    }
    assert found == handloom._OWNER


def test_a_name_that_is_not_there_lists_those_that_are():
    with pytest.raises(AttributeError, match=r"no attribute 'load_tusk'; its names: .*load_task"):
        handloom.load_tusk  # noqa: B018 - the access is what is tested


def test_the_example_of_the_readme_needs_the_door_alone():
    (example,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert re.findall(r"^(?:import|from) .*", example, re.MULTILINE) == ["import handloom as hl"]


def test_four_lines_make_the_very_data_of_the_command_line(tmp_path: Path):
    again = tmp_path / "cli"
    words = ["generate", "fr3_pick_cube", "-n", "2", "-o", str(again), "--seed", "3", "--executor", "inline"]
    subprocess.run([sys.executable, "-m", "handloom", *words, "--render", "none"], check=True, capture_output=True)
    dataset = handloom.generate("fr3_pick_cube", str(tmp_path / "here"), n=2, seed=3, workers=0, render="none")
    same = handloom.DatasetReader(str(again))
    assert len(dataset.episodes) == len(same.episodes) == 2
    for here, there in zip(dataset.episodes, same.episodes, strict=True):
        for name, values in here.frames().items():
            assert values.tobytes() == there.frames()[name].tobytes()
    record = handloom.run_episode("fr3_pick_cube", seed=3, episode=int(same.archive(1).instance["episode"]))
    assert record.states.tobytes() == same.archive(1).states["integration"].tobytes()


def test_too_few_successes_say_why(tmp_path: Path):
    with pytest.raises(handloom.HandloomError, match=r"0 of 1 demonstrations after \d+ attempts: .*out_of_frames"):
        handloom.generate(
            "fr3_pick_cube", tmp_path / "run", n=1, workers=0, render="none", overrides=["data.max_episode_length=5"]
        )
