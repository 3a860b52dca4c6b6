"""The versions and platform that made an episode, and the hashes that a replay must reproduce."""

import hashlib
import importlib.metadata
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

PACKAGES = ("handloom", "mujoco", "numpy", "numba", "llvmlite", "mink", "ruckig", "pyarrow", "av")
"""Packages whose version can change an episode or its files."""

CERTIFICATE_VERSION = 1

# The levels of the x86-64 psABI, highest first, each identified by one of its features.
_X86_LEVELS = (("avx512vl", "x86-64-v4"), ("avx2", "x86-64-v3"), ("sse4.2", "x86-64-v2"))


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The platform on which an episode replays bit for bit, and the expected hashes."""

    versions: Mapping[str, str]
    """Package or ``python`` > version."""
    platform: Mapping[str, str]
    """``system``, ``machine``, ``cpu`` (name the kernels are compiled for), ``cpu_level``, ``libc``."""
    hashes: Mapping[str, str]
    """Part, e.g. ``instance`` or ``states/integration`` > SHA-256."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "certificate_version": CERTIFICATE_VERSION,
            "versions": dict(self.versions),
            "platform": dict(self.platform),
            "hashes": dict(self.hashes),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Certificate":
        """Read what ``to_json`` wrote."""
        return cls(versions=value["versions"], platform=value["platform"], hashes=value["hashes"])

    def differences_from_here(self) -> tuple[str, ...]:
        """Describe the differences of this machine; empty if a replay must agree bit for bit."""
        here_versions, here_platform = package_versions(), platform_facts()
        told = [
            f"{name} {self.versions.get(name, 'unknown')} there, {here_versions.get(name, 'not installed')} here"
            for name in sorted({*self.versions, *here_versions})
            if self.versions.get(name) != here_versions.get(name)
        ]
        # The CPU name is informative only: two models of the same feature level compute the same bits.
        told += [
            f"{name} {self.platform.get(name, 'unknown')} there, {here_platform.get(name, 'unknown')} here"
            for name in ("system", "machine", "cpu_level", "libc")
            if self.platform.get(name) != here_platform.get(name)
        ]
        return tuple(told)


def certify(hashes: Mapping[str, str]) -> Certificate:
    """Return the certificate of an episode made on this machine, whose parts have these hashes."""
    return Certificate(versions=package_versions(), platform=platform_facts(), hashes=hashes)


def array_hash(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array: its type, shape and little-endian bytes in C order."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    digest = hashlib.sha256(f"{plain.dtype.str}{array.shape}".encode())
    digest.update(plain.data)
    return digest.hexdigest()


@cache
def package_versions() -> Mapping[str, str]:
    """Return the versions of Python and of the installed packages that matter."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


@cache
def platform_facts() -> Mapping[str, str]:
    """Return the properties of this machine that can change a bit: system, processor features, C library."""
    # The binding reports Numba's target CPU on every system, without reading system files.
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    machine = platform.machine()
    level = machine
    if machine.lower() in ("x86_64", "amd64"):
        level = next((name for feature, name in _X86_LEVELS if features.get(feature)), "x86-64")
    libc = " ".join(platform.libc_ver()).strip() or platform.release()
    return {
        "system": sys.platform,
        "machine": machine,
        "cpu": binding.get_host_cpu_name(),
        "cpu_level": level,
        "libc": libc,
    }
