"""Verification of a dataset: replay, recomputed columns, resampled scenes."""
