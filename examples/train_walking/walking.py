"""Many robots that learn to walk in parallel: MuJoCo's batch, commands, pushes, rewards."""

import mujoco
import numpy as np
from gaits import WEIGHTS, Gait
from mujoco.batch import Batch
from numpy.typing import NDArray
from reference import REFERENCES

from handloom.isaac.policy.observations import Reading, advance_phase, is_moving
from handloom.isaac.policy.policy_env import PolicyEnv
from handloom.robots import load_robot

Array = NDArray[np.float64]

EPISODE_S = 20.0
COMMAND_S = (3.0, 8.0)
PUSH_S = (3.0, 8.0)
# A foot this close to the floor counts as touching it [m].
TOUCH = 0.003
# Width of the reward for the right speed: squared errors at which it falls to 1/e.
VELOCITY_WIDTH, TURN_WIDTH = 0.07, 0.12
# Standard deviation of the sensor noise: m/s, rad/s, -, rad, rad/s.
NOISE = {"lin_vel": 0.05, "ang_vel": 0.1, "gravity": 0.02, "joint_pos": 0.01, "joint_vel": 0.4}


def training_model(gait: Gait, env: PolicyEnv) -> mujoco.MjModel:
    """Return the robot on a floor that only its feet touch, with a cheap solver: a fifth of the time per step."""
    robot = load_robot(gait.robot)
    spec = robot.spec()
    spec.option.timestep = env.dt
    spec.option.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
    spec.option.impratio = 1.0
    spec.option.iterations, spec.option.ls_iterations = 6, 12
    for geom in list(spec.geoms):
        if "foot" not in geom.name:
            spec.delete(geom)
        else:
            geom.contype, geom.conaffinity = 0, 1
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=0)
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    model = spec.compile()
    joints = robot.config.dof_names
    properties = env.joint_properties(joints)
    for i, name in enumerate(joints):
        actuator = model.actuator(name).id
        model.actuator_gainprm[actuator, 0] = properties.stiffness[i]
        model.actuator_biasprm[actuator, 1:3] = -properties.stiffness[i], -properties.damping[i]
        model.actuator_ctrllimited[actuator] = False
    return model


class WalkingBatch:
    """Robots on a floor, each with its own command, friction, load and pushes.

    Args:
        gait: The gait to learn.
        env: Observations and actions of the policy.
        count: Number of robots.
        threads: Threads of the physics.
        rng: Source of all randomness.
    """

    def __init__(self, gait: Gait, env: PolicyEnv, *, count: int, threads: int, rng: np.random.Generator) -> None:
        self.gait, self.env, self.count, self._rng = gait, env, count, rng
        model = training_model(gait, env)
        self.joints = load_robot(gait.robot).config.dof_names
        self.batch = Batch(model, count, threads)
        self.weights = {**WEIGHTS, **gait.weights}
        self.level = gait.first_level
        """-1: a harness holds the base upright; 0: no harness, slow commands, no pushes; 1: full commands, pushes."""
        self._properties = env.joint_properties(self.joints)
        self._scale = env.action_scale(self.joints)
        self._commands = env.command_ranges()
        ids = [model.joint(name).id for name in self.joints]
        self._q, self._v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        self._u = [model.actuator(name).id for name in self.joints]
        self._range = model.jnt_range[ids]
        self._sites = np.array([[model.site(name).id for name in foot] for foot in gait.feet])
        self._qpos, self._qvel = self.batch.bind("qpos"), self.batch.bind("qvel")
        self._ctrl, self._warm = self.batch.bind("ctrl"), self.batch.bind("qacc_warmstart")
        self._pull, self._base = self.batch.bind("xfrc_applied"), model.body(gait.base).id
        self._site_xpos, self._force = self.batch.bind("site_xpos"), self.batch.bind("actuator_force")
        self._randomize(model)
        n = len(self.joints)
        self.command, self.phase = np.zeros((count, 3)), np.zeros(count)
        self._action, self._last_action = np.zeros((count, n)), np.zeros((count, n))
        self._time, self._next_command, self._next_push = np.zeros(count), np.zeros(count), np.zeros(count)
        self._old_vel, self._feet = np.zeros((count, n)), np.zeros((count, *self._sites.shape, 3))
        self._reset(np.arange(count))
        # Spread the ends of episodes; otherwise all robots would restart at the same time.
        self._time = rng.uniform(0.0, EPISODE_S, count)

    # -- interface of the learner ----------------------------------------------------------------------------------

    def policy_view(self) -> Array:
        """Return the observations of the policy (count, k), with noise."""
        exact = self._reading()
        noisy = {
            key: getattr(exact, key) + width * self._rng.normal(size=getattr(exact, key).shape)
            for key, width in NOISE.items()
        }
        return self.env.observe(Reading(**{**exact.__dict__, **noisy}))

    def critic_view(self) -> Array:
        """Return the observations of the critic: the same without noise, plus values that no robot can measure."""
        heights = self._feet[..., 2].min(axis=2) - self.gait.sole
        more = [heights, heights < TOUCH, self._qpos[:, 2:3], self._friction[:, None], self._load[:, None]]
        return np.concatenate([self.env.observe(self._reading()), *more], axis=1)

    def step(self, action: Array) -> tuple[Array, Array, Array, dict[str, float]]:
        """Drive all robots for a control period.

        Returns:
            Rewards (count,), which robots fell (count,), which reached the time limit (count,), and the mean of each
            reward term.
        """
        before = self._action
        self._ctrl[:, self._u] = self._properties.default_pos + self._scale * action
        self._pull[:, self._base] = self._harness() if self.level < 0.0 else 0.0
        self.batch.step(nstep=self.env.decimation)
        self._action = action
        self._time += self.env.period
        feet = self._site_xpos[:, self._sites]
        terms = self._terms(action, before, feet)
        self._last_action, self._feet = before, feet
        self._old_vel = self._qvel[:, self._v].copy()
        self.phase = advance_phase(self.phase, self.command, self.env.gait(), self.env.period)
        reward = sum(self.weights[name] * value for name, value in terms.items()) * self.env.period
        gravity = _down(self._qpos[:, 3:7])
        broken = ~np.isfinite(self._qpos).all(axis=1) | ~np.isfinite(self._qvel).all(axis=1)
        fell = (gravity[:, 2] > -0.6) | (self._qpos[:, 2] < self.gait.fall_height) | broken
        late = (self._time >= EPISODE_S) & ~fell
        reward = np.nan_to_num(reward, nan=0.0)
        means = {name: float(np.nanmean(value)) for name, value in terms.items()}
        return reward, fell, late, means

    def start_over(self, fell: Array, late: Array) -> None:
        """Reset finished robots, and give new commands and pushes when they are due."""
        done = np.flatnonzero(fell | late)
        if done.size:
            self._reset(done)
        self._give_commands(np.flatnonzero(self._time >= self._next_command))
        self._push(np.flatnonzero(self._time >= self._next_push))

    def reference(self, ahead: float = 0.0) -> Array:
        """Return the joint angles of the reference (count, n), now or some seconds ahead [rad]."""
        phase = self.phase + ahead * self.env.gait()["frequency"]
        return REFERENCES[self.gait.robot](self.gait, self.env, phase, self.command)

    def reference_action(self) -> Array:
        """Return the action (count, n) that follows the reference; servos lag by about a control period."""
        return (self.reference(self.env.period) - self._properties.default_pos) / self._scale

    @property
    def difficulty(self) -> float:
        """Scale of commands and pushes, 0 to 1."""
        return max(0.0, self.level)

    def _harness(self) -> Array:
        """Return force and torque (count, 6) of the harness on the base, in the world frame: righting, lift, pull."""
        right, carry, lead = self.gait.harness
        from_body = self._qpos[:, 3:7] * [1.0, -1.0, -1.0, -1.0]
        upward = _to_body(from_body, np.tile([0.0, 0.0, 1.0], (self.count, 1)))
        spin = _to_body(from_body, self._qvel[:, 3:6])
        wanted = _to_body(from_body, self.command * [1.0, 1.0, 0.0])
        pull = np.zeros((self.count, 6))
        pull[:, :2] = lead * (wanted - self._qvel[:, :3])[:, :2]
        pull[:, 2] = carry * np.maximum(self.gait.base_height - self._qpos[:, 2], 0.0)
        # The z axis of the base is rotated back to the vertical about their cross product.
        pull[:, 3], pull[:, 4] = upward[:, 1], -upward[:, 0]
        pull[:, 3:5] = right * (pull[:, 3:5] - 0.1 * spin[:, :2])
        return -self.level * pull

    # -- randomness --------------------------------------------------------------------------------------------------

    def _randomize(self, model: mujoco.MjModel) -> None:
        rng, count = self._rng, self.count
        self._friction = rng.uniform(0.4, 1.2, count)
        self._load = rng.uniform(-self.gait.payload, self.gait.payload, count)
        self.batch.expand("geom_friction")[:, :, 0] = self._friction[:, None]
        base = self._base
        self.batch.expand("body_mass")[:, base] += self._load
        self.batch.expand("body_ipos")[:, base] += rng.uniform(-0.03, 0.03, (count, 3)) * [1.0, 1.0, 0.5]
        self.batch.set_const()
        stiff, damp = rng.uniform(0.85, 1.15, (2, count, 1))
        self.batch.expand("actuator_gainprm")[:, :, 0] *= stiff
        bias = self.batch.expand("actuator_biasprm")
        bias[:, :, 1] *= stiff
        bias[:, :, 2] *= damp

    def _reset(self, ids: NDArray[np.int64]) -> None:
        rng, k, n = self._rng, len(ids), len(self.joints)
        yaw = rng.uniform(-np.pi, np.pi, k)
        self._qpos[ids] = 0.0
        self._qpos[ids, 2] = self.env.spawn_height + rng.uniform(0.0, 0.02, k)
        self._qpos[ids, 3], self._qpos[ids, 6] = np.cos(yaw / 2), np.sin(yaw / 2)
        self._qpos[np.ix_(ids, self._q)] = self._properties.default_pos + rng.uniform(-0.06, 0.06, (k, n))
        self._qvel[ids] = 0.0
        self._qvel[ids, :6] = rng.uniform(-0.3, 0.3, (k, 6))
        self._ctrl[np.ix_(ids, self._u)] = self._properties.default_pos
        self._warm[ids] = 0.0
        self._action[ids] = self._last_action[ids] = self._old_vel[ids] = 0.0
        self.phase[ids] = self._time[ids] = 0.0
        self._feet[ids] = 0.0
        self._give_commands(ids)
        self._next_push[ids] = rng.uniform(*PUSH_S, k)

    def _give_commands(self, ids: NDArray[np.int64]) -> None:
        rng, k = self._rng, len(ids)
        drawn = rng.uniform(*self._commands.T, (k, 3)) * (0.4 + 0.6 * self.difficulty)
        kind = rng.uniform(size=k)
        drawn[kind < 0.15] = 0.0  # stand
        drawn[(kind >= 0.15) & (kind < 0.3), :2] = 0.0  # turn on the spot
        drawn[(kind >= 0.3) & (kind < 0.5), 1:] = 0.0  # straight ahead
        drawn[(kind >= 0.5) & (kind < 0.55)] *= [0.0, 1.0, 0.0]  # sideways
        small = (np.abs(drawn) < 0.1).all(axis=1)
        drawn[small] = 0.0
        self.command[ids] = drawn
        self._next_command[ids] = self._time[ids] + rng.uniform(*COMMAND_S, k)

    def _push(self, ids: NDArray[np.int64]) -> None:
        rng, k = self._rng, len(ids)
        size = self.gait.push * self.difficulty
        self._qvel[ids, :2] += rng.uniform(-size, size, (k, 2))
        self._qvel[ids, 3:6] += rng.uniform(-size, size, (k, 3))
        self._next_push[ids] = self._time[ids] + rng.uniform(*PUSH_S, k)

    # -- measurements --------------------------------------------------------------------------------------

    def _reading(self) -> Reading:
        quat = self._qpos[:, 3:7]
        return Reading(
            lin_vel=_to_body(quat, self._qvel[:, :3]),
            ang_vel=self._qvel[:, 3:6],
            gravity=_down(quat),
            command=self.command,
            joint_pos=self._qpos[:, self._q] - self._properties.default_pos,
            joint_vel=self._qvel[:, self._v] - self._properties.default_vel,
            last_action=self._action,
            phase=self.phase,
        )

    def _stance_width(self, feet: Array) -> Array:
        """Return the lateral distance of the first (left) foot from the second (count,) [m]."""
        across = (feet[:, 0] - feet[:, 1]).mean(axis=1)
        return _to_body(self._qpos[:, 3:7], across)[:, 1]

    def _terms(self, action: Array, before: Array, feet: Array) -> dict[str, Array]:
        gait, reading = self.gait, self._reading()
        moving = is_moving(self.command)
        error = np.sum(np.square(self.command[:, :2] - reading.lin_vel[:, :2]), axis=1)
        turn_error = np.square(self.command[:, 2] - reading.ang_vel[:, 2])
        on_floor = feet[..., 2] - gait.sole < TOUCH
        touching = on_floor.any(axis=2)
        height = feet[..., 2].min(axis=2) - gait.sole
        cycle = np.mod(self.phase[:, None] + np.array(gait.offsets), 1.0)
        swinging = (cycle >= gait.stance) & moving[:, None]
        part = np.clip((cycle - gait.stance) / (1.0 - gait.stance), 0.0, 1.0)
        wanted = np.where(swinging, gait.swing_height * np.sin(np.pi * part) ** 2, 0.0)
        # After a reset, feet have no previous position.
        known = self._feet.any(axis=3, keepdims=True)
        moved = np.where(known, feet - self._feet, 0.0)[..., :2] / self.env.period
        slip = np.mean(np.sum(np.square(moved), axis=3) * on_floor, axis=2)
        joint_vel = reading.joint_vel
        force = self._force[:, self._u]
        limit = self._range * 0.95
        angle = self._qpos[:, self._q]
        beyond = np.maximum(limit[:, 0] - angle, 0.0) + np.maximum(angle - limit[:, 1], 0.0)
        still = ~moving
        return {
            "alive": np.ones(self.count),
            "velocity": np.exp(-error / VELOCITY_WIDTH),
            "turning": np.exp(-turn_error / TURN_WIDTH),
            "rhythm": np.mean(touching != swinging, axis=1),
            "likeness": np.exp(-np.sum(np.square(angle - self.reference()), axis=1) / gait.likeness),
            "lift": np.sum(np.square(height - wanted) * swinging, axis=1),
            "height": np.square(self._qpos[:, 2] - gait.base_height),
            "upright": np.sum(np.square(reading.gravity[:, :2]), axis=1),
            "bounce": np.square(reading.lin_vel[:, 2]),
            "rolling": np.sum(np.square(reading.ang_vel[:, :2]), axis=1),
            "slip": np.sum(slip, axis=1),
            "crossing": np.maximum(gait.narrowest - self._stance_width(feet), 0.0),
            "standing": still * (np.sum(np.abs(reading.joint_pos), axis=1) + 0.05 * np.sum(np.abs(joint_vel), axis=1)),
            "torque": np.sum(np.square(force), axis=1),
            "power": np.sum(np.abs(force * joint_vel), axis=1),
            "acceleration": np.sum(np.square((joint_vel - self._old_vel) / self.env.period), axis=1),
            "action_rate": np.sum(np.square(action - before), axis=1),
            "action_jerk": np.sum(np.square(action - 2.0 * before + self._last_action), axis=1),
            "limits": np.sum(beyond, axis=1),
        }


def _down(quat: Array) -> Array:
    """Return the direction of gravity (n, 3) in frames with orientations (n, 4)."""
    w, x, y, z = quat.T
    return np.stack([-2 * (x * z - w * y), -2 * (y * z + w * x), -(1 - 2 * (x * x + y * y))], axis=1)


def _to_body(quat: Array, vector: Array) -> Array:
    """Return world vectors (n, 3) in frames with orientations (n, 4)."""
    w, u = quat[:, :1], -quat[:, 1:]
    t = 2.0 * np.cross(u, vector)
    return vector + w * t + np.cross(u, t)
