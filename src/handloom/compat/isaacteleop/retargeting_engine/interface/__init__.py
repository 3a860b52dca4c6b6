"""Types, nodes, wiring, context and parameters by their published names."""

from handloom.compat.published import published

NAMES = {
    "TensorType": "handloom.retarget:TensorType",
    "TensorGroupType": "handloom.retarget:TensorGroupType",
    "OptionalTensorGroupType": "handloom.retarget:OptionalTensorGroupType",
    "OptionalType": "handloom.retarget:OptionalType",
    "Tensor": "handloom.retarget:Tensor",
    "TensorGroup": "handloom.retarget:TensorGroup",
    "OptionalTensorGroup": "handloom.retarget:OptionalTensorGroup",
    "UNSET_VALUE": "handloom.retarget:UNSET_VALUE",
    "BaseRetargeter": "handloom.retarget:BaseRetargeter",
    "RetargeterSubgraph": "handloom.retarget:RetargeterSubgraph",
    "OutputCombiner": "handloom.retarget:OutputCombiner",
    "OutputSelector": "handloom.retarget:OutputSelector",
    "ValueInput": "handloom.retarget:ValueInput",
    "RetargeterIO": "handloom.retarget:RetargeterIO",
    "RetargeterIOType": "handloom.retarget:RetargeterIOType",
    "GraphExecutable": "handloom.retarget:GraphExecutable",
    "ComputeContext": "handloom.retarget:ComputeContext",
    "GraphTime": "handloom.retarget:GraphTime",
    "ExecutionEvents": "handloom.retarget:ExecutionEvents",
    "ExecutionState": "handloom.retarget:ExecutionState",
    "ExecutionCache": "handloom.retarget:ExecutionCache",
    "ParameterSpec": "handloom.retarget:ParameterSpec",
    "BoolParameter": "handloom.retarget:BoolParameter",
    "FloatParameter": "handloom.retarget:FloatParameter",
    "IntParameter": "handloom.retarget:IntParameter",
    "VectorParameter": "handloom.retarget:VectorParameter",
    "ParameterState": "handloom.retarget:ParameterState",
}

__getattr__, __dir__ = published(__name__, NAMES)
