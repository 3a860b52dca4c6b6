"""``handloom doctor``: what this machine can do, and what to do about each gap."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
from dataclasses import asdict, dataclass
from json import dumps
from pathlib import Path

GIB = 2**30


@dataclass(frozen=True)
class Finding:
    """One line of the diagnosis."""

    topic: str
    state: str
    """``ok``, ``note`` (works, could be better) or ``gap`` (something is missing)."""
    text: str


def run(*, json: bool = False) -> int:
    """Look at processor, memory, disk, packages, codecs, renderers and the kernel cache.

    Args:
        json: Print one JSON object instead of text.
    """
    findings = [*_machine(), *_packages(), *_codecs(), *_renderers(), *_kernels()]
    if json:
        print(dumps({"findings": [asdict(finding) for finding in findings]}))
    else:
        for finding in findings:
            print(f"{finding.state:<5}{finding.topic:<12}{finding.text}")
    return 1 if any(finding.state == "gap" for finding in findings) else 0


def _machine() -> list[Finding]:
    from handloom.bench.result import simd_level

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    simd = simd_level()
    free = shutil.disk_usage(Path.cwd()).free / GIB
    disk = "ok" if free > 5 else "note"
    advice = "" if free > 5 else "; 1,000 episodes with two cameras need about 2 GiB"
    speed = "" if simd == "avx512" else "; AVX-512 would render about 1.6x faster"
    return [
        Finding("python", "ok", f"{platform.python_version()} on {platform.platform()}"),
        Finding("cpu", "ok", f"{cores} cores, vector instructions: {simd}{speed}"),
        Finding("disk", disk, f"{free:.0f} GiB free in this folder{advice}"),
    ]


def _packages() -> list[Finding]:
    needed = ("mujoco", "numba", "numpy", "mink", "ruckig", "pyarrow", "av", "pydantic")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in needed)
    findings = [Finding("packages", "ok", versions)]
    extras = {
        "ray": "ray",
        "usd": "pxr",
        "meshes": "trimesh",
        "gpu": "warp",
        "policy": "onnxruntime",
        "gym": "gymnasium",
    }
    missing = [extra for extra, module in extras.items() if importlib.util.find_spec(module) is None]
    present = [extra for extra in extras if extra not in missing]
    text = (
        f"installed: {', '.join(present) or 'none'}; pip install 'handloom[NAME]' adds: {', '.join(missing) or 'none'}"
    )
    return [*findings, Finding("extras", "ok", text)]


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
    from handloom.engine.warmup import is_warm
    from handloom.kernels import warm_marker

    if is_warm():
        return [Finding("kernels", "ok", f"compiled, in {warm_marker().parent}")]
    return [
        Finding(
            "kernels", "note", "not compiled yet; the first run takes about a minute longer, or run: handloom warmup"
        )
    ]
