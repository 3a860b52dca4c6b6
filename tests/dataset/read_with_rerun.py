"""Stream every episode of a dataset with rerun's LeRobot reader and print the rows per entity as JSON.

Run by ``test_lerobot_reader.py`` with another interpreter. Usage: ``python read_with_rerun.py DATASET``.
"""

import json
import os
import sys


def main(root: str) -> None:
    """Count rows; without a program called ffmpeg, video that would need re-encoding fails here."""
    os.environ["PATH"] = ""
    from rerun.experimental import LeRobotReader

    reader = LeRobotReader(root)
    episodes: dict[int, dict[str, int]] = {}
    for episode in reader.episodes():
        rows: dict[str, int] = {}
        for chunk in reader.stream(episode):
            entity = str(chunk.entity_path)
            rows[entity] = rows.get(entity, 0) + chunk.num_rows
        episodes[episode] = rows
    sys.stdout.write(json.dumps({"version": reader.version, "episodes": episodes}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
