"""``handloom doctor`` and ``handloom warmup``: check this machine, and compile kernels ahead of time."""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path

GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    topic: str
    state: str
    """``ok``, ``note`` (works, but could be better) or ``gap`` (something is missing)."""
    text: str


def run(*, json: bool = False) -> int:
    """Check processor, memory, disk, packages, codecs, renderers and the kernel cache.

    Args:
        json: Print one JSON object instead of text.
    """
    findings = [finding for topic, look in LOOKS.items() for finding in _guarded(topic, look)]
    if json:
        print(dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        for finding in findings:
            print(f"{finding.state:<5}{finding.topic:<12}{finding.text}")
    return 1 if any(finding.state == "gap" for finding in findings) else 0


def _guarded(topic: str, look: Callable[[], list[Finding]]) -> list[Finding]:
    """Examine one topic; a missing or broken package is a finding."""
    try:
        return look()
    except importlib.metadata.PackageNotFoundError as error:
        return [Finding(topic, "gap", f"the package {error.name!r} is not installed; try: pip install {error.name}")]
    except ImportError as error:
        return [Finding(topic, "gap", f"cannot be examined: {error}; reinstall {error.name or 'the package'}")]


def _machine() -> list[Finding]:
    from handloom.bench.result import simd_level

    simd = simd_level()
    free = shutil.disk_usage(Path.cwd()).free / GIB
    disk = "ok" if free > 5 else "note"
    advice = "" if free > 5 else "; 1,000 episodes with two cameras need about 2 GiB"
    speed = "" if simd == "avx512" else "; AVX-512 would render about 1.6x faster"
    return [
        Finding("python", "ok", f"{platform.python_version()} on {platform.platform()}"),
        Finding("cpu", "ok", f"{cores()} cores, vector instructions: {simd}{speed}"),
        Finding("disk", disk, f"{free:.0f} GiB free in this folder{advice}"),
    ]


def _packages() -> list[Finding]:
    needed, extras = _requirements()
    missing = [name for name in needed if _version(name) is None]
    if missing:
        return [Finding("packages", "gap", f"not installed: {', '.join(missing)}; pip install {' '.join(missing)}")]
    versions = ", ".join(f"{name} {_version(name)}" for name in needed)
    present = [extra for extra, names in extras.items() if all(map(_version, names))]
    absent = [extra for extra in extras if extra not in present]
    text = (
        f"installed: {', '.join(present) or 'none'}; pip install 'handloom[NAME]' adds: {', '.join(absent) or 'none'}"
    )
    return [Finding("packages", "ok", versions), Finding("extras", "ok", text)]


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Return the packages that Handloom needs, and those of every extra, as listed in its own metadata."""
    needed: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("handloom") or ():
        requirement, _, marker = line.partition(";")
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        if extra is None:
            needed.append(name)
        elif extra[1] != "dev":
            extras.setdefault(extra[1], []).append(name)
    return needed, extras


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _codecs() -> list[Finding]:
    import av

    wanted = {"libx264": "H.264, the default", "libsvtav1": "AV1", "libx265": "lossless depth"}
    available = [f"{name} ({use})" for name, use in wanted.items() if name in av.codecs_available]
    if "libx264" not in av.codecs_available:
        return [
            Finding(
                "video", "gap", "this PyAV has no libx264; reinstall it from a wheel: pip install --force-reinstall av"
            )
        ]
    return [Finding("video", "ok", ", ".join(available))]


def _renderers() -> list[Finding]:
    from handloom.graphics import IGNORED
    from handloom.render import probe_backends

    findings = [
        Finding("render", "ok" if backend.works else "note", f"{backend.name}: {backend.reason}")
        for backend in probe_backends()
    ]
    if ignored := os.environ.get(IGNORED):
        findings.append(Finding("render", "note", f"MUJOCO_GL={ignored} cannot work here and is ignored"))
    return findings


def _kernels() -> list[Finding]:
    from handloom.kernels import is_warm, kernel_cache

    if is_warm():
        return [Finding("kernels", "ok", f"compiled, in {kernel_cache()}")]
    return [
        Finding(
            "kernels", "note", "not compiled yet; the first run takes about a minute longer, or run: handloom warmup"
        )
    ]


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


LOOKS = {
    "machine": _machine,
    "packages": _packages,
    "video": _codecs,
    "render": _renderers,
    "kernels": _kernels,
}
"""The checks, in the order shown."""


def warmup() -> None:
    """Compile all kernels and cache them; takes up to a minute, once per version."""
    from handloom.kernels import STEPS, kernel_cache

    compile_kernels(tuple(STEPS))
    print(f"kernels are compiled in {kernel_cache()}")


def tell_of_cold_kernels() -> None:
    """Note on standard error that kernels will be compiled on first use, unless they already have been."""
    from handloom.kernels import is_warm

    if not is_warm():
        print(
            "compiling kernels as they are needed, up to a minute, once; handloom warmup does this in advance",
            file=sys.stderr,
        )


def compile_kernels(steps: Sequence[str] | None = None) -> None:
    """Compile missing kernels, with a progress bar; used before workers start.

    Args:
        steps: Rows of the warm-up table; None means the rows that a run needs.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from handloom.engine.warmup import warm_up
    from handloom.kernels import GENERATE, is_warm

    steps = GENERATE if steps is None else steps
    if is_warm(steps):
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print("compiling kernels, about a minute, once per version")
    columns = (TextColumn("compiling kernels, once: {task.description}"), BarColumn(bar_width=30), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("about a minute", total=None)
        warm_up(
            steps,
            on_step=lambda what, done, total: progress.update(bar, description=what, completed=done, total=total),
        )
