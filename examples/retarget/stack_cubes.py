"""A scripted operator stacks three cubes with an SO-101, scene after scene, through the retargeting graph.

    python examples/retarget/stack_cubes.py --scenes 5 --out stacks

writes one device recording per scene, plays it from the file, and replays the episode to compare every bit.
"""

import argparse
from pathlib import Path

from handloom.episode import replay, run_episode
from handloom.retarget import DeviceRecording
from handloom.retarget.so101 import (
    ROBOT,
    ScriptedOperator,
    SO101ActionController,
    TeleopSource,
    stack_cube_checks,
    stack_cube_instance,
)
from handloom.scene import build_scene
from handloom.seeding import generator
from handloom.skills.checks import holds


def stack(seed: int, episode: int, out: Path) -> bool:
    """Record an operator, play the recording, and say what happened; return whether the cubes are stacked."""
    scene = build_scene(stack_cube_instance(seed, episode))
    controller = SO101ActionController(scene.robot(ROBOT).arms[0])
    file = out / f"operator_{seed}_{episode:06d}.jsonl"
    if not file.exists():
        ScriptedOperator(scene, controller).recording(generator(seed, episode, "operator")).write(file)
    recording = DeviceRecording.read(file)
    source = TeleopSource(scene, recording, controller=controller, checks=stack_cube_checks(), holds=holds)
    record = run_episode(scene, source)
    outcome = "stacked" if record.success else str(record.failure)
    again = "replays exactly" if replay(record).exact else "does NOT replay"
    print(f"scene {episode}: {outcome} after {record.frames / scene.instance.fps:.1f} s, {again}, {file.name}")
    return record.success


def main() -> None:
    """Stack the cubes of several scenes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=3, help="how many scenes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run")
    parser.add_argument("--out", type=Path, default=Path("stacks"), help="folder of the recordings")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    done = sum(stack(arguments.seed, episode, arguments.out) for episode in range(arguments.scenes))
    print(f"{done} of {arguments.scenes} stacked")


if __name__ == "__main__":
    main()
