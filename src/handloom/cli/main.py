"""Finds the verb, imports only its module, and turns errors into one message and an exit code."""

import contextvars
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from handloom.cli.plain import plain
from handloom.cli.streams import discard_output, mend_streams
from handloom.errors import HandloomError, suggest
from handloom.version import VERSION

DONE, FAILED, BAD_INPUT = 0, 1, 2
"""Exit codes: the job is done; the job failed; the input is wrong."""


@dataclass(frozen=True)
class Verb:
    """A row of the verb table."""

    module: str
    """Module with a function ``run`` or a table ``SUBVERBS`` (name > function), whose parameters are the flags."""
    summary: str
    """One line for ``handloom --help``."""


VERBS = {
    "demo": Verb("handloom.cli.demo", "a few verified demonstrations, from nothing to a dataset"),
    "list": Verb("handloom.cli.list", "robots, objects, tasks and skills that exist"),
    "doctor": Verb("handloom.cli.doctor", "what this machine can do, and what to do about each gap"),
    "warmup": Verb("handloom.cli.warmup", "compile the kernels before they are needed"),
    "check": Verb("handloom.cli.check", "validate task files"),
    "sample": Verb("handloom.cli.sample", "print one sampled scene"),
    "preview": Verb("handloom.cli.preview", "draw sampled scenes"),
    "generate": Verb("handloom.cli.generate", "make demonstrations and write a dataset; resumes"),
    "verify": Verb("handloom.cli.verify", "replay every episode and compare the bits"),
    "render": Verb("handloom.cli.render", "draw recorded episodes again: sizes, lights, presets"),
    "merge": Verb("handloom.cli.merge", "join the shards of a run, or several datasets"),
    "export": Verb("handloom.cli.export", "a dataset in another format"),
    "report": Verb("handloom.cli.report", "funnel, failure reasons and rates of a run"),
    "evaluate": Verb("handloom.cli.evaluate", "success of a policy on unseen scenes, with videos of its failures"),
    "object": Verb("handloom.cli.object", "show: draw variants of an object; import: read one from a file"),
    "grasp": Verb("handloom.cli.grasp", "find grasps of an object for a gripper, draw them, test them in physics"),
    "robot": Verb("handloom.cli.robot", "show: draw a robot; check: look it over; add: bring your own"),
    "drive": Verb("handloom.cli.drive", "drive a course in physics, measure it, draw it"),
    "bench": Verb("handloom.cli.bench", "measure, beside peers where they are installed"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: Words after ``handloom``; None takes them from the process.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    mend_streams()
    return _guarded(words[0] if words else "help", words[1:])


def _guarded(name: str, words: list[str]) -> int:
    """Run a verb; what a user did or may do ends with one message, not with a traceback."""
    try:
        try:
            # In a context of its own: what one command allows, the next in this process does not.
            return contextvars.copy_context().run(_run_verb, name, words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()  # The reader of a pipe went away, as `handloom list | head` does.
        return DONE
    except (HandloomError, OSError, MemoryError, ModuleNotFoundError, KeyboardInterrupt) as error:
        code, message = _explained(error)
        print(plain(f"handloom {name}: {message}"), file=sys.stderr)
        return code


def _explained(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of what ended a verb; raises what is a fault of our own."""
    match error:
        case HandloomError():
            # An error of the disk carries its number for programs; people read the sentence.
            return BAD_INPUT, getattr(error, "strerror", None) or str(error)
        case OSError():
            discard_output()
            place = f"{error.filename}: " if error.filename else ""
            return FAILED, f"{place}{error.strerror or error}"
        case MemoryError():
            return FAILED, "this takes more memory than there is"
        case ModuleNotFoundError(name=str(package)) if package.split(".")[0] != "handloom":
            return BAD_INPUT, f"the package {package!r} is not installed; handloom doctor says more"
        case KeyboardInterrupt():
            return FAILED, "stopped"
        case _:
            raise error


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
    import tyro  # costs 0.1 s; not needed for the overview

    module = importlib.import_module(VERBS[name].module)
    program = f"handloom {name}"
    options = {"prog": program, "args": words, "config": (tyro.conf.FlagCreatePairsOff,)}
    if hasattr(module, "SUBVERBS"):
        result = tyro.extras.subcommand_cli_from_dict(module.SUBVERBS, **options)
    else:
        result = tyro.cli(module.run, **options)
    return DONE if result is None else int(result)


def _overview() -> str:
    rows = "\n".join(f"  {name:<10}{verb.summary}" for name, verb in VERBS.items())
    return (
        "Handloom weaves robot demonstrations: one YAML task becomes a verified LeRobot dataset.\n\n"
        f"usage: handloom VERB ...\n\n{rows}\n\n"
        "handloom VERB --help describes its flags. Exit codes: 0 done, 1 the job failed, 2 bad input."
    )
