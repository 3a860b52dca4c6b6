"""Wiring and running: errors at connect that name the ports, one run per frame, one context for all."""

import gc

import numpy as np
import pytest

from handloom.errors import HandloomError
from handloom.retarget import (
    BaseRetargeter,
    ComputeContext,
    ExecutionCache,
    ExecutionState,
    FloatType,
    IntType,
    NDArrayType,
    OptionalType,
    OutputCombiner,
    StatefulNodeWarning,
    TensorGroup,
    TensorGroupType,
    UnknownLeafWarning,
    ValueInput,
    group_of,
)

NUMBER = TensorGroupType("number", [FloatType("x")])


class Counter(BaseRetargeter):
    """Adds its inputs to the number of times it ran."""

    def __init__(self, name: str, *, optional: bool = False) -> None:
        self.runs = 0
        self.contexts: list[ComputeContext] = []
        self._kind = OptionalType(NUMBER) if optional else NUMBER
        super().__init__(name)

    def input_spec(self):
        return {"a": NUMBER, "b": OptionalType(NUMBER)} if self._kind is NUMBER else {"a": self._kind, "b": self._kind}

    def output_spec(self):
        return {"sum": NUMBER}

    def _compute_fn(self, inputs, outputs, context) -> None:
        self.runs += 1
        self.contexts.append(context)
        outputs["sum"][0] = float(self.runs) + sum(g[0] for g in inputs.values() if not g.is_none)


def number(value: float) -> TensorGroup:
    return group_of(NUMBER, value)


def test_a_node_alone_runs_on_groups_by_port() -> None:
    node = Counter("n")
    assert node({"a": number(1.0)})["sum"][0] == 2.0
    outputs = {"sum": TensorGroup(NUMBER)}
    given = {"a": number(1.0)}
    node.compute(given, outputs)
    assert outputs["sum"][0] == 3.0
    assert list(given) == ["a"]
    assert node.execute_pipeline({"n": {"a": number(0.0)}})["sum"][0] == 3.0


def test_wrong_inputs_are_refused_before_the_hook_runs() -> None:
    node = Counter("n")
    with pytest.raises(ValueError, match="Required input 'a'"):
        node({})
    with pytest.raises(ValueError, match=r"Unexpected inputs to 'n': c; known: a, b"):
        node({"a": number(1.0), "c": number(1.0)})
    with pytest.raises(ValueError, match="Tensor 0 type mismatch"):
        node({"a": group_of(TensorGroupType("i", [IntType("x")]), 1)})
    with pytest.raises(ValueError, match="takes a TensorGroup, got float"):
        node({"a": 1.0})
    assert node.runs == 0


def test_connect_names_the_ports_that_exist() -> None:
    source, node = ValueInput("v", NUMBER), Counter("n")
    wire = source.output("value")
    with pytest.raises(ValueError, match=r"Input mismatch on 'n'\. Extra inputs: 'aa' does not exist;.*known: a, b"):
        node.connect({"aa": wire, "a": wire})
    with pytest.raises(ValueError, match=r"Missing required inputs: a; known: a, b"):
        node.connect({"b": wire})
    with pytest.raises(HandloomError, match="output 'valu' not found on 'v'; did you mean 'value'"):
        node.connect({"a": source.output("valu")})
    with pytest.raises(ValueError, match="input 'a' of 'n': Tensor 0 type mismatch"):
        node.connect({"a": ValueInput("i", TensorGroupType("i", [IntType("x")])).output("value")})
    with pytest.raises(ValueError, match="Cannot connect optional output"):
        node.connect({"a": ValueInput("o", OptionalType(NUMBER)).output("value")})
    with pytest.raises(ValueError, match="Expected OutputSelector"):
        node.connect({"a": source})


def test_a_diamond_runs_each_node_once_and_shares_the_context() -> None:
    source, top = ValueInput("v", NUMBER), Counter("top")
    bound = top.connect({"a": source.output("value")})
    left, right = Counter("left"), Counter("right")
    graph = OutputCombiner(
        {
            "l": left.connect({"a": bound.output("sum")}).output("sum"),
            "r": right.connect({"a": bound.output("sum"), "b": source.output("value")}).output("sum"),
        }
    )
    context = ComputeContext.at(5)
    outputs = graph({"v": {"value": number(10.0)}}, context)
    assert (outputs["l"][0], outputs["r"][0]) == (12.0, 22.0)
    assert top.runs == 1
    assert left.contexts[0] is right.contexts[0] is context
    assert [leaf.name for leaf in graph.get_leaf_nodes()] == ["v"]


def test_a_combiner_hands_out_the_objects_computed_upstream_and_can_feed_on() -> None:
    source = ValueInput("v", NUMBER)
    bound = Counter("n").connect({"a": source.output("value")})
    inner = OutputCombiner({"one": bound.output("sum"), "two": bound.output("sum")})
    outer = OutputCombiner({"again": inner.output("one")})
    cache = ExecutionCache({"v": {"value": number(1.0)}}, ComputeContext())
    outputs = inner.execute_pipeline_with_cache(cache)
    assert outputs["one"] is outputs["two"]
    assert outer.execute_pipeline_with_cache(cache)["again"] is outputs["one"]


def test_a_combiner_refuses_what_it_cannot_name() -> None:
    source = ValueInput("v", NUMBER)
    with pytest.raises(ValueError, match="at least one output"):
        OutputCombiner({})
    with pytest.raises(TypeError, match="Expected OutputSelector"):
        OutputCombiner({"x": source})
    with pytest.raises(ValueError, match="not found"):
        OutputCombiner({"x": source.output("nothing")})


def test_a_stateful_node_bound_twice_warns_and_advances_twice() -> None:
    source, node = ValueInput("v", NUMBER), Counter("n")
    first = node.connect({"a": source.output("value")})
    with pytest.warns(StatefulNodeWarning, match="'n' carries state and is bound twice"):
        second = node.connect({"a": source.output("value")})
    graph = OutputCombiner({"1": first.output("sum"), "2": second.output("sum")})
    outputs = graph({"v": {"value": number(0.0)}})
    assert (outputs["1"][0], outputs["2"][0]) == (1.0, 2.0)


def test_rebinding_after_the_first_binding_is_gone_does_not_warn() -> None:
    source, node = ValueInput("v", NUMBER), Counter("n")
    node.connect({"a": source.output("value")})
    gc.collect()
    node.connect({"a": source.output("value")})


def test_stateless_nodes_may_be_bound_as_often_as_liked() -> None:
    source, passer = ValueInput("v", NUMBER), ValueInput("w", NUMBER)
    assert passer.connect({"value": source.output("value")}) is not passer.connect({"value": source.output("value")})


def test_a_required_value_that_is_not_fed_is_an_error_and_an_optional_one_is_absent() -> None:
    with pytest.raises(ValueError, match="not found in cache"):
        ValueInput("v", NUMBER).execute_pipeline({})
    assert ValueInput("v", OptionalType(NUMBER)).execute_pipeline({})["value"].is_none
    with pytest.raises(ValueError, match="value has not been set"):
        ValueInput("v", NUMBER)({"value": TensorGroup(NUMBER)})


def test_a_leaf_whose_inputs_are_all_optional_needs_nothing() -> None:
    assert Counter("n", optional=True).execute_pipeline({})["sum"][0] == 1.0


def test_a_misspelt_leaf_name_is_ignored_with_a_warning() -> None:
    with pytest.warns(UnknownLeafWarning, match="no leaf named 'vv', its inputs are ignored; did you mean 'v'"):
        ValueInput("v", OptionalType(NUMBER)).execute_pipeline({"vv": {}})


def test_an_unbound_node_inside_a_graph_takes_its_inputs_from_the_caller() -> None:
    leaf, node = Counter("leaf"), Counter("n")
    bound = node.connect({"a": leaf.output("sum")})
    assert bound.target_module is node
    assert bound({"leaf": {"a": number(3.0)}})["sum"][0] == 5.0


def test_a_value_passes_through_as_the_same_array() -> None:
    kind = TensorGroupType("m", [NDArrayType("m", (2,))])
    array = np.ones(2, np.float32)
    assert ValueInput("v", kind)({"value": group_of(kind, array)})["value"][0] is array


def test_outside_a_session_the_state_is_unknown_and_the_clock_runs() -> None:
    one, two = ComputeContext(), ComputeContext()
    assert one.execution_events.execution_state is ExecutionState.UNKNOWN
    assert not one.execution_events.reset
    assert two.graph_time.real_time_ns >= one.graph_time.real_time_ns > 0
    assert [str(state) for state in ExecutionState] == ["unknown", "stopped", "paused", "running"]
    assert one.graph_time.sim_time_ns == one.graph_time.real_time_ns  # One reading of the clock.


def test_a_cache_is_asked_by_its_published_names() -> None:
    cache = ExecutionCache({"v": {}}, ComputeContext())
    assert cache.get_leaf_input("v") == {}
    assert cache.get_leaf_input("w") is None
    assert cache.get_cached(1) is None
    results = {}
    cache.cache(1, results)
    assert cache.get_cached(1) is results
