"""What can be asked for outputs, and what it is asked with."""

from handloom.compat.published import published

NAMES = {
    "ComputeContext": "handloom.retarget:ComputeContext",
    "GraphTime": "handloom.retarget:GraphTime",
    "GraphExecutable": "handloom.retarget:GraphExecutable",
    "OutputSelector": "handloom.retarget:OutputSelector",
    "RetargeterIO": "handloom.retarget:RetargeterIO",
    "RetargeterIOType": "handloom.retarget:RetargeterIOType",
    "ExecutionCache": "handloom.retarget:ExecutionCache",
}

__getattr__, __dir__ = published(__name__, NAMES)
