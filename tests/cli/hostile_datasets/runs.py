"""Journals, manifests and unmerged episodes that were tampered with."""

import json
from pathlib import Path
from random import Random
from typing import Any

import yaml

from hostile_datasets.kinds import WEIRD, changed_somewhere, edit_json, kind
from hostile_datasets.signing import described


def journal_of(run: Path) -> Path:
    return sorted((run / "journal").glob("*.jsonl"))[0]


@kind
def journal_fields(run: Path, rng: Random) -> None:
    def change(receipt: Any) -> None:
        for key in rng.sample(list(receipt), 2):
            receipt[key] = rng.choice(WEIRD)

    file = journal_of(run)
    receipt = json.loads(file.read_text())
    change(receipt)
    file.write_text(json.dumps(receipt) + "\n")


@kind
def journal_lines(run: Path, rng: Random) -> None:
    file = journal_of(run)
    lines = [b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"episode":1e999,"success":true}', b'{"episode":0}']
    file.write_bytes(file.read_bytes() + rng.choice(lines) + b"\n")


@kind
def journal_crowd(run: Path, rng: Random) -> None:
    """A chart with a row for each of these would have a picture of gigabytes."""
    rows = []
    for i in range(20_000):
        reason = {"reason": f"r{i}" * rng.choice([1, 500]), "stage": "execute", "detail": "a\nb\x1b[2J"}
        rows.append(
            {"episode": i, "success": bool(i % 2), "frames": 5, "fps": 30, "skills": {f"s{i}\n": 1e308}, **reason}
        )
    journal_of(run).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run / "finished.json").unlink()


@kind
def yaml_fields(run: Path, rng: Random) -> None:
    file = run / "run.yaml"
    values = yaml.safe_load(file.read_text())
    values = changed_somewhere(values, rng)
    file.write_text(yaml.safe_dump(values))


@kind
def yaml_task(run: Path, rng: Random) -> None:
    file = run / "run.yaml"
    values = yaml.safe_load(file.read_text())
    values["task"] = changed_somewhere(values["task"], rng)
    values["source"] = rng.choice(["stranger:Source", "os:system", "expert"])
    file.write_text(yaml.safe_dump(values))


@kind
def yaml_bomb(run: Path, rng: Random) -> None:
    texts = [
        "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{f'*{chr(97 + i)},' * 9}]\n" for i in range(20)),
        "[" * 100_000,
        "!!python/object/apply:os.system ['touch ran_by_yaml']\n",
        "x: " + "y" * 9_000_000,
        "".join(f"k{i}: [{'[],' * 50}]\n" for i in range(5000)),
    ]
    (run / "run.yaml").write_text(rng.choice(texts))


FOLDER = "episodes/episode_000002"


@kind
def folder_sheet(run: Path, rng: Random) -> None:
    """The sheet of an episode that waits to be merged."""
    edit_json(run / FOLDER / "episode.json", lambda value: changed_somewhere(value, rng))


@kind
def folder_lengths(run: Path, rng: Random) -> None:
    """A sheet that promises more frames than there are."""
    length = rng.choice([10**9, 10**12, 1, 18])
    stop = rng.choice([10**9, length])

    def change(sheet: Any) -> None:
        sheet["length"] = length
        sheet["outcome"]["segments"] = [{"label": "x", "start": 0, "stop": stop}]

    edit_json(run / FOLDER / "episode.json", change)


@kind
def folder_files(run: Path, rng: Random) -> None:
    """A file of an episode that waits to be merged, cut or exchanged."""
    file = rng.choice(sorted((run / FOLDER).iterdir()))
    raw = file.read_bytes()
    file.write_bytes(rng.choice([b"", raw[: len(raw) // 2], b"[" * 100_000, raw[::-1]]))
    if file.name != "episode.json" and rng.random() < 0.5:  # with its hash
        edit_json(run / FOLDER / "episode.json", lambda sheet: sheet["files"].update({file.name: described(file)}))
