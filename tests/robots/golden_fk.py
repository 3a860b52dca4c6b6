"""Make golden_fk.json: kinematics of the real arms, taken from the makers' descriptions.

Usage: python tests/robots/golden_fk.py FK_VECTORS.json GEOMETRY.json. Per arm: base frame, end-effector frame, joint
names; ``vectors``: joint positions [rad, m] with the position [m] and quaternion wxyz of the end-effector frame in the
base frame, computed by an independent program, seven decimals; ``chain``: the joint origins and axes from base to end
effector as published, from which a test multiplies transforms of its own.
"""

import json
import sys
from pathlib import Path

# Our robot > (entry of the source, joints and frames as our model names them).
ARMS = {
    "fr3": ("franka_fr3",),
    "so101": ("so101",),
    "franka_robotiq85": ("franka_panda_link8",),
    "lift2": ("arx_lift2_fl", "arx_lift2_fr"),
    "split_aloha": ("agilex_split_aloha_fl", "agilex_split_aloha_fr"),
    "genie1": ("agibot_g1_l", "agibot_g1_r", "agibot_g1_full_l", "agibot_g1_full_r"),
}
KEYS = ("base_frame", "ee_frame", "joint_names", "vectors")


def chain(links: list[dict], base: str, end: str) -> list[dict]:
    """Return the joints from ``base`` to ``end``: name (None when fixed), kind, origin and axis."""
    by_name = {link["name"]: link for link in links}
    joints = []
    while end != base:
        joint, end = by_name[end]["joint"], by_name[end]["parent"]
        fixed = joint["type"] == "fixed"
        joints.append(
            {
                "name": None if fixed else joint["name"],
                "kind": joint["type"],
                "xyz": joint["origin_xyz"],
                "rpy": joint["origin_rpy"],
                "axis": joint["axis"],
            }
        )
    return joints[::-1]


def main(vectors: Path, geometry: Path) -> None:
    """Copy the entries the tests need."""
    arms = json.loads(vectors.read_text())["arms"]
    robots = json.loads(geometry.read_text())
    robots = robots.get("robots", robots)
    golden = {}
    for robot, entries in ARMS.items():
        golden[robot] = []
        for entry in entries:
            arm = arms[entry]
            links = robots[arm["geometry_robot"]]["links"]
            item = {key: arm[key] for key in KEYS}
            item["chain"] = chain(links, arm["geometry_base"], arm["geometry_ee"])
            golden[robot].append(item)
    Path(__file__).with_suffix(".json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
