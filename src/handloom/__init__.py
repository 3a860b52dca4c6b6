"""Handloom weaves robot demonstrations: one YAML task becomes a verified LeRobot dataset."""

__version__ = "0.1.0"
