"""The current values of a node's tunable parameters."""

import copy
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from handloom.errors import InputError, suggest
from handloom.retarget.graph.parameter_spec import ParameterSpec
from handloom.retarget.graph.types import UnknownParameterError


class ParameterState:
    """Values by name, safe to set from another thread, stored in a JSON file if one is given.

    Args:
        name: Name of the owner of the parameters.
        parameters: Their descriptions; at least one.
        config_file: JSON file to start from if it exists; an invalid value in it is replaced with the default and
            listed in ``rejected``.
    """

    def __init__(self, name: str, parameters: Sequence[ParameterSpec], config_file: str | Path | None = None) -> None:
        if not parameters:
            raise InputError(f"parameter state {name!r} needs at least one parameter")
        self.name = name
        self._specs = {spec.name: spec for spec in parameters}
        if len(self._specs) != len(parameters):
            raise InputError(f"parameter state {name!r}: two parameters have the same name")
        self._values = {key: spec.get_default_value() for key, spec in self._specs.items()}
        self._config_file = None if config_file is None else Path(config_file)
        self._lock = threading.RLock()
        self.rejected: tuple[str, ...] = ()
        """Names of parameters with an invalid value in the last loaded file."""
        if self._config_file is not None and self._config_file.exists():
            self.load_from_file()
        self.sync_all()

    def get_all_parameter_specs(self) -> dict[str, ParameterSpec]:
        """Return the descriptions by name."""
        return dict(self._specs)

    def get(self, names: Iterable[str]) -> dict[str, Any]:
        """Return copies of the values of ``names``."""
        with self._lock:
            return {name: copy.deepcopy(self._values[self._known(name)]) for name in names}

    def get_all_values(self) -> dict[str, Any]:
        """Return copies of all values."""
        return self.get(self._specs)

    def set(self, updates: Mapping[str, Any]) -> None:
        """Set parameters; either all updates are applied or none.

        Raises:
            UnknownParameterError: A name does not exist.
            InputError: A value has the wrong type or is out of bounds.
        """
        with self._lock:
            for name, value in updates.items():
                spec = self._specs[self._known(name)]
                if not spec.validate(value):
                    raise InputError(f"parameter {name!r} of {self.name!r} does not accept {value!r}; it is {spec}")
            self._values.update({name: self._specs[name].deserialize(value) for name, value in updates.items()})

    def reset_to_defaults(self) -> None:
        """Set every parameter to its default."""
        with self._lock:
            self._values = {key: spec.get_default_value() for key, spec in self._specs.items()}

    def sync_all(self) -> None:
        """Call every ``sync_fn`` with its value."""
        with self._lock:
            for name, spec in self._specs.items():
                if spec.sync_fn is not None:
                    spec.sync_fn(copy.copy(self._values[name]))

    def save_to_file(self, file_path: str | Path | None = None) -> bool:
        """Write the saveable values as JSON; False if there is no path or it cannot be written."""
        target = self._config_file if file_path is None else Path(file_path)
        if target is None:
            return False
        with self._lock:
            values = {name: spec.serialize(self._values[name]) for name, spec in self._specs.items() if spec.saveable}
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
        except OSError:
            return False
        return True

    def load_from_file(self, file_path: str | Path | None = None) -> bool:
        """Read values from JSON; return False, with no change, if the file cannot be read.

        An invalid value is replaced with the default and listed in ``rejected``.
        """
        source = self._config_file if file_path is None else Path(file_path)
        if source is None:
            return False
        try:
            loaded = json.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if not isinstance(loaded, dict):
            return False
        with self._lock:
            rejected = []
            for name in (name for name, spec in self._specs.items() if spec.saveable and name in loaded):
                spec = self._specs[name]
                fits = spec.validate(loaded[name])
                self._values[name] = spec.deserialize(loaded[name]) if fits else spec.get_default_value()
                rejected += [] if fits else [name]
            self.rejected = tuple(rejected)
        return True

    def _known(self, name: str) -> str:
        if name not in self._specs:
            raise UnknownParameterError(f"no parameter {name!r} in {self.name!r}; {suggest(name, self._specs)}")
        return name
