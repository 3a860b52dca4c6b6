"""A robot alone in the world at home, for the checks."""

from dataclasses import dataclass
from functools import cached_property

import mujoco

from handloom.arrays import Array
from handloom.robots.robot_description import RobotDescription
from handloom.spatial import make_pose, relative_pose


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """One finding of a check."""

    name: str
    """Which check, e.g. ``limits``."""
    ok: bool
    sentence: str
    """The finding as a sentence, with figures."""


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """All findings about one robot."""

    robot: str
    rows: tuple[CheckRow, ...]

    @property
    def ok(self) -> bool:
        """Whether no row is a fault."""
        return all(row.ok for row in self.rows)

    @property
    def faults(self) -> tuple[CheckRow, ...]:
        """The rows that are faults."""
        return tuple(row for row in self.rows if not row.ok)

    def table(self) -> str:
        """Return the rows as aligned text, with faults marked."""
        width = max((len(row.name) for row in self.rows), default=0)
        lines = [f"{'ok   ' if row.ok else 'FAULT'}  {row.name:<{width}}  {row.sentence}" for row in self.rows]
        verdict = "no faults" if self.ok else f"{len(self.faults)} of {len(self.rows)} checks found a fault"
        return "\n".join([*lines, f"{self.robot}: {verdict}"])


def row(name: str, faults: list[str], good: str) -> CheckRow:
    """Make a row: a fault that lists the problems, or the sentence for success."""
    return CheckRow(name=name, ok=not faults, sentence="; ".join(faults) if faults else good)


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotAtHome:
    """A compiled robot with its joints and position targets at home."""

    robot: RobotDescription
    model: mujoco.MjModel
    data: mujoco.MjData

    @classmethod
    def build(cls, robot: RobotDescription) -> "RobotAtHome":
        """Compile the robot and put it at home."""
        model = robot.compile()
        data = mujoco.MjData(model)
        place_at_home(model, data, robot)
        return cls(robot=robot, model=model, data=data)

    def fresh_data(self) -> mujoco.MjData:
        """Return new data at home, for checks that step the physics."""
        data = mujoco.MjData(self.model)
        place_at_home(self.model, data, self.robot)
        return data

    @cached_property
    def actuator_of_joint(self) -> dict[str, list[int]]:
        """Joint name > actuators that drive it directly."""
        found: dict[str, list[int]] = {self.model.joint(i).name: [] for i in range(self.model.njnt)}
        for i in range(self.model.nu):
            if self.model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
                found[self.model.joint(self.model.actuator_trnid[i, 0]).name].append(i)
        return found

    @cached_property
    def commanded_joints(self) -> tuple[str, ...]:
        """All joints that can be commanded: arms, grippers, lift, body, head, mobile base; for legged robots, all."""
        config = self.robot.config
        names = [name for arm in self.robot.arms for name in (*arm.joint_names, *arm.gripper_joint_names)]
        if config.drive is not None and config.drive.kind == "legged":
            return tuple(map(self.robot.resolve_joint, config.dof_names))
        others = (*config.lift_names, *config.body_names, *config.head_names, *config.mobile_base_names)
        return (*names, *map(self.robot.resolve_joint, others))

    def body_name(self, geom: int) -> str:
        """Return the name of the body a geom belongs to."""
        return self.model.body(self.model.geom_bodyid[geom]).name

    def site_in_body(self, site: str, body: str) -> Array:
        """Return T_body_site (4, 4)."""
        frame, base = self.data.site(site), self.data.body(body)
        return relative_pose(
            make_pose(base.xmat.reshape(3, 3), base.xpos), make_pose(frame.xmat.reshape(3, 3), frame.xpos)
        )


def place_at_home(model: mujoco.MjModel, data: mujoco.MjData, robot: RobotDescription, *, prefix: str = "") -> None:
    """Set joints to the robot's home, position targets to the joint positions, and update poses."""
    for joint, value in robot.home.items():
        data.joint(prefix + robot.resolve_joint(joint)).qpos = value
    for i in range(model.nu):
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
            data.ctrl[i] = data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
    mujoco.mj_forward(model, data)
