"""The joints of a leader arm."""

from collections.abc import Mapping, Sequence

from handloom.retarget.graph.base_retargeter import BaseRetargeter
from handloom.retarget.graph.compute_context import ComputeContext
from handloom.retarget.graph.errors import TensorTypeError
from handloom.retarget.graph.execution_cache import RetargeterIO
from handloom.retarget.graph.graph_executable import RetargeterIOType
from handloom.retarget.graph.tensor_group import OptionalTensorGroup
from handloom.retarget.graph.tensor_group_type import OptionalType, TensorGroupType
from handloom.retarget.graph.tensor_type import TensorType
from handloom.retarget.inputs.robot_values import RobotHandJoints
from handloom.retarget.sources.snapshot_fields import float_field


class JointMapType(TensorType):
    """A slot for joint positions by name."""

    def _check_instance_compatibility(self, other: object) -> bool:
        return True

    def validate_value(self, value: object) -> None:
        """Accept mappings only."""
        if not isinstance(value, Mapping):
            raise TensorTypeError(f"slot {self.name!r} takes joint positions by name, got {type(value).__name__}")


class JointStateSource(BaseRetargeter):
    """Gives ``joints``, one float per configured name; names the device did not send become 0.

    Args:
        name: Name of the node.
        collection_id: Name of the device stream.
        joint_names: Joints wanted, in order.
    """

    JOINTS = "joints"
    RAW = "deviceio_joints"
    stateful = False

    def __init__(self, name: str, collection_id: str, joint_names: Sequence[str]) -> None:
        self.collection_id = collection_id
        self._joints = tuple(joint_names)
        super().__init__(name)

    def input_spec(self) -> RetargeterIOType:
        """Return joint positions by name, optional."""
        return {self.RAW: OptionalType(TensorGroupType(self.collection_id, [JointMapType("positions")]))}

    def output_spec(self) -> RetargeterIOType:
        """Return one float per name, optional."""
        return {self.JOINTS: OptionalType(RobotHandJoints(self.JOINTS, self._joints))}

    def raw_inputs(self, positions: Mapping[str, float] | None) -> RetargeterIO:
        """Return the raw group of one sample [rad or m]; None is absent."""
        group = OptionalTensorGroup(self._inputs[self.RAW])
        if positions is not None:
            group[0] = positions
        return {self.RAW: group}

    def _compute_fn(self, inputs: RetargeterIO, outputs: RetargeterIO, context: ComputeContext) -> None:
        raw = inputs[self.RAW]
        if not raw.is_none:
            for index, joint in enumerate(self._joints):
                outputs[self.JOINTS][index] = float_field(raw[0].get(joint, 0.0), what=f"joint {joint!r}")
