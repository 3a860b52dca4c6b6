"""Skills that open, close and turn joints of objects."""
