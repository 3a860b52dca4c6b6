"""Drive a robot with a trained network."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import InputError, StateError
from handloom.isaac.articulation import SingleArticulation
from handloom.isaac.policy.network import Network, load_network
from handloom.isaac.policy.observations import REST, Reading
from handloom.isaac.policy.policy_env import JointProperties, PolicyEnv
from handloom.sim import World
from handloom.values import ArticulationAction


class PolicyController:
    """A robot whose joint targets come from a network, which runs at a lower rate than physics.

    Load a policy, initialize, then call ``forward`` before every physics step. Its environment file lists the
    observations of the network; its scaled action is added to the default joint positions.

    Args:
        name: Name of the robot, for messages.
        world: The world that holds it.
        prefix: Name prefix of its bodies, joints and actuators.
        position: Position of the base in world (3,) [m].
        orientation: Orientation of the base in world, wxyz (4,).
        dof_names: The joints in the policy's order; None takes that of the model.
    """

    def __init__(
        self,
        name: str,
        world: World,
        prefix: str = "",
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        *,
        dof_names: Sequence[str] | None = None,
    ) -> None:
        self.robot = SingleArticulation(
            world, prefix, name, position=position, orientation=orientation, dof_names=dof_names
        )
        self._env: PolicyEnv | None = None
        self._frequency = 0.0
        self._network: Network | None = None
        self._properties: JointProperties
        self._scale = np.empty(0)
        self._controls: NDArray[np.int64] | None = None
        self._targets = ArticulationAction()
        self._clear()

    def load_policy(self, policy_file_path: str | Path, policy_env_path: str | Path) -> None:
        """Load a network and its environment file, and check that they fit each other and the robot.

        Args:
            policy_file_path: ``.onnx``, or TorchScript ``.pt``.
            policy_env_path: ``env.yaml`` as Isaac Lab writes it.

        Raises:
            ConfigError: A field of the file or of the network is missing, wrong, or does not fit; the message names it.
        """
        env = PolicyEnv(policy_env_path)
        joints = self.robot.dof_names
        self._properties = env.joint_properties(joints)
        self._scale = env.action_scale(joints)
        self._network = load_network(
            policy_file_path,
            inputs=env.observation_size(len(joints)),
            layout=f"{env.layout(len(joints))} ({env.file})",
            outputs=len(joints),
        )
        self._env, self._frequency = env, float(env.gait()["frequency"])
        self._clear()

    @property
    def env(self) -> PolicyEnv:
        """The environment file in use."""
        if self._env is None:
            raise StateError(f"robot {self.robot.name!r} has no policy yet. Call load_policy() first.")
        return self._env

    @property
    def default_pos(self) -> Array:
        """Joint positions (n,) commanded by a zero action [rad]."""
        self.env  # noqa: B018 Raises when there is no policy.
        return self._properties.default_pos

    @property
    def default_vel(self) -> Array:
        """Joint velocities (n,) that the policy sees as zero [rad/s]."""
        self.env  # noqa: B018 Raises when there is no policy.
        return self._properties.default_vel

    def initialize(
        self,
        effort_modes: str = "force",
        control_mode: str = "position",
        set_gains: bool = True,
        set_limits: bool = True,
        set_articulation_props: bool = True,
    ) -> None:
        """Bind to the robot, set its joints to the policy's initial positions, and apply the policy's gains and limits.

        Args:
            effort_modes: Whether gains yield a "force" or an "acceleration".
            control_mode: "position", "velocity" or "effort".
            set_gains: Take stiffness and damping from the environment file.
            set_limits: Take the maximum efforts from the environment file.
            set_articulation_props: No effect: solver settings belong to the world. Accepted for ported
                code.
        """
        del set_articulation_props
        properties = self._properties if self.env else None
        assert properties is not None
        robot = self.robot
        robot.initialize()
        controller = robot.get_articulation_controller()
        controller.set_effort_modes(effort_modes)
        if set_gains:
            controller.set_gains(properties.stiffness, properties.damping)
        if set_limits:
            controller.set_max_efforts(properties.effort_limit)
        controller.switch_control_mode(control_mode)
        robot.set_joints_default_state(properties.default_pos, properties.default_vel)
        robot.set_joint_positions(properties.default_pos)
        self._controls = robot.drives.position_controls()
        self._clear()

    def forward(self, dt: float, command: ArrayLike) -> ArticulationAction:
        """Set the joint targets for the next physics step; the network runs once per control period.

        Args:
            dt: Length of a physics step [s]. It does not change the control period of the policy.
            command: ``[vx, vy, wz]`` [m/s, m/s, rad/s] in the frame of the base.

        Returns:
            The targets in force, which have been applied.

        Raises:
            InputError: The command is not three finite numbers, or dt is not positive.
            StateError: No policy was loaded, the robot was not initialized, or the network returned NaN.
        """
        asked = _command(command)
        if not (np.isfinite(dt) and dt > 0.0):
            raise InputError(f"dt must be a positive number of seconds, got {dt!r}")
        every = max(1, round(self.env.period / dt))
        if self._policy_counter % every == 0:
            self.action = self._compute_action(self._compute_observation(asked))
            self._apply(self._properties.default_pos + self._scale * self.action)
            self._previous_action = self.action
            # The same as advance_phase, without the cost of arrays for a single robot.
            step = self._frequency * self.env.period
            self._phase = (self._phase + step) % 1.0 if asked @ asked > REST**2 else 0.0
        self._policy_counter += 1
        return self._targets

    def post_reset(self) -> None:
        """Return the robot to its default joint positions and clear the policy's state."""
        self.robot.post_reset()
        self._clear()

    def _clear(self) -> None:
        joints = self.robot.num_dof
        self.action = np.zeros(joints)
        self._previous_action = np.zeros(joints)
        self._policy_counter = 0
        self._phase = 0.0

    def _apply(self, positions: Array) -> None:
        self._targets = ArticulationAction(joint_positions=positions)
        if self._controls is None:
            self.robot.apply_action(self._targets)
        else:
            # Writes the same as apply_action, without checking the drive of each joint again.
            self.robot.world.data.ctrl[self._controls] = positions
            self.robot.world.invalidate()

    def _compute_observation(self, command: Array) -> Array:
        """Return the observation (k,) of the network."""
        robot = self.robot
        world, body, drives = robot.world, robot.root.body, robot.drives
        data, velocity = world.data, np.empty(6)
        # Angular, then linear velocity of the base in its own frame.
        mujoco.mj_objectVelocity(world.model, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 1)
        return self.env.observe(
            Reading(
                lin_vel=velocity[3:],
                ang_vel=velocity[:3],
                gravity=-data.xmat[body, 6:],
                command=command,
                joint_pos=data.qpos[drives.qpos] - self._properties.default_pos,
                joint_vel=data.qvel[drives.dof] - self._properties.default_vel,
                last_action=self._previous_action,
                phase=np.array(self._phase),
            )
        )

    def _compute_action(self, observation: Array) -> Array:
        """Return the raw output of the network (n,)."""
        assert self._network is not None
        action = self._network(observation)
        if not np.isfinite(action).all():
            raise StateError(
                f"robot {self.robot.name!r}: the policy returned values that are not finite; "
                f"the observation was {np.round(observation, 3).tolist()}"
            )
        return action


def _command(command: ArrayLike) -> Array:
    try:
        array = np.asarray(command, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"command must be three finite numbers [vx, vy, wz] [m/s, m/s, rad/s], got {command!r}")
    return array
