"""A run on disk: its settings, its journal, the goal it works towards, the dataset made of it."""
