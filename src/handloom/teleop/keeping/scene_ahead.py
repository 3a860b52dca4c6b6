"""Preparation of the next scene while the operator works in the current one, so that *Save* continues at once."""

import threading
from collections.abc import Callable

from handloom.errors import HandloomError
from handloom.scene import Scene


class SceneAhead:
    """A scene that is built in a thread before it is needed.

    Args:
        build: Returns the scene of an episode; a scene that cannot be sampled raises an error and is requested again
            later.
    """

    def __init__(self, build: Callable[[int], Scene]) -> None:
        self._build = build
        self._lock = threading.Lock()
        self._ahead: tuple[int, threading.Thread] | None = None
        self._built: dict[int, Scene] = {}

    def begin(self, episode: int) -> None:
        """Build the scene of an episode, unless one is already being built."""
        with self._lock:
            if self._ahead is not None and (self._ahead[0] == episode or self._ahead[1].is_alive()):
                return
            self._built.clear()
            thread = threading.Thread(target=self._work, args=(episode,), name="next scene", daemon=True)
            self._ahead = episode, thread
            thread.start()

    def take(self, episode: int) -> Scene | None:
        """Wait for the scene of an episode and return it, once; None if it was not started."""
        with self._lock:
            ahead = self._ahead
            if ahead is None or ahead[0] != episode:
                return None
            self._ahead = None
        ahead[1].join()
        return self._built.pop(episode, None)

    def close(self) -> None:
        """Wait for the scene being built, which is no longer needed."""
        with self._lock:
            ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead[1].join()
        self._built.clear()

    def _work(self, episode: int) -> None:
        try:
            self._built[episode] = self._build(episode)
        except HandloomError:
            return  # The error is raised again when the scene is requested.
