"""``handloom object show``: look at objects."""

from pathlib import Path
from typing import Annotated

import tyro


def show(
    name: str,
    /,
    *,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    count: int = 12,
    seed: int = 0,
    size: int = 240,
) -> None:
    """Draw variants of an object into a PNG file; `all` draws one of every category.

    Args:
        name: A category of `handloom list objects`, `my_module:my_function`, or `all`.
        output: The file to write; by default NAME.png in this folder.
        count: How many variants.
        seed: Other seeds give other variants.
        size: Width and height of each picture [px].
    """
    from handloom.errors import InputError
    from handloom.objects import object_categories
    from handloom.objects.portrait import overview_sheet, variants_sheet
    from handloom.render import write_png

    if not 1 <= count <= 200:
        raise InputError(f"--count must lie between 1 and 200, got {count}")
    if not 32 <= size <= 2048:
        raise InputError(f"--size must lie between 32 and 2048 pixels, got {size}")
    if name == "all":
        sheet = overview_sheet(object_categories(), seed=seed, size=size)
    else:
        sheet = variants_sheet(name, count=count, seed=seed, size=size)
    print(write_png(output or Path(f"{name.replace(':', '_')}.png"), sheet))


SUBVERBS = {"show": show}
