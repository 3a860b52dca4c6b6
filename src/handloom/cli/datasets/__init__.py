"""Verbs that read a run or a dataset."""
