"""Result of a benchmark: rows of figures, each with its unit in the key."""

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def machine_facts() -> dict[str, Any]:
    """Return the facts needed to judge a figure: CPU model, SIMD level, cores, Python."""
    return {
        "cpu": _cpu_model(),
        "simd": simd_level(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
    }


def simd_level() -> str:
    """Return the widest vector instructions of this CPU: ``avx512``, ``avx2``, ``neon`` or ``other``."""
    flags = _cpuinfo("flags").split()
    if "avx512f" in flags:
        return "avx512"
    if "avx2" in flags:
        return "avx2"
    return "neon" if platform.machine() in {"arm64", "aarch64"} else "other"


def _cpu_model() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _cpuinfo(key: str) -> str:
    """Return the first value of ``key`` in /proc/cpuinfo; empty if there is no such file."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return ""
    for line in file.read_text(encoding="utf-8").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


@dataclass(frozen=True, kw_only=True)
class BenchResult:
    """Figures of one benchmark run on one machine."""

    bench: str
    """Name of the benchmark."""
    machine: dict[str, Any] = field(default_factory=machine_facts)
    """CPU, cores and versions."""
    rows: tuple[dict[str, Any], ...]
    """One mapping per contender: ``name`` and figures such as ``targets_per_s`` or ``median_ms``."""

    def table(self) -> str:
        """Return the rows as aligned text, one column per figure."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        cells = [columns, *([_text(row.get(column)) for column in columns] for row in self.rows)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        facts = ", ".join(f"{key} {value}" for key, value in self.machine.items())
        return "\n".join([f"bench {self.bench} ({facts})", *lines])


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)
