"""A run on disk: its settings, its journal, its goal, and the dataset made from it."""
