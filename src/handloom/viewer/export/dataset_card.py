"""A dataset card, with the facts that people need before training."""

from collections import Counter
from typing import Any

from handloom.viewer.dataset_api import progress
from handloom.viewer.episode_source import EpisodeSource
from handloom.viewer.library import Library

MOST_WORDS = 12
"""Maximum number of instructions quoted on a card."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
"""Size categories in frames, as named by the Hugging Face Hub."""


def dataset_card(library: Library) -> str:
    """Return the card of everything in a library, as Markdown with the front matter of the Hugging Face Hub."""
    sources = [source for key in library.shelves for source in library.sources(key)]
    frames = sum(sum(source.table().columns["length"]) for source in sources)
    size = next((name for most, name in SIZES if frames < most), "1M<n<10M")
    lines = ["---", "task_categories: [robotics]", "tags: [LeRobot, handloom]", f"size_categories: [{size}]", "---", ""]
    names = [shelf.name for shelf in library.shelves.values()]
    lines += [f"# {_plain(', '.join(names))}", ""]
    for key, shelf in library.shelves.items():
        lines += [f"## {_plain(shelf.name)}", ""]
        if (run := library.run(key)) is not None:
            told = progress(run, run.counted())
            lines += [
                f"Made by Handloom from the task `{told['task']}`, seed {told['seed']}: {told['episodes']} of "
                f"{told['attempts']} attempts succeeded. Funnel: "
                + ", ".join(f"{stage} {count}" for stage, count in told["funnel"].items())
                + ".",
                "",
            ]
        for source in library.sources(key):
            lines += _of_source(source)
    lines += ["Open `index.html` through any web server to see every episode.", ""]
    return "\n".join(lines)


def _of_source(source: EpisodeSource) -> list[str]:
    table = source.table()
    columns, seconds = table.columns, sum(table.columns["length"]) / source.fps
    rows = [
        ("episodes", f"{table.count:,}"),
        ("recorded", f"{seconds / 3600.0:.2f} h at {source.fps} Hz"),
        ("robots", _counted(columns["robot"])),
        ("tasks", _counted(columns["task_name"])),
        ("failure reasons", _counted(columns["failure_reason"])),
        ("cameras", ", ".join(f"`{c.name}` {c.width} x {c.height} {c.kind}" for c in source.cameras.values())),
        ("columns", ", ".join(f"`{name}` {_shape(kind)}" for name, kind in source.features.items() if _plotted(kind))),
    ]
    words = Counter(text for text in columns["words"] if text).most_common(MOST_WORDS)
    return [
        f"### {_plain(source.name)}",
        "",
        "| what | |",
        "|---|---|",
        *(f"| {name} | {_plain(text)} |" for name, text in rows if text),
        "",
        *(["Instructions:", "", *(f"- {_plain(text)}" for text, _ in words), ""] if words else []),
    ]


def _plotted(described: dict[str, Any]) -> bool:
    return described.get("dtype") not in ("video", "image", "string", "language")


def _shape(described: dict[str, Any]) -> str:
    return "x".join(str(side) for side in described.get("shape") or ())


def _counted(values: list[Any]) -> str:
    found = Counter(str(value) for value in values if value is not None)
    return ", ".join(f"{name} ({count})" for name, count in found.most_common(MOST_WORDS))


def _plain(text: str) -> str:
    """Return text escaped for Markdown, since strings from a dataset are not markup."""
    clean = "".join(c if c.isprintable() else " " for c in text)
    for mark in "\\<>|*[]#":
        clean = clean.replace(mark, f"\\{mark}")
    return clean
