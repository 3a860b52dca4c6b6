"""Motion generation under published names: kinematics, planners, trajectories and policies from description files."""

from handloom.isaac.motion_generation.descriptions.motion_robot import MotionRobot, load_motion_robot
from handloom.isaac.motion_generation.descriptions.supported_robots import (
    get_supported_robot_path_planner_pairs,
    get_supported_robot_policy_pairs,
    get_supported_robots_with_lula_kinematics,
    load_supported_lula_kinematics_solver_config,
    load_supported_motion_policy_config,
    load_supported_path_planner_config,
)
from handloom.isaac.motion_generation.kinematics_solver import (
    ArticulationKinematicsSolver,
    KinematicsSolver,
    LulaKinematicsSolver,
)
from handloom.isaac.motion_generation.motion_policy import (
    ArticulationMotionPolicy,
    MotionPolicy,
    MotionPolicyController,
)
from handloom.isaac.motion_generation.path_planner import RRT, PathPlanner, PathPlannerVisualizer
from handloom.isaac.motion_generation.reach_pose import ReachResult, reach_pose
from handloom.isaac.motion_generation.rmpflow.rmpflow import (
    RmpFlow,
    RMPFlowController,
    RmpFlowSmoothed,
    load_motion_policy,
)
from handloom.isaac.motion_generation.trajectories.path_conversion import PathConversionConfig
from handloom.isaac.motion_generation.trajectories.task_space_path import (
    CompositePathSpec,
    CSpacePathSpec,
    Pose3,
    Rotation3,
    TaskSpacePath,
    TaskSpacePathSpec,
    TransitionMode,
    create_c_space_path_spec,
    create_composite_path_spec,
    create_task_space_path_spec,
)
from handloom.isaac.motion_generation.trajectories.trajectory_generator import (
    ArticulationTrajectory,
    LulaCSpaceTrajectoryGenerator,
    LulaTaskSpaceTrajectoryGenerator,
    LulaTrajectory,
    TrajectoryInterface,
)
from handloom.isaac.motion_generation.world_interface import (
    Capsule,
    Cone,
    Cuboid,
    Cylinder,
    GroundPlane,
    MotionObstacle,
    Sphere,
    WorldInterface,
)

__all__ = [
    "RRT",
    "ArticulationKinematicsSolver",
    "ArticulationMotionPolicy",
    "ArticulationTrajectory",
    "CSpacePathSpec",
    "Capsule",
    "CompositePathSpec",
    "Cone",
    "Cuboid",
    "Cylinder",
    "GroundPlane",
    "KinematicsSolver",
    "LulaCSpaceTrajectoryGenerator",
    "LulaKinematicsSolver",
    "LulaTaskSpaceTrajectoryGenerator",
    "LulaTrajectory",
    "MotionObstacle",
    "MotionPolicy",
    "MotionPolicyController",
    "MotionRobot",
    "PathConversionConfig",
    "PathPlanner",
    "PathPlannerVisualizer",
    "Pose3",
    "RMPFlowController",
    "ReachResult",
    "RmpFlow",
    "RmpFlowSmoothed",
    "Rotation3",
    "Sphere",
    "TaskSpacePath",
    "TaskSpacePathSpec",
    "TrajectoryInterface",
    "TransitionMode",
    "WorldInterface",
    "create_c_space_path_spec",
    "create_composite_path_spec",
    "create_task_space_path_spec",
    "get_supported_robot_path_planner_pairs",
    "get_supported_robot_policy_pairs",
    "get_supported_robots_with_lula_kinematics",
    "load_motion_policy",
    "load_motion_robot",
    "load_supported_lula_kinematics_solver_config",
    "load_supported_motion_policy_config",
    "load_supported_path_planner_config",
    "reach_pose",
]
