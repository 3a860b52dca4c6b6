"""Write type stubs of the installed MuJoCo to .venv/stubs: pyright cannot read the classes of a compiled module.

Only names are listed, typed as Any: enough to catch a misspelled field, function or constant. ``make check`` runs this.
"""

import inspect
import sys
from pathlib import Path

import mujoco

HEADER = "import typing as _typing\n\n"


def class_lines(cls: type) -> list[str]:
    """Return the stub of one class: its constructor takes anything, its attributes are Any."""
    names = sorted(name for name in dir(cls) if not name.startswith("__"))
    parent = "(Exception)" if issubclass(cls, Exception) else ""
    lines = [
        f"class {cls.__name__}{parent}:",
        "    def __init__(self, *args: _typing.Any, **kwargs: _typing.Any) -> None: ...",
    ]
    lines += [f"    {name}: _typing.Any" for name in names]
    for name in ("__int__", "__index__"):
        if hasattr(cls, name):
            lines.append(f"    def {name}(self) -> int: ...")
    return lines


def module_stub(module: object) -> str:
    """Return the stub of a module: classes with their attributes, everything else Any."""
    lines = []
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if name.startswith("__"):
            continue
        if inspect.isclass(value):
            lines += class_lines(value) if value.__name__ == name else [f"{name}: _typing.Any"]
        else:
            lines.append(f"{name}: _typing.Any")
    return HEADER + "\n".join(lines) + "\n"


def main() -> None:
    """Write the stubs as one package into the given folder."""
    folder = Path(sys.argv[1]) / "mujoco"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.pyi").write_text(module_stub(mujoco))


if __name__ == "__main__":
    main()
