"""The instruction of an episode, in words."""

import re
from collections.abc import Sequence

import numpy as np

from handloom.tasks.task import Task
from handloom.values import ObjectInstance


def sample_instruction(task: Task, objects: Sequence[ObjectInstance], rng: np.random.Generator) -> str:
    """Pick a wording and put in what the randomized objects are this time."""
    wordings = (task.config.data.language_instruction, *task.config.data.paraphrases)
    return with_words(task, wordings[int(rng.integers(len(wordings)))], objects)


def with_words(task: Task, text: str, objects: Sequence[ObjectInstance]) -> str:
    """Return a text with what the objects are this time.

    As published, the name of an object with ``apply_randomization`` is replaced by what it is; ``{name}`` in a text is
    replaced for every object.
    """
    randomized = {o.name for o in task.config.objects if o.apply_randomization or o.colors}
    words = {obj.name: obj.words or obj.name.replace("_", " ") for obj in objects}
    # In one pass, so that the words put in are not searched for names again.
    names = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))

    def spoken(match: re.Match[str]) -> str:
        braced, bare = match.group(1), match.group(2)
        return words[braced] if braced else words[bare] if bare in randomized else bare

    return re.sub(rf"\{{({names})\}}|\b({names})\b", spoken, text) if names else text
