"""Every verb on every robot: small deed files, tried on seeds that nobody tuned on, as one JSON file.

    python -m tests.oracle.verbs --attempts 20 --seed 7 --processes 16 --limit 500 --out verbs.json

A cell is a verb and a robot. The objects lie where the workplace puts them; what a robot cannot do at all, such as
lifting with both hands on one arm, is refused when the file is read and counted so.
"""

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.measure import rows_of

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import ConfigError
from handloom.tasks import SamplingError, load_task

Row = dict[str, Any]
ROBOTS = ("fr3", "lift2", "split_aloha", "genie1", "fr3_pair", "so101")
VERBS: dict[str, tuple[dict[str, str], str]] = {
    "press bell": ({"bell": "desk_bell"}, "{press: bell}"),
    "press stapler": ({"stapler": "lever_stapler"}, "{press: stapler.top}"),
    "press clock": ({"clock": "alarm_clock"}, "{press: clock.button}"),
    "press switch": ({"switch": "toggle_switch"}, "{press: switch.lever}"),
    "press box": ({"box": "card_box"}, "{press: box.top}"),
    "shake up": ({"bottle": "pill_bottle"}, "{pick: bottle}, {shake: bottle, times: 3}"),
    "shake side": ({"bottle": "pill_bottle"}, "{pick: bottle}, {shake: bottle, times: 2, along: side}"),
    "strike": ({"mallet": "mallet", "block": "cube"}, "{pick: mallet}, {strike: block, with: mallet.head}"),
    "stamp": ({"seal": "seal", "pad": "mouse_pad"}, "{pick: seal}, {stamp: pad, with: seal.face}"),
    "wipe": ({"sponge": "sponge", "plate": "plate"}, "{pick: sponge}, {wipe: plate, with: sponge}"),
    "wipe table": ({"sponge": "sponge"}, "{pick: sponge}, {wipe: table, with: sponge}"),
    "push by": ({"box": "snack_box"}, "{push: box, by: [0.08, 0.02]}"),
    "push to": ({"plate": "coaster"}, "{push: plate, to: [0.05, 0.02]}"),
    "left of": ({"mug": "mug", "box": "tea_box"}, "{pick: mug}, {place: mug, left_of: box, gap: [0.02, 0.08]}"),
    "facing": ({"soap": "soap", "mat": "coaster"}, "{pick: soap}, {place: soap, at: [0.0, 0.05], facing: away}"),
    "insert": ({"pen": "pen", "cup": "pen_holder"}, "{pick: pen}, {insert: pen.head, into: cup}"),
    "stack": ({"a": "cube", "b": "cube", "c": "cube"}, "{stack: [a, b, c]}"),
    "arrange": ({"a": "cube", "b": "cube", "c": "cube"}, "{arrange: [a, b, c], in: row}"),
    "handover": ({"mic": "microphone"}, "{handover: mic}"),
    "lift pot": ({"pot": "soup_pot"}, "{lift: pot, with: both, by: 0.08}"),
    "lift tray": ({"tray": "tray"}, "{lift: tray, with: both, by: 0.08}"),
    "scan": ({"gun": "hand_scanner", "box": "tea_box"}, "{pick: box}, {pick: gun}, {scan: box, with: gun}"),
}
"""Name of a cell > category of each object, and the skills."""


def text_of(verb: str, robot: str) -> str:
    """Return the deed file of a cell; several objects lie side by side."""
    things, skills = VERBS[verb]
    lines = [f"robot: {robot}", "cameras: []", "objects:"]
    lines += [f"  - {{name: {name}, category: {category}}}" for name, category in things.items()]
    middle, wide = verb.startswith("lift"), 0.16 if robot == "so101" else 0.4
    lines.append("regions:")
    for k, name in enumerate(things):
        x = -0.5 * wide + wide * (k + 0.5) / len(things)
        half = 0.02 if middle else 0.3 * wide / len(things)
        turn = ", yaw: [-8, 8]" if middle else ""
        deep = 0.01 if middle else 0.04
        spot = f"[[{x - half:.3f}, {-deep}], [{x + half:.3f}, {deep}]]"
        lines.append(f"  - {{object: {name}, at: {spot}{turn}}}")
    return "\n".join([*lines, f"skills: [{skills}]\n"])


def unit(number: int | str, *, cells: list[tuple[str, str]], attempts: int, seed: int) -> Row:
    """Try one attempt of one cell."""
    verb, robot = cells[int(number) // attempts]
    row: Row = {"verb": verb, "robot": robot, "episode": int(number) % attempts}
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "deed.yaml").write_text(text_of(verb, robot))
        try:
            _, record = simulate(load_task(file), seed, int(number) % attempts, Stopwatch())
        except ConfigError as error:
            return {**row, "refused": str(error)[-200:]}
        except SamplingError as error:
            return {**row, "success": False, "why": f"sampling: {error.failure.reason}"}
    failure = record.failure
    why = "" if failure is None else f"{failure.skill}: {failure.reason}: {failure.detail[:160]}"
    return {**row, "success": record.success, "why": why, "frames": len(record.states)}


def main(words: list[str] | None = None) -> int:
    """Run, write the file and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=500.0, help="seconds until what is left is not run")
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS))
    parser.add_argument("--verbs", nargs="*", default=list(VERBS))
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args(words)
    cells = [(verb, robot) for verb in given.verbs for robot in given.robots]
    begin = time.monotonic()
    work = partial(unit, cells=cells, attempts=given.attempts, seed=given.seed)
    # One attempt of every cell comes first: a run that is cut short has seen all of them.
    numbers: list[int | str] = [c * given.attempts + k for k in range(given.attempts) for c in range(len(cells))]
    rows = list(rows_of(work, numbers, given.processes, begin + given.limit))
    table: dict[str, dict[str, Any]] = {}
    for verb, robot in cells:
        own = [row for row in rows if (row.get("verb"), row.get("robot")) == (verb, robot)]
        tried = [row for row in own if "success" in row]
        refused = next((row["refused"] for row in own if "refused" in row), None)
        why = [row["why"] for row in tried if not row["success"]]
        good = sum(row["success"] for row in tried)
        table.setdefault(verb, {})[robot] = {"good": good, "of": len(tried), "refused": refused, "why": why}
        shown = "refused" if refused else f"{good}/{len(tried)}"
        sys.stdout.write(f"{verb:14s} {robot:12s} {shown} {(why[0] if why else '')[:150]}\n")
    figures: Row = {"seed": given.seed, "attempts": given.attempts, "cells": table}
    figures |= {"faults": [row for row in rows if "fault" in row], "seconds": round(time.monotonic() - begin, 1)}
    if given.out is not None:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
