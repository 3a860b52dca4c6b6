"""Video files: codecs, writing, reading, joining without re-encoding."""
