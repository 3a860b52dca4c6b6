"""Fifteen small tasks as the documentation would have them written, and what becomes of them.

    python -m tests.oracle.first_tries --attempts 10 --seed 7 --processes 16 --limit 500 --out tries.json

Each is a file of objects and short skills, on one of three robots: a drawer, a microwave, mugs, two arms, one at will.
Those without regions get the ones that ``check`` proposes, which is the one edit that is allowed. Honest is a success
that the oracle calls one, too.
"""

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.measure import rows_of
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import attempt

from handloom.engine.trial import tries_of
from handloom.errors import HandloomError
from handloom.tasks import load_task
from handloom.tasks.region_proposals import proposals

Row = dict[str, Any]
RIGID = "target_class: RigidObject"
FIXED = "target_class: ArticulatedObject, fix_base: true"
LONG = "data: {max_episode_length: 2500}"


def _file(robot: str, objects: list[str], skills: list[str], *more: str) -> str:
    lines = [f"base: setups/{robot}.yaml", "objects:", *(f"  - {{{entry}}}" for entry in objects), *more]
    return "\n".join([*lines, "skills:", *(f"  - {entry}" for entry in skills)]) + "\n"


def _at(name: str, a: str, b: str, yaw: str = "[-180, 180]") -> str:
    return f"  - {{object: {name}, target: table, random_config: {{pos_range: [{a}, {b}], yaw_rotation: {yaw}}}}}"


def _drawer(robot: str, thing: str) -> tuple[str, tuple[Deed, ...]]:
    objects = [f"name: cabinet, {FIXED}, category: drawer_cabinet", f"name: {thing}, {RIGID}, category: {thing}"]
    skills = ["{open: cabinet}", f"{{pick: {thing}}}", f"{{place: {thing}, in: cabinet}}", "{close: cabinet}"]
    deeds = Deed(kind="in", obj=thing, target="cabinet"), Deed(kind="close", obj="cabinet", part="drawer_1")
    return _file(robot, objects, skills, LONG), deeds


def _microwave(robot: str, thing: str, *, shut: bool) -> tuple[str, tuple[Deed, ...]]:
    objects = [
        f"name: microwave, {FIXED}, category: microwave, joint_position_range: [1.5, 1.7]",
        f"name: {thing}, {RIGID}, category: {thing}",
    ]
    regions = [
        "regions:",
        _at("microwave", "[0.0, 0.3]", "[0.08, 0.33]", "[-4, 4]"),
        _at(thing, "[0.26, -0.06]", "[0.34, 0.02]"),
    ]
    side = ", approach: [front, 45]" if thing != "lemon" else ""
    skills = [f"{{pick: {thing}{side}}}", f"{{place: {thing}, in: microwave}}"]
    deeds = [Deed(kind="in", obj=thing, target="microwave")]
    if shut:
        skills.append("{close: microwave}")
        deeds.append(Deed(kind="close", obj="microwave", part="door"))
    return _file(robot, objects, skills, *regions, LONG), tuple(deeds)


def _opened_microwave(robot: str) -> tuple[str, tuple[Deed, ...]]:
    objects = [f"name: microwave, {FIXED}, category: microwave"]
    return _file(robot, objects, ["{open: microwave}"]), (Deed(kind="open", obj="microwave", part="door", amount=0.5),)


def _mugs(robot: str, target: str, word: str) -> tuple[str, tuple[Deed, ...]]:
    names = ("red_mug", "blue_mug")
    objects = [
        f"name: red_mug, {RIGID}, category: mug, color: red",
        f"name: blue_mug, {RIGID}, category: mug, color: blue",
        f"name: {target}, {RIGID}, category: {target}",
    ]
    skills, kind = [], "in" if word == "in" else "on"
    # A spot for each, as the cookbook advises where a second thing is put into the same container.
    for name, spot in zip(names, ("[0.2, 0.4]", "[0.6, 0.8]"), strict=True):
        where = f", x_ratio_range: {spot}" if kind == "in" else ""
        skills += [f"{{pick: {name}}}", f"{{place: {name}, {word}: {target}{where}}}"]
    return _file(robot, objects, skills), tuple(Deed(kind=kind, obj=name, target=target) for name in names)


def _mug_beside(robot: str) -> tuple[str, tuple[Deed, ...]]:
    objects = [f"name: mug, {RIGID}, category: mug", f"name: plate, {RIGID}, category: plate"]
    skills = ["{pick: mug}", "{place: mug, beside: plate, side: right}"]
    return _file(robot, objects, skills), (Deed(kind="beside", obj="mug", target="plate", side="right"),)


def _two_arms(robot: str, near: float, far: float, y: float) -> tuple[str, tuple[Deed, ...]]:
    sides = (("left", -1.0), ("right", 1.0))
    objects = [
        f"name: {side}_{what}, {RIGID}, category: {what}{', parameters: {edge: 0.04}' if what == 'cube' else ''}"
        for side, _ in sides
        for what in ("cube", "plate")
    ]
    regions = ["regions:"]
    for side, sign in sides:
        for what, x in (("cube", far), ("plate", near)):
            low, high = sorted((sign * x, sign * (x + 0.05)))
            regions.append(_at(f"{side}_{what}", f"[{low:.2f}, {y:.2f}]", f"[{high:.2f}, {y + 0.08:.2f}]"))
    lanes = [f"{side}: [{{pick: {side}_cube}}, {{place: {side}_cube, on: {side}_plate}}]" for side, _ in sides]
    text = _file(robot, objects, ["\n    ".join(lanes)], *regions)
    return text, tuple(Deed(kind="on", obj=f"{side}_cube", target=f"{side}_plate") for side, _ in sides)


def _free(robot: str, kind: str) -> tuple[str, tuple[Deed, ...]]:
    if kind == "tower":
        edges = {"bottom": 0.06, "middle": 0.05, "top": 0.04}
        objects = [f"name: {n}, {RIGID}, category: cube, parameters: {{edge: {e}}}" for n, e in edges.items()]
        skills = [
            "{pick: middle}",
            "{place: middle, stack_on: bottom}",
            "{pick: top}",
            "{place: top, stack_on: middle}",
        ]
        pairs = (("middle", "bottom"), ("top", "middle"))
        return _file(robot, objects, skills), tuple(Deed(kind="stack_on", obj=a, target=b) for a, b in pairs)
    if kind == "fruit":
        objects = [f"name: {name}, {RIGID}, category: {name}" for name in ("apple", "lemon", "bowl", "plate")]
        skills = ["{pick: apple, arm: left}", "{place: apple, in: bowl, arm: left}", "{home: left}"]
        skills += ["{pick: lemon, arm: right}", "{place: lemon, on: plate, arm: right}"]
        deeds = Deed(kind="in", obj="apple", target="bowl"), Deed(kind="on", obj="lemon", target="plate")
        return _file(robot, objects, skills), deeds
    objects = [f"name: valve, {FIXED}, category: faucet"]
    return _file(robot, objects, ["{turn: valve, amount: 0.6}"]), (
        Deed(kind="turn", obj="valve", part="handle", amount=0.6),
    )


def tries() -> dict[str, tuple[str, tuple[Deed, ...]]]:
    """Return the tasks by name: the text of each and what its words ask for."""
    return {
        "fr3_drawer": _drawer("fr3", "tomato"),
        "fr3_microwave": _microwave("fr3", "can", shut=True),
        "fr3_mugs": _mugs("fr3", "tray", "on"),
        "lift2_two_arms": _two_arms("lift2", 0.2, 0.38, -0.32),
        "fr3_free": _free("fr3", "tower"),
        "genie1_drawer": _drawer("genie1", "eraser"),
        "robotiq_microwave": _microwave("franka_robotiq85", "mug", shut=False),
        "robotiq_mug": _mug_beside("franka_robotiq85"),
        "split_aloha_two_arms": _two_arms("split_aloha", 0.2, 0.4, -0.3),
        "robotiq_free": _free("franka_robotiq85", "faucet"),
        "split_aloha_drawer": _drawer("split_aloha", "strawberry"),
        "fr3_open_microwave": _opened_microwave("fr3"),
        "fr3_mugs_in_crate": _mugs("fr3", "crate", "in"),
        "genie1_two_arms": _two_arms("genie1", 0.12, 0.32, -0.18),
        "genie1_free": _free("genie1", "fruit"),
    }


def propose_unit(name: int | str) -> Row:
    """Return the text of a task with regions: its own, or those that fit."""
    text, _ = tries()[str(name)]
    if "regions:" in text:
        return {"name": str(name), "text": text}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.yaml"
        file.write_text(text)
        task, best = load_task(file), (0, list[str]())
        for proposal in islice(proposals(task), 3):  # As check chooses those that it prints.
            good = sum(one.failure is None for one in tries_of(proposal.of(task), 3)[:3])
            best = max(best, (good, proposal.lines(task)))
            if good == 3:
                break
    return {"name": str(name), "text": "\n".join([text + "regions:", *best[1], ""]) if best[0] else ""}


def try_unit(number: int | str, *, plan: list[tuple[str, str]], attempts: int, seed: int) -> Row:
    """Try one attempt of one task; the number says which."""
    name, text = plan[int(number) // attempts]
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / f"{name}.yaml").write_text(text)
        try:
            one, _, _ = attempt(load_task(file), tries()[name][1], seed, int(number) % attempts)
        except HandloomError as error:
            return {"name": name, "success": False, "oracle": False, "why": str(error)[:300]}
    why = one.reason or one.verdict.why
    return {"name": name, "success": one.success, "oracle": one.verdict.done, "why": why}


def main(words: list[str] | None = None) -> int:
    """Run, write the file and print its figures; the exit status is 1 where the judge took a wrong for right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=500.0, help="seconds until what is left is not run")
    parser.add_argument("--only", nargs="*", default=None, help="names of tasks")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args(words)
    until = time.monotonic() + given.limit
    names: list[int | str] = list(given.only or tries())
    proposed = list(rows_of(propose_unit, names, min(given.processes, len(names)), until))
    plan = [(row["name"], row["text"]) for row in proposed if row.get("text")]
    unit = partial(try_unit, plan=plan, attempts=given.attempts, seed=given.seed)
    rows = list(rows_of(unit, list(range(len(plan) * given.attempts)), given.processes, until))
    figures: Row = {
        "seed": given.seed,
        "without_regions": [r["name"] for r in proposed if not r.get("text")],
        "tasks": {},
    }
    for name, text in plan:
        own = [row for row in rows if row.get("name") == name and "success" in row]
        figures["tasks"][name] = {
            "attempts": len(own),
            "success": sum(row["success"] for row in own),
            "honest": sum(row["success"] and row["oracle"] is True for row in own),
            "false_success": sum(row["success"] and row["oracle"] is False for row in own),
            "why": [row["why"] for row in own if not row["success"]],
            "text": text,
        }
    figures["faults"] = [row for row in (*proposed, *rows) if "fault" in row]
    if given.out is not None:
        given.out.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, found in figures["tasks"].items():
        sys.stdout.write(f"{name}: {found['honest']} of {found['attempts']} {found['why']}\n")
    faults = [f"{row['name']}: {row['fault']}" for row in figures["faults"]]
    sys.stdout.write(f"no regions: {figures['without_regions']}; faults: {faults}\n")
    return int(any(found["false_success"] for found in figures["tasks"].values()))


if __name__ == "__main__":
    sys.exit(main())
