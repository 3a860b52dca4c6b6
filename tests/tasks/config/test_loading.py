"""Task files: what loads, what is refused and with which words."""

import pytest

from handloom.errors import ConfigError, NotFoundError
from handloom.skills.configs import SKILL_CONFIGS, skill_name
from handloom.tasks import library, load_task

TEXT = library()["fr3_pick_cube"].read_text()

# A task in the published schema, with the keys published files use (spec: pick and place, shortened).
PUBLISHED = """
tasks:
  - name: t
    task: BananaBaseTask
    task_id: 0
    offset: null
    render: True
    asset_root: assets
    arena_file: arenas/table.yaml
    env_map: {envmap_lib: hdr, apply_randomization: true, intensity_range: [4000, 7000], rotation_range: [0, 180]}
    neglect_collision_names: [table]
    robots:
      - {name: franka, robot_config_file: workflows/simbox/core/configs/robots/fr3.yaml, euler: [0, 0, 90],
         ignore_substring: [material, table], use_batch: True}
    objects:
      - {name: fruit, target_class: RigidObject, path: fruit/banana/b_001/Aligned_obj.usd, prim_path_child: Aligned,
         category: banana, dataset: omniobject3d-banana, euler: [0, 0, 0], scale: [1, 1, 1], apply_randomization: true,
         orientation_mode: suggested, translation: [0, 0, 0]}
      - {name: tray, target_class: GeometryObject, path: tray/t0/Aligned_obj.usd, prim_path_child: Aligned,
         euler: [90, 0, 0], scale: [1, 1, 1]}
    regions:
      - {object: fruit, target: table, random_type: A_on_B_region_sampler,
         random_config: {pos_range: [[-0.2, -0.2, 0], [0.2, 0.1, 0]], yaw_rotation: [-180, 180]}}
      - {object: franka, target: table, random_type: A_on_B_region_sampler,
         random_config: {pos_range: [[0, -0.5, -0.1], [0, -0.5, 0]], yaw_rotation: [0, 0]}}
    cameras:
      - {name: franka_head, parent: "", translation: [0.85, -0.75, 1.45], orientation: [0.73, 0.5, 0.26, 0.39],
         camera_axes: usd, camera_file: workflows/simbox/core/configs/cameras/realsense_d455.yaml,
         apply_randomization: true, max_translation_noise: 0.05, max_orientation_noise: 10.0}
    data: {task_dir: demo, language_instruction: Put the fruit on the tray., detailed_language_instruction: "",
           collect_info: "", version: v1, update: True, max_episode_length: 500}
    distractors: {path: lib, min_num: 5, max_num: 10, target: table, pos_range: [[-0.3, -0.3, 0], [0.3, 0.3, 0]],
                  scale: [1, 1, 1], exclude_keywords: [banana], min_object_distance: 0.03}
    skills:
      - franka:
          - left:
              - {name: pick, objects: [fruit], filter_z_dir: [downward, 140], filter_x_dir: [forward, 90],
                 pre_grasp_offset: 0.05, t_eps: 0.01, o_eps: 1, lift_th: 0.02, close_wait_steps: 3,
                 post_grasp_offset_min: 0.05, post_grasp_offset_max: 0.2, process_valid: True, test_mode: ik}
              - {name: place, objects: [fruit, tray], filter_z_dir: [downward, 140], position_constraint: object,
                 success_mode: xybbox, x_ratio_range: [0.4, 0.6]}
              - {name: heuristic__skill, mode: home, gripper_state: 1.0}
"""


@pytest.fixture
def load(tmp_path):
    def load_text(text, **options):
        file = tmp_path / "task.yaml"
        file.write_text(text)
        return load_task(file, **options)

    return load_text


def error_of(load, text, **options):
    with pytest.raises(ConfigError) as caught:
        load(text, **options)
    return str(caught.value)


def test_a_task_in_the_published_schema_loads_unchanged(load):
    task = load(PUBLISHED)
    assert [s.name for s in task.config.skills[0]["franka"][0]["left"]] == ["pick", "place", "heuristic__skill"]


def test_keys_without_effect_are_reported_in_one_line_each(load):
    notices = load(PUBLISHED).notices
    assert any("task has no effect here" in line for line in notices)
    assert any(line.startswith("skills.0.franka.0.left.0.close_wait_steps has no effect here") for line in notices)


def test_every_task_of_the_library_loads():
    for name in library():
        assert load_task(name).config.skills


def test_a_task_nobody_knows_is_refused_with_the_nearest():
    with pytest.raises(NotFoundError, match="did you mean 'fr3_pick_cube'"):
        load_task("fr3_pick_cub")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("objects: [cube]", "objects: [cubes]", "did you mean 'cube'?"),
        ("target: table", "target: tabel", "did you mean 'table'?"),
        ("name: pick,", "name: pik,", "did you mean 'pick'?"),
        ("- franka:", "- frank:", "did you mean 'franka'?"),
        ("- left:", "- middle:", "an arm is 'left', 'right' or 'nearest', got 'middle'"),
        ("[downward, 140]", "[sideways, 140]", "must be one of forward"),
        ("objects: [cube]", "objects: []", "pick needs 1 object"),
        ("max_episode_length: 400", "max_episode_length: -4", "greater than 0"),
        ("arena_file: arenas/table.yaml", "arena_file: arenas/tabel.yaml", "was not found; searched"),
        ("left_joint_home:", "left_joint_hom:", "did you mean 'left_joint_home'?"),
        ("- {name: cube,", "- {name: franka,", "different names; used twice: franka"),
        ("category: cube,", "", "give a path"),
    ],
)
def test_mistakes_are_named_with_what_exists(load, old, new, expected):
    assert old in TEXT
    assert expected in error_of(load, TEXT.replace(old, new))


def test_overrides_start_inside_the_task(load):
    assert load(TEXT, overrides=["data.max_episode_length=77"]).config.data.max_episode_length == 77
    assert "did you mean 'data'" in error_of(load, TEXT, overrides=["dat.max_episode_length=77"])


def test_both_spellings_of_a_skill_are_the_same_skill():
    assert skill_name("goto_pose") == skill_name("goto__pose") == "goto__pose"
    assert skill_name("failpick") == "fail_pick"
    assert all(skill_name(name) == name for name in SKILL_CONFIGS)


def test_keys_beside_the_tasks_of_a_base_are_told_where_they_belong(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "base: fr3_pick_place.yaml\nrobots: [{name: franka, euler: [0, 0, 80]}]\ntable_height: [0.7, 0.8]\n"
    )
    with pytest.raises(ConfigError) as told:
        load_task(file)
    example = "tasks:\n    - name: fr3_pick_place\n      robots: ...\n      table_height: ..."
    assert str(told.value) == (
        f"{file}:2: robots: fr3_pick_place.yaml has a list of tasks; write what you change inside the one of that name:"
        f"\n  {example}"
    )
    nested = example.replace("...", "[{name: franka, euler: [0, 0, 80]}]", 1).replace("...", "[0.7, 0.8]")
    file.write_text(f"base: fr3_pick_place.yaml\n  {nested}\n".replace("\n  ", "\n"))
    task = load_task(file)
    assert task.config.robots[0].euler == (0.0, 0.0, 80.0)
    assert task.config.table_height == (0.7, 0.8)


def test_a_list_of_tasks_over_a_base_that_is_one_task_is_told_so(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("base: fr3_drop_in_box.yaml\ntasks:\n  - table_height: [0.7, 0.8]\n")
    with pytest.raises(ConfigError, match=r"mine.yaml:2: tasks: \w+.yaml is one task and no list of tasks; leave out"):
        load_task(file)
