"""Settings of the arm planner."""

from dataclasses import dataclass, field

from handloom.errors import InputError
from handloom.motion.collision.collision_robot import MOST_PADDING
from handloom.motion.kinematics import IkOptions


@dataclass(frozen=True, kw_only=True)
class PlannerOptions:
    """Accuracy and budgets of the planner. Budgets count iterations, not time, so that results are repeatable."""

    padding: float = 0.005
    """Distance to keep from obstacles while planning [m]."""
    sphere_tolerance: float = 0.01
    """Distance by which spheres may protrude from the robot's solids [m]."""
    checks_per_unit: float = 32.0
    """Configurations checked per radian or metre while planning."""
    exact_step: float = 0.01
    """Largest unchecked joint motion near contact when a path is verified exactly [rad or m]."""
    tree_step: float = 2.0
    """Longest edge of the search trees [rad or m]; later rounds of a search use shorter ones."""
    iterations: int = 8000
    """Samples per round of a search; the last round takes four times as many."""
    goal_iterations: int = 300
    """Samples per candidate goal before the next best one is tried."""
    tree_size: int = 20000
    """Nodes per search tree."""
    shortcuts: int = 20
    """Attempts to shorten a path; 60 attempts make paths 3 % shorter and increase the planning time by half."""
    verify_retries: int = 3
    """Further searches, each with more padding, after exact verification rejects a path."""
    limit_tolerance: float = 1e-3
    """Distance beyond a joint limit up to which a start or goal is moved to the limit and reported [rad or m]."""
    contact_tolerance: float = 2e-3
    """Overlap up to which a start in contact is accepted and reported [m]."""
    branches: int = 4
    """Number of arm configurations considered per candidate pose."""
    chunk: int = 32
    """Number of candidate poses tested together, best scores first."""
    line_step: float = 0.005
    """Distance between poses on a straight Cartesian move [m]."""
    line_turn: float = 0.03
    """Angle between poses on a straight Cartesian move [rad]."""
    line_jump: float = 0.15
    """Largest joint motion between two poses of a straight move [rad or m]; more counts as a jump to another branch."""
    ik: IkOptions = field(default_factory=lambda: IkOptions(max_seeds=32, threads=1))
    """Options of the inverse kinematics for goal poses."""
    seed: int = 0
    """Seed of all random choices."""

    def __post_init__(self) -> None:
        """Reject invalid settings."""
        positive = ("sphere_tolerance", "checks_per_unit", "exact_step", "tree_step", "iterations", "goal_iterations")
        positive += ("tree_size", "branches", "chunk", "line_step", "line_turn", "line_jump")
        for name in positive:
            if not getattr(self, name) > 0:
                raise InputError(f"PlannerOptions.{name} must be > 0, got {getattr(self, name)}")
        if self.padding > MOST_PADDING / 2:
            raise InputError(f"PlannerOptions.padding must be at most {MOST_PADDING / 2} m, got {self.padding}")
        for name in ("padding", "shortcuts", "verify_retries", "limit_tolerance", "contact_tolerance"):
            if getattr(self, name) < 0:
                raise InputError(f"PlannerOptions.{name} must be >= 0, got {getattr(self, name)}")
