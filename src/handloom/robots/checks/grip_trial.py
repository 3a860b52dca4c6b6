"""Physics test of a gripper: close it on a cube, lift the cube, hold it."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from handloom.arrays import Array
from handloom.robots.checks.robot_at_home import place_at_home
from handloom.robots.robot_description import RobotDescription
from handloom.spatial import make_pose, pose_error, quat_from_matrix, relative_pose

# 17 steps per frame at 30 Hz, as episodes run.
FRAME_S = 1.0 / 30.0
STEPS_PER_FRAME = 17
# Largest step of one joint in one iteration of the lift's inverse kinematics [rad].
LARGEST_STEP = 0.05
# Damping while the cube floats [N s/m] and [N m s/rad].
CUBE_DAMPING = 5.0
# Friction of the cube itself: hard wood or plastic. Pads with priority use their own friction instead.
CUBE_FRICTION = (0.8, 0.005, 0.0001)


@dataclass(frozen=True, kw_only=True)
class GripResult:
    """Result of the trial."""

    rise: float
    """Rise of the cube [m]."""
    lift: float
    """Rise of the tool centre [m]; less than commanded if a small arm is near the end of its reach."""
    slip: float
    """Largest distance the cube moved in the tool frame after the settling time [m]."""
    turn: float
    """Largest angle the cube turned in the tool frame after the settling time [rad]."""
    touching: frozenset[str]
    """Bodies in contact with the cube at the end."""


class GripTrial:
    """One arm of one robot and a cube between its open fingers.

    The cube floats weightless until the gripper has closed, so that any arm pose works; then gravity is applied to it.

    Args:
        robot: The robot.
        arm_name: Which arm.
        cube_edge: [m]
        cube_mass: [kg]
        q_grasp: Joint positions of the arm while it closes, one per joint [rad]; None takes the home position.
    """

    def __init__(
        self,
        robot: RobotDescription,
        arm_name: str,
        *,
        cube_edge: float,
        cube_mass: float,
        q_grasp: Sequence[float] | None = None,
    ) -> None:
        self.arm = robot.arm(arm_name)
        self.q_grasp = np.array(self.arm.home if q_grasp is None else q_grasp, float)
        self.model = _scene(robot, cube_edge=cube_edge, cube_mass=cube_mass)
        self.data = mujoco.MjData(self.model)
        place_at_home(self.model, self.data, robot, prefix="robot/")
        for joint, value in zip(self.arm.joint_names, self.q_grasp, strict=True):
            self.data.joint(f"robot/{joint}").qpos = value
        self._target(self.q_grasp)
        self._grip(self.arm.gripper_open)
        self._step(1.0)
        T_world_grasp = _pose(self.data.site(f"robot/{self.arm.grasp_site}"))
        address = self.model.joint("cube").qposadr[0]
        self.data.qpos[address : address + 3] = T_world_grasp[:3, 3]
        self.data.qpos[address + 3 : address + 7] = quat_from_matrix(T_world_grasp[:3, :3])
        mujoco.mj_forward(self.model, self.data)

    def run(self, *, rise: float = 0.10, hold_s: float = 5.0, settle_s: float = 0.5) -> GripResult:
        """Close in 1 s, lift in 1 s and hold; measure after holding for ``settle_s``."""
        self._grip(self.arm.gripper_closed)
        self._step(1.0)
        self._free_the_cube()
        start, tool_start = self._heights()
        for q in self._lift_path(rise, 30):
            self._target(q)
            self._step(FRAME_S)
        self._step(settle_s)
        T_tcp_start = self._cube_in_tool()
        slip = turn = 0.0
        for _ in range(round(hold_s / FRAME_S)):
            self._step(FRAME_S)
            distance, angle = pose_error(T_tcp_start, self._cube_in_tool())
            slip, turn = max(slip, float(distance)), max(turn, float(angle))
        end, tool_end = self._heights()
        return GripResult(rise=end - start, lift=tool_end - tool_start, slip=slip, turn=turn, touching=self._touching())

    def _heights(self) -> tuple[float, float]:
        """Return the heights of the cube and of the tool centre in the world [m]."""
        tool = self.data.site(f"robot/{self.arm.tcp_site}")
        return float(self.data.body("cube").xpos[2]), float(tool.xpos[2])

    def _free_the_cube(self) -> None:
        """Apply gravity to the cube and remove the damping that kept it in place."""
        self.model.body_gravcomp[self.model.body("cube").id] = 0.0
        start = self.model.joint("cube").dofadr[0]
        self.model.dof_damping[start : start + 6] = 0.0

    def _step(self, seconds: float) -> None:
        mujoco.mj_step(self.model, self.data, round(seconds / FRAME_S) * STEPS_PER_FRAME)

    def _grip(self, targets: Array) -> None:
        for actuator, value in zip(self.arm.gripper_actuators, targets, strict=True):
            self.data.actuator(f"robot/{actuator}").ctrl = value

    def _target(self, q: Array) -> None:
        for joint, value in zip(self.arm.joint_names, q, strict=True):
            index = self.model.joint(f"robot/{joint}").id
            actuator = np.flatnonzero(self.model.actuator_trnid[:, 0] == index)[0]
            self.data.ctrl[actuator] = value

    def _cube_in_tool(self) -> Array:
        return relative_pose(_pose(self.data.site(f"robot/{self.arm.tcp_site}")), _pose(self.data.body("cube")))

    def _touching(self) -> frozenset[str]:
        cube = self.model.body("cube").id
        found = set()
        for contact in self.data.contact:
            bodies = self.model.geom_bodyid[list(contact.geom)]
            if cube in bodies:
                other = bodies[0] if bodies[1] == cube else bodies[1]
                found.add(self.model.body(other).name.removeprefix("robot/"))
        return frozenset(found)

    def _lift_path(self, rise: float, frames: int) -> list[Array]:
        """Joint targets that raise the tool centre in a straight line, by damped least squares on the position."""
        scratch = mujoco.MjData(self.model)
        scratch.qpos[:] = self.data.qpos
        names = [f"robot/{joint}" for joint in self.arm.joint_names]
        columns = [self.model.joint(name).dofadr[0] for name in names]
        addresses = [self.model.joint(name).qposadr[0] for name in names]
        scratch.qpos[addresses] = self.q_grasp
        mujoco.mj_forward(self.model, scratch)
        site = self.model.site(f"robot/{self.arm.tcp_site}").id
        start, R_start = scratch.site_xpos[site].copy(), scratch.site_xmat[site].reshape(3, 3).copy()
        lower, upper = np.array([self.model.joint(name).range for name in names]).T
        jacobian = np.zeros((6, self.model.nv))
        # Arms with fewer than six joints, or at a limit, sacrifice orientation before position [m and rad].
        weights = np.array([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
        path = []
        for k in range(1, frames + 1):
            s = k / frames
            goal = start + np.array([0.0, 0.0, rise * (3 * s**2 - 2 * s**3)])
            for _ in range(20):
                mujoco.mj_kinematics(self.model, scratch)
                mujoco.mj_comPos(self.model, scratch)
                mujoco.mj_jacSite(self.model, scratch, jacobian[:3], jacobian[3:], site)
                R = scratch.site_xmat[site].reshape(3, 3)
                turn = 0.5 * sum(np.cross(R[:, i], R_start[:, i]) for i in range(3))
                error = weights * np.concatenate([goal - scratch.site_xpos[site], turn])
                J = weights[:, None] * jacobian[:, columns]
                scratch.qpos[addresses] = _bounded_step(scratch.qpos[addresses], J, error, lower, upper)
            path.append(scratch.qpos[addresses].copy())
        return path


def _scene(robot: RobotDescription, *, cube_edge: float, cube_mass: float) -> mujoco.MjModel:
    """Put the robot and a free cube into one model, with the robot's solver options."""
    scene, child = mujoco.MjSpec(), robot.spec()
    scene.option.timestep = FRAME_S / STEPS_PER_FRAME
    scene.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{robot.config.physics.integrator.upper()}")
    scene.option.cone = getattr(mujoco.mjtCone, f"mjCONE_{robot.config.physics.cone.upper()}")
    scene.option.impratio = robot.config.physics.impratio
    # Attaching drops the model's own options and warns of differences; scenes use those of the configuration.
    child.option = scene.option
    scene.attach(child, frame=scene.worldbody.add_frame(), prefix="robot/")
    # The cube is far away until the gripper is open; damping keeps it in place while it floats, as a table would.
    cube = scene.worldbody.add_body(name="cube", pos=[0, 0, 20], gravcomp=1)
    cube.add_joint(name="cube", type=mujoco.mjtJoint.mjJNT_FREE, damping=[CUBE_DAMPING, 0, 0])
    half = cube_edge / 2
    cube.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[half] * 3, mass=cube_mass, friction=list(CUBE_FRICTION))
    return scene.compile()


def _bounded_step(q: Array, J: Array, error: Array, lower: Array, upper: Array) -> Array:
    """Take a damped least-squares step; joints that it would push over a limit stay there and the others compensate."""
    damping = 1e-8 * np.eye(len(error))
    step = J.T @ np.linalg.solve(J @ J.T + damping, error)
    blocked = (q + step < lower) | (q + step > upper)
    J = np.where(blocked, 0.0, J)
    step = J.T @ np.linalg.solve(J @ J.T + damping, error)
    # Near a stretched arm the step is huge and meaningless; small steps leave the singularity.
    step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-12))
    return np.clip(q + step, lower, upper)


def _pose(frame: object) -> Array:
    """Return the world pose (4, 4) of a body or site view."""
    return make_pose(frame.xmat.reshape(3, 3), frame.xpos)  # pyright: ignore[reportAttributeAccessIssue]
