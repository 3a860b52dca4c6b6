"""The page about trust names every verb, and the words that each of them takes."""

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from handloom.cli.main import VERBS

PAGE = Path(__file__).parents[2] / "docs" / "threat_model.md"
ROW = re.compile(r"^\| ((?:`[a-z ]+`(?:, )?)+) \| .* \| (.*?) ?\|$", re.MULTILINE)


def functions() -> dict[str, Callable[..., Any]]:
    """Return every verb and what it calls."""
    found = {}
    for name, verb in VERBS.items():
        module, _, function = verb.code.partition(":")
        loaded = importlib.import_module(module)
        if function:
            found[name] = getattr(loaded, function)
        else:
            found |= {f"{name} {word}": called for word, called in loaded.SUBVERBS.items()}
    return found


def rows() -> dict[str, str]:
    """Return the last column of the table by verb."""
    text = PAGE.read_text(encoding="utf-8")
    return {verb: words for verbs, words in ROW.findall(text) for verb in re.findall(r"`([a-z ]+)`", verbs)}


def test_the_page_lists_every_verb_once() -> None:
    assert set(rows()) == set(functions())


@pytest.mark.parametrize("verb", functions())
def test_the_page_tells_which_words_a_verb_takes(verb: str) -> None:
    flags = inspect.signature(functions()[verb]).parameters
    taken = {f"--{word.replace('_', '-')}" for word in ("allow_code", "allow_outside") if word in flags}
    assert set(re.findall(r"--allow-\w+", rows()[verb])) == taken
