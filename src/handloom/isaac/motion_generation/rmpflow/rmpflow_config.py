"""Parameters of RMPflow, as its published YAML files give them."""

from typing import Annotated, Any, Literal

from pydantic import Field

from handloom.config import Config, Position, UnusedKey

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
_ELSEWHERE = UnusedKey("no part of the policy reads it")


class CSpaceTargetRmp(Config):
    """Pull of all joints to a configuration."""

    metric_scalar: NotNegative = 50.0
    position_gain: NotNegative = 100.0
    damping_gain: NotNegative = 50.0
    robust_position_term_thresh: Positive = 0.5
    """Distance beyond which the pull no longer grows [rad or m]."""
    inertia: NotNegative = 1.0


class JointLimitRmp(Config):
    """Push away from joint limits."""

    metric_scalar: NotNegative = 1000.0
    metric_length_scale: Positive = 0.01
    metric_exploder_eps: Positive = 1e-3
    metric_velocity_gate_length_scale: Positive = 0.01
    accel_damper_gain: NotNegative = 200.0
    accel_potential_gain: NotNegative = 1.0
    accel_potential_exploder_length_scale: Positive = 0.1
    accel_potential_exploder_eps: Positive = 1e-2


class JointVelocityCapRmp(Config):
    """Damping of joints that are too fast."""

    max_velocity: Positive = 4.0
    """[rad/s or m/s]."""
    velocity_damping_region: Positive = 1.5
    damping_gain: NotNegative = 1000.0
    metric_weight: NotNegative = 100.0


class TargetRmp(Config):
    """Attraction of the tool to a position."""

    accel_p_gain: NotNegative = 30.0
    accel_d_gain: NotNegative = 85.0
    accel_norm_eps: Positive = 0.075
    metric_alpha_length_scale: Positive = 0.05
    min_metric_alpha: NotNegative = 0.01
    max_metric_scalar: NotNegative = 10000.0
    min_metric_scalar: NotNegative = 2500.0
    proximity_metric_boost_scalar: NotNegative = 20.0
    proximity_metric_boost_length_scale: Positive = 0.02
    xi_estimator_gate_std_dev: Annotated[float | None, _ELSEWHERE] = None
    accept_user_weights: Annotated[bool | float | None, _ELSEWHERE] = None


class AxisTargetRmp(Config):
    """Pull of each axis of the tool to a direction."""

    accel_p_gain: NotNegative = 210.0
    accel_d_gain: NotNegative = 60.0
    metric_scalar: NotNegative = 10.0
    proximity_metric_boost_scalar: NotNegative = 3000.0
    proximity_metric_boost_length_scale: Positive = 0.08
    xi_estimator_gate_std_dev: Annotated[float | None, _ELSEWHERE] = None
    accept_user_weights: Annotated[bool | float | None, _ELSEWHERE] = None


class CollisionRmp(Config):
    """Push of each sphere away from each obstacle."""

    damping_gain: NotNegative = 50.0
    damping_std_dev: Positive = 0.04
    damping_robustness_eps: Positive = 1e-2
    damping_velocity_gate_length_scale: Positive = 0.01
    repulsion_gain: NotNegative = 800.0
    repulsion_std_dev: Positive = 0.01
    metric_modulation_radius: Positive = 0.5
    """Obstacles further away than this are ignored [m]."""
    metric_scalar: NotNegative = 10000.0
    """0 switches collision avoidance off."""
    metric_exploder_std_dev: Positive = 0.02
    metric_exploder_eps: Positive = 0.001


class DampingRmp(Config):
    """Drag and inertia of the tool."""

    accel_d_gain: NotNegative = 30.0
    metric_scalar: NotNegative = 50.0
    inertia: NotNegative = 100.0


class RmpParams(Config):
    """All leaf policies."""

    cspace_target_rmp: CSpaceTargetRmp = CSpaceTargetRmp()
    cspace_trajectory_rmp: Annotated[dict[str, Any] | None, _ELSEWHERE] = None
    cspace_affine_rmp: Annotated[dict[str, Any] | None, _ELSEWHERE] = None
    joint_limit_rmp: JointLimitRmp = JointLimitRmp()
    joint_velocity_cap_rmp: JointVelocityCapRmp = JointVelocityCapRmp()
    target_rmp: TargetRmp = TargetRmp()
    axis_target_rmp: AxisTargetRmp = AxisTargetRmp()
    collision_rmp: CollisionRmp = CollisionRmp()
    damping_rmp: DampingRmp = DampingRmp()


class CanonicalResolve(Config):
    """Combination of the leaves into one acceleration."""

    max_acceleration_norm: Positive = 50.0
    projection_tolerance: Positive = 0.01
    verbose: Annotated[bool | None, _ELSEWHERE] = None


class BodyCapsule(Config):
    """A part of the base that the arm keeps away from, in the frame of the root link."""

    name: str
    pt1: Position
    pt2: Position
    radius: Positive


class BodyController(Config):
    """A sphere around the origin of a frame that keeps away from the base."""

    name: str
    """Frame of the robot."""
    radius: Positive


class RmpFlowFile(Config):
    """An RMPflow parameter file."""

    format: Literal["rmpflow"] = "rmpflow"
    """First key of cuMotion's files."""
    api_version: Annotated[float | str | None, _ELSEWHERE] = None
    joint_limit_buffers: list[float] = Field(default_factory=list)
    """Margin by which the range of each joint is reduced at both ends [rad or m]; one value per joint, or none."""
    rmp_params: RmpParams = RmpParams()
    canonical_resolve: CanonicalResolve = CanonicalResolve()
    body_cylinders: list[BodyCapsule] = Field(default_factory=list)
    body_capsules: list[BodyCapsule] = Field(default_factory=list)
    body_collision_controllers: list[BodyController] = Field(default_factory=list)
