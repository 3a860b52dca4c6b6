"""``handloom check FILE...``: validate task files without running them."""

from pathlib import Path

import tyro

from handloom.config import forbid_code
from handloom.errors import HandloomError
from handloom.tasks import load_task


def run(files: tyro.conf.Positional[tuple[str, ...]], *, set: tuple[str, ...] = (), allow_outside: bool = False) -> int:
    """Validate task files, folders of them, or tasks of the library; print ``ok FILE`` or every mistake.

    Python code that a task names is never run here: a note says what it is, and its keys are checked by generate.

    Args:
        files: Task names, YAML files or folders.
        set: Overrides such as data.max_episode_length=500, applied to every file.
        allow_outside: Let tasks and their assets name files outside their folders, those around and their asset root.
    """
    from handloom.cli.main import BAD_INPUT, DONE

    forbid_code()
    wrong = 0
    for name in _expanded(files):
        try:
            task = load_task(name, overrides=set, allow_outside=allow_outside)
        except HandloomError as error:
            wrong += 1
            print(f"wrong {name}")
            print("  " + str(error).replace("\n", "\n  "))
            continue
        print(f"ok {name}")
        for notice in task.notices:
            print(f"  note: {notice}")
    return BAD_INPUT if wrong else DONE


def _expanded(files: tuple[str, ...]) -> list[str]:
    """Replace folders by the YAML files in them; a folder without any stays, and is refused as a file."""
    names: list[str] = []
    for name in files:
        path = Path(name)
        inside = sorted(str(file) for file in path.rglob("*.y*ml") if not file.is_dir()) if path.is_dir() else []
        names += inside or [name]
    return names
