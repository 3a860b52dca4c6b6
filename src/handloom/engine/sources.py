"""Who carries a task out: the scripted expert, a trained policy, or a source of the user's own."""

from typing import Protocol

import numpy as np

from handloom.config import import_named
from handloom.engine.policies import PREFIX, policy_factory
from handloom.episode.source import Source
from handloom.errors import NotFoundError, suggest
from handloom.scene import Scene
from handloom.skills.schedule import Stages

EXPERT = "expert"
SOURCES = {EXPERT: "handloom.skills:Schedule"}
"""Name of a source > ``module:Class``."""


class SourceFactory(Protocol):
    """Makes the source of one attempt; a class whose constructor takes this will do."""

    def __call__(self, scene: Scene, stages: Stages, rng: np.random.Generator) -> Source:
        """Return a source.

        Args:
            scene: The scene in its first state.
            stages: The skills of the task, as its file nests them; the expert carries them out, others may ignore them.
            rng: The only source of randomness: with any other an attempt would not come out the same again.
        """
        ...


def source_factory(name: str) -> SourceFactory:
    """Return what makes the sources of a run, by name or, for a user's own, by ``my_module:MySource``.

    Raises:
        NotFoundError: There is no source of that name.
        NotAllowedError: It is a user's own, and that was not allowed.
        InputError: A user's own cannot be imported.
    """
    if name.startswith(PREFIX):
        return policy_factory(name)
    if ":" not in name and name not in SOURCES:
        raise NotFoundError(f"no source named {name!r}; {suggest(name, SOURCES)}; write your own as my_module:MySource")
    return import_named("source", name, SOURCES, own="my_module:MySource")
