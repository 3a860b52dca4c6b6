"""Packs of tasks: names, shared scenes, published rates."""

from pathlib import Path

import pytest

from handloom.config import load_config
from handloom.errors import ConfigError, HandloomError, NotFoundError
from handloom.tasks import load_task
from handloom.tasks.config.packs import PackConfig, PublishedRates, load_pack, pack_names

SCENE = """\
scene:
  base: setups/fr3.yaml
  objects:
    - {name: cube, target_class: RigidObject, category: cube, colors: [red]}
    - {name: bowl, target_class: RigidObject, category: bowl}
  data: {fps: 20}
tasks:
  - name: put_the_cube_away
    skills: [{pick: cube}, {place: cube, in: bowl}]
  - name: put_the_ball_away
    objects:
      - {name: cube, drop: true}
      - {name: ball, target_class: RigidObject, category: ball}
    data: {max_episode_length: 1234}
    skills: [{pick: ball}, {place: ball, in: bowl}]
"""


def test_every_task_of_a_pack_is_found_by_its_name() -> None:
    for name in pack_names():
        pack = load_pack(name)
        assert pack.tasks
        first = next(iter(pack.tasks))
        assert load_task(f"{name}/{first}").name == f"{name}/{first}"


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    pack = pack_names()[0]
    task = next(iter(load_pack(pack).tasks))
    with pytest.raises(NotFoundError, match=f"no task of the pack {pack} named '{task}x'; did you mean '{task}'"):
        load_task(f"{pack}/{task}x")
    with pytest.raises(NotFoundError, match="no pack named 'librero'"):
        load_pack("librero")
    with pytest.raises(HandloomError, match=f"{pack} is a pack of tasks; handloom list tasks --pack {pack} names them"):
        load_task(pack)


def test_tasks_of_one_file_share_its_scene(tmp_path: Path) -> None:
    file = tmp_path / "desk.yaml"
    file.write_text(SCENE)
    first, second = load_task(file), load_task(file, index=1)
    assert (first.name, second.name) == ("put_the_cube_away", "put_the_ball_away")
    assert [entry.name for entry in first.config.objects] == ["cube", "bowl"]
    assert [entry.name for entry in second.config.objects] == ["bowl", "ball"]
    assert second.config.data.max_episode_length == 1234
    assert second.config.data.fps == 20
    assert first.config.robots == second.config.robots


def test_a_mistake_in_a_shared_scene_is_shown_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "desk.yaml"
    file.write_text(SCENE.replace("category: bowl", "category: bowll"))
    with pytest.raises(ConfigError, match=r"desk.yaml:5: .*bowll"):
        load_task(file)
    file.write_text(SCENE.replace("{place: ball, in: bowl}", "{place: ball, inn: bowl}"))
    with pytest.raises(ConfigError, match=r"desk.yaml:15: "):
        load_task(file, index=1)


def test_a_pack_file_may_be_named_by_its_path() -> None:
    pack = load_pack(pack_names()[0])
    name, place = next(iter(pack.tasks.items()))
    assert load_task(place.file, index=place.index or 0).name == f"{pack.name}/{name}"


def test_published_rates_are_looked_up_by_our_robot() -> None:
    facts = PublishedRates(by="x", robots=("A", "B"), compared_with={"fr3": "B"}, rates={"t": (1.0, 2.0)})
    pack = load_pack(pack_names()[0])
    config = PackConfig(title="x", robots=("fr3",), published=facts)
    other = type(pack)(name="x", folder=pack.folder, config=config, tasks={})
    assert other.published("t", "fr3") == 2.0
    assert other.published("t", "so101") is None
    assert other.published("other", "fr3") is None


def test_a_rate_is_needed_for_every_robot(tmp_path: Path) -> None:
    file = tmp_path / "pack.yaml"
    file.write_text("title: x\nrobots: [fr3]\npublished: {by: x, robots: [A, B], rates: {t: [50]}}\n")
    with pytest.raises(ConfigError, match="t: 2 rates from 0 to 100 % are needed"):
        load_config(file, PackConfig)


def test_a_hand_that_pushed_opens_before_it_takes_a_handle() -> None:
    task = load_task("libero/KITCHEN_SCENE4_close_the_bottom_drawer_of_the_cabinet_and_open_the_top_drawer")
    (stage,) = task.config.skills
    (blocks,) = stage.values()
    skills = [skill for block in blocks for lane in block.values() for skill in lane]
    assert [skill.name for skill in skills] == ["close", "gripper__action", "open"]
