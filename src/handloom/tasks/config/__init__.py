"""Task files: their schema, where they are found, and what is checked before sampling."""
