from collections.abc import Iterator

import pytest

from handloom.config import allow_code, forbid_code
from handloom.errors import ConfigError, InputError, NotAllowedError, NotFoundError
from handloom.isaac.graph import (
    EventNode,
    Graph,
    GraphContext,
    Keys,
    Node,
    NodeResult,
    done,
    failed,
    load_graph,
    port,
    save_graph,
)

# How a graph names nodes of one's own.
COUNTER, PHYSICS = f"{__name__}:Counter", f"{__name__}:Physics"


@pytest.fixture(autouse=True)
def _own_nodes() -> Iterator[None]:
    with allow_code():
        yield


class Counter(Node):
    """Adds ``step`` at every pulse; the step is latched."""

    TYPE = "test.Counter"
    INPUTS = (
        port("execIn", "execution"),
        port("step", "double", 1.0, latched=True),
        port("bias", "double", command=True),
    )
    OUTPUTS = (port("execOut", "execution"), port("total", "double"))

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.total = 0.0

    def compute(self, given: dict, context: GraphContext, pulse: str) -> NodeResult:
        if given["bias"] < 0:
            return failed("bias is negative")
        self.total += given["step"]
        return done("execOut", total=self.total + given["bias"])


class Physics(EventNode):
    TYPE = "test.Physics"
    EVENT = "physics"
    OUTPUTS = (port("step", "execution"),)

    def compute(self, given: dict, context: GraphContext, pulse: str) -> NodeResult:
        return done("step")


def counters(count: int = 2) -> Graph:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("tick", "omni.graph.action.OnPlaybackTick"),
                *((f"c{i}", COUNTER) for i in range(count)),
            ],
            Keys.CONNECT: [("tick.outputs:tick", f"c{i}.inputs:execIn") for i in range(count)],
        }
    )
    return graph


def test_execution_starts_at_events_and_follows_connections_in_their_order() -> None:
    graph = counters(3)
    graph.edit({Keys.DISCONNECT: [("tick.outputs:tick", "c0.inputs:execIn")]})
    graph.edit({Keys.CONNECT: [("c1.outputs:execOut", "c0.inputs:execIn")]})
    assert graph.evaluate().computed == ("tick", "c1", "c0", "c2")
    assert graph.evaluate(event="physics").computed == ()
    assert graph.get("c0.outputs:total") == 1.0


def test_two_physics_event_nodes_both_fire_once_per_step() -> None:
    graph = Graph()
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("a", "isaacsim.core.nodes.OnPhysicsStep"),
                ("b", PHYSICS),
                ("count", COUNTER),
            ],
            Keys.CONNECT: [("a.outputs:step", "count.inputs:execIn"), ("b.outputs:step", "count.inputs:execIn")],
        }
    )
    for _ in range(5):
        graph.evaluate(event="physics")
    assert graph.get("count.outputs:total") == 10.0


def test_pure_data_is_pulled_before_its_consumer_and_constants_feed_from_their_input() -> None:
    graph = counters(1)
    graph.edit(
        {
            Keys.CREATE_NODES: [("x", "ConstantDouble"), ("v", "MakeVector3"), ("odo", "HolonomicController")],
            Keys.SET_VALUES: [("x.inputs:value", 2.5), ("v.inputs:y", 4.0)],
            Keys.CONNECT: [
                ("x.inputs:value", "v.inputs:x"),
                ("x.inputs:value", "c0.inputs:bias"),
                ("v.outputs:tuple", "odo.inputs:inputVelocity"),
                ("c0.outputs:execOut", "odo.inputs:execIn"),
            ],
        }
    )
    evaluation = graph.evaluate()
    assert evaluation.computed.index("v") < evaluation.computed.index("odo")
    assert graph.get("v.outputs:tuple").tolist() == [2.5, 4.0, 0.0]
    assert graph.get("c0.outputs:total") == 3.5


def test_latched_inputs_keep_the_value_of_the_first_compute_until_stop() -> None:
    graph = counters(1)
    graph.set("c0.inputs:step", 2.0)
    graph.evaluate()
    graph.set("c0.inputs:step", 100.0)
    graph.evaluate()
    assert graph.get("c0.outputs:total") == 4.0
    graph.stop()
    assert graph.get("c0.outputs:total") == 0.0
    graph.evaluate()
    assert graph.get("c0.outputs:total") == 100.0


@pytest.mark.parametrize("clear", [False, True])
def test_commands_survive_a_stop_unless_the_published_clearing_is_asked_for(clear: bool) -> None:
    graph = counters(1)
    graph.clear_commands_on_stop = clear
    graph.set("c0.inputs:bias", 5.0)
    graph.evaluate()
    graph.stop()
    assert graph.get("c0.inputs:bias") == (0.0 if clear else 5.0)


def test_a_failure_is_reported_and_stops_its_branch_only(caplog: pytest.LogCaptureFixture) -> None:
    graph = counters(3)
    graph.edit(
        {
            Keys.DISCONNECT: [("tick.outputs:tick", "c1.inputs:execIn")],
            Keys.CONNECT: [("c0.outputs:execOut", "c1.inputs:execIn")],
        }
    )
    graph.set("c0.inputs:bias", -1.0)
    evaluation = graph.evaluate()
    assert evaluation.failures == {"c0": "bias is negative"}
    assert evaluation.computed == ("tick", "c0", "c2")
    assert "/ActionGraph/c0: bias is negative" in caplog.text


def test_a_push_graph_computes_every_node_sources_first() -> None:
    graph = Graph(evaluator="push")
    graph.edit(
        {
            Keys.CREATE_NODES: [("late", COUNTER), ("early", COUNTER)],
            Keys.CONNECT: [("early.outputs:total", "late.inputs:bias")],
        }
    )
    assert graph.evaluate().computed == ("early", "late")
    assert graph.get("late.outputs:total") == 2.0


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (
            "c0.outputs:total",
            "c1.inputs:execIn",
            r"cannot connect c0.outputs:total \(double\) to c1.inputs:execIn \(execution\)",
        ),
        ("tick.outputs:tick", "c0.inputs:step", r"\(execution\) to c0.inputs:step \(double\)"),
        ("tick.outputs:tik", "c0.inputs:execIn", "no output 'tik'; did you mean 'tick'"),
        ("c0.outputs:total", "c1.inputs:biass", "no input 'biass'; did you mean 'bias'"),
        ("c9.outputs:total", "c1.inputs:bias", "no node named 'c9'"),
        ("c0.inputs:bias", "c1.inputs:bias", "no output 'bias'"),
        ("c0.outputs:total", "c1.outputs:total", "must end at an input"),
        ("c0:total", "c1.inputs:bias", "has the form node.inputs:port"),
        ("c0.outputs:total", "c0.inputs:bias", "create a cycle"),
        ("tick.outputs:tick", "c0.inputs:execIn", "already exists"),
    ],
)
def test_bad_connections_fail_when_they_are_made_and_change_nothing(source: str, target: str, message: str) -> None:
    graph = counters()
    before = graph.connections
    with pytest.raises((InputError, NotFoundError), match=message):
        graph.edit({Keys.CREATE_NODES: [("new", "ConstantInt")], Keys.CONNECT: [(source, target)]})
    assert graph.connections == before
    assert "new" not in graph.nodes


def test_an_input_has_one_source_and_a_longer_circle_is_found() -> None:
    graph = counters(3)
    graph.edit({Keys.CONNECT: [("c0.outputs:total", "c1.inputs:bias"), ("c1.outputs:total", "c2.inputs:bias")]})
    with pytest.raises(InputError, match=r"connected to c0\.total"):
        graph.edit({Keys.CONNECT: [("c2.outputs:total", "c1.inputs:bias")]})
    with pytest.raises(InputError, match="create a cycle"):
        graph.edit({Keys.CONNECT: [("c2.outputs:total", "c0.inputs:bias")]})
    with pytest.raises(InputError, match=r"connected to c0\.total; disconnect it first"):
        graph.set("c1.inputs:bias", 1.0)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("c0.inputs:step", "fast"),
        ("c0.inputs:step", float("nan")),
        ("c0.inputs:execIn", 1),
        ("c0.outputs:total", 1.0),
        ("h.inputs:wheelRadius", 0.04),
        ("h.inputs:wheelPositions", [[1, 2]]),
        ("h.inputs:inputVelocity", [1, 2]),
        ("a.inputs:invertSteering", 1),
        ("art.inputs:jointNames", "left"),
        ("art.inputs:jointIndices", [1.5]),
        ("art.inputs:robotPath", 3),
    ],
)
def test_values_of_the_wrong_type_are_refused(attribute: str, value: object) -> None:
    graph = counters(1)
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("h", "HolonomicController"),
                ("a", "AckermannController"),
                ("art", "IsaacArticulationController"),
            ]
        }
    )
    with pytest.raises(InputError):
        graph.set(attribute, value)


def test_types_versions_and_edits_that_do_not_exist_are_named() -> None:
    graph = Graph()
    with pytest.raises(NotFoundError, match=r"did you mean 'isaacsim.robot.wheeled_robots.HolonomicController'"):
        graph.edit({Keys.CREATE_NODES: [("h", "isaacsim.robot.wheeled_robots.HolonomicControler")]})
    with pytest.raises(NotFoundError, match="known: 1, 2"):
        graph.edit({Keys.CREATE_NODES: [("a", "AckermannController", 7)]})
    with pytest.raises(NotFoundError, match="did you mean 'connect'"):
        graph.edit({"conect": []})
    with pytest.raises(InputError, match="cannot be imported"):
        graph.edit({Keys.CREATE_NODES: [("x", "no_such_module:Node")]})
    with pytest.raises(InputError, match="already"):
        graph.edit({Keys.CREATE_NODES: [("x", "ConstantInt"), ("x", "ConstantInt")]})


def test_deleting_a_node_takes_its_connections_along() -> None:
    graph = counters(2)
    graph.edit({Keys.DELETE_NODES: ["c0"]})
    assert [c.target_node for c in graph.connections] == ["c1"]
    assert graph.evaluate().computed == ("tick", "c1")


def test_a_graph_survives_a_file(tmp_path) -> None:
    graph = counters(2)
    graph.edit(
        {
            Keys.CREATE_NODES: [
                ("x", "ConstantDouble"),
                ("a", "AckermannController", 1),
                ("art", "IsaacArticulationController"),
            ],
            Keys.SET_VALUES: [
                ("x.inputs:value", 0.1),
                ("a.inputs:currentLinearVelocity", [1, 2, 3]),
                ("art.inputs:jointNames", ["left", "right"]),
            ],
            Keys.CONNECT: [("x.inputs:value", "c0.inputs:bias"), ("c0.outputs:total", "c1.inputs:bias")],
        }
    )
    again = load_graph(save_graph(graph, tmp_path / "graph.yaml"))
    assert again.connections == graph.connections
    assert {name: type(p.node) for name, p in again.nodes.items()} == {
        name: type(p.node) for name, p in graph.nodes.items()
    }
    assert again.get("a.inputs:currentLinearVelocity").tolist() == [1, 2, 3]
    assert again.get("art.inputs:jointNames") == ("left", "right")
    assert save_graph(again, tmp_path / "again.yaml").read_text() == (tmp_path / "graph.yaml").read_text()
    graph.evaluate()
    again.evaluate()
    assert again.get("c1.outputs:total") == graph.get("c1.outputs:total") == 2.1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nodes: {a: {typ: ConstantInt}}", "g.yaml:1: nodes.a.typ: unknown key, did you mean 'type'"),
        ("nodes: {a: {type: ConstantInt, values: {value: 1.5}}}", r"g.yaml: a.inputs:value takes int, got 1.5"),
        ("nodes: {a: {type: ConstantInt}}\nconnect: [a.inputs:value]", "a connection has the form"),
        (
            "nodes: {a: {type: ConstantToken}, d: {type: DifferentialController}}\n"
            "connect: ['a.inputs:value -> d.inputs:wheelRadius']",
            r"cannot connect a.inputs:value \(token\) to d.inputs:wheelRadius \(double\)",
        ),
    ],
)
def test_a_bad_file_is_refused_with_its_name(tmp_path, text: str, message: str) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_graph(file)


def test_a_graph_file_runs_no_code_that_was_not_allowed(tmp_path):
    file = save_graph(counters(), tmp_path / "graph.yaml")
    with forbid_code(), pytest.raises(ConfigError, match=f"graph.yaml: node type '{COUNTER}' would run.*--allow-code"):
        load_graph(file)
    with forbid_code(), pytest.raises(NotAllowedError, match=COUNTER):
        counters()
