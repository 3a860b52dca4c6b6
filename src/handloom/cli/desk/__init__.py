"""Verbs about datasets as goods: labels, formats, lineage, quality."""
