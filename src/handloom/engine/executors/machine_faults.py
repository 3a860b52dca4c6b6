"""Distinguishes machine faults, after which the same attempt may well succeed, from errors of the attempt itself."""

import errno
import re
import resource
import signal

from handloom.errors import HandloomError, MachineError, MissingExtraError, NotAllowedError

_BY_NUMBER = {
    **dict.fromkeys([errno.ENOMEM], "memory"),
    **dict.fromkeys([errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.ESTALE], "files"),
    **dict.fromkeys([errno.EMFILE, errno.ENFILE, errno.ENOLCK], "files"),
    **dict.fromkeys([errno.ENODEV, errno.ENXIO, errno.EAGAIN], "devices"),
    errno.ETIMEDOUT: "time",
}
"""Operating system errors that could have hit any other attempt at that moment > kind of fault."""

_BY_WORDS = {
    "memory": re.compile(
        r"could not allocate|can(?:'t|not) allocate memory|memory allocation failed|failed to allocate memory|bad_alloc"
        r"|(?:cuda|gpu|hip) out of memory|not enough memory|can't start new thread",
        re.IGNORECASE,
    ),
    "devices": re.compile(r"CUDA error|no CUDA-capable device|CUDA driver", re.IGNORECASE),
}
"""Messages of native libraries for the same faults: MuJoCo's ``FatalError``, PyTorch, ONNX Runtime. A model
whose arena or stack is too small ("insufficient arena memory") is not included: it fails on every machine."""

OF_THE_SETTINGS = (NotAllowedError, MissingExtraError)
"""Every attempt of the run hits these until the user changes something, so they end the run at once."""

OWN_SIGNALS = frozenset(
    {signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS, signal.SIGQUIT}
)
"""Signals that a crash raises in its own process; others come from outside: the OOM killer, a scheduler, a person."""


def machine_fault(error: BaseException) -> str:
    """Return the kind of machine fault behind an error or its cause; empty if it is not one."""
    seen: BaseException | None = error
    while seen is not None:
        kind = _kind(seen)
        if kind:
            return kind
        seen = seen.__cause__
    return ""


def _kind(error: BaseException) -> str:
    if isinstance(error, MachineError):
        return error.kind
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError):
        return _BY_NUMBER.get(error.errno or 0, "")
    if isinstance(error, HandloomError):
        return ""  # Handloom's own error messages are about the input.
    return next((kind for kind, words in _BY_WORDS.items() if words.search(str(error))), "")


def crash_fault(exitcode: int | None) -> str:
    """Return the kind of machine fault that ended a worker; empty if its own code did.

    Under ``ulimit -v`` or ``-d``, native code that runs out of memory may crash in arbitrary ways, so nothing can be
    concluded.
    """
    if exitcode is not None and exitcode < 0 and -exitcode not in OWN_SIGNALS:
        return "killed"
    limits = (resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    return "memory" if any(limit != resource.RLIM_INFINITY for limit in limits) else ""
