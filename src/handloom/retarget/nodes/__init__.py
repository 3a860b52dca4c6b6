"""Retargeters: nodes that turn device samples into commands for a robot."""
