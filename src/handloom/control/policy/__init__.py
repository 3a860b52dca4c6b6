"""Controllers that are trained networks: what they see, what they drive, and robots that walk on them."""

from handloom.control.policy.flat_terrain import FlatTerrainPolicy, Go2FlatTerrainPolicy, H1FlatTerrainPolicy
from handloom.control.policy.network import Network, load_network
from handloom.control.policy.observations import TERMS, Reading
from handloom.control.policy.policy_controller import PolicyController
from handloom.control.policy.policy_env import JointProperties, ObservationTerm, PolicyEnv
from handloom.control.policy.walker import LegReading, Walker, driver_for

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
