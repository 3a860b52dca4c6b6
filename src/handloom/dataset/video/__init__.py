"""Video files: codecs, writing, reading, joining without encoding again."""
