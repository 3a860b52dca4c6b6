"""An environment file of the published kind says what a policy sees, drives and starts from."""

from pathlib import Path

import numpy as np
import pytest

from handloom.errors import ConfigError
from handloom.isaac.policy import PolicyEnv, Reading
from handloom.isaac.policy.policy_env import UNLIMITED, matches, per_joint
from handloom.robots import load_robot

JOINTS = ("FL_hip_joint", "FR_hip_joint", "FL_calf_joint", "FR_calf_joint")

# The keys, tags and odd corners that Isaac Lab writes; the rest of such a file is passed over.
PUBLISHED = """
viewer:
  eye: !!python/tuple
  - 7.5
  - 7.5
sim:
  dt: 0.005
  render_interval: 4
  device: cuda:0
decimation: 4
scene:
  num_envs: 4096
  robot:
    class_type: isaaclab.assets.articulation.articulation:Articulation
    spawn:
      func: !!python/name:isaaclab.sim.spawners.spawn_from_usd ''
      articulation_props: {enabled_self_collisions: false, solver_position_iteration_count: 4}
    init_state:
      pos: !!python/tuple
      - 0.0
      - 0.0
      - 0.4
      joint_pos: {.*L_hip_joint: 0.1, .*R_hip_joint: -0.1, .*_calf_joint: -1.5}
      joint_vel: {.*: 0.0}
    actuators:
      base_legs:
        joint_names_expr: [.*_hip_joint, .*_calf_joint]
        effort_limit: {.*_hip_joint: 23.5, .*_calf_joint: .inf}
        velocity_limit: null
        stiffness: 25.0
        damping: {.*: 0.5}
        armature: null
        friction: 0.0
observations:
  policy:
    concatenate_terms: true
    enable_corruption: false
    base_lin_vel:
      func: isaaclab.envs.mdp.observations:base_lin_vel
      params: {}
      noise: {func: isaaclab.utils.noise.noise_model:uniform_noise, n_min: -0.1, n_max: 0.1}
      clip: null
      scale: 2.0
    velocity_commands:
      func: isaaclab.envs.mdp.observations:generated_commands
      params: {command_name: base_velocity}
    joint_pos: {func: isaaclab.envs.mdp.observations:joint_pos_rel, clip: !!python/tuple [-1.0, 1.0]}
    actions: {func: isaaclab.envs.mdp.observations:last_action}
actions:
  joint_pos:
    class_type: isaaclab.envs.mdp.actions.joint_actions:JointPositionAction
    asset_name: robot
    joint_names: [.*]
    scale: 0.25
    use_default_offset: true
events:
  reset: {slices: !!python/object/apply:builtins.slice [null, 3, null]}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "env.yaml"
    path.write_text(PUBLISHED)
    return path


def read_whole(file: Path) -> None:
    env = PolicyEnv(file)
    env.joint_properties(JOINTS)
    env.action_scale(JOINTS)


def reading(**given: object) -> Reading:
    plain = {"lin_vel": np.zeros(3), "ang_vel": np.zeros(3), "gravity": np.array([0.0, 0.0, -1.0])}
    joints = {key: np.zeros(4) for key in ("joint_pos", "joint_vel", "last_action")}
    return Reading(**{**plain, **joints, "command": np.zeros(3), "phase": np.array(0.0), **given})


def test_a_published_file_is_read_with_its_python_tags(file: Path) -> None:
    env = PolicyEnv(file)
    assert env.period == pytest.approx(0.02)
    assert env.spawn_height == 0.4
    properties = env.joint_properties(JOINTS)
    assert properties.default_pos.tolist() == [0.1, -0.1, -1.5, -1.5]
    assert properties.stiffness.tolist() == [25.0] * 4
    assert properties.damping.tolist() == [0.5] * 4
    assert properties.effort_limit.tolist() == [23.5, 23.5, UNLIMITED, UNLIMITED]
    assert properties.velocity_limit.tolist() == [UNLIMITED] * 4
    assert np.isnan(properties.armature).all()
    assert env.action_scale(JOINTS).tolist() == [0.25] * 4
    assert np.isinf(env.command_ranges()).all()


def test_the_observation_has_the_terms_of_the_file_in_its_order(file: Path) -> None:
    env = PolicyEnv(file)
    assert env.layout(4) == "base_lin_vel 3 + velocity_commands 3 + joint_pos 4 + actions 4 = 14"
    seen = env.observe(
        reading(
            lin_vel=np.array([0.5, 0, 0]),
            command=np.array([1.0, 2.0, 3.0]),
            joint_pos=np.array([0.2, -3.0, 0, 0]),
            last_action=np.array([7.0, 0, 0, 0]),
        )
    )
    assert seen.tolist() == [1.0, 0, 0, 1, 2, 3, 0.2, -1.0, 0, 0, 7.0, 0, 0, 0]


def test_many_robots_are_observed_as_each_would_be_alone() -> None:
    robot = load_robot("go2")
    env = PolicyEnv(robot.folder / "policy" / "env.yaml")
    rng, n = np.random.default_rng(0), len(robot.config.dof_names)
    sizes = {"lin_vel": 3, "ang_vel": 3, "gravity": 3, "command": 3, "joint_pos": n, "joint_vel": n, "last_action": n}
    batch = {key: rng.normal(size=(5, size)) for key, size in sizes.items()} | {"phase": rng.uniform(size=5)}
    batch["command"][2] = 0.0
    together = env.observe(Reading(**batch))
    assert together.shape == (5, env.observation_size(n)) == (5, 50)
    for row in range(5):
        alone = env.observe(Reading(**{key: np.asarray(values[row]) for key, values in batch.items()}))
        np.testing.assert_array_equal(alone, together[row])
    # The clock of a robot that is told nothing does not tick.
    assert together[2, -2:].tolist() == [0.0, 0.0]
    assert np.hypot(*together[0, -2:]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("decimation: 4", "", r"env.yaml:1: decimation: this key is required and missing"),
        ("decimation: 4", "decimation: 0", r"env.yaml:\d+: decimation: must be greater than zero"),
        ("  dt: 0.005", "  dt: fast", r"sim.dt: must be a number, got 'fast'"),
        (
            "observations:base_lin_vel",
            "observations:base_line_vel",
            r"base_lin_vel.func: no observation 'base_line_vel'",
        ),
        ("stiffness: 25.0", "stiffness: {.*_knee: 3}", r"base_legs.stiffness..\*_knee: names no joint"),
        ("stiffness: 25.0", "stiffness: soft", r"base_legs.stiffness: must be a number, got 'soft'"),
        ("stiffness: 25.0", "stiffness: .nan", r"base_legs.stiffness: must be a number, got nan"),
        ("joint_names_expr: [.*_hip_joint, .*_calf_joint]", "joint_names_expr: [wheel]", "names no joint"),
        ("joint_names: [.*]", "joint_names: [.*_hip_joint]", "names no joint 'FL_calf_joint'"),
        ("    joint_names: [.*]\n", "", "one action with joint_names is needed, found none"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_field(file: Path, old: str, new: str, words: str) -> None:
    assert old in PUBLISHED
    file.write_text(PUBLISHED.replace(old, new))
    with pytest.raises(ConfigError, match=words):
        read_whole(file)


def test_patterns_are_regular_expressions_or_the_published_shell_patterns() -> None:
    assert matches(".*_hip_joint", "FL_hip_joint")
    assert matches("F[L,R]_thigh_joint", "FR_thigh_joint")
    assert matches("(left|right)_knee", "left_knee")
    assert matches("FL_hip", "FL_hip_joint")
    assert not matches(".*_calf_joint", "FL_hip_joint")
    values = per_joint({"FL_.*": 1.0, ".*_hip_joint": 2.0}, JOINTS, default=0.0, field="f")
    assert values.tolist() == [1.0, 2.0, 1.0, 0.0]
