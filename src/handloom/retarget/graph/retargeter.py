"""The base class of all retargeters, and the leaf through which a caller feeds a value."""

import warnings
import weakref
from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from handloom.errors import InputError, suggest
from handloom.retarget.graph.execution import (
    ComputeContext,
    ExecutionCache,
    GraphExecutable,
    OutputSelector,
    RetargeterIO,
    RetargeterIOType,
)
from handloom.retarget.graph.groups import OptionalTensorGroup, TensorGroupType, new_group
from handloom.retarget.graph.parameter_state import ParameterState
from handloom.retarget.graph.types import StatefulNodeWarning
from handloom.retarget.graph.wiring import RetargeterSubgraph


class BaseRetargeter(GraphExecutable):
    """A node with typed input and output ports and one hook that runs once per frame.

    A subclass implements ``input_spec``, ``output_spec`` and ``_compute_fn``. The specs are read once by this
    constructor, so whatever they depend on must be set before ``super().__init__``.

    Args:
        name: Name of the node; as a leaf it is the key of its inputs.
        parameter_state: Tunable parameters; their values are passed to the node before every frame.
    """

    stateful: ClassVar[bool] = True
    """Whether the node carries state from frame to frame. Binding a stateful node twice issues a warning."""

    def __init__(self, name: str, parameter_state: ParameterState | None = None) -> None:
        self._name = name
        self._parameter_state = parameter_state
        self._inputs = dict(self.input_spec())
        self._outputs = dict(self.output_spec())
        self._subgraphs: weakref.WeakSet[RetargeterSubgraph] = weakref.WeakSet()

    @abstractmethod
    def input_spec(self) -> RetargeterIOType:
        """Return the group type of every input port."""

    @abstractmethod
    def output_spec(self) -> RetargeterIOType:
        """Return the group type of every output port."""

    @abstractmethod
    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        """Fill ``outputs``, whose slots start unset, from ``inputs``; absent inputs are absent groups."""

    @property
    def name(self) -> str:
        """Name of the node."""
        return self._name

    def get_parameter_state(self) -> ParameterState | None:
        """Return the tunable parameters, if the node has any."""
        return self._parameter_state

    def input_types(self) -> RetargeterIOType:
        """Return the group type of every input port."""
        return dict(self._inputs)

    def output_types(self) -> RetargeterIOType:
        """Return the group type of every output port."""
        return dict(self._outputs)

    def get_leaf_nodes(self) -> list[GraphExecutable]:
        """Return only the node itself: when unbound, its inputs come from the caller."""
        return [self]

    def connect(self, input_connections: Mapping[str, OutputSelector]) -> RetargeterSubgraph:
        """Bind input ports to outputs upstream; optional ports may be left out.

        Args:
            input_connections: An ``OutputSelector`` for each input port.

        Raises:
            InputError: A port does not exist, a required one is missing, or types do not match; the message lists the
                existing ports.
        """
        self._check_ports(input_connections)
        for port, selector in input_connections.items():
            try:
                self._inputs[port].check_compatibility(selector.group_type)
            except InputError as error:
                raise InputError(f"input {port!r} of {self._name!r}: {error}") from error
        if self.stateful and len(self._subgraphs):
            warnings.warn(
                f"node {self._name!r} carries state and is bound twice: each binding advances it once per frame; "
                "connect it once and use that subgraph's outputs, or create a second node",
                StatefulNodeWarning,
                stacklevel=2,
            )
        subgraph = RetargeterSubgraph(self, input_connections)
        self._subgraphs.add(subgraph)
        return subgraph

    def _check_ports(self, connections: Mapping[str, object]) -> None:
        for port, selector in connections.items():
            if port not in self._inputs:
                raise InputError(
                    f"Input mismatch on {self._name!r}. Extra inputs: {port!r} does not exist; "
                    f"{suggest(port, self._inputs) or 'the node has no inputs'}"
                )
            if not isinstance(selector, OutputSelector):
                raise InputError(f"input {port!r} of {self._name!r}: Expected OutputSelector, got {selector!r}")
        missing = [port for port, kind in self._inputs.items() if port not in connections and not kind.is_optional]
        if missing:
            raise InputError(
                f"Input mismatch on {self._name!r}. Missing required inputs: {', '.join(missing)}; "
                f"known: {', '.join(self._inputs)}"
            )

    def __call__(
        self, inputs: Mapping[str, OptionalTensorGroup], context: ComputeContext | None = None
    ) -> RetargeterIO:
        """Run this node alone for one frame on groups by port, and return its outputs."""
        self._check_inputs(inputs)
        return self.run_checked(inputs, context or ComputeContext())

    def compute(
        self,
        inputs: Mapping[str, OptionalTensorGroup],
        outputs: RetargeterIO,
        context: ComputeContext | None = None,
    ) -> None:
        """Run this node alone for one frame, writing into the caller's groups."""
        self._check_inputs(inputs)
        self._run(inputs, outputs, context or ComputeContext())

    def _evaluate(self, cache: ExecutionCache) -> RetargeterIO:
        given = cache.leaf_inputs.get(self._name)
        if given is None:
            required = [port for port, kind in self._inputs.items() if not kind.is_optional]
            if required:
                raise InputError(
                    f"inputs of leaf {self._name!r} not found in cache: it needs {', '.join(required)}; "
                    f"given leaves: {', '.join(cache.leaf_inputs) or 'none'}"
                )
            given = {}
        self._check_inputs(given)
        return self.run_checked(given, cache.context)

    def _check_inputs(self, inputs: Mapping[str, OptionalTensorGroup]) -> None:
        unexpected = [port for port in inputs if port not in self._inputs]
        if unexpected:
            raise InputError(
                f"Unexpected inputs to {self._name!r}: {', '.join(unexpected)}; "
                f"known: {', '.join(self._inputs) or 'the node has no inputs'}"
            )
        for port, kind in self._inputs.items():
            group = inputs.get(port)
            if group is None:
                if not kind.is_optional:
                    raise InputError(f"Required input {port!r} of {self._name!r} is missing")
            elif not isinstance(group, OptionalTensorGroup):
                raise InputError(f"input {port!r} of {self._name!r} takes a TensorGroup, got {type(group).__name__}")
            elif group.is_none and not kind.is_optional:
                raise InputError(f"Required input {port!r} of {self._name!r} is absent")
            else:
                kind.check_compatibility(group.group_type.inner_type)

    def run_checked(self, inputs: Mapping[str, OptionalTensorGroup], context: ComputeContext) -> RetargeterIO:
        """Run one frame on inputs whose types were already checked, and return new outputs."""
        outputs = {port: new_group(kind) for port, kind in self._outputs.items()}
        self._run(inputs, outputs, context)
        return outputs

    def _run(self, inputs: Mapping[str, OptionalTensorGroup], outputs: RetargeterIO, context: ComputeContext) -> None:
        complete: RetargeterIO = {}
        for port, kind in self._inputs.items():
            group = inputs.get(port)
            complete[port] = OptionalTensorGroup(kind) if group is None else group
        if self._parameter_state is not None:
            self._parameter_state.sync_all()
        self._compute_fn(complete, outputs, context)


class ValueInput(BaseRetargeter):
    """Passes the group fed under its name on to the graph; an absent input gives an absent output.

    A missing required value is an error; declare it ``OptionalType`` if frames may lack it.

    Args:
        name: Name of the leaf.
        tensor_type: Type of the value, a group type.
    """

    VALUE = "value"
    stateful = False

    def __init__(self, name: str, tensor_type: TensorGroupType) -> None:
        self._group_type = tensor_type
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return the only port, ``value``."""
        return {self.VALUE: self._group_type}

    def output_spec(self) -> RetargeterIOType:
        """Return the only port, ``value``."""
        return {self.VALUE: self._group_type}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        given, passed = inputs[self.VALUE], outputs[self.VALUE]
        if not given.is_none:
            for index in range(len(given)):
                passed[index] = given[index]
