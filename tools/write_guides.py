"""Write what the commands and snippets of the guides print; a test holds that the guides show just that.

``python tools/write_guides.py [GUIDE ...]`` runs all guides, or these. In a ``console`` block, lines that start with
``$`` are run, and what they print follows them; a ``python`` block that prints is followed by a ``text``
block. Everything of a guide runs in one scratch folder, top to bottom; its task files are there under their names.
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
    """Return the complete task files that a guide shows, by their names."""
    blocks = (content for kind, content in BLOCK.findall(guide.read_text(encoding="utf-8")) if kind == "yaml")
    found = ((TASK.match(content), content) for content in blocks)
    return {match["file"] or match["task"]: content for match, content in found if match}


def written(guide: Path) -> str:
    """Return the text of a guide with what its commands and snippets print now; runs them in the working folder."""
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
            raise SystemExit(f"{guide}: a text block shows what the snippet before it prints; here is none that does")
        if printed:
            parts.append(f"\n```text\n{printed}```\n")
        printed = ""
        if kind == "text":
            continue
        parts.append(between)
        if kind == "python":
            # Blank lines in front make a traceback show the line of the guide.
            printed = _printed("\n" * text.count("\n", 0, block.start(2)) + content, guide, names)
        parts.append(f"```console\n{_session(content)}```\n" if kind == "console" else block[0])
    return "".join([*parts, f"\n```text\n{printed}```\n" if printed else "", text[end:]])


def _printed(code: str, guide: Path, names: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(guide), "exec"), names)
    return out.getvalue()


def _session(content: str) -> str:
    """Return the commands of a console block, each with what it prints."""
    return "".join(f"{line}\n{_run(line[2:])}" for line in content.splitlines() if line.startswith("$ "))


HANDLOOM = re.compile(r"handloom (?P<words>(?:'[^']*'|[^'|>])*?)\s*(?P<rest>(?:2>|[|>]).*)?")
"""A command line of ours, and what a shell does with its output."""


def _run(command: str) -> str:
    """Return what a command prints.

    Our own run in this process, which saves two seconds of imports each; a run inline, since its data are the same.
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
