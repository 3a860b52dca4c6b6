"""Write CHANGELOG.md from the fragments in changelog/; ``python tools/write_changelog.py``.

Every change adds one fragment, ``changelog/AREA-WORDS.md``, a list in plain English. The first word of its name selects
the area it appears under; unknown words go under "Everything else".
"""

import re
import sys
from pathlib import Path

from handloom.version import VERSION

ROOT = Path(__file__).parents[1]
FRAGMENTS = ROOT / "changelog"
AREAS = {
    "Tasks and scenes": "task tasks scene surroundings texture write natural objects asset held",
    "Robots": "robots robot joint articulation wheeled",
    "Skills and grasps": "skill skills grasping grasps own walkers",
    "Motion": "motion faster",
    "Simulation": "sim physics",
    "Generating data": "engine generate bench worker dataset hdf5 video av1 gym review",
    "Pictures": "render looking cameras depth",
    "Teleoperation and published names": "retarget teleop published compat",
    "Imported files": "files strangers all",
    "The house": "one guides docs kernel house",
}
REST = "Everything else"


def area_of(fragment: Path) -> str:
    """Return the heading that a fragment appears under."""
    word = re.split(r"[-_]", fragment.stem)[0]
    return next((area for area, words in AREAS.items() if word in words.split()), REST)


def changelog() -> str:
    """Return the text of CHANGELOG.md."""
    entries: dict[str, list[str]] = {area: [] for area in (*AREAS, REST)}
    for fragment in sorted(FRAGMENTS.glob("*.md")):
        entries[area_of(fragment)].append(fragment.read_text(encoding="utf-8").strip())
    sections = [f"### {area}\n\n" + "\n".join(texts) for area, texts in entries.items() if texts]
    made = "Made by `tools/write_changelog.py` from the fragments in `changelog/`; edit those."
    return f"# Changelog\n\n{made}\n\n## {VERSION}\n\n" + "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    (ROOT / "CHANGELOG.md").write_text(changelog(), encoding="utf-8")
    sys.stdout.write("CHANGELOG.md\n")
