"""The walking trainer trains what is deployed: the same observations, the same network, the same mirror image."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import mujoco
import numpy as np
import pytest
from tests.isaac.policy.onnx_files import write_linear

from handloom.isaac.policy import PolicyController, PolicyEnv
from handloom.isaac.wheeled import floor_world
from handloom.robots import RobotDescription, load_robot

FOLDER = Path(__file__).parents[2] / "examples" / "train_walking"
ROBOTS = ("go2", "h1")


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules of the trainer that need no torch."""
    monkeypatch.syspath_prepend(FOLDER)
    import gaits
    import reference
    import walking

    yield SimpleNamespace(gaits=gaits, reference=reference, walking=walking)
    for name in ("gaits", "reference", "walking", "ppo", "export", "train"):
        sys.modules.pop(name, None)


@pytest.fixture
def torch_parts(trainer: SimpleNamespace) -> tuple[ModuleType, ModuleType, ModuleType]:
    pytest.importorskip("torch")
    import export
    import ppo
    import train

    return ppo, export, train


def env_of(robot: RobotDescription) -> PolicyEnv:
    return PolicyEnv(robot.folder / "policy" / "env.yaml")


@pytest.mark.parametrize("name", ROBOTS)
def test_the_trainer_sees_what_the_controller_sees(trainer: SimpleNamespace, tmp_path: Path, name: str) -> None:
    robot = load_robot(name)
    env, joints, rng = env_of(robot), robot.config.dof_names, np.random.default_rng(3)
    walkers = trainer.walking.WalkingBatch(trainer.gaits.GAITS[name], env, count=4, threads=1, rng=rng)
    for _ in range(5):
        walkers.step(rng.normal(0.0, 0.2, (4, len(joints))))
    seen = walkers.critic_view()[:, : env.observation_size(len(joints))]

    world = floor_world(robot)
    controller = PolicyController(name, world, "robot/", dof_names=joints)
    shape = (len(joints), env.observation_size(len(joints)))
    controller.load_policy(write_linear(tmp_path / "p.onnx", np.zeros(shape), np.zeros(shape[0])), env.file)
    controller.initialize()
    for row in range(4):
        # Both models hold one robot with a free base first, in the same order.
        world.data.qpos[:], world.data.qvel[:] = walkers.batch.qpos[row], walkers.batch.qvel[row]
        world.forward()
        controller._previous_action, controller._phase = walkers._action[row], float(walkers.phase[row])
        np.testing.assert_allclose(controller._compute_observation(walkers.command[row]), seen[row], atol=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_reference_walks_on_the_floor_at_the_speed_of_the_command(trainer: SimpleNamespace, name: str) -> None:
    """Feet on the floor move back under the base as fast as it should go, and do not leave the floor."""
    robot, gait = load_robot(name), trainer.gaits.GAITS[name]
    env, model = env_of(robot), robot.compile()
    command, dt = np.array([[0.5, 0.0, 0.0]]), 0.01
    frequency = env.gait()["frequency"]
    # A moment in the middle of the first foot's stance, when the pelvis of h1 does not sway.
    phase = gait.stance / 2.0
    feet = []
    for shift in (-dt / 2.0, dt / 2.0):
        angles = trainer.reference.REFERENCES[name](gait, env, np.array([phase + shift * frequency]), command)[0]
        data = mujoco.MjData(model)
        for joint, angle in zip(robot.config.dof_names, angles, strict=True):
            data.joint(joint).qpos = angle
        data.qpos[2] = gait.base_height
        mujoco.mj_kinematics(model, data)
        feet.append(np.mean([data.site(site).xpos for site in gait.feet[0]], axis=0))
    velocity = (feet[1] - feet[0]) / dt
    assert velocity[0] == pytest.approx(-0.5, abs=0.03)
    assert velocity[1:] == pytest.approx([0.0, 0.0], abs=0.03)
    assert feet[0][2] == pytest.approx(gait.sole, abs=0.012)


def test_the_mirror_image_of_a_mirror_image_is_the_robot(torch_parts: tuple[ModuleType, ...]) -> None:
    ppo = torch_parts[0]
    import gaits

    for name in ROBOTS:
        robot = load_robot(name)
        joints = ppo.mirror_joints(gaits.GAITS[name], robot.config.dof_names)
        seen = ppo.mirror_observation(env_of(robot), joints)
        np.testing.assert_array_equal(joints @ joints, np.eye(len(joints)))
        np.testing.assert_array_equal(seen @ seen, np.eye(len(seen)))
        # A symmetric stance is its own mirror image.
        home = env_of(robot).joint_properties(robot.config.dof_names).default_pos
        np.testing.assert_allclose(joints @ home, home, atol=1e-7)


def test_a_short_training_writes_a_policy_that_the_controller_runs(
    torch_parts: tuple[ModuleType, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx
    import torch

    _, export, train = torch_parts
    train.main(train.Options(robot="go2", output=tmp_path, steps=2 * 16 * 24, robots=16, threads=1))
    assert "reference learned" in capsys.readouterr().out
    assert len((tmp_path / "curve.csv").read_text().splitlines()) == 3
    actor = export.restored_actor("go2", tmp_path / "checkpoint.pt")
    onnx.save(export.to_onnx(actor), str(tmp_path / "policy.onnx"))

    robot = load_robot("go2")
    controller = PolicyController("go2", floor_world(robot), "robot/", dof_names=robot.config.dof_names)
    controller.load_policy(tmp_path / "policy.onnx", env_of(robot).file)
    rng = np.random.default_rng(0)
    for seen in rng.normal(size=(5, 50)):
        with torch.no_grad():
            expected = actor(torch.from_numpy(seen.astype(np.float32))[None])[0].numpy()
        np.testing.assert_allclose(controller._compute_action(seen), expected, atol=1e-5)
        # What the policy does in the mirror is the mirror image of what it does.
        with torch.no_grad():
            mirrored = controller._compute_action(actor.mirror_in.numpy() @ seen)
        np.testing.assert_allclose(mirrored, actor.mirror_out.numpy() @ expected, atol=1e-4)
