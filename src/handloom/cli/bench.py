"""``handloom bench NAME``: run a benchmark and print its rows."""

import importlib
from dataclasses import asdict
from json import dumps

from handloom.bench.table import BENCHES
from handloom.errors import unknown_name


def run(name: str = "", /, *, json: bool = False) -> None:
    """Measure one part, beside peers where they are installed; without a name, list the benchmarks.

    Args:
        name: Which benchmark.
        json: Print one JSON object instead of a table.
    """
    if not name:
        for bench, (_, summary) in BENCHES.items():
            print(f"{bench:<12}{summary}")
        return
    if name not in BENCHES:
        raise unknown_name("benchmark", name, BENCHES)
    result = importlib.import_module(BENCHES[name][0]).run()
    if json:
        print(dumps(asdict(result)))
    else:
        print(result.table())
