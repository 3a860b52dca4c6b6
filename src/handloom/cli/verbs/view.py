"""``handloom view``: look at datasets, episodes, tasks and runs in a browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

import tyro

from handloom.errors import InputError, require


def run(
    what: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DATASET|RUN|TASK|FOLDER")],
    *,
    edit: bool = False,
    open: bool = False,
    host: str = "127.0.0.1",
    port: int = 8009,
    https: bool = False,
) -> int:
    """Look at datasets, runs, evaluations and tasks in a browser. Needs the extra view.

    Open the address that is printed. Several datasets are shown side by side; of a folder, all that are in it.

    Args:
        what: Datasets, runs, evaluations, folders that hold such, or tasks.
        edit: Allow the page to write flags and notes beside datasets, and task files.
        open: Open the page in the browser of this machine.
        host: Address to serve at; one that other machines reach is served over HTTPS only.
        port: Port of the page; 0 takes a free one.
        https: Serve HTTPS on this machine, too, with a certificate that this machine signs itself.
    """
    if not what:
        raise InputError("there is nothing to look at; give a dataset, a run, a task, or a folder that holds some")
    require("uvicorn", extra="view")
    from handloom.viewer.library import Library
    from handloom.viewer.view_app import ViewOptions, serve

    paths, tasks = told_apart(what)
    library = Library(paths, tasks)
    try:
        serve(
            library,
            ViewOptions(host=host, port=port, edit=edit, https=https),
            lambda address: _tell_address(address, open_page=open),
        )
    except KeyboardInterrupt:
        print("stopped")
    return 0


def told_apart(what: tuple[str, ...]) -> tuple[list[Path], list[str]]:
    """Return which words are folders and which are tasks: a YAML file, or a name that is not a folder."""
    paths, tasks = [], []
    for word in what:
        path = Path(word)
        if path.is_dir():
            paths.append(path)
        elif path.suffix in (".yaml", ".yml") or "/" not in word:
            tasks.append(word)
        else:
            raise InputError(f"{word}: there is no such folder; give a dataset, a run, a task, or a folder with some")
    return paths, tasks


def _tell_address(address: str, *, open_page: bool) -> None:
    print(f"open in a browser: {address}", flush=True)
    if open_page:
        webbrowser.open(address)
