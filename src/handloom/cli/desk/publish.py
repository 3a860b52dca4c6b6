"""``handloom publish``: card and certificate of a dataset, and its upload."""

from pathlib import Path
from typing import Annotated

import tyro

from handloom.cli.flags import OptionalFile, OptionalText, Run
from handloom.cli.terminal import plain
from handloom.cli.verbs.dataset import checked_dataset
from handloom.engine.publishing import push_to_hub, write_card


def run(
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
    """Write a dataset's card (README.md), certificate and sample pictures; with --repo upload it to the Hub.

    Args:
        path: A run folder or a dataset.
        repo: Repository to upload to (extra hub); default only writes the files.
        public: Make a new repository public; default private.
        licence: Licence of the data: mit, apache-2.0, cc-by-4.0.
        title: Heading of the card; default the name of the task.
        key: PEM file of a private Ed25519 key that signs the certificate.
        endpoint: Address of another server that speaks the Hub's protocol.
        skip_hashes: Use the files even if they are not those that were written.
    """
    root: Path = checked_dataset(path, skip_hashes=skip_hashes)
    card = write_card(root, licence=licence, key=key, title=title or "")
    print(plain(f"card: {card}\ncertificate: {root / 'certificate.json'}"))
    if repo is not None:
        print(plain(f"uploaded: {push_to_hub(root, repo, endpoint=endpoint, private=not public)}"))
