"""The robots that ship with a walking policy, as published code constructs them."""

from typing import ClassVar

from numpy.typing import ArrayLike

from handloom.isaac.policy.policy_controller import PolicyController
from handloom.robots import RobotDescription, load_robot
from handloom.sim import World

# Files in the folder ``policy`` of a robot.
WEIGHTS, ENVIRONMENT = "policy.onnx", "env.yaml"


class FlatTerrainPolicy(PolicyController):
    """A robot that walks on level ground: ``initialize`` once, then ``forward(dt, command)`` before every step.

    Args:
        world: The world that holds the robot.
        prefix: What the names of its bodies, joints and actuators start with.
        name: Name of the robot, for messages.
        position: Position of the base in world (3,) [m].
        orientation: Orientation of the base in world, wxyz (4,).
        description: The robot; by default that of the zoo.
    """

    ROBOT: ClassVar[str] = ""
    """Name in the zoo."""

    def __init__(
        self,
        world: World,
        prefix: str = "",
        name: str = "",
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        *,
        description: RobotDescription | None = None,
    ) -> None:
        robot = description or load_robot(self.ROBOT)
        super().__init__(name or robot.name, world, prefix, position, orientation, dof_names=robot.config.dof_names)
        self.load_policy(robot.folder / "policy" / WEIGHTS, robot.folder / "policy" / ENVIRONMENT)


class Go2FlatTerrainPolicy(FlatTerrainPolicy):
    """The quadruped ``go2``, walking."""

    ROBOT = "go2"


class H1FlatTerrainPolicy(FlatTerrainPolicy):
    """The humanoid ``h1``, walking."""

    ROBOT = "h1"
