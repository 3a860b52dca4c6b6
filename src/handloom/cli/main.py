"""Find the verb, import only its module, and turn errors into a message and an exit code."""

import contextvars
import importlib
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from handloom.cli.terminal import discard_output, mend_streams, plain
from handloom.errors import HandloomError, MachineError, suggest
from handloom.graphics import drop_unusable_mujoco_gl
from handloom.version import VERSION

DONE, FAILED, BAD_INPUT = 0, 1, 2
"""Exit codes: the job is done; the job failed; the input is wrong."""
ENOUGH = 4 * 10**9
"""Address space that every verb needs to start [bytes]; most of it is for libraries and is never touched."""


@dataclass(frozen=True)
class Verb:
    """A row of the verb table."""

    code: str
    """``module:function``, whose parameters are the flags; or a module with a table ``SUBVERBS`` (name > function)."""
    summary: str
    """One line for ``handloom --help``."""


VERBS = {
    "demo": Verb("handloom.cli.runs.generate:demo", "make a few verified demonstrations as a first dataset"),
    "list": Verb("handloom.cli.verbs.list:run", "robots, objects, tasks and skills that exist"),
    "doctor": Verb("handloom.cli.verbs.doctor:run", "what this machine can do, and how to fix each gap"),
    "warmup": Verb("handloom.cli.verbs.doctor:warmup", "compile the kernels before they are needed"),
    "check": Verb("handloom.cli.verbs.task:check", "validate task files"),
    "show": Verb("handloom.cli.verbs.task:show", "print a task in full"),
    "sample": Verb("handloom.cli.verbs.task:sample", "print one sampled scene"),
    "preview": Verb("handloom.cli.verbs.task:preview", "draw sampled scenes"),
    "generate": Verb("handloom.cli.runs.generate:run", "make demonstrations and write a dataset; can be resumed"),
    "coverage": Verb(
        "handloom.cli.verbs.coverage:run", "the task files of a folder that run here, by family and robot"
    ),
    "verify": Verb("handloom.cli.datasets.dataset:verify", "replay every episode and compare the bits"),
    "render": Verb(
        "handloom.cli.datasets.dataset:render", "render recorded episodes again: other sizes, lights, presets"
    ),
    "label": Verb(
        "handloom.cli.datasets.label:run", "write boxes, masks, traces, texts and other labels of recorded episodes"
    ),
    "merge": Verb("handloom.cli.datasets.dataset:merge", "join the shards of a run, or several datasets"),
    "export": Verb("handloom.cli.datasets.export:run", "a dataset in another format"),
    "publish": Verb(
        "handloom.cli.datasets.publish:publish", "write card and certificate of a dataset; upload it to the Hub"
    ),
    "remake": Verb(
        "handloom.cli.datasets.publish:remake", "reproduce a dataset from its certificate and compare the bytes"
    ),
    "audit": Verb(
        "handloom.cli.datasets.audit:run", "quality figures of a dataset: idle, jerk, jumps, duplicates, blur"
    ),
    "report": Verb("handloom.cli.datasets.report:run", "funnel, failure reasons and rates of a run"),
    "view": Verb("handloom.cli.datasets.view:run", "look at datasets, episodes, tasks and runs in a browser"),
    "teleop": Verb("handloom.cli.verbs.teleop:run", "drive a robot from a browser and record it as a dataset"),
    "retell": Verb("handloom.cli.runs.retell:run", "repeat the demonstrations of a dataset with another robot"),
    "augment": Verb("handloom.cli.runs.augment:run", "turn a few demonstrations into many in new scenes"),
    "evaluate": Verb(
        "handloom.cli.runs.evaluate:run", "success of a policy on unseen scenes, with videos of its failures"
    ),
    "improve": Verb("handloom.cli.runs.improve:run", "demonstrations by the expert from states where a policy fails"),
    "object": Verb("handloom.cli.verbs.object", "show: draw variants of an object; import: read one from a file"),
    "grasp": Verb(
        "handloom.cli.verbs.grasp:run", "find grasps of an object for a gripper, draw them, test them in simulation"
    ),
    "robot": Verb("handloom.cli.verbs.robot", "show: draw a robot; check: validate it; add: bring your own"),
    "drive": Verb("handloom.cli.verbs.drive:run", "drive a course in simulation, measure and plot the track"),
    "bench": Verb("handloom.cli.verbs.bench:run", "benchmark, compared with other libraries if installed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: Arguments after ``handloom``; None takes those of the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    mend_streams()
    drop_unusable_mujoco_gl()  # Before anything imports MuJoCo; child processes inherit it.
    return _guarded(words[0] if words else "help", words[1:])


def _guarded(name: str, words: list[str]) -> int:
    """Run a verb; a user's mistake gives one message, not a traceback."""
    try:
        try:
            # In its own context: permissions given to one command do not carry over to the next in this process.
            return contextvars.copy_context().run(_run_verb, name, words)
        finally:
            sys.stdout.flush()
    except SystemExit as ended:  # Help was shown, or the flags were wrong; tyro has already printed that.
        return int(ended.code or DONE)
    except BrokenPipeError:
        discard_output()  # The reader of the pipe has closed it, as in `handloom list | head`.
        return DONE
    except (HandloomError, OSError, MemoryError, ImportError, KeyboardInterrupt) as error:
        code, message = _explained(error)
        print(plain(f"handloom {name}: {message}"), file=sys.stderr)
        return code


OF_THE_MACHINE = ("memory", "devices", "time", "killed")
"""Machine faults that no change of the input can fix."""


def _explained(error: BaseException) -> tuple[int, str]:
    """Return the exit code and message for an error in a verb; re-raise our own bugs."""
    match error:
        case HandloomError():
            of_the_machine = isinstance(error, MachineError) and error.kind in OF_THE_MACHINE
            # The number of a disk error is for programs; people read its text.
            return FAILED if of_the_machine else BAD_INPUT, getattr(error, "strerror", None) or str(error)
        case OSError():
            discard_output()
            place = f"{error.filename}: " if error.filename else ""
            return FAILED, f"{place}{error.strerror or error}{_memory_note()}"
        case MemoryError():
            return FAILED, f"not enough memory{_memory_note()}"
        case ModuleNotFoundError(name=str(package)) if package.split(".")[0] != "handloom":
            return BAD_INPUT, f"the package {package!r} is not installed; see handloom doctor"
        case ImportError(name=str(package)) if package.split(".")[0] != "handloom":
            # A library that is damaged or does not fit into memory; our own errors are HandloomErrors.
            return FAILED, f"a library of {error.path or package} cannot be loaded: {error}{_memory_note()}"
        case KeyboardInterrupt():
            return FAILED, "stopped"
        case _:
            raise error


def _memory_note() -> str:
    """Return a note if the memory limit of the process is below what most verbs need."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= ENOUGH:
        return ""
    return (
        f"; the memory of this process is limited to {limit // 10**6} MB (ulimit -v); {ENOUGH // 10**6} MB are enough"
    )


def _run_verb(name: str, words: list[str]) -> int:
    if name in {"-h", "--help", "help"}:
        print(_overview())
        return DONE
    if name == "--version":
        print(f"handloom {VERSION}")
        return DONE
    if name not in VERBS:
        print(f"handloom: no verb {name!r}; {suggest(name, VERBS)}", file=sys.stderr)
        return BAD_INPUT
    import tyro  # takes 0.1 s; not needed for the overview

    place, _, function = VERBS[name].code.partition(":")
    module = importlib.import_module(place)
    program = f"handloom {name}"
    options = {"prog": program, "args": words, "config": (tyro.conf.FlagCreatePairsOff,)}
    if function:
        result = tyro.cli(getattr(module, function), **options)
    else:
        result = tyro.extras.subcommand_cli_from_dict(module.SUBVERBS, **options)
    return DONE if result is None else int(result)


def _overview() -> str:
    rows = "\n".join(f"  {name:<10}{verb.summary}" for name, verb in VERBS.items())
    return (
        "Handloom weaves robot demonstrations: one YAML task becomes a verified LeRobot dataset.\n\n"
        f"usage: handloom VERB ...\n\n{rows}\n\n"
        "handloom VERB --help describes its flags. Exit codes: 0 done, 1 the job failed, 2 bad input."
    )
