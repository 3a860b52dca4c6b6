"""One MuJoCo model and its data: the only place where physics advances."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from handloom.arrays import Array
from handloom.errors import ConfigError, InputError, StateError, unknown_name
from handloom.sim.attachments import Attachments
from handloom.sim.contacts import Contact, ContactPair, all_contacts, contact_masks
from handloom.sim.faults import describe_fault, quiet_mujoco
from handloom.sim.name_table import NameTable
from handloom.sim.user_data import user_data
from handloom.spatial import make_pose, pos_quat_from_pose, relative_pose

Mask = NDArray[np.bool_]

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_KINDS = mujoco.mjtObj
_SCALAR_JOINTS = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)


class World:
    """A compiled model, its data, and the names in it.

    The world owns the model it is given. It switches off MuJoCo's automatic reset and its log, because an unstable
    simulation is an error here and not a silent return to the start. Every query is a function of the integration
    state, so a restored world returns the same values as the saved one: poses are up to date after ``step``, contacts
    and forces when they are queried. Code that reads ``data.contact`` and the like itself calls ``refresh`` first.

    Args:
        model: Compiled model; body sleep and IPC must be off, since their bookkeeping is not part of the state.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        flags = mujoco.mjtEnableBit
        for flag, word in ((flags.mjENBL_SLEEP, "sleep"), (flags.mjENBL_IPC, "ipc")):
            if model.opt.enableflags & flag:
                raise InputError(
                    f'the model enables "{word}", whose bookkeeping is not part of the state: a restored run would not '
                    f'continue bit for bit; compile it with <option><flag {word}="disable"/></option>'
                )
        quiet_mujoco()
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model = model
        self.data = mujoco.MjData(model)
        self.bodies = NameTable(model, "body", _KINDS.mjOBJ_BODY, model.nbody)
        self.joints = NameTable(model, "joint", _KINDS.mjOBJ_JOINT, model.njnt)
        self.actuators = NameTable(model, "actuator", _KINDS.mjOBJ_ACTUATOR, model.nactuator)
        self.geoms = NameTable(model, "geom", _KINDS.mjOBJ_GEOM, model.ngeom)
        self.sites = NameTable(model, "site", _KINDS.mjOBJ_SITE, model.nsite)
        self.cameras = NameTable(model, "camera", _KINDS.mjOBJ_CAMERA, model.ncam)
        self.equalities = NameTable(model, "equality", _KINDS.mjOBJ_EQUALITY, model.neq)
        self.keyframes = NameTable(model, "keyframe", _KINDS.mjOBJ_KEY, model.nkey)
        self._state_size = mujoco.mj_stateSize(model, _STATE)
        self._attachments = Attachments(model, self.data, self.equalities)
        self._user_data = user_data(model, self.data, after=self._attachments.user_data_size)
        self._before = np.empty(self._state_size)
        # A live view of MuJoCo's warning counters; kept at zero, so that one check shows whether a step raised any.
        self._faults = self.data.warning.number
        # Masks, not the pairs: a pair refers to its world, and a reference cycle would keep the world alive until
        # garbage collection.
        self._masks: dict[tuple[tuple[str, ...], tuple[str, ...] | None], tuple[Mask, Mask]] = {}
        self._subtrees: dict[str, tuple[str, ...]] = {}
        self._before_step: list[Callable[[], None]] = []
        self._after_step: list[Callable[[], None]] = []
        self._stale = True
        self.forward()

    @classmethod
    def from_spec(cls, spec: mujoco.MjSpec) -> "World":
        """Compile a spec and build a world from it."""
        try:
            return cls(spec.compile())
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise ConfigError(f"{spec.modelname or 'model'}: {error}") from error

    @classmethod
    def from_xml_path(cls, path: str | Path) -> "World":
        """Load an MJCF or URDF file; a fault in it is a ConfigError that starts with the file."""
        try:
            model = mujoco.MjModel.from_xml_path(str(path))
        except ValueError as error:
            raise ConfigError(f"{path}: {error}") from error
        return cls(model)

    @classmethod
    def from_xml_string(cls, text: str) -> "World":
        """Load a model from MJCF text."""
        try:
            model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise ConfigError(f"<xml string>: {error}") from error
        return cls(model)

    # -- names ---------------------------------------------------------------------------------------------------

    def body_index(self, name: str) -> int:
        """Return the index of a body."""
        return self.bodies[name]

    def joint_index(self, name: str) -> int:
        """Return the index of a joint."""
        return self.joints[name]

    def qpos_index(self, joint: str) -> int:
        """Return the index in ``data.qpos`` where the position of a joint starts."""
        return int(self.model.jnt_qposadr[self.joints[joint]])

    def dof_index(self, joint: str) -> int:
        """Return the index in ``data.qvel`` where the velocity of a joint starts."""
        return int(self.model.jnt_dofadr[self.joints[joint]])

    def ctrl_index(self, actuator: str) -> int:
        """Return the index in ``data.ctrl`` where the controls of an actuator start; an actuator may have several."""
        return int(self.model.actuator_ctrladr[self.actuators[actuator]])

    def geom_index(self, name: str) -> int:
        """Return the index of a geom."""
        return self.geoms[name]

    def subtree(self, body: str) -> tuple[str, ...]:
        """Return the names of a body and of every named body below it, in model order."""
        if body not in self._subtrees:
            inside = np.zeros(self.model.nbody, dtype=bool)
            inside[self.bodies[body]] = True
            for index in range(1, self.model.nbody):
                inside[index] |= inside[self.model.body_parentid[index]]
            self._subtrees[body] = tuple(name for name, index in self.bodies.items() if inside[index])
        return self._subtrees[body]

    # -- time ----------------------------------------------------------------------------------------------------

    @property
    def timestep(self) -> float:
        """Length of one physics step [s]."""
        return float(self.model.opt.timestep)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.data.time)

    def step(self, count: int = 1) -> None:
        """Advance by ``count`` physics steps with the present controls.

        Raises:
            StateError: The simulation became unstable or ran out of memory; reset or restore the world to continue.
        """
        if count < 1:
            raise InputError(f"step needs a count >= 1, got {count}")
        # Restoring a state by other means also changes the attachments.
        self._attachments.read_state()
        if self._before_step or self._after_step:
            self._step_singly(count)
        else:
            self._step_at_once(count)
        self.update_poses()

    def _step_at_once(self, count: int) -> None:
        """Take all steps in one call of MuJoCo; on a fault, take them again one by one to find the step."""
        if count > 1:
            mujoco.mj_getState(self.model, self.data, self._before, _STATE)
        self._stale = True
        mujoco.mj_step(self.model, self.data, count)
        if self._faults.any():
            if count > 1:
                mujoco.mj_setState(self.model, self.data, self._before, _STATE)
                self._faults[:] = 0
                self._step_singly(count)
            raise self._instability()

    def _step_singly(self, count: int) -> None:
        """Step one by one, with the registered callbacks."""
        self._stale = True
        for _ in range(count):
            if self._before_step:
                self.update_poses()
                for call in self._before_step:
                    call()
            mujoco.mj_step(self.model, self.data)
            if self._faults.any():
                raise self._instability()
            for call in self._after_step:
                call()

    def before_step(self, call: Callable[[], None]) -> None:
        """Call a function before every physics step, with poses up to date; it must depend only on the state."""
        if call not in self._before_step:
            self._before_step.append(call)

    def after_step(self, call: Callable[[], None]) -> None:
        """Call a function after every physics step, when the solver's forces are those of that step.

        It must depend only on the state and these forces. Poses are still those before the step until it calls
        ``update_poses``.
        """
        if call not in self._after_step:
            self._after_step.append(call)

    def forward(self) -> None:
        """Recompute everything that follows from the state; call it after writing to the state directly."""
        self._attachments.read_state()
        mujoco.mj_forward(self.model, self.data)
        self._stale = False

    def refresh(self) -> None:
        """Bring contacts, forces and sensors up to date if steps were taken since; changes no bit of the state."""
        if self._stale:
            self.forward()

    def invalidate(self) -> None:
        """Mark controls or model parameters as changed, so that forces are recomputed on demand."""
        self._stale = True

    def reset(self, keyframe: str | None = None) -> None:
        """Return to the model's initial state or to a keyframe; attachments are released, model parameters stay."""
        if keyframe is None:
            mujoco.mj_resetData(self.model, self.data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.keyframes[keyframe])
        self._faults[:] = 0
        self.forward()

    def update_poses(self) -> None:
        """Bring poses and velocities of bodies up to date with the state."""
        # A step computes poses and velocities of bodies first and integrates afterwards, which leaves them one step
        # behind. These stages take about 3 % of a step and bring them up to date.
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_camlight(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)

    def _instability(self) -> StateError:
        """Describe the first kind of warning that the last step raised, and clear the counters."""
        kind = mujoco.mjtWarning(int(np.flatnonzero(self._faults)[0]))
        self._faults[:] = 0
        return StateError(
            f"the simulation failed in the step from t={self.data.time - self.timestep:.6g} s: "
            f"{describe_fault(self.model, self.data, kind, self.joints)}; "
            "reset or restore the world, then try a smaller timestep, softer gains or smaller forces"
        )

    # -- state ---------------------------------------------------------------------------------------------------

    def save_state(self) -> Array:
        """Return the whole integration state (n,): time, positions, velocities, controls, forces, warm start, welds."""
        state = np.empty(self._state_size)
        mujoco.mj_getState(self.model, self.data, state, _STATE)
        return state

    def restore_state(self, state: ArrayLike) -> None:
        """Return to a saved state; the run continues from it bit for bit."""
        array = np.ascontiguousarray(state, dtype=np.float64)
        if array.shape != (self._state_size,):
            raise InputError(
                f"a state of this model has shape ({self._state_size},), got {array.shape}; "
                "was it saved from another model?"
            )
        mujoco.mj_setState(self.model, self.data, array, _STATE)
        self._faults[:] = 0
        self.forward()

    def model_hash(self) -> str:
        """Return the SHA-256 of the compiled model: equal models give equal physics on one platform."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return hashlib.sha256(buffer.tobytes()).hexdigest()

    def state_hash(self) -> str:
        """Return the SHA-256 of the bytes of the state, as 64 hexadecimal digits."""
        return hashlib.sha256(self.save_state().astype("<f8").tobytes()).hexdigest()

    # -- poses and velocities ------------------------------------------------------------------------------------

    def body_pose(self, name: str) -> Array:
        """Return T_world_body (4, 4)."""
        index = self.bodies[name]
        return make_pose(self.data.xmat[index].reshape(3, 3), self.data.xpos[index])

    def site_pose(self, name: str) -> Array:
        """Return T_world_site (4, 4)."""
        index = self.sites[name]
        return make_pose(self.data.site_xmat[index].reshape(3, 3), self.data.site_xpos[index])

    def camera_pose(self, name: str) -> Array:
        """Return T_world_camera (4, 4) with OpenCV axes: x right, y down, z forward."""
        index = self.cameras[name]
        # MuJoCo's cameras look along -z with y up.
        R_world_camera = self.data.cam_xmat[index].reshape(3, 3) * np.array([1.0, -1.0, -1.0])
        return make_pose(R_world_camera, self.data.cam_xpos[index])

    def set_body_pose(self, name: str, T_world_body: ArrayLike) -> None:
        """Place a free or mocap body at a pose (4, 4) and stop it."""
        index = self.bodies[name]
        position, quat = pos_quat_from_pose(T_world_body)
        joint = int(self.model.body_jntadr[index])
        mocap = int(self.model.body_mocapid[index])
        if mocap >= 0:
            self.data.mocap_pos[mocap], self.data.mocap_quat[mocap] = position, quat
        elif joint >= 0 and self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            start, dof = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
            self.data.qpos[start : start + 3] = position
            self.data.qpos[start + 3 : start + 7] = quat
            self.data.qvel[dof : dof + 6] = 0.0
        else:
            raise InputError(f"body {name!r} has neither a free joint nor mocap, so it cannot be placed")
        self.forward()

    def body_velocity(self, name: str) -> Array:
        """Return linear velocity of the body's origin [m/s], then angular velocity [rad/s], in world (6,)."""
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, self.data, _KINDS.mjOBJ_XBODY, self.bodies[name], velocity, 0)
        return np.concatenate([velocity[3:], velocity[:3]])

    def joint_position(self, name: str) -> float:
        """Return the position of a hinge or slide joint [rad or m]."""
        return float(self.data.qpos[self.model.jnt_qposadr[self._scalar_joint(name)]])

    def joint_velocity(self, name: str) -> float:
        """Return the velocity of a hinge or slide joint [rad/s or m/s]."""
        return float(self.data.qvel[self.model.jnt_dofadr[self._scalar_joint(name)]])

    def _scalar_joint(self, name: str) -> int:
        index = self.joints[name]
        if self.model.jnt_type[index] not in _SCALAR_JOINTS:
            raise InputError(f"joint {name!r} is a free or ball joint; read the pose of its body instead")
        return index

    # -- contacts ------------------------------------------------------------------------------------------------

    def contacts(self) -> tuple[Contact, ...]:
        """Return every contact point between geoms; contacts of flexes have no bodies and are left out."""
        self.refresh()
        return all_contacts(self)

    def contact_pair(self, bodies_a: str | Iterable[str], bodies_b: str | Iterable[str] | None = None) -> ContactPair:
        """Bind a contact query between two groups of bodies once, to evaluate it every step."""
        return ContactPair(self, bodies_a, bodies_b)

    def contact_force_between(self, bodies_a: str | Iterable[str], bodies_b: str | Iterable[str]) -> Array:
        """Return the total force that bodies a exert on bodies b, in world (3,) [N]."""
        return ContactPair(self, bodies_a, bodies_b).force()

    def touching(self, bodies_a: str | Iterable[str], bodies_b: str | Iterable[str]) -> bool:
        """Return whether any body of the first group touches any of the second."""
        return ContactPair(self, bodies_a, bodies_b).touching()

    def contact_masks(
        self, bodies_a: str | Iterable[str], bodies_b: str | Iterable[str] | None = None
    ) -> tuple[Mask, Mask]:
        """Return which geoms belong to each of two groups of bodies (ngeom + 1,), found once per pair of groups."""
        a = (bodies_a,) if isinstance(bodies_a, str) else tuple(bodies_a)
        b = (bodies_b,) if isinstance(bodies_b, str) else None if bodies_b is None else tuple(bodies_b)
        if (a, b) not in self._masks:
            self._masks[a, b] = contact_masks(self.model, self.bodies, a, b)
        return self._masks[a, b]

    # -- attachments ---------------------------------------------------------------------------------------------

    def attach(self, child_body: str, parent_body: str) -> None:
        """Hold a body to another exactly where it is now; ``sim.add_attachment`` prepares the pair before compiling."""
        T_parent_child = relative_pose(self.body_pose(parent_body), self.body_pose(child_body))
        self._attachments.attach(child_body, parent_body, T_parent_child)
        self._stale = True

    def release(self, child_body: str, parent_body: str | None = None) -> None:
        """Release an attached body from all bodies that hold it, or from one."""
        self._attachments.release(child_body, parent_body)
        self._stale = True

    def attachment_force(self, child_body: str, parent_body: str) -> Array:
        """Return the force (3,) [N] that a held body exerted on its parent in the last step, in world."""
        return self._attachments.force(child_body, parent_body)

    def held_by(self, parent_body: str) -> str | None:
        """Return the body that a body holds, or None."""
        return self._attachments.child_of(parent_body)

    def attachable_to(self, parent_body: str) -> tuple[str, ...]:
        """Return the bodies that the model was prepared to attach to a body."""
        return self._attachments.children_of(parent_body)

    def user_data(self, name: str) -> Array:
        """Return the numbers (n,) in the state that ``sim.add_user_data`` reserved; write to them in place."""
        if name not in self._user_data:
            raise unknown_name("user data", name, self._user_data)
        return self._user_data[name]

    def attached_to(self, child_body: str) -> str | None:
        """Return the body that holds a body, or None."""
        if child_body not in self.bodies:
            raise unknown_name("body", child_body, self.bodies)
        return self._attachments.parent_of(child_body)
