"""Recompute the reach maps of the workplaces: ``python tools/reach_maps.py [ROBOT ...]``; takes minutes per robot."""

import sys

from handloom.tasks import load_task
from handloom.tasks.config.deed_form import workplaces
from handloom.tasks.config.loading import shipped
from handloom.tasks.reach.reach_map import computed, reach_key, shipped_maps

TASK = "pick_cube"
"""Any task that every robot can do."""


def main() -> None:
    """Write one text file per robot and delete the old ones."""
    for robot in sys.argv[1:] or workplaces(shipped()):
        task = load_task(TASK, robot=robot)
        key = reach_key(task)
        for old in shipped_maps().glob(f"table_{robot}_????????????????.txt"):
            old.unlink()
        file = shipped_maps() / f"table_{robot}_{key}.txt"
        file.write_text(computed(task).to_text(key), encoding="utf-8")
        sys.stdout.write(f"{file}\n")


if __name__ == "__main__":
    main()
