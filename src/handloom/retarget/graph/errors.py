"""Errors of the node graph; each also derives from the built-in class the published interface raises."""

from handloom.errors import InputError, NotFoundError


class TensorTypeError(InputError, TypeError):
    """A value does not conform to the type of the slot it was written to. The slot keeps its old value."""


class SlotIndexError(NotFoundError, IndexError):
    """An index that a group has no slot for."""


class UnknownParameterError(NotFoundError, KeyError):
    """A tunable parameter that does not exist."""

    # KeyError prints the repr of its argument; a sentence should be printed as a sentence.
    __str__ = Exception.__str__


class StatefulNodeWarning(UserWarning):
    """A node that carries state from frame to frame is bound twice and would advance twice per frame."""
