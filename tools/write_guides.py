"""Write the output of the commands and snippets into the guides; a test checks that it is up to date.

``python tools/write_guides.py [GUIDE ...]`` runs the given guides, or all. In a ``console`` block, lines that start
with ``$`` are run, and their output follows them; a ``python`` block that prints is followed by a ``text`` block.
Each guide runs from top to bottom in one scratch folder, which contains its task files under their names.
"""

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from handloom.cli.main import main

ROOT = Path(__file__).parents[1]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
TASK = re.compile(r"(?:# (?P<file>\w+)\.yaml\n(?:base|tasks):|tasks:\n  - name: (?P<task>\w+)\n)")
"""A complete task file: named in a comment, or by its only task."""


def task_files(guide: Path) -> dict[str, str]:
    """Return the complete task files shown in a guide, by name."""
    blocks = (content for kind, content in BLOCK.findall(guide.read_text(encoding="utf-8")) if kind == "yaml")
    found = ((TASK.match(content), content) for content in blocks)
    return {match["file"] or match["task"]: content for match, content in found if match}


def written(guide: Path) -> str:
    """Return the text of a guide with the current output of its commands and snippets, run in the working folder."""
    text = guide.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "guide"}
    for name, content in task_files(guide).items():
        Path(f"{name}.yaml").write_text(content, encoding="utf-8")
    parts, end, printed = [], 0, ""
    for block in BLOCK.finditer(text):
        between = text[end : block.start()]
        kind, content = block.groups()
        after_snippet, end = bool(printed) and between == "\n", block.end()
        if kind == "text" and not after_snippet:
            raise SystemExit(f"{guide}: a text block must follow a snippet that prints")
        if printed:
            parts.append(f"\n```text\n{printed}```\n")
        printed = ""
        if kind == "text":
            continue
        parts.append(between)
        if kind == "python":
            # Leading blank lines make a traceback show the line number of the guide.
            printed = _printed("\n" * text.count("\n", 0, block.start(2)) + content, guide, names)
        parts.append(f"```console\n{_session(content)}```\n" if kind == "console" else block[0])
    return "".join([*parts, f"\n```text\n{printed}```\n" if printed else "", text[end:]])


def _printed(code: str, guide: Path, names: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(guide), "exec"), names)
    return out.getvalue()


def _session(content: str) -> str:
    """Return the commands of a console block, each with its output."""
    return "".join(f"{line}\n{_run(line[2:])}" for line in content.splitlines() if line.startswith("$ "))


HANDLOOM = re.compile(r"handloom (?P<words>(?:'[^']*'|[^'|>])*?)\s*(?P<rest>(?:2>|[|>]).*)?")
"""One of our command lines, and what the shell does with its output."""


def _run(command: str) -> str:
    """Return the output of a command.

    Our own commands run in this process, which saves two seconds of imports each; runs use the inline executor, which
    gives the same data.
    """
    printed = None
    if ours := HANDLOOM.fullmatch(command):
        words = shlex.split(ours["words"])
        inline = ["--executor", "inline"] if words[0] == "generate" and "--executor" not in words else []
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as told:
            main([*words, *inline])
        if "Traceback" in told.getvalue():
            raise SystemExit(f"{command}\n{told.getvalue()}")
        if not ours["rest"]:
            return out.getvalue()
        command, printed = f"cat {ours['rest']}", out.getvalue()
    done = subprocess.run(["bash", "-c", command], input=printed, capture_output=True, encoding="utf-8", check=False)
    return done.stdout


if __name__ == "__main__":
    for file in [Path(name).resolve() for name in sys.argv[1:]] or GUIDES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            file.write_text(written(file), encoding="utf-8")
        sys.stdout.write(f"{file}\n")
