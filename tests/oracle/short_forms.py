"""What ``check`` proposes and says, against what happens: drawers on six robots, and small files that nobody tuned on.

    python -m tests.oracle.short_forms drawers --attempts 20 --seed 7 --processes 16 --limit 500 --out drawers.json
    python -m tests.oracle.short_forms check --count 24 --seed 7 --processes 16 --limit 500 --out check.json

``drawers``: a file of objects and short skills alone gets the regions that ``check`` proposes, and is then tried.
``check``: random small files, many of them out of reach; the word of ``check`` is compared with the share of attempts,
on another seed, that succeed. Right is what it passes and at least half of the attempts do, or refuses and fewer do.
"""

import argparse
import contextlib
import io
import json
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # As a script, it finds the modules beside it like the tests do.

from tests.oracle.measure import rows_of
from tests.oracle.oracle import Deed
from tests.oracle.run_oracle import oracle_of

from handloom.engine.attempt import Stopwatch, simulate
from handloom.tasks import SamplingError, load_task
from handloom.tasks.region_proposals import proposals

Row = dict[str, Any]
ROBOTS = ("fr3", "franka_robotiq85", "genie1", "lift2", "split_aloha", "so101")
SMALL = ", parameters: {drawers: 2, width: 0.16, depth: 0.14, drawer_height: 0.065}"
"""A cabinet for a desk, where the arm is short."""
DRAWER = """
base: setups/{robot}.yaml
objects:
  - {{name: cabinet, target_class: ArticulatedObject, category: drawer_cabinet, fix_base: true{size}}}
  - {{name: thing, target_class: RigidObject, category: {thing}}}
skills: [{{open: cabinet}}, {{pick: thing}}, {{place: thing, in: cabinet}}, {{close: cabinet}}]
"""
DEEDS = (Deed(kind="in", obj="thing", target="cabinet"), Deed(kind="close", obj="cabinet", part="drawer_1"))
HINGED = ("microwave", "hinged_cabinet", "oven", "laptop", "tool_chest", "pot", "lidded_box", "electric_cooker", "safe")
TURNED = ("faucet", "valve", "knob")
TAKEN = ("lemon", "can", "mug", "egg", "snack_box", "banana", "cube")
HOLDING = ("bowl", "tray", "bin", "plate", "basket")


def drawer_text(robot: str) -> str:
    """Return the task without a region."""
    desk = robot == "so101"
    return DRAWER.format(robot=robot, size=SMALL if desk else "", thing="strawberry" if desk else "lemon")


def propose_unit(robot: int | str) -> Row:
    """Return the regions that fit a robot."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"drawer_{robot}.yaml"
        file.write_text(drawer_text(str(robot)))
        task = load_task(file)
        found = next(proposals(task), None)
    return {"name": str(robot), "regions": [] if found is None else found.lines(task)}


def drawer_unit(episode: int | str, *, robot: str, regions: list[str], seed: int) -> Row:
    """Try the drawer once, and ask the oracle."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"drawer_{robot}.yaml"
        file.write_text(drawer_text(robot) + "regions:\n" + "".join(f"  {line}\n" for line in regions))
        scene, record = simulate(load_task(file), seed, int(episode), Stopwatch())
    verdict = oracle_of(scene, record.states[-1], record.states[0]).judge(DEEDS)
    failure = record.failure
    why = "" if failure is None else f"{failure.skill}: {failure.reason}: {failure.detail[:200]}"
    return {"name": robot, "success": record.success, "oracle": verdict.done, "why": why, "oracle_why": verdict.why}


def _any_drawer(numbered: int | str, *, plan: list[tuple[str, list[str]]], seed: int, attempts: int) -> Row:
    """Try one drawer of a list of robots: the number says which, and which attempt."""
    robot, regions = plan[int(numbered) // attempts]
    return drawer_unit(int(numbered) % attempts, robot=robot, regions=regions, seed=seed)


def small_file(number: int, seed: int) -> str:
    """Return a random small task, within reach or not."""
    rng = random.Random(f"check {seed}/{number}")
    robot = rng.choice(ROBOTS)
    x, y = rng.uniform(-0.4, 0.4), rng.uniform(-0.3, 0.35)
    if robot == "so101":
        x, y = 0.5 * x, 0.6 * y
    yaw = rng.choice((0, 0, 0, 25, -25))
    far = "{{object: {0}, target: table, random_config: {{pos_range: [[{1:.2f}, {2:.2f}], [{3:.2f}, {4:.2f}]]{5}}}}}"
    turn = f", yaw_rotation: [{yaw - 6}, {yaw + 6}]"
    fixed = far.format("fixed", x, y, x + 0.06, y + 0.04, turn)
    kind = rng.choice(("hinged", "hinged", "turned", "in", "in", "drawer"))
    if kind in ("hinged", "turned", "drawer"):
        category = rng.choice(HINGED if kind == "hinged" else TURNED) if kind != "drawer" else "drawer_cabinet"
        verb = "turn" if kind == "turned" else "open"
        objects = [f"{{name: fixed, target_class: ArticulatedObject, category: {category}, fix_base: true}}"]
        regions, skills = [fixed], [f"{{{verb}: fixed}}"]
    else:
        objects = [f"{{name: fixed, target_class: RigidObject, category: {rng.choice(HOLDING)}}}"]
        regions, skills = [fixed], []
    if kind in ("in", "drawer"):
        a, b = rng.uniform(-0.35, 0.35), rng.uniform(-0.35, 0.25)
        a, b = (0.5 * a, 0.6 * b) if robot == "so101" else (a, b)
        objects.append(f"{{name: thing, target_class: RigidObject, category: {rng.choice(TAKEN)}}}")
        regions.append(far.format("thing", a, b, a + 0.05, b + 0.05, ""))
        word = "on" if "plate" in objects[0] or "tray" in objects[0] else "in"
        skills += ["{pick: thing}", f"{{place: thing, {word}: fixed}}"]
    lines = [f"base: setups/{robot}.yaml", "cameras: []", "objects:", *(f"  - {line}" for line in objects)]
    return "\n".join([*lines, "regions:", *(f"  - {line}" for line in regions), f"skills: [{', '.join(skills)}]\n"])


def check_unit(number: int | str, *, seed: int, attempts: int) -> Row:
    """Ask ``check`` about a small file, then try it on a seed that ``check`` has not seen."""
    from handloom.cli.main import main as handloom

    text = small_file(int(number), seed)
    said, begin = io.StringIO(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"small_{seed}_{number}.yaml"
        file.write_text(text)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            passed = handloom(["check", str(file)]) == 0
        spent, good, reasons = time.process_time() - begin, 0, list[str]()
        for episode in range(attempts):
            try:
                _, record = simulate(load_task(file), seed + 1, episode, Stopwatch())
            except SamplingError as error:
                reasons.append(error.failure.reason)
                continue
            good += record.success
            reasons += [record.failure.reason] if record.failure is not None else []
    row = {"name": f"small_{number}", "passed": passed, "good": good, "of": attempts, "reasons": reasons, "text": text}
    return {**row, "said": said.getvalue()[-1500:], "check_s": round(spent, 1)}


def drawers(given: argparse.Namespace, until: float) -> Row:
    """Propose for every robot, then try all attempts of all robots."""
    robots: list[int | str] = list(given.only or ROBOTS)
    proposed = list(rows_of(propose_unit, robots, min(given.processes, len(robots)), until))
    plan = [(row["name"], row["regions"]) for row in proposed if row.get("regions")]
    unit = partial(_any_drawer, plan=plan, seed=given.seed, attempts=given.attempts)
    rows = list(rows_of(unit, list(range(len(plan) * given.attempts)), given.processes, until))
    figures: Row = {"proposed": {row["name"]: row.get("regions") or row.get("fault") for row in proposed}, "robots": {}}
    for robot, _ in plan:
        own = [row for row in rows if row["name"] == robot and "success" in row]
        figures["robots"][robot] = {
            "attempts": len(own),
            "success": sum(row["success"] for row in own),
            "honest": sum(row["success"] and row["oracle"] is True for row in own),
            "false_success": sum(row["success"] and row["oracle"] is False for row in own),
            "failures": [row["why"] for row in own if not row["success"]],
        }
    return figures | {"faults": [row for row in (*proposed, *rows) if "fault" in row]}


def checks(given: argparse.Namespace, until: float) -> Row:
    """Compare the word of ``check`` with what happens."""
    unit = partial(check_unit, seed=given.seed, attempts=given.attempts)
    numbers: list[int | str] = [int(n) for n in given.only] if given.only else list(range(given.count))
    rows = list(rows_of(unit, numbers, given.processes, until))
    known = [row for row in rows if "passed" in row]
    works = [row for row in known if row["good"] >= 0.5 * row["of"]]
    passed = [row for row in known if row["passed"]]
    both = [row for row in works if row["passed"]]
    figures: Row = {"files": len(known), "passed": len(passed), "works": len(works), "both": len(both)}
    figures["precision"] = len(both) / len(passed) if passed else None
    figures["recall"] = len(both) / len(works) if works else None
    figures["wrong"] = [row for row in known if row["passed"] != (row in works)]
    figures["check_s"] = sorted(row["check_s"] for row in known)
    return figures | {"faults": [row for row in rows if "fault" in row], "rows": known}


def main(words: list[str] | None = None) -> int:
    """Run, write the file and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("drawers", "check"))
    parser.add_argument("--count", type=int, default=24, help="small files")
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--limit", type=float, default=500.0, help="seconds until what is left is not run")
    parser.add_argument("--only", nargs="*", default=None, help="robots, or numbers of files")
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args(words)
    begin = time.monotonic()
    figures = (drawers if given.kind == "drawers" else checks)(given, begin + given.limit)
    figures |= {"seed": given.seed, "seconds": round(time.monotonic() - begin, 1)}
    if given.out is not None:
        given.out.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps({k: v for k, v in figures.items() if k != "rows"}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
