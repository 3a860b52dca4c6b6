"""Plugins are found by their files, run as long as the session, and are missed when they end."""

import sys
import time
from pathlib import Path

import pytest
from tests.compat.session_parts import Fixed

from handloom.errors import ConfigError, NotFoundError
from handloom.retarget import DeviceFrame, PluginConfig, TeleopSession, TeleopSessionConfig
from handloom.retarget.runtime.plugins import PluginCrashException, PluginManager


def plugin(folder: Path, name: str, program: str) -> Path:
    own = folder / f"{name}_folder"
    own.mkdir()
    (own / "run.py").write_text(program)
    (own / "plugin.yaml").write_text(
        f"name: {name}\ncommand: {sys.executable} run.py\nargs: [--one]\ndevices: [{{path: /hand/left, type: hand}}]\n"
    )
    return own


def test_a_plugin_runs_with_its_arguments_until_the_session_ends(tmp_path: Path) -> None:
    own = plugin(
        tmp_path,
        "glove",
        "import sys, time, pathlib\npathlib.Path('said').write_text(' '.join(sys.argv[1:]))\ntime.sleep(60)\n",
    )
    wanted = PluginConfig("glove", "/glove", [tmp_path], plugin_args=["--two"])
    ticks = iter(range(10**6))
    config = TeleopSessionConfig(
        "test", Fixed("fixed"), plugins=[wanted], devices=lambda: DeviceFrame(time_ns=next(ticks))
    )
    with TeleopSession(config) as session:
        session.step()
        (running,) = session.plugin_contexts
        while not (own / "said").exists() or not (own / "said").read_text():
            time.sleep(0.01)
            running.check_health()
    assert (own / "said").read_text() == "--plugin-root-id=/glove --one --two"
    with pytest.raises(PluginCrashException, match="has ended"):
        running.check_health()


def test_a_plugin_that_ends_is_said_with_its_exit_code(tmp_path: Path) -> None:
    plugin(tmp_path, "brief", "raise SystemExit(3)\n")
    manager = PluginManager([tmp_path])
    assert manager.get_plugin_names() == ["brief"]
    assert manager.query_devices("brief") == ["/hand/left"]
    with manager.start("brief", "/") as running:
        running._process.wait(30.0)
        with pytest.raises(PluginCrashException, match="'brief' has ended with exit code 3"):
            running.check_health()
    with pytest.raises(NotFoundError, match="no plugin named 'brie'; did you mean 'brief'"):
        manager.start("brie", "/")


def test_a_wrong_plugin_file_is_named(tmp_path: Path) -> None:
    (plugin(tmp_path, "odd", "") / "plugin.yaml").write_text("name: odd\ncomand: ls\n")
    with pytest.raises(ConfigError, match=r"plugin\.yaml.*comand"):
        PluginManager([tmp_path])
