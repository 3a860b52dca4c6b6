"""Isaac Sim's control and motion generation names: ``from handloom.compat.isaac import SingleArticulation``.

Constructors take a World and a robot's name prefix where Isaac Sim takes a prim path; the rest keeps its name and
meaning. A class is imported when it is first used.
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
"""Names that ``handloom.isaac.motion_generation`` also has."""

_ROWS = {
    "AckermannController": "handloom.isaac.wheeled:AckermannController",
    "ArticulationAction": "handloom.values:ArticulationAction",
    "ArticulationActions": "handloom.values:ArticulationActions",
    "ArticulationController": "handloom.isaac.articulation:ArticulationController",
    "ArticulationGripper": "handloom.isaac.articulation:ArticulationGripper",
    "ArticulationSubset": "handloom.isaac.articulation:ArticulationSubset",
    "ArticulationView": "handloom.isaac.articulation:ArticulationView",
    "BaseController": "handloom.isaac.controller:BaseController",
    "DOFInfo": "handloom.values:DOFInfo",
    "DifferentialController": "handloom.isaac.wheeled:DifferentialController",
    "DynamicCapsule": "handloom.isaac.motion_generation:Capsule",
    "DynamicCone": "handloom.isaac.motion_generation:Cone",
    "DynamicCuboid": "handloom.isaac.motion_generation:Cuboid",
    "DynamicCylinder": "handloom.isaac.motion_generation:Cylinder",
    "DynamicSphere": "handloom.isaac.motion_generation:Sphere",
    "FixedCapsule": "handloom.isaac.motion_generation:Capsule",
    "FixedCone": "handloom.isaac.motion_generation:Cone",
    "FixedCuboid": "handloom.isaac.motion_generation:Cuboid",
    "FixedCylinder": "handloom.isaac.motion_generation:Cylinder",
    "FixedSphere": "handloom.isaac.motion_generation:Sphere",
    "Go2FlatTerrainPolicy": "handloom.isaac.policy:Go2FlatTerrainPolicy",
    "GripperView": "handloom.scene.surface_gripper:GripperView",
    "H1FlatTerrainPolicy": "handloom.isaac.policy:H1FlatTerrainPolicy",
    "HolonomicController": "handloom.isaac.wheeled:HolonomicController",
    "HolonomicRobotUsdSetup": "handloom.isaac.wheeled:HolonomicRobotSetup",
    "JointsState": "handloom.values:JointsState",
    "PolicyController": "handloom.isaac.policy:PolicyController",
    "QuinticPolynomial": "handloom.isaac.wheeled:QuinticPolynomial",
    "SingleArticulation": "handloom.isaac.articulation:SingleArticulation",
    "State": "handloom.isaac.wheeled:BicycleState",
    "SurfaceGripper": "handloom.scene.surface_gripper:SurfaceGripper",
    "Trajectory": "handloom.isaac.motion_generation:TrajectoryInterface",
    "VisualCapsule": "handloom.isaac.motion_generation:Capsule",
    "VisualCone": "handloom.isaac.motion_generation:Cone",
    "VisualCuboid": "handloom.isaac.motion_generation:Cuboid",
    "VisualCylinder": "handloom.isaac.motion_generation:Cylinder",
    "VisualSphere": "handloom.isaac.motion_generation:Sphere",
    "WheelBasePoseController": "handloom.isaac.wheeled:WheelBasePoseController",
    "WheeledRobot": "handloom.isaac.wheeled:WheeledRobot",
    "calc_target_index": "handloom.isaac.wheeled:calc_target_index",
    "normalize_angle": "handloom.isaac.wheeled:normalize_angle",
    "pid_control": "handloom.isaac.wheeled:pid_control",
    "quintic_polynomials_planner": "handloom.isaac.wheeled:quintic_polynomials_planner",
    "stanley_control": "handloom.isaac.wheeled:stanley_control",
    **{name: f"handloom.isaac.motion_generation:{name}" for name in MOTION_GENERATION},
}

PUBLISHED = dict(sorted(_ROWS.items()))
"""Published name of a class or function > ``module:name`` here."""


def __getattr__(name: str) -> Any:
    return resolve(__name__, PUBLISHED, name)


def __dir__() -> list[str]:
    return sorted([*PUBLISHED, "PUBLISHED"])
