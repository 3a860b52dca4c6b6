"""Plugins: external programs, such as a glove driver, each started from a ``plugin.yaml``."""

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field

from handloom.config import Config, load_config
from handloom.errors import FileError, StateError, unknown_name

FILE = "plugin.yaml"
PATIENCE_S = 5.0
"""Time that a plugin may take to end after SIGTERM before it is killed [s]."""


class PluginFile(Config):
    """A ``plugin.yaml``."""

    name: str
    """Name used in configs; it may differ from the name of the folder."""
    command: str
    """Program with its arguments; a path is first looked up in the plugin's folder."""
    args: list[str] = Field(default_factory=list)
    """Further arguments."""
    description: str = ""
    version: str | float | None = None
    devices: list[dict[str, str]] = Field(default_factory=list)
    """Devices that the plugin provides: path, type, description."""


class PluginCrashException(StateError):  # noqa: N818 - published name
    """A plugin has ended by itself."""


class Plugin:
    """A running plugin; it ends when its ``with`` block is left.

    Args:
        name: Name of the plugin.
        command: Program and arguments.
        folder: Where it runs.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        try:
            self._process = subprocess.Popen(command, cwd=folder)
        except OSError as error:
            raise FileError(f"plugin {name!r}: {command[0]} cannot be started: {error.strerror}") from error

    def check_health(self) -> None:
        """Raise if the plugin has ended.

        Raises:
            PluginCrashException: With its exit code.
        """
        code = self._process.poll()
        if code is not None:
            raise PluginCrashException(f"plugin {self.name!r} has ended with exit code {code}")

    def stop(self) -> None:
        """End the plugin: Send SIGTERM, then SIGKILL if the plugin does not end.

        Raises:
            PluginCrashException: It had ended before.
        """
        try:
            self.check_health()
        finally:
            self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()


class PluginManager:
    """Finds plugins in folders: each sub-folder with a ``plugin.yaml`` is a plugin.

    Args:
        search_paths: Folders to look in.

    Raises:
        ConfigError: A ``plugin.yaml`` is wrong.
    """

    def __init__(self, search_paths: Sequence[str | Path]) -> None:
        self._found: dict[str, tuple[Path, PluginFile]] = {}
        for path in search_paths:
            for file in sorted(Path(path).glob(f"*/{FILE}")):
                plugin = load_config(file, PluginFile)
                self._found.setdefault(plugin.name, (file.parent, plugin))

    def get_plugin_names(self) -> list[str]:
        """Return the names of the plugins."""
        return list(self._found)

    def query_devices(self, plugin_name: str) -> list[str]:
        """Return the paths of the devices that a plugin provides."""
        return [device.get("path", "") for device in self._plugin(plugin_name)[1].devices]

    def start(self, plugin_name: str, plugin_root_id: str, plugin_args: Sequence[str] = ()) -> Plugin:
        """Start a plugin.

        Args:
            plugin_name: Its name.
            plugin_root_id: Root of its devices, passed on as ``--plugin-root-id``.
            plugin_args: Arguments appended to those of the file.
        """
        folder, plugin = self._plugin(plugin_name)
        program, *given = shlex.split(plugin.command)
        own = folder / program
        program = str(own.resolve()) if own.is_file() else program
        root = f"--plugin-root-id={plugin_root_id}"
        return Plugin(plugin_name, [program, *given, root, *plugin.args, *plugin_args], folder)

    def _plugin(self, name: str) -> tuple[Path, PluginFile]:
        if name not in self._found:
            raise unknown_name("plugin", name, self._found)
        return self._found[name]
