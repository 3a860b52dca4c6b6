"""Publishing a dataset: a card, a certificate, sample images; optionally uploaded to a hub."""

from collections import Counter
from pathlib import Path
from typing import Any

from handloom.dataset import DatasetReader
from handloom.dataset.files.durable import atomic_write
from handloom.engine.lineage.dataset_certificate import CERTIFICATE, read_certificate, write_certificate
from handloom.engine.trust import dataset_of
from handloom.errors import FileError, InputError, require
from handloom.render.pictures import contact_sheet, write_png
from handloom.version import VERSION

CARD, PICTURE = "README.md", "sample.png"
SAMPLES = 8
"""Number of images on the card."""
MOST_TASKS = 20
"""Number of instructions that the card lists."""


def write_card(path: Path, *, licence: str = "mit", key: Path | None = None, title: str = "") -> Path:
    """Write card, certificate and sample images into the folder of a dataset; return the card.

    Args:
        path: A dataset, or a run.
        licence: Identifier of the licence, as the Hub writes it: mit, apache-2.0, cc-by-4.0.
        key: Private Ed25519 key that signs the certificate.
        title: Heading of the card; empty takes the name of the task or folder.
    """
    root = dataset_of(path)
    write_certificate(root, key=key)
    dataset = DatasetReader(root)
    if any(feature.is_colour for feature in dataset.table.videos):
        write_png(root / PICTURE, contact_sheet(_pictures(dataset)))
    with atomic_write(root / CARD) as partial:
        partial.write_text(card_text(dataset, licence=licence, title=title), encoding="utf-8")
    return root / CARD


def _pictures(dataset: DatasetReader) -> list[Any]:
    """Return the first image of a few episodes, from the first camera."""
    camera = next(feature.name for feature in dataset.table.videos if feature.is_colour)
    count = len(dataset.episodes)
    chosen = sorted({k * count // SAMPLES for k in range(SAMPLES)} & set(range(count)))
    return [dataset.image(index, camera, dataset.episode(index).length // 2) for index in chosen]


def card_text(dataset: DatasetReader, *, licence: str, title: str = "") -> str:
    """Return the card of a dataset whose certificate is written."""
    told = read_certificate(dataset.root / CERTIFICATE)
    run, info, made_with = told["run"], dataset.info, told["versions"]
    name = title or run.get("task_name") or dataset.root.parent.name
    episodes = dataset.episodes
    seconds = info["total_frames"] / dataset.fps
    robots = Counter(str(episode.columns.get("robot") or info["robot_type"]) for episode in episodes)
    wins = sum(bool(episode.columns.get("success", True)) for episode in episodes)
    cameras = [f"`{f.name}` {f.shape[1]} x {f.shape[0]}" for f in dataset.table.videos]
    columns = [f"| `{f.name}` | {f.dtype} | {f.shape[0]} |" for f in dataset.table.columns]
    lines = [
        "---",
        f"license: {licence}",
        "task_categories: [robotics]",
        "tags: [LeRobot, handloom, simulation]",
        "configs: [{config_name: default, data_files: data/*/*.parquet}]",
        "---",
        "",
        f"# {name}",
        "",
        *([f"![Sample pictures]({PICTURE})", ""] if (dataset.root / PICTURE).is_file() else []),
        "| | |",
        "|---|---|",
        f"| episodes | {len(episodes)}, of them {wins} successful |",
        f"| frames | {info['total_frames']} at {dataset.fps} per second, {seconds / 3600:.2f} robot-hours |",
        f"| robots | {', '.join(f'{robot} ({count})' for robot, count in robots.items())} |",
        f"| cameras | {', '.join(cameras) or 'none'} |",
        f"| instructions | {len(dataset.tasks)} different |",
        f"| format | LeRobot {info['codebase_version']} |",
        f"| licence | {licence} |",
        f"| made with | Handloom {made_with.get('handloom', VERSION)}, MuJoCo {made_with.get('mujoco')} |",
        f"| certificate | `{told['root']}`{_signed(told)} |",
        "",
        "## Instructions",
        "",
        *(f"- {task}" for task in dataset.tasks[:MOST_TASKS]),
        *([f"- and {len(dataset.tasks) - MOST_TASKS} more"] if len(dataset.tasks) > MOST_TASKS else []),
        "",
        "## Columns",
        "",
        "| column | type | entries |",
        "|---|---|---|",
        *columns,
        "",
        "## Check it, reproduce it",
        "",
        "Every episode carries its scene, commands and states. A random sample is replayed bit for bit by",
        "",
        "```console",
        "$ pip install handloom",
        "$ handloom verify . --sample 50",
        *(["$ handloom remake certificate.json -o again"] if run else []),
        "```",
        "",
    ]
    return "\n".join(lines)


def _signed(told: Any) -> str:
    signature = told["signature"]
    return f", signed with the key `{signature['public_key']}`" if signature else ""


def push_to_hub(
    path: Path, repo: str, *, endpoint: str | None = None, token: str | None = None, private: bool = True
) -> str:
    """Upload a dataset, with its card, to a repository of the Hub; return its address.

    Args:
        path: A dataset, or a run; its card is written.
        repo: ``user/name``.
        endpoint: Address of the server; None uses the Hub's own, or the one set in the environment.
        token: Access token; None uses the one that the user logged in with.
        private: Make a new repository private.

    Raises:
        MissingExtraError: The package huggingface_hub is not installed.
        InputError: The name is not a valid repository, or the server refuses.
    """
    hub: Any = require("huggingface_hub", extra="hub")
    root = dataset_of(path)
    if not (root / CARD).is_file():
        raise FileError(f"{root} has no {CARD}; write it first")
    if repo.count("/") != 1 or not all(repo.split("/")):
        raise InputError(f"a repository is written user/name, got {repo!r}")
    api = hub.HfApi(endpoint=endpoint, token=token)
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=str(root),
            commit_message="Upload a dataset made with Handloom",
            ignore_patterns=["*.partial*"],
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{repo} could not be uploaded: {error}") from error
    return f"{api.endpoint}/datasets/{repo}"
