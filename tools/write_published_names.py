"""Write docs/reference/published_names.md from the tables of ``handloom.compat``; a test keeps it up to date."""

import sys
from collections.abc import Mapping
from pathlib import Path

from handloom.compat import isaac, isaacsim, isaacteleop
from handloom.compat.isaacteleop.lost_devices import LOST_DEVICES
from handloom.compat.published import NotHere
from handloom.isaac.graph import NODE_TYPES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "published_names.md"

UNCOMPARED = ("handloom.isaac.motion_generation:", "handloom.isaac.policy:", "handloom.scene.surface_gripper:")
"""Modules of objects that were written from published descriptions, without a library to compare with."""

FAULTS = (
    (
        "A tracker that sends NaN, infinity or a zero quaternion",
        "the last command is held; the output is always finite",
    ),
    (
        "A controller that was lost and reappears elsewhere",
        "a clutch continues from the last command instead of jumping",
    ),
    ("A hand with an invalid wrist pose", "the last pose is held instead of going to the origin"),
    (
        "A leader arm that is re-engaged without a live end effector",
        "the arm continues from the last command instead of jumping to the leader",
    ),
    (
        "An unknown name in `output_order` or `joint_map`",
        "an error when the node is created instead of a silent 0",
    ),
    ("Bad input to a wheeled controller", "a typed error instead of NaN or an empty action"),
    ("Wheel commands for a robot with an arm", "other joints keep their targets instead of being sent to 0"),
    ("Switching to velocity mode and back", "the stiffness is restored"),
    ("`jointIndices=[0]` of the articulation node", "means joint 0, not all joints"),
)
"""Situation > our behaviour, for cases in which the published behaviour is a fault."""


def page() -> str:
    """Return the text of the page."""
    made = "Made by `tools/write_published_names.py` from the tables in `handloom.compat`; do not edit."
    intro = """\
Code written for Isaac Teleop or Isaac Sim runs after its import is changed: `isaacteleop` becomes
`handloom.compat.isaacteleop`, `isaacsim` becomes `handloom.compat.isaacsim`. Every published name is listed once, under
the package it is imported from; it can also be imported from the module of its file. **Same** means: the same call has
the same effect. A name that is missing here raises an `ImportError` with the reason."""
    packages = {path: rows for path, rows in isaacteleop.MODULES.items() if _is_package(path)}
    parts = [f"# Published names\n\n{made}\n\n{intro}\n", "## Isaac Teleop\n"]
    for path, rows in packages.items():
        parts.append(section(f"isaacteleop.{path}", rows, isaacteleop.DIFFERENT))
    parts.append(
        "`handloom.compat.isaacteleop.so101_page` has the names of the published SO-101 page, whose clutch needs no "
        "squeeze.\n"
    )
    parts.append(section("so101_page", isaacteleop.MODULES["so101_page"], isaacteleop.DIFFERENT))
    parts.append("## Isaac Sim\n")
    leaves = {p: r for p, r in isaacsim.MODULES.items() if not any(q.startswith(f"{p}.") for q in isaacsim.MODULES)}
    for path, rows in leaves.items():
        parts.append(section(f"isaacsim.{path}", rows, isaacsim.DIFFERENT))
    parts.append(
        "`handloom.compat.isaac` has these and more names in one module; constructors take a World and a name prefix\n"
        "where the published ones take a prim path.\n"
    )
    parts.append(section("handloom.compat.isaac", isaac.PUBLISHED, isaacsim.DIFFERENT))
    nodes = "\n".join(f"| `{name}` | {', '.join(map(str, versions))} |" for name, versions in NODE_TYPES.items())
    parts.append(f"## Graph nodes\n\n| type | versions |\n|---|---|\n{nodes}\n")
    faults = "\n".join(f"| {what} | {ours} |" for what, ours in FAULTS)
    parts.append(f"## Published faults that are not copied\n\n| situation | here |\n|---|---|\n{faults}\n")
    lost = "\n".join(f"| `{name}` | {trouble} | {here} |" for (name, trouble), here in LOST_DEVICES.items())
    parts.append(
        "## Lost devices and broken values\n\nIn all other cases of `tests/compat/lost_devices.py`, our nodes and the "
        f"published nodes give the same result.\n\n| node | trouble | here |\n|---|---|---|\n{lost}\n"
    )
    return "\n".join(parts)


def section(title: str, rows: Mapping[str, str], different: Mapping[str, str]) -> str:
    """Return the table of one module."""
    lines = [f"| `{name}` | {status(row, different.get(name))} |" for name, row in rows.items()]
    return f"### {title}\n\n| name | here |\n|---|---|\n" + "\n".join(lines) + "\n"


def status(row: str, difference: str | None) -> str:
    """Return a name's status: same, different and how, missing and why, or not compared."""
    if isinstance(row, NotHere):
        return f"not here: {row}"
    if difference:
        return f"different: {difference}"
    return "here: see its docstring" if row.startswith(UNCOMPARED) else "same"


def _is_package(path: str) -> bool:
    return any(other.startswith(f"{path}.") for other in isaacteleop.MODULES)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")
