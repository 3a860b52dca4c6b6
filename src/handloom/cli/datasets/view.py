"""``handloom view``: look at datasets, episodes, tasks and runs in a browser."""

import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from handloom.cli.flags import NO_HINT, Number
from handloom.engine import Goal
from handloom.errors import InputError, require
from handloom.tasks.config.packs import find_pack_task

if TYPE_CHECKING:
    from handloom.viewer.library import Library


def run(
    what: Annotated[
        tuple[str, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="DATASET|RUN|TASK|FOLDER", help_behavior_hint=NO_HINT),
    ],
    *,
    edit: bool = False,
    open: bool = False,
    host: Annotated[str, tyro.conf.arg(metavar="ADDRESS")] = "127.0.0.1",
    port: Number = 8009,
    https: bool = False,
    export: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")] = None,
    rerun: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None,
    mujoco: bool = False,
    seed: Number = 0,
    episode: Number = 0,
) -> int:
    """Look at datasets, runs, evaluations and tasks in a browser. Needs the extra view.

    Open the address that is printed. Several datasets are shown side by side; for a folder, all datasets in it.

    Args:
        what: Datasets, runs, evaluations, folders that contain them, or tasks.
        edit: Allow the page to write flags and notes beside datasets, and task files.
        open: Open the page in the browser of this machine.
        host: Address to serve at; addresses that other machines can reach use HTTPS only.
        port: Port of the page; 0 chooses a free one.
        https: Use HTTPS even on this machine, with a self-signed certificate.
        export: Write the page and a dataset card as plain files into this folder instead, for any web server.
        rerun: Write an episode of the first dataset as a rerun recording (.rrd) instead (extra rerun).
        mujoco: Open a scene of the task in MuJoCo's own viewer instead; needs a display.
        seed: Seed of that scene.
        episode: Number of that scene, or of the episode for --rerun.
    """
    if not what:
        raise InputError("there is nothing to look at; give a dataset, a run, a task, or a folder that contains them")
    paths, tasks = told_apart(what)
    if mujoco:
        return _open_mujoco(tasks, seed=seed, episode=episode)
    from handloom.viewer.library import Library

    library = Library(paths, tasks)
    if export is not None:
        return _export(library, export)
    if rerun is not None:
        return _write_rerun(library, rerun, episode)
    require("uvicorn", extra="view")
    from handloom.viewer.view_app import ViewOptions, serve

    try:
        serve(
            library,
            ViewOptions(host=host, port=port, edit=edit, https=https),
            lambda address: _tell_address(address, open_page=open),
        )
    except KeyboardInterrupt:
        print("stopped")
    return 0


def _export(library: "Library", folder: Path) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from handloom.viewer.export.static_site import export_site

    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("episodes", total=None)
        export_site(library, folder, lambda done, total: progress.update(bar, completed=done, total=total))
    print(f"page:    {folder / 'index.html'}; serve the folder, for example: python -m http.server -d {folder}")
    print(f"card:    {folder / 'README.md'}")
    return 0


def _write_rerun(library: "Library", file: Path, episode: int) -> int:
    from handloom.viewer.export.rerun_file import write_rerun

    if not library.shelves:
        raise InputError("--rerun writes an episode of a dataset; give one")
    source = library.sources(next(iter(library.shelves)))[0]
    print(f"wrote:   {write_rerun(source, episode, file)}; open it: rerun {file}")
    return 0


def _open_mujoco(tasks: list[str], *, seed: int, episode: int) -> int:
    """Show a scene in MuJoCo's viewer until its window is closed."""
    if len(tasks) != 1:
        raise InputError("--mujoco shows one task; give its name or its YAML file")
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise InputError(
            "--mujoco opens a window, and there is no display here; omit it to get the page, or use handloom preview"
        )
    import mujoco.viewer

    from handloom.scene import build_scene
    from handloom.tasks import load_task, sample_task

    world = build_scene(sample_task(load_task(tasks[0]), seed, episode)).world
    mujoco.viewer.launch(world.model, world.data)
    return 0


@contextmanager
def live_page(run: Path, goal: Goal, *, workers: int) -> Iterator[str]:
    """Serve the page of a run in progress; yield its address.

    Args:
        run: Folder of the run.
        goal: When it ends.
        workers: Number of workers of the run.
    """
    require("uvicorn", extra="view")
    from handloom.viewer.library import Library, LiveRun
    from handloom.viewer.view_app import ViewOptions, view_server

    wanted = goal.bound if goal.successes is None else goal.successes
    live = LiveRun(wanted=wanted, counts_successes=goal.successes is not None, workers=workers)
    server = view_server(Library([run], live=live), ViewOptions())
    server.start()
    try:
        yield f"{server.address}#/dataset/d0?sort=attempt&down=1"
    finally:
        server.close()


def told_apart(what: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Split the words into folders and tasks (YAML files, or names that are not folders)."""
    paths, tasks = [], []
    for word in what:
        path = Path(word)
        if path.is_dir():
            paths.append(path)
        elif path.suffix in (".yaml", ".yml") or "/" not in word or find_pack_task(word) is not None:
            tasks.append(word)
        else:
            raise InputError(
                f"{word}: there is no such folder; give a dataset, a run, a task, or a folder that contains them"
            )
    return paths, tasks


def _tell_address(address: str, *, open_page: bool) -> None:
    print(f"open in a browser: {address}", flush=True)
    if open_page:
        webbrowser.open(address)
