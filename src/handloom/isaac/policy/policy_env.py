"""The environment file of a policy: its observations, joints, rate and initial pose."""

import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from handloom.arrays import Array
from handloom.config import Document, read_document
from handloom.errors import ConfigError, suggest
from handloom.isaac.policy.observations import TERMS, Reading, term_width


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern of an environment file names a joint.

    Patterns are regular expressions; the published reader treats them as shell patterns with an open end, and files
    written for it also work.
    """
    try:
        if re.fullmatch(pattern, name):
            return True
    except re.error:
        pass
    return fnmatch.fnmatchcase(name, pattern.replace(".", "*") + "*")


def per_joint(given: Any, joint_names: Sequence[str], *, default: float, field: str) -> Array:
    """Return one value per joint (n,) from a number, a mapping of patterns, or None.

    Args:
        given: Value from the file; the first pattern that matches a joint wins.
        joint_names: The joints, in order.
        default: Value for joints that no pattern matches, and for None.
        field: Location of the value, ``file:line: key.path``, for messages.

    Raises:
        ConfigError: A value is not a number, or a pattern matches no joint.
    """
    if given is None:
        return np.full(len(joint_names), default)
    if not isinstance(given, Mapping):
        return np.full(len(joint_names), number(given, field))
    values = np.full(len(joint_names), np.nan)
    for pattern, value in given.items():
        named = np.array([matches(str(pattern), name) for name in joint_names], dtype=bool)
        if not named.any():
            raise ConfigError(f"{field}.{pattern}: names no joint; the robot has {', '.join(joint_names)}")
        chosen = named & np.isnan(values)
        values[chosen] = default if value is None else number(value, f"{field}.{pattern}")
    return np.where(np.isnan(values), default, values)


def number(given: Any, field: str) -> float:
    """Return a number that may be infinite but not NaN."""
    if isinstance(given, bool) or not isinstance(given, int | float) or np.isnan(given):
        raise ConfigError(f"{field}: must be a number, got {given!r}")
    return float(given)


# Value for "no limit" if the file gives none or infinity.
UNLIMITED = 1e20
# Parameters that our own observation terms need.
TERM_PARAMS = {"gait_phase": ("frequency",)}


@dataclass(frozen=True, kw_only=True)
class ObservationTerm:
    """One block of the network's observation."""

    name: str
    """Key in the file."""
    func: str
    """Which of :data:`TERMS`."""
    scale: float = 1.0
    clip: tuple[float, float] = (-math.inf, math.inf)
    params: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class JointProperties:
    """Joint settings from the file, one entry per joint, in the requested order."""

    stiffness: Array
    """[N m/rad]"""
    damping: Array
    """[N m s/rad]"""
    effort_limit: Array
    """[N m], 1e20 if there is none."""
    velocity_limit: Array
    """[rad/s], 1e20 if there is none."""
    armature: Array
    """[kg m^2]; NaN if the file leaves it to the model."""
    default_pos: Array
    """[rad]"""
    default_vel: Array
    """[rad/s]"""


class PolicyEnv:
    """An environment file as written by Isaac Lab beside a trained policy (``env.yaml``).

    Only the keys needed to run the policy are read: ``decimation``, ``sim.dt``, ``scene.robot.actuators``,
    ``scene.robot.init_state``, ``observations.policy`` and ``actions``. Tags of Python objects and all other keys are
    ignored.

    Args:
        file: The file.

    Raises:
        ConfigError: A value is missing or wrong; the message has file, line and field.
    """

    def __init__(self, file: str | Path) -> None:
        self._document: Document = read_document(file, foreign_tags=True)
        self.file = Path(file)
        self.decimation = int(self._number("decimation"))
        self.dt = self._number("sim.dt")
        if self.decimation < 1 or self.dt <= 0.0:
            field = "decimation" if self.decimation < 1 else "sim.dt"
            raise ConfigError(f"{self.field(field)}: must be greater than zero, got {self._get(field)!r}")
        self.terms = self._terms()
        self._action = self._action_key()

    @property
    def period(self) -> float:
        """Time between two actions [s]."""
        return self.decimation * self.dt

    @property
    def spawn_height(self) -> float:
        """Initial height of the base [m]."""
        position = self._get("scene.robot.init_state.pos")
        return float(position[2]) if isinstance(position, Sequence) and len(position) == 3 else 0.0

    def command_ranges(self) -> Array:
        """Return lowest and highest vx, vy, wz (3, 2) [m/s, m/s, rad/s] that the policy was trained for."""
        path = "commands.base_velocity.ranges"
        rows = []
        for key in ("lin_vel_x", "lin_vel_y", "ang_vel_z"):
            given = self._get(f"{path}.{key}")
            field = self.field(f"{path}.{key}")
            if given is None:
                rows.append((-math.inf, math.inf))
            elif not isinstance(given, Sequence) or len(given) != 2:
                raise ConfigError(f"{field}: must be [lowest, highest], got {given!r}")
            else:
                rows.append(tuple(number(value, field) for value in given))
        return np.array(rows)

    def joint_properties(self, joint_names: Sequence[str]) -> JointProperties:
        """Return gains, limits and default positions of joints, in the order of their names."""
        table = {key: np.full(len(joint_names), value) for key, value in _ACTUATOR_KEYS.items()}
        actuators = self._mapping("scene.robot.actuators")
        for group in actuators:
            path = f"scene.robot.actuators.{group}"
            chosen = [i for i, name in enumerate(joint_names) if self._drives(path, name)]
            names = [joint_names[i] for i in chosen]
            if not chosen:
                raise ConfigError(f"{self.field(path)}.joint_names_expr: names no joint of {', '.join(joint_names)}")
            for key, default in _ACTUATOR_KEYS.items():
                values = per_joint(
                    self._get(f"{path}.{key}"), names, default=default, field=self.field(f"{path}.{key}")
                )
                table[key][chosen] = np.minimum(values, UNLIMITED) if key.endswith("limit") else values
        start = "scene.robot.init_state"
        poses = {
            f"default_{key}": per_joint(
                self._get(f"{start}.joint_{key}"), joint_names, default=0.0, field=self.field(f"{start}.joint_{key}")
            )
            for key in ("pos", "vel")
        }
        return JointProperties(**table, **poses)

    def action_scale(self, joint_names: Sequence[str]) -> Array:
        """Return the offset that an action of one adds to each default position (n,) [rad]."""
        path = f"actions.{self._action}"
        for key, name in enumerate(joint_names):
            patterns = self._get(f"{path}.joint_names")
            if not any(matches(str(pattern), name) for pattern in patterns or ()):
                raise ConfigError(
                    f"{self.field(f'{path}.joint_names')}: names no joint {name!r}; a policy that drives only some "
                    f"joints needs them listed in dof_names ({key} of {len(joint_names)} were found)"
                )
        return per_joint(self._get(f"{path}.scale"), joint_names, default=1.0, field=self.field(f"{path}.scale"))

    def observation_size(self, joints: int) -> int:
        """Return the length of the observation."""
        return sum(term_width(term.func, joints) for term in self.terms)

    def layout(self, joints: int) -> str:
        """Return a description of the observation, for messages: ``base_lin_vel 3 + ... = 48``."""
        parts = " + ".join(f"{term.name} {term_width(term.func, joints)}" for term in self.terms)
        return f"{parts} = {self.observation_size(joints)}"

    def observe(self, reading: Reading) -> Array:
        """Return the observation (..., k) of the network."""
        blocks = []
        for term in self.terms:
            block = TERMS[term.func](reading)
            if term.clip != (-math.inf, math.inf):
                block = np.clip(block, *term.clip)
            blocks.append(block if term.scale == 1.0 else block * term.scale)
        return np.concatenate(blocks, axis=-1)

    def gait(self) -> Mapping[str, Any]:
        """Return the parameters of the gait clock; the frequency is zero if the policy observes no gait phase."""
        return next((term.params for term in self.terms if term.func == "gait_phase"), {"frequency": 0.0})

    # -- reading -------------------------------------------------------------------------------------------------

    def field(self, path: str) -> str:
        """Return ``file:line: key.path`` of a value, or of the place where it is missing."""
        return f"{self._document.mark(tuple(path.split('.')))}: {path}"

    def _get(self, path: str) -> Any:
        value = self._document.values
        for key in path.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(key)
        return value

    def _mapping(self, path: str) -> Mapping[str, Any]:
        value = self._get(path)
        if not isinstance(value, Mapping) or not value:
            raise ConfigError(f"{self.field(path)}: this required key must be a mapping, found {value!r}")
        return value

    def _number(self, path: str) -> float:
        value = self._get(path)
        if value is None:
            raise ConfigError(f"{self.field(path)}: this key is required and missing")
        return number(value, self.field(path))

    def _drives(self, path: str, name: str) -> bool:
        patterns = self._get(f"{path}.joint_names_expr")
        if not isinstance(patterns, Sequence) or isinstance(patterns, str):
            raise ConfigError(f"{self.field(path)}.joint_names_expr: must be a list of patterns, got {patterns!r}")
        return any(matches(str(pattern), name) for pattern in patterns)

    def _terms(self) -> tuple[ObservationTerm, ...]:
        found = []
        for name, body in self._mapping("observations.policy").items():
            # Settings of the group are listed beside its terms; only terms are mappings with a function.
            if not isinstance(body, Mapping) or "func" not in body:
                continue
            path = f"observations.policy.{name}"
            func = str(body["func"]).rpartition(":")[2].rpartition(".")[2]
            if func not in TERMS:
                raise ConfigError(f"{self.field(path)}.func: no observation {func!r}; {suggest(func, TERMS)}")
            params = body.get("params") or {}
            for key in TERM_PARAMS.get(func, ()):
                number(params.get(key), f"{self.field(path)}.params.{key}")
            scale, clip = body.get("scale"), body.get("clip")
            found.append(
                ObservationTerm(
                    name=name,
                    func=func,
                    scale=1.0 if scale is None else number(scale, f"{self.field(path)}.scale"),
                    clip=(-math.inf, math.inf) if clip is None else (float(clip[0]), float(clip[1])),
                    params=params,
                )
            )
        if not found:
            raise ConfigError(f"{self.field('observations.policy')}: lists no observation term")
        return tuple(found)

    def _action_key(self) -> str:
        actions = self._mapping("actions")
        driven = [name for name, body in actions.items() if isinstance(body, Mapping) and "joint_names" in body]
        if len(driven) != 1:
            raise ConfigError(
                f"{self.field('actions')}: one action with joint_names is needed, found {driven or 'none'}"
            )
        return driven[0]


_ACTUATOR_KEYS = {
    "stiffness": 0.0,
    "damping": 0.0,
    "effort_limit": UNLIMITED,
    "velocity_limit": UNLIMITED,
    "armature": math.nan,
}
