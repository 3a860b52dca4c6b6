"""Parts of sessions for the tests by published names: devices, plugins and graphs that need no headset."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from handloom.compat.isaacteleop.retargeting_engine.deviceio_source_nodes import IDeviceIOSource
from handloom.compat.isaacteleop.retargeting_engine.interface import BaseRetargeter, TensorGroup, TensorGroupType
from handloom.compat.isaacteleop.retargeting_engine.tensor_types import FloatType
from handloom.compat.isaacteleop.teleop_session_manager import TeleopSessionConfig

PACKAGE = "handloom.compat.isaacteleop"
NUMBER = TensorGroupType("number", [FloatType("value")])


def number(value: float) -> TensorGroup:
    group = TensorGroup(NUMBER)
    group[0] = float(value)
    return group


class Fixed(BaseRetargeter):
    """Gives 1 without being asked for anything."""

    def input_spec(self):
        return {}

    def output_spec(self):
        return {"value": NUMBER}

    def _compute_fn(self, inputs, outputs, context):
        outputs["value"][0] = 1.0


class Fed(BaseRetargeter):
    """Passes on what the application gives."""

    def input_spec(self):
        return {"given": NUMBER}

    def output_spec(self):
        return {"result": NUMBER}

    def _compute_fn(self, inputs, outputs, context):
        outputs["result"][0] = inputs["given"][0]


class Thermometer(IDeviceIOSource):
    """A device whose tracker is any object."""

    def __init__(self, name="thermometer", tracker=None):
        self._tracker = tracker or object()
        super().__init__(name)

    def get_tracker(self):
        return self._tracker

    def poll_tracker(self, deviceio_session):
        return {"raw": number(42.0)}

    def input_spec(self):
        return {"raw": NUMBER}

    def output_spec(self):
        return {"heat": NUMBER}

    def _compute_fn(self, inputs, outputs, context):
        outputs["heat"][0] = inputs["raw"][0]


class Graph:
    """As little of a graph as a session asks for; a subclass gives ``answer``."""

    def __init__(self, leaves=(), result=None):
        self.leaves, self.result = list(leaves), result or {}
        self.calls, self.seen = 0, None
        self.running, self.most = 0, 0
        self.second, self.go_on = threading.Event(), threading.Event()
        self.lock = threading.Lock()

    def get_leaf_nodes(self):
        return self.leaves

    def execute_pipeline(self, inputs, context=None):
        with self.lock:
            call, self.calls = self.calls, self.calls + 1
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            self.seen = inputs
            return self.answer(call, inputs, context)
        finally:
            with self.lock:
                self.running -= 1

    def answer(self, call, inputs, context):
        return self.result


class Counting(Graph):
    """Answers with the number of the call."""

    fails_at: int | None = None

    def answer(self, call, inputs, context):
        if call == self.fails_at:
            raise RuntimeError("graph broke")
        return {"result": number(call)}


class Held(Counting):
    """The second call waits until it is let go."""

    def answer(self, call, inputs, context):
        if call == 1:
            self.second.set()
            assert self.go_on.wait(10.0)
        return super().answer(call, inputs, context)


class Part:
    """Something that is opened and closed, and notes when; ``fails`` lets it fail once."""

    def __init__(self, name, log, fails=()):
        self.name, self.log, self.fails = name, log, fails
        self.updates = self.checks = 0

    def get_handles(self):
        return self

    def update(self):
        self.updates += 1

    def check_health(self):
        self.checks += 1

    def __enter__(self):
        self.log.append(f"+{self.name}")
        if self.name in self.fails:
            self.fails.remove(self.name)
            raise RuntimeError(f"{self.name} broke")
        return self

    def __exit__(self, *error):
        self.log.append(f"-{self.name}")
        return True


class Plugins:
    """A plugin manager that knows some names."""

    def __init__(self, log, *names, fails=()):
        self.parts = {name: Part(name, log, fails) for name in names}
        self.started = []

    def get_plugin_names(self):
        return list(self.parts)

    def start(self, *asked):
        self.started.append(asked)
        return self.parts[asked[0]]


@contextmanager
def no_headset(*, oxr=None, devices=None, plugins=None, trackers=None) -> Iterator[list[str]]:
    """Put parts in the place of the runtime; gives the log of what was opened and closed."""
    log: list[str] = []

    def extensions(found, vendors=None):
        (trackers if trackers is not None else []).extend(found)
        return []

    io = f"{PACKAGE}.deviceio.DeviceIOSession"
    with (
        patch(f"{PACKAGE}.oxr.OpenXRSession", return_value=oxr or Part("oxr", log)),
        patch(f"{io}.run", return_value=devices or Part("devices", log)),
        patch(f"{io}.get_required_extensions", side_effect=extensions),
        patch(f"{PACKAGE}.plugin_manager.PluginManager", return_value=plugins or Plugins(log)),
    ):
        yield log


def config(graph, **options) -> TeleopSessionConfig:
    return TeleopSessionConfig(app_name="test", pipeline=graph, verbose=False, **options)
