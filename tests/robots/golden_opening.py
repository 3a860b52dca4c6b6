"""Make golden_opening.json: how far real grippers open at a joint position, measured on the makers' descriptions.

Usage: python tests/robots/golden_opening.py GRIPPER_TABLES.json. Rows are [drive joint rad, metres]: for the SO-101 the
distance of the two fingertips, for the 2F-85 and the G1 the gap between the pads.
"""

import json
import sys
from pathlib import Path

# Our robot > (entry of the source, column of the joint, column of the opening).
TABLES = {
    "so101": ("so101", "gripper_rad", "tip_distance"),
    "franka_robotiq85": ("robotiq_2f85", "driver_rad", "gap_m"),
    "genie1": ("g1_120s", "joint_rad", "gap_m"),
}


def main(source: Path) -> None:
    """Copy the columns the tests need."""
    tables = json.loads(source.read_text())
    golden = {}
    for robot, (entry, joint, opening) in TABLES.items():
        columns = tables[entry]["columns"]
        i, k = columns.index(joint), columns.index(opening)
        golden[robot] = [[row[i], row[k]] for row in tables[entry]["rows"]]
    Path(__file__).with_suffix(".json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
