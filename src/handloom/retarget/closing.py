"""Base class of objects that close at the end of a ``with`` block: recordings, links to devices, sessions."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Base of objects that must be closed; as a context manager, it closes itself."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources; further calls have no effect."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
