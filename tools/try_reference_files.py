"""Try task files of the published shape, and say which families give a demonstration and why others do not.

``tools/try_reference_files.py FOLDER COUNT SEED spread --processes 16`` draws files into FOLDER (``spread``: every
family and robot equally often; ``share``: in the published numbers; ``all``: each once, then in those numbers), tries
each without pictures until an attempt succeeds, and prints a table. ``FOLDER/results.jsonl`` gets a line of JSON per
file; files that have one are not tried again. The files come from the generators of the tests.
"""

import argparse
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "tasks"))

from reference_files import STAND_INS, write_checkout
from reference_rigs import CONFIGS

from handloom.engine.attempt import Stopwatch, simulate
from handloom.errors import HandloomError
from handloom.tasks import SamplingError, load_task


def main() -> None:
    """Draw files, try them in several processes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("draw", nargs="?", choices=("all", "spread", "share"), default="all")
    parser.add_argument("--attempts", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="only files whose path holds this word")
    args = parser.parse_args()
    root = args.folder
    files = write_checkout(root, args.count, args.seed, spread=args.draw == "spread", share=args.draw == "share")
    log = root / "results.jsonl"
    results = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {r["file"] for r in results}
    tasks = root / CONFIGS / "tasks"
    left = [f for f in files if args.only in str(f) and str(f.relative_to(tasks)) not in done]
    with ProcessPoolExecutor(args.processes) as pool, log.open("a") as out:
        jobs = [pool.submit(attempted, file, tasks, args.attempts, args.seed) for file in left]
        for job in as_completed(jobs):
            r = job.result()
            results.append(r)
            out.write(json.dumps(r) + "\n")
            out.flush()
            sys.stdout.write(
                f"{'ok  ' if r['ok'] else 'FAIL'} {r['file']} {r['cpu']} s {'; '.join(r['reasons'][-1:])}\n"
            )
            sys.stdout.flush()
    sys.stdout.write(table([r for r in results if args.only in r["file"]]) + "\n")


def attempted(file: Path, tasks: Path, attempts: int, seed: int) -> dict[str, Any]:
    """Try a file until an attempt succeeds, and return what came of it.

    A fault in the code is no reason: it ends the run with its traceback.
    """
    begin = time.process_time()
    reasons: list[str] = []
    success = False
    rig = ""
    try:
        task = load_task(file, overrides=STAND_INS)
        rig = task.config.robots[0].name
        while not success and len(reasons) < attempts:
            try:
                _, record = simulate(task, seed, len(reasons), Stopwatch())
                success, failure = record.success, record.failure
            except SamplingError as error:
                failure = error.failure
            if failure is not None:
                reasons.append(f"{failure.reason}: {failure.skill} {failure.detail}")
    except HandloomError as error:
        reasons.append(f"{type(error).__name__}: {error}")
    return {
        "file": str(file.relative_to(tasks)),
        "family": file.stem.rpartition("_")[0],
        "rig": rig,
        "ok": success,
        "reasons": reasons,
        "cpu": round(time.process_time() - begin, 1),
    }


def table(results: list[dict[str, Any]]) -> str:
    """Return a row per family and robot: files, demonstrations, words of the failures."""
    lines = [f"{'family':24}{'robot':14}{'files':>6}{'ok':>4}  reasons of files without a demonstration"]
    for family, rig in sorted({(r["family"], r["rig"]) for r in results}):
        rows = [r for r in results if (r["family"], r["rig"]) == (family, rig)]
        words = Counter(reason.partition(":")[0] for r in rows if not r["ok"] for reason in r["reasons"])
        why = ", ".join(f"{word} {count}" for word, count in words.most_common())
        lines.append(f"{family:24}{rig:14}{len(rows):6}{sum(r['ok'] for r in rows):4}  {why}")
    lines.append(f"{sum(r['ok'] for r in results)} of {len(results)} files give a demonstration")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
