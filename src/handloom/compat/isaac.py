"""Isaac Sim's control names: ``from handloom.compat.isaac import SingleArticulation``.

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
    "ArticulationSubset": "handloom.articulation:ArticulationSubset",
    "ArticulationView": "handloom.articulation:ArticulationView",
    "BaseController": "handloom.control.controller:BaseController",
    "DOFInfo": "handloom.values:DOFInfo",
    "DifferentialController": "handloom.control.wheeled:DifferentialController",
    "Go2FlatTerrainPolicy": "handloom.control.policy:Go2FlatTerrainPolicy",
    "H1FlatTerrainPolicy": "handloom.control.policy:H1FlatTerrainPolicy",
    "HolonomicController": "handloom.control.wheeled:HolonomicController",
    "HolonomicRobotUsdSetup": "handloom.control.wheeled:HolonomicRobotSetup",
    "JointsState": "handloom.values:JointsState",
    "PolicyController": "handloom.control.policy:PolicyController",
    "QuinticPolynomial": "handloom.control.wheeled:QuinticPolynomial",
    "SingleArticulation": "handloom.articulation:SingleArticulation",
    "State": "handloom.control.wheeled:BicycleState",
    "WheelBasePoseController": "handloom.control.wheeled:WheelBasePoseController",
    "WheeledRobot": "handloom.control.wheeled:WheeledRobot",
    "calc_target_index": "handloom.control.wheeled:calc_target_index",
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
