"""Datasets in the formats of other programs."""
