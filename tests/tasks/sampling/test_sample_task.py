"""Sampling is a pure function of task, seed and episode."""

import json
import subprocess
import sys

import pytest

from handloom.errors import ConfigError, FileError
from handloom.scene import build_scene
from handloom.tasks import SamplingError, library, load_task, sample_task
from handloom.tasks.sampling.sample_task import substeps
from handloom.values import TaskInstance

TASK = "fr3_pick_cube"


def test_an_instance_comes_back_from_its_json_exactly():
    instance = sample_task(load_task(TASK), 3, 5)
    assert TaskInstance.from_json(instance.to_json()) == instance


def test_text_that_is_no_instance_is_refused():
    with pytest.raises(FileError, match="not a task instance"):
        TaskInstance.from_json('{"task": "x"}')


CLUTTERED = """
import json, sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

def hashes(work):
    from handloom.tasks import load_task, sample_task
    file, episodes = work
    task = load_task(file)
    return {episode: sample_task(task, 7, episode).content_hash() for episode in episodes}

if __name__ == "__main__":
    file, workers = sys.argv[1], int(sys.argv[2])
    work = [(file, list(range(k, 6, workers))[::-1]) for k in range(workers)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        print(json.dumps({k: v for part in pool.map(hashes, work) for k, v in part.items()}))
"""


def test_the_number_of_workers_and_the_order_of_episodes_change_nothing(write, tmp_path):
    from task_files import region, thing

    file = write(
        objects=[thing("mug", "mug", apply_randomization=True, orientation_mode="suggested"), thing("bowl", "bowl")],
        regions=[region("mug"), region("bowl")],
        distractors={"target": "table", "min_num": 2, "max_num": 4, "pos_range": [[-0.5, -0.1], [0.5, 0.4]]},
        fluid={"container_name": "bowl", "numParticlesZ": 2},
    )
    script = tmp_path / "sample.py"
    script.write_text(CLUTTERED)
    task = load_task(file)
    here = {str(episode): sample_task(task, 7, episode).content_hash() for episode in range(6)}
    assert len(set(here.values())) == 6
    there = subprocess.run([sys.executable, script, file, "2"], capture_output=True, text=True, check=True).stdout
    assert json.loads(there) == here


def test_episodes_differ_in_everything_that_is_randomized():
    task = load_task(TASK)
    instances = [sample_task(task, 0, episode) for episode in range(12)]
    for value in (
        lambda i: i.objects[-1].position,
        lambda i: i.robots[0].joints["fr3_joint1"],
        lambda i: i.cameras[0].position,
        lambda i: i.lights[0].diffuse,
    ):
        assert len({value(i) for i in instances}) == 12
    assert len({i.objects[-1].words for i in instances}) >= 3
    assert len({i.instruction for i in instances}) >= 4
    assert all("cube" in i.instruction for i in instances)


def test_a_region_with_no_room_names_the_object_and_what_to_widen(tmp_path):
    text = (
        library()[TASK]
        .read_text()
        .replace("[[-0.2, 0.0, 0.0], [0.2, 0.22, 0.0]]", "[[0.0, 0.0, -0.03], [0.0, 0.0, -0.03]]")
    )
    file = tmp_path / "tight.yaml"
    file.write_text(text)
    with pytest.raises(SamplingError, match=r"cube had no free or stable place in 30 of 30 .* widen the pos_range"):
        sample_task(load_task(file), 0, 0)


@pytest.mark.parametrize(("fps", "steps"), [(30, 17), (60, 9), (25, 20), (500, 1), (250, 2)])
def test_a_frame_is_divided_into_steps_of_at_most_two_milliseconds(fps, steps):
    assert substeps(fps) == steps


def test_a_missing_asset_is_named_or_replaced_by_its_category(tmp_path):
    text = library()[TASK].read_text().replace("category: cube, parameters: {edge: 0.05},", "PATH,")
    text = text.replace("PATH,", "category: banana, path: fruit/banana/b_001/Aligned_obj.usd, euler: [90, 0, 0],")
    text = text.replace("colors: [red, green, blue, yellow, orange, purple]", "apply_randomization: true")
    file = tmp_path / "task.yaml"
    file.write_text(text.replace("arenas/table.yaml", "arenas/nowhere.yaml"))
    with pytest.raises(ConfigError, match=r"nowhere\.yaml was not found"):
        load_task(file)
    instance = sample_task(load_task(file, overrides=["proxy_assets=true"]), 0, 0)
    assert instance.objects[-1].category == "banana"
    assert "banana" in instance.objects[-1].words
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"Aligned_obj.usd.*proxy_assets=true"):
        sample_task(load_task(file), 0, 0)


def test_an_object_file_beside_the_task_is_used(tmp_path):
    (tmp_path / "brick.xml").write_text(
        '<mujoco><worldbody><body name="brick"><geom type="box" size=".03 .02 .02" mass=".1"/></body>'
        "</worldbody></mujoco>"
    )
    text = library()[TASK].read_text().replace("category: cube, parameters: {edge: 0.05},", "path: brick.xml,")
    file = tmp_path / "task.yaml"
    file.write_text(text)
    instance = sample_task(load_task(file), 0, 0)
    scene = build_scene(instance)
    assert scene.assets["cube"].mass == pytest.approx(0.1)
    assert TaskInstance.from_json(instance.to_json()) == instance
