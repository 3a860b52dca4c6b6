"""``handloom publish`` and ``handloom remake``: publish a dataset with a certificate, and reproduce it."""

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from handloom.cli.datasets.dataset import checked_dataset, worker_executor
from handloom.cli.flags import OptionalFile, OptionalNumber, OptionalText, Output, Run
from handloom.cli.terminal import plain
from handloom.cli.verbs.doctor import compile_kernels
from handloom.config import own_code
from handloom.engine import lineage
from handloom.engine.publishing import push_to_hub, write_card
from handloom.kernels import GENERATE


def publish(
    path: Run,
    *,
    repo: Annotated[str | None, tyro.conf.arg(metavar="USER/NAME", help_behavior_hint="")] = None,
    public: bool = False,
    licence: Annotated[str, tyro.conf.arg(metavar="LICENCE")] = "mit",
    title: OptionalText = None,
    key: OptionalFile = None,
    endpoint: Annotated[str | None, tyro.conf.arg(metavar="URL", help_behavior_hint="")] = None,
    skip_hashes: bool = False,
) -> None:
    """Write a dataset's card (README.md), certificate and sample images; with --repo upload it to the Hub.

    Args:
        path: A run folder or a dataset.
        repo: Repository to upload to (extra hub); by default the files are only written.
        public: Make a new repository public; default private.
        licence: Licence of the data: mit, apache-2.0, cc-by-4.0.
        title: Heading of the card; default the name of the task.
        key: PEM file of a private Ed25519 key that signs the certificate.
        endpoint: Address of another server that speaks the Hub's protocol.
        skip_hashes: Use the files even if they do not match their recorded hashes.
    """
    root: Path = checked_dataset(path, skip_hashes=skip_hashes)
    card = write_card(root, licence=licence, key=key, title=title or "")
    print(plain(f"card: {card}\ncertificate: {root / 'certificate.json'}"))
    if repo is not None:
        print(plain(f"uploaded: {push_to_hub(root, repo, endpoint=endpoint, private=not public)}"))


def remake(
    certificate: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CERTIFICATE")],
    *,
    output: Output,
    workers: OptionalNumber = None,
    allow_code: bool = False,
    allow_outside: bool = False,
) -> int:
    """Reproduce a dataset from its certificate: the same task, seed and attempts, then compare all bytes.

    Args:
        certificate: certificate.json, or the dataset that contains it.
        output: Folder of the new run; its dataset/ is the dataset.
        workers: Worker processes; default one per core; 0 runs in this process.
        allow_code: Run Python code that the task refers to, such as a skill my_module:MySkill.
        allow_outside: Let the task name files outside the folders around the certificate.
    """
    own_code.allow(code=allow_code, outside=allow_outside)
    compile_kernels((*GENERATE, "labels"))
    executor = worker_executor(workers)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("reproducing it", total=None)
        made = lineage.remake(certificate, output, executor, on_receipts=lambda news: progress.advance(bar, len(news)))
    print(plain(f"dataset: {made.dataset}"))
    for line in made.elsewhere:
        print(plain(f"note: {line}"))
    print("the same bytes" if made.same else "the bytes differ from the certified ones")
    return 0 if made.same else 1
