"""Task files: their schema, their lookup, and the checks before sampling."""
