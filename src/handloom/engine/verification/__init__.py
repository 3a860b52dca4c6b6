"""Verification of a dataset: replay, columns computed again, scenes sampled again."""
