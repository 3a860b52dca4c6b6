"""Isaac Sim's control and motion generation names: ``from handloom.compat.isaac import SingleArticulation``.

Constructors take a World and a robot's name prefix where Isaac Sim takes a prim path; the rest keeps its name and
meaning. A class is imported when it is first asked for.
"""

from typing import Any

from handloom.compat.published import resolve

MOTION_GENERATION = (
    "ArticulationKinematicsSolver",
    "ArticulationMotionPolicy",
    "ArticulationTrajectory",
    "CSpacePathSpec",
    "CompositePathSpec",
    "GroundPlane",
    "KinematicsSolver",
    "LulaCSpaceTrajectoryGenerator",
    "LulaKinematicsSolver",
    "LulaTaskSpaceTrajectoryGenerator",
    "LulaTrajectory",
    "MotionPolicy",
    "MotionPolicyController",
    "PathPlanner",
    "PathPlannerVisualizer",
    "Pose3",
    "RMPFlowController",
    "RRT",
    "RmpFlow",
    "RmpFlowSmoothed",
    "Rotation3",
    "TaskSpacePathSpec",
    "TransitionMode",
    "WorldInterface",
    "create_c_space_path_spec",
    "create_composite_path_spec",
    "create_task_space_path_spec",
    "get_supported_robot_path_planner_pairs",
    "get_supported_robot_policy_pairs",
    "get_supported_robots_with_lula_kinematics",
    "load_supported_lula_kinematics_solver_config",
    "load_supported_motion_policy_config",
    "load_supported_path_planner_config",
)
"""Names that ``handloom.motion_generation`` has, too."""

_ROWS = {
    "AckermannController": "handloom.control.wheeled:AckermannController",
    "ArticulationAction": "handloom.values:ArticulationAction",
    "ArticulationActions": "handloom.values:ArticulationActions",
    "ArticulationController": "handloom.articulation:ArticulationController",
    "ArticulationGripper": "handloom.articulation:ArticulationGripper",
    "ArticulationSubset": "handloom.articulation:ArticulationSubset",
    "ArticulationView": "handloom.articulation:ArticulationView",
    "BaseController": "handloom.control.controller:BaseController",
    "DOFInfo": "handloom.values:DOFInfo",
    "DifferentialController": "handloom.control.wheeled:DifferentialController",
    "DynamicCapsule": "handloom.motion_generation:Capsule",
    "DynamicCone": "handloom.motion_generation:Cone",
    "DynamicCuboid": "handloom.motion_generation:Cuboid",
    "DynamicCylinder": "handloom.motion_generation:Cylinder",
    "DynamicSphere": "handloom.motion_generation:Sphere",
    "FixedCapsule": "handloom.motion_generation:Capsule",
    "FixedCone": "handloom.motion_generation:Cone",
    "FixedCuboid": "handloom.motion_generation:Cuboid",
    "FixedCylinder": "handloom.motion_generation:Cylinder",
    "FixedSphere": "handloom.motion_generation:Sphere",
    "Go2FlatTerrainPolicy": "handloom.control.policy:Go2FlatTerrainPolicy",
    "GripperView": "handloom.control.surface_gripper:GripperView",
    "H1FlatTerrainPolicy": "handloom.control.policy:H1FlatTerrainPolicy",
    "HolonomicController": "handloom.control.wheeled:HolonomicController",
    "HolonomicRobotUsdSetup": "handloom.control.wheeled:HolonomicRobotSetup",
    "JointsState": "handloom.values:JointsState",
    "PolicyController": "handloom.control.policy:PolicyController",
    "QuinticPolynomial": "handloom.control.wheeled:QuinticPolynomial",
    "SingleArticulation": "handloom.articulation:SingleArticulation",
    "State": "handloom.control.wheeled:BicycleState",
    "SurfaceGripper": "handloom.control.surface_gripper:SurfaceGripper",
    "Trajectory": "handloom.motion_generation:TrajectoryInterface",
    "VisualCapsule": "handloom.motion_generation:Capsule",
    "VisualCone": "handloom.motion_generation:Cone",
    "VisualCuboid": "handloom.motion_generation:Cuboid",
    "VisualCylinder": "handloom.motion_generation:Cylinder",
    "VisualSphere": "handloom.motion_generation:Sphere",
    "WheelBasePoseController": "handloom.control.wheeled:WheelBasePoseController",
    "WheeledRobot": "handloom.control.wheeled:WheeledRobot",
    "calc_target_index": "handloom.control.wheeled:calc_target_index",
    "normalize_angle": "handloom.control.wheeled:normalize_angle",
    "pid_control": "handloom.control.wheeled:pid_control",
    "quintic_polynomials_planner": "handloom.control.wheeled:quintic_polynomials_planner",
    "stanley_control": "handloom.control.wheeled:stanley_control",
    **{name: f"handloom.motion_generation:{name}" for name in MOTION_GENERATION},
}

PUBLISHED = dict(sorted(_ROWS.items()))
"""Published name of a class or function > ``module:name`` here."""


def __getattr__(name: str) -> Any:
    return resolve(__name__, PUBLISHED, name)


def __dir__() -> list[str]:
    return sorted([*PUBLISHED, "PUBLISHED"])
