"""A teleoperated source for ``handloom generate``: a scripted operator stacks the cubes of a library task.

    cd examples/retarget
    handloom generate so101_stack_cubes -n 5 -o stacks --source operator_source:StackOperator
    handloom verify stacks

The operator's recording takes the place of the scripted expert; sampling, judging by the task's success terms, images
and the dataset are the same. To play human recordings, read them in place of the scripted one, for example
``DeviceRecording.read(f"operator_{scene.instance.episode:06d}.jsonl")``.
"""

import numpy as np

from handloom.retarget.so101 import ScriptedOperator, SO101ActionController, TeleopSource
from handloom.scene import Scene

CUBES = ("base_block", "cube")
"""Cubes from the bottom of the stack to the top."""


class StackOperator(TeleopSource):
    """Plays the recording of an operator who stacks one cube on another."""

    def __init__(self, scene: Scene, stages: object, rng: np.random.Generator) -> None:
        controller = SO101ActionController(scene.robot("so101").arms[0])
        recording = ScriptedOperator(scene, controller, cubes=CUBES).recording(rng)
        super().__init__(scene, recording, controller=controller)
