"""``handloom warmup``: compile the kernels before they are needed."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def run() -> None:
    """Compile all kernels and cache them; takes up to a minute once per version, then nothing."""
    from handloom.kernels import warm_marker

    compile_kernels()
    print(f"kernels are compiled in {warm_marker().parent}")


def compile_kernels() -> None:
    """Compile with a progress bar if that was not done before; used before workers start."""
    from handloom.engine.warmup import is_warm, warm_up

    if is_warm():
        return
    columns = (TextColumn("compiling kernels, once: {task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("starting", total=None)
        warm_up(on_step=lambda what, done, total: progress.update(bar, description=what, completed=done, total=total))
