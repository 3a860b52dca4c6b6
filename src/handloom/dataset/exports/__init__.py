"""Datasets in the formats that others read."""
