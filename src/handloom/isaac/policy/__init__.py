"""Controllers based on trained networks: observations, actuation, and walking robots."""

from handloom.isaac.policy.network import Network, load_network
from handloom.isaac.policy.observations import TERMS, Reading
from handloom.isaac.policy.policy_controller import PolicyController
from handloom.isaac.policy.policy_env import JointProperties, ObservationTerm, PolicyEnv
from handloom.isaac.policy.walker import (
    FlatTerrainPolicy,
    Go2FlatTerrainPolicy,
    H1FlatTerrainPolicy,
    LegReading,
    Walker,
    driver_for,
)

__all__ = [
    "TERMS",
    "FlatTerrainPolicy",
    "Go2FlatTerrainPolicy",
    "H1FlatTerrainPolicy",
    "JointProperties",
    "LegReading",
    "Network",
    "ObservationTerm",
    "PolicyController",
    "PolicyEnv",
    "Reading",
    "Walker",
    "driver_for",
    "load_network",
]
