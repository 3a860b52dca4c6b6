"""A scripted operator stacks three cubes with an SO-101, scene after scene, through the retargeting graph.

    python examples/retarget/stack_cubes.py --scenes 5 --out stacks
    handloom verify stacks/dataset

The first command writes one device recording per scene, plays it from the file, and writes a LeRobot dataset of
the episodes in which the cubes were stacked; the second simulates them again and compares every bit.
"""

import argparse
from pathlib import Path

from handloom.dataset import (
    EpisodeWriter,
    FeatureTable,
    archive_of_record,
    find_episodes,
    folder_name,
    merge_episodes,
    outcome_of_record,
)
from handloom.episode import run_episode
from handloom.episode.columns import episode_columns
from handloom.judging.checks import holds
from handloom.retarget import DeviceRecording
from handloom.retarget.so101 import (
    ROBOT,
    ScriptedOperator,
    SO101ActionController,
    TeleopSource,
    stack_cube_checks,
    stack_cube_instance,
)
from handloom.scene import Scene, build_scene
from handloom.seeding import generator
from handloom.values import EpisodeRecord


def stack(seed: int, episode: int, out: Path) -> bool:
    """Record an operator, play back the recording, and write the episode; return whether the cubes are stacked."""
    scene = build_scene(stack_cube_instance(seed, episode))
    controller = SO101ActionController(scene.robot(ROBOT).arms[0])
    file = out / f"operator_{episode:06d}.jsonl"
    ScriptedOperator(scene, controller).recording(generator(seed, episode, "operator")).write(file)
    recording = DeviceRecording.read(file)
    source = TeleopSource(scene, recording, controller=controller, checks=stack_cube_checks(), holds=holds)
    record = run_episode(scene, source)
    write(scene, record, out / "episodes")
    outcome = "stacked" if record.success else str(record.failure)
    print(f"scene {episode}: {outcome} after {record.frames / scene.instance.fps:.1f} s, {file.name}")
    return record.success


def write(scene: Scene, record: EpisodeRecord, episodes: Path) -> None:
    """Write the folder of an episode, without images."""
    columns = episode_columns(scene, record, ("canonical",))
    table = FeatureTable(fps=record.instance.fps, features=columns.features)
    with EpisodeWriter(episodes / folder_name(record.instance.episode), table) as writer:
        archive = archive_of_record(record)
        writer.finish(outcome_of_record(record, archive), columns.values, archive)


def main() -> None:
    """Stack the cubes of several scenes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", type=int, default=3, help="how many scenes")
    parser.add_argument("--seed", type=int, default=0, help="seed of the run")
    parser.add_argument("--out", type=Path, default=Path("stacks"), help="new folder of recordings and dataset")
    arguments = parser.parse_args()
    (arguments.out / "episodes").mkdir(parents=True)
    done = sum(stack(arguments.seed, episode, arguments.out) for episode in range(arguments.scenes))
    dataset = merge_episodes(find_episodes([arguments.out / "episodes"]), arguments.out / "dataset")
    print(f"{done} of {arguments.scenes} stacked; dataset in {dataset}")


if __name__ == "__main__":
    main()
