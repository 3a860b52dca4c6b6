"""Write the page on the value of demonstrations: the success rates of policies trained on them.

``python tools/write_worth.py`` writes ``docs/worth.md`` from ``docs/worth.json``; ``--add FILE ...`` first adds the
rows of files written by ``examples/train/worth.py``; a newer row of a task replaces the older one.
"""

import json
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from handloom.engine.policy.evaluation import TEST_SEEDS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "worth.md"
ROWS = ROOT / "docs" / "worth.json"
WORDS = 3
"""Number of failure reasons in a row."""


def page() -> str:
    """Return the text of the page."""
    rows = sorted(json.loads(ROWS.read_text()), key=lambda row: row["task"])
    one, many = [row for row in rows if "policy" not in row], [row for row in rows if "policy" in row]
    parts = [
        "# What demonstrations are worth",
        "Made by `tools/write_worth.py`; do not edit.",
        "Each row is a policy of [`examples/train`](guides/train.md), trained from images on the demonstrations "
        "listed and tested in unseen scenes that were not used for tuning. Measured on one NVIDIA H200 shared by "
        "three to four training runs, while 16 processor cores made demonstrations of other tasks: minutes are the "
        "wall time of the whole training step, including start-up. "
        "Brackets are 95 % intervals. The last column gives the first term of the task that did not hold at the end.",
        _summary(one),
        _table(one),
        "## One command each",
        "In `examples/train`; each command makes the demonstrations, renders them, trains and tests.",
        "```bash\n" + "\n".join(row["recipe"] for row in one) + "\n```",
    ]
    if many:
        parts += [
            "## One policy for many tasks",
            "One network, given the task's instruction as hashed words, trained on the same demonstrations.",
            _summary(many),
            _table(many),
            "```bash\n" + "\n".join(dict.fromkeys(row["recipe"] for row in many)) + "\n```",
        ]
    return "\n\n".join(parts) + "\n"


def _summary(rows: list[dict[str, Any]]) -> str:
    rates = [row["success_rate"] for row in rows]
    low = sum(rate < 0.7 for rate in rates)
    return (
        f"{len(rows)} tasks: median {statistics.median(rates):.0%}, mean {statistics.mean(rates):.0%}, "
        f"{sum(rate >= 0.9 for rate in rates)} at 90 % or more, {low} below 70 %."
    )


def _table(rows: list[dict[str, Any]]) -> str:
    head = ["task", "demonstrations", "disturbed", "minutes", "test set", "success", "unmet term"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        low, high = row["interval"]
        reasons = Counter(row["failure_reasons"]).most_common(WORDS)
        cells = [
            f"`{row['task']}`" + ("*" if "note" in row else ""),
            f"{row['demonstrations']:,}",
            f"{100 * row['disturb']:g} cm",
        ]
        cells += [f"{row['seconds']['train'] / 60:.1f}", str(row["seed"] - TEST_SEEDS)]
        cells += [f"{row['successes']} of {row['scenes']} [{100 * low:.0f}, {100 * high:.0f}]"]
        cells += [", ".join(f"{reason.replace('_', ' ')} {count}" for reason, count in reasons)]
        lines.append("| " + " | ".join(cells) + " |")
    notes = dict.fromkeys(row["note"] for row in rows if "note" in row)
    return "\n".join(lines) + "".join(f"\n\n\\* {note}" for note in notes)


def add(files: list[str]) -> None:
    """Add the rows of files."""
    kept = {(row["task"], row.get("policy")): row for row in json.loads(ROWS.read_text())} if ROWS.exists() else {}
    for file in files:
        kept |= {(row["task"], row.get("policy")): row for row in json.loads(Path(file).read_text())}
    ROWS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--add"]:
        add(sys.argv[2:])
    PAGE.write_text(page())
