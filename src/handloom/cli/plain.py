"""Text of others on the user's terminal."""


def plain(text: str) -> str:
    """Return a text in which nothing moves the cursor, changes colours or turns the writing direction around."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)
