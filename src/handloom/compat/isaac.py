"""Isaac Sim's control and motion generation names: ``from handloom.compat.isaac import SingleArticulation``.

Constructors take a World and a robot's name prefix where Isaac Sim takes a prim path; the rest keeps its name and
meaning. A class is imported when it is first asked for.
"""

from typing import Any

from handloom.compat.published import resolve

PUBLISHED = {
    "AckermannController": "handloom.control.wheeled:AckermannController",
    "ArticulationAction": "handloom.values:ArticulationAction",
    "ArticulationActions": "handloom.values:ArticulationActions",
    "ArticulationController": "handloom.articulation:ArticulationController",
    "ArticulationGripper": "handloom.articulation:ArticulationGripper",
    "ArticulationKinematicsSolver": "handloom.motion_generation:ArticulationKinematicsSolver",
    "ArticulationMotionPolicy": "handloom.motion_generation:ArticulationMotionPolicy",
    "ArticulationSubset": "handloom.articulation:ArticulationSubset",
    "ArticulationTrajectory": "handloom.motion_generation:ArticulationTrajectory",
    "ArticulationView": "handloom.articulation:ArticulationView",
    "BaseController": "handloom.control.controller:BaseController",
    "CSpacePathSpec": "handloom.motion_generation:CSpacePathSpec",
    "CompositePathSpec": "handloom.motion_generation:CompositePathSpec",
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
    "GroundPlane": "handloom.motion_generation:GroundPlane",
    "H1FlatTerrainPolicy": "handloom.control.policy:H1FlatTerrainPolicy",
    "HolonomicController": "handloom.control.wheeled:HolonomicController",
    "HolonomicRobotUsdSetup": "handloom.control.wheeled:HolonomicRobotSetup",
    "JointsState": "handloom.values:JointsState",
    "KinematicsSolver": "handloom.motion_generation:KinematicsSolver",
    "LulaCSpaceTrajectoryGenerator": "handloom.motion_generation:LulaCSpaceTrajectoryGenerator",
    "LulaKinematicsSolver": "handloom.motion_generation:LulaKinematicsSolver",
    "LulaTaskSpaceTrajectoryGenerator": "handloom.motion_generation:LulaTaskSpaceTrajectoryGenerator",
    "LulaTrajectory": "handloom.motion_generation:LulaTrajectory",
    "MotionPolicy": "handloom.motion_generation:MotionPolicy",
    "MotionPolicyController": "handloom.motion_generation:MotionPolicyController",
    "PathPlanner": "handloom.motion_generation:PathPlanner",
    "PathPlannerVisualizer": "handloom.motion_generation:PathPlannerVisualizer",
    "PolicyController": "handloom.control.policy:PolicyController",
    "Pose3": "handloom.motion_generation:Pose3",
    "QuinticPolynomial": "handloom.control.wheeled:QuinticPolynomial",
    "RMPFlowController": "handloom.motion_generation:RMPFlowController",
    "RRT": "handloom.motion_generation:RRT",
    "RmpFlow": "handloom.motion_generation:RmpFlow",
    "RmpFlowSmoothed": "handloom.motion_generation:RmpFlowSmoothed",
    "Rotation3": "handloom.motion_generation:Rotation3",
    "SingleArticulation": "handloom.articulation:SingleArticulation",
    "State": "handloom.control.wheeled:BicycleState",
    "SurfaceGripper": "handloom.control.surface_gripper:SurfaceGripper",
    "TaskSpacePathSpec": "handloom.motion_generation:TaskSpacePathSpec",
    "Trajectory": "handloom.motion_generation:TrajectoryInterface",
    "TransitionMode": "handloom.motion_generation:TransitionMode",
    "VisualCapsule": "handloom.motion_generation:Capsule",
    "VisualCone": "handloom.motion_generation:Cone",
    "VisualCuboid": "handloom.motion_generation:Cuboid",
    "VisualCylinder": "handloom.motion_generation:Cylinder",
    "VisualSphere": "handloom.motion_generation:Sphere",
    "WheelBasePoseController": "handloom.control.wheeled:WheelBasePoseController",
    "WheeledRobot": "handloom.control.wheeled:WheeledRobot",
    "WorldInterface": "handloom.motion_generation:WorldInterface",
    "calc_target_index": "handloom.control.wheeled:calc_target_index",
    "create_c_space_path_spec": "handloom.motion_generation:create_c_space_path_spec",
    "create_composite_path_spec": "handloom.motion_generation:create_composite_path_spec",
    "create_task_space_path_spec": "handloom.motion_generation:create_task_space_path_spec",
    "normalize_angle": "handloom.control.wheeled:normalize_angle",
    "pid_control": "handloom.control.wheeled:pid_control",
    "quintic_polynomials_planner": "handloom.control.wheeled:quintic_polynomials_planner",
    "stanley_control": "handloom.control.wheeled:stanley_control",
}
"""Published name of a class or function > ``module:name`` here."""


def __getattr__(name: str) -> Any:
    return resolve(__name__, PUBLISHED, name)


def __dir__() -> list[str]:
    return sorted([*PUBLISHED, "PUBLISHED"])
