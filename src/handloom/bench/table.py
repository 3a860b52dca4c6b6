"""Every benchmark: name > (module with ``run() -> BenchResult``, one line about it)."""

BENCHES: dict[str, tuple[str, str]] = {}
