"""Runs verbs in forks of a process that has imported and compiled everything, so that a kill costs no start.

Started as a script. It reads one JSON list of words per line, forks, writes the process id of the child, waits for a
line, lets the child run the verb, and writes its exit status.
"""

import json
import os
import sys

ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")


def answer(value: object) -> None:
    ANSWERS.write(json.dumps(value) + "\n")
    ANSWERS.flush()


def run(words: list[str]) -> int:
    from handloom.cli.main import main

    return main(words)


def serve() -> None:
    for line in sys.stdin:
        words = json.loads(line)
        gate, opened = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(opened)
            os.read(gate, 1)
            os._exit(run(words))
        os.close(gate)
        answer(child)
        sys.stdin.readline()
        os.close(opened)  # The child goes on.
        answer(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.chdir(sys.argv[1])
    # Everything is loaded here, once; what is forked has it.
    assert run(json.loads(sys.argv[2])) == 0
    answer("ready")
    serve()
