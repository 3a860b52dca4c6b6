"""Published module of Isaac Sim > its names > location of the object."""

from handloom.compat.isaac import PUBLISHED
from handloom.compat.published import same_names

STAGE = "handloom.isaac.names.stage"
PRIMS = "handloom.isaac.names.prims"
WORLD = "handloom.isaac.names.world"
EXPERIMENTAL = "handloom.isaac.names.experimental_wheeled"
WHEELED = "handloom.isaac.wheeled"

_TYPES = same_names("handloom.values", "ArticulationAction ArticulationActions JointsState DOFInfo")
_BASE = {"BaseController": "handloom.isaac.controller:BaseController"}
_CONTROLLER = same_names("handloom.isaac.articulation", "ArticulationController")
_SUBSET = same_names("handloom.isaac.articulation", "ArticulationSubset")
_GRIPPER = same_names("handloom.isaac.articulation", "ArticulationGripper")
_DIFFERENTIAL = same_names(WHEELED, "DifferentialController")
_HOLONOMIC = same_names(WHEELED, "HolonomicController")
_ACKERMANN = same_names(WHEELED, "AckermannController")
_POSE = same_names(WHEELED, "WheelBasePoseController")
_QUINTIC = same_names(WHEELED, "quintic_polynomials_planner QuinticPolynomial")
_STANLEY = same_names(WHEELED, "stanley_control pid_control normalize_angle calc_target_index") | {
    "State": f"{WHEELED}:BicycleState"
}
_ROBOT = {"WheeledRobot": f"{PRIMS}:StageWheeledRobot"}
_SETUP = {"HolonomicRobotUsdSetup": f"{PRIMS}:StageHolonomicSetup"}
_WORLD = {"World": f"{WORLD}:StageWorld"}
_SCENE = {"Scene": f"{WORLD}:StageScene"}
_ROBOTS = {"Robot": f"{WORLD}:StageRobot"}
_ARRAYS = {
    "DifferentialController": f"{EXPERIMENTAL}:ArrayDifferentialController",
    "HolonomicController": f"{EXPERIMENTAL}:ArrayHolonomicController",
    "AckermannController": f"{EXPERIMENTAL}:ArrayAckermannController",
}
_PATHS = {"WheeledRobot": f"{EXPERIMENTAL}:PathWheeledRobot"}


def _flat(package: str) -> dict[str, str]:
    """Return the rows of ``handloom.compat.isaac`` whose objects are in a package."""
    return {name: row for name, row in PUBLISHED.items() if row.partition(":")[0] == package}


_MOTION = _flat("handloom.isaac.motion_generation")
_OBJECTS = {n: row for n, row in _MOTION.items() if n.startswith(("Visual", "Dynamic", "Fixed", "GroundPlane"))}
_RMPFLOW = {n: row for n, row in _MOTION.items() if n == "RMPFlowController"}
_GRIPPERS = _flat("handloom.scene.surface_gripper")
_POLICIES = _flat("handloom.isaac.policy")

MODULES: dict[str, dict[str, str]] = {
    "core.utils.stage": same_names(STAGE, "add_reference_to_stage get_current_stage create_new_stage"),
    "core.utils.types": _TYPES,
    "core.prims": {
        "SingleArticulation": f"{PRIMS}:StageArticulation",
        "Articulation": f"{PRIMS}:StageArticulationView",
    },
    "core.api": _WORLD,
    "core.api.world": _WORLD,
    "core.api.scenes": _SCENE,
    "core.api.robots": _ROBOTS,
    "core.api.robots.robot": _ROBOTS,
    "core.api.objects": _OBJECTS,
    "core.api.controllers": _BASE | _CONTROLLER,
    "core.api.controllers.base_controller": _BASE,
    "core.api.controllers.articulation_controller": _CONTROLLER,
    "core.api.articulations": _SUBSET | _GRIPPER,
    "core.api.articulations.articulation_subset": _SUBSET,
    "core.api.articulations.articulation_gripper": _GRIPPER,
    "robot_motion.motion_generation": {n: row for n, row in _MOTION.items() if n not in _OBJECTS | _RMPFLOW},
    "robot.manipulators.franka.controllers": _RMPFLOW,
    "robot.manipulators.grippers": {n: row for n, row in _GRIPPERS.items() if n == "SurfaceGripper"},
    "robot.surface_gripper": {n: row for n, row in _GRIPPERS.items() if n != "SurfaceGripper"},
    "robot.policy.examples.controllers": {n: row for n, row in _POLICIES.items() if n == "PolicyController"},
    "robot.policy.examples.robots": {n: row for n, row in _POLICIES.items() if n != "PolicyController"},
    "robot.experimental.wheeled_robots.controllers": _ARRAYS | _QUINTIC | _STANLEY,
    "robot.experimental.wheeled_robots.robots": _PATHS | _SETUP,
    "robot.wheeled_robots.controllers": _DIFFERENTIAL | _HOLONOMIC | _ACKERMANN | _POSE | _QUINTIC | _STANLEY,
    "robot.wheeled_robots.controllers.differential_controller": _DIFFERENTIAL,
    "robot.wheeled_robots.controllers.holonomic_controller": _HOLONOMIC,
    "robot.wheeled_robots.controllers.ackermann_controller": _ACKERMANN,
    "robot.wheeled_robots.controllers.wheel_base_pose_controller": _POSE,
    "robot.wheeled_robots.controllers.quintic_path_planner": _QUINTIC,
    "robot.wheeled_robots.controllers.stanley_control": _STANLEY,
    "robot.wheeled_robots.robots": _ROBOT | _SETUP,
    "robot.wheeled_robots.robots.wheeled_robot": _ROBOT,
    "robot.wheeled_robots.robots.holonomic_robot_usd_setup": _SETUP,
}
"""Path below ``isaacsim`` > published name > ``"module:object"``."""

DIFFERENT = {
    "add_reference_to_stage": "takes MJCF, URDF or a robot folder; the name of a published asset selects a robot of "
    "the zoo",
    "get_current_stage": "a stage of robots, not of USD prims",
    "SingleArticulation": "calls before initialize() raise instead of returning None; efforts stay active",
    "Articulation": "the robots are found when the view is created; arrays are NumPy",
    "ArticulationController": "a position together with an effort for one joint is refused; returning from velocity to "
    "position mode restores the stiffness",
    "ArticulationGripper": "initialize takes the robot instead of its prim path",
    "ArticulationSubset": "calls before initialize() raise instead of returning None",
    "HolonomicController": "solves exactly; the published solver stops 0.007 away from the solution",
    "AckermannController": "bad input raises instead of giving an empty action",
    "World": "steps the current stage, which has a floor, by physics_dt; renders nothing",
    "Scene": "holds robots and views",
    "Robot": "the same as SingleArticulation",
    "DifferentialController": "bad input raises instead of giving NaN",
    "WheeledRobot": "commands to the wheels do not change the targets of other joints",
    "HolonomicRobotUsdSetup": "reads marks of the model, or those set on the stage",
    "quintic_polynomials_planner": "at a point where the path does not move, the heading is that of the nearer end",
    "State": "non-finite values are refused",
    "stanley_control": "the path is never followed backwards; non-finite values are refused",
}
"""Published name > how ours differs; every other name is the same."""
